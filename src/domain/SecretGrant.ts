import { ServiceError } from "./Errors.ts"
import { hostsAt, serverAddress } from "./HttpAddress.ts"
import { lastSegment } from "./ResourceNames.ts"
import type { SecretVersion } from "./Secret.ts"

/** A secret that callers of a server may name, and the host that it may be sent to. */
export interface SecretGrant {
  /**
   * The secret's id in any project (`jira`), its name with the project (`projects/acme/secrets/jira`), or one version of
   * it. Without a version, all numbered versions and `latest` are included.
   */
  readonly secret: string
  /** Host: `HOST` on any port, or `HOST:PORT`. Subdomains are not included. */
  readonly host: string
}

const secretPattern =
  /^(?:(?:projects\/[^/\s]+\/(?:locations\/[^/\s]+\/)?secrets\/)?[A-Za-z0-9_-]{1,255}|projects\/\S+\/secrets\/[A-Za-z0-9_-]{1,255}\/versions\/[A-Za-z0-9_-]+)$/

/** Parses `NAME=HOST[:PORT]`; undefined where it is not one. */
export const secretGrant = (text: string): SecretGrant | undefined => {
  const at = text.indexOf("=")
  const [secret, host] = [text.slice(0, at), text.slice(at + 1)]
  const url = serverAddress(`https://${host}`)
  return at > 0 && secretPattern.test(secret) && !host.includes("/") && url !== undefined ? { secret, host } : undefined
}

/**
 * Refuses to send a secret that a caller named to a host that no grant allows: being allowed to call a server does not
 * give a right to every secret of its machine, and the host is often the caller's choice too.
 *
 * @param grants undefined: callers may name any secret, as where only users of this machine can call
 * @param to undefined: an invalid address
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

/** An alias has to be granted by name: the variable of version `ault` of `a`, SLUICE_SECRET_A_VAULT, is that of the secret `a-vault`. */
const covers = (granted: string, version: SecretVersion): boolean => {
  const [name, id, number] = partsOf(version)
  return granted === version || (isNumbered(number) && (granted === name || granted === id))
}

const isNumbered = (number: string): boolean => /^(?:latest|\d+)$/.test(number)

/** The secret's name, its id, and the version. */
const partsOf = (version: SecretVersion): readonly [name: string, id: string, number: string] => {
  const name = version.slice(0, version.lastIndexOf("/versions/"))
  return [name, lastSegment(name), lastSegment(version)]
}
