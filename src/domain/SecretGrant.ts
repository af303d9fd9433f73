import { ServiceError } from "./Errors.ts"
import { hostsAt, serverAddress } from "./HttpAddress.ts"
import type { SecretVersion } from "./Secret.ts"

/** A secret that callers of a server may name, and the host that it may then be sent to. */
export interface SecretGrant {
  /**
   * The secret's id, of whatever project (`jira`), its name with the project (`projects/acme/secrets/jira`), or one version of
   * it. Without a version all with a number are meant, and `latest`.
   */
  readonly secret: string
  /** `HOST` on any port, or `HOST:PORT`. Nothing below the name is meant with it. */
  readonly host: string
}

const secretPattern =
  /^(?:(?:projects\/[^/\s]+\/(?:locations\/[^/\s]+\/)?secrets\/)?[A-Za-z0-9_-]{1,255}|projects\/\S+\/secrets\/[A-Za-z0-9_-]{1,255}\/versions\/[A-Za-z0-9_-]+)$/

/** Reads `NAME=HOST[:PORT]`; undefined where it is none. */
export const secretGrant = (text: string): SecretGrant | undefined => {
  const at = text.indexOf("=")
  const [secret, host] = [text.slice(0, at), text.slice(at + 1)]
  const url = serverAddress(`https://${host}`)
  return at > 0 && secretPattern.test(secret) && !host.includes("/") && url !== undefined ? { secret, host } : undefined
}

/**
 * Refuses to send a secret that a caller named to where no grant lets it go: who may call a server has not therefore every
 * secret of its machine, and the host is often the caller's choice too.
 *
 * @param grants undefined: callers may name any, as where only this machine's own users can call
 * @param to undefined: an address that is none
 */
export const refuseSecret = (
  grants: ReadonlyArray<SecretGrant> | undefined,
  version: SecretVersion,
  to: URL | undefined,
  field: string
): ServiceError | undefined => {
  if (grants === undefined || grants.some(({ host, secret }) => covers(secret, version) && to !== undefined && hostsAt([host])(to))) {
    return undefined
  }
  const [name, id, number] = partsOf(version)
  const host = to?.host ?? "HOST"
  return new ServiceError({
    code: "PERMISSION_DENIED",
    message: `${field}: callers of this server may not have this secret sent to ${host}`,
    violations: [{ field, description: `is no secret that was allowed for ${host}` }],
    fix: `start it with --allow-secret ${isNumbered(number) ? id : `${name}/versions/${number}`}=${host}`
  })
}

/** An alias is allowed by name alone: the variable of the version `ault` of `a`, SLUICE_SECRET_A_VAULT, is that of `a-vault`. */
const covers = (granted: string, version: SecretVersion): boolean => {
  const [name, id, number] = partsOf(version)
  return granted === version || (isNumbered(number) && (granted === name || granted === id))
}

const isNumbered = (number: string): boolean => /^(?:latest|\d+)$/.test(number)

/** The secret's name, its id, and the version. */
const partsOf = (version: SecretVersion): readonly [name: string, id: string, number: string] => {
  const name = version.slice(0, version.lastIndexOf("/versions/"))
  return [name, name.slice(name.lastIndexOf("/") + 1), version.slice(version.lastIndexOf("/") + 1)]
}
