import type { Effect, Scope } from "effect"
import { fakeServer, type FakeServer, sendGoogleError, sendJson } from "./Http.ts"

export interface FakeVersion {
  readonly data: string | Buffer
  /** Default: none is given. */
  readonly crc?: string
  readonly state?: "DISABLED" | "DESTROYED" | "FORBIDDEN"
}

/** `versions/{v}:access` of Secret Manager, for whoever has a bearer token. Keys: names up to `/versions/`, then `/n`. */
export const fakeSecretManager = (versions: Map<string, FakeVersion>): Effect.Effect<FakeServer, never, Scope.Scope> =>
  fakeServer(({ headers, url }, response) => {
    const name = /^\/v1\/(projects\/.+\/versions\/[^:/]+):access$/.exec(url.pathname)?.[1]
    if (headers.authorization === undefined) {
      return sendGoogleError(response, 401, "Request had invalid authentication credentials.", { status: "UNAUTHENTICATED" })
    }
    const version = versions.get(name ?? "")
    if (name === undefined || version === undefined) {
      return sendGoogleError(response, 404, `Secret [${name ?? ""}] not found or has no versions.`, { status: "NOT_FOUND" })
    }
    if (version.state === "FORBIDDEN") {
      return sendGoogleError(response, 403, `Permission 'secretmanager.versions.access' denied for resource '${name}'.`, {
        status: "PERMISSION_DENIED"
      })
    }
    if (version.state !== undefined) {
      return sendGoogleError(response, 400, `Secret Version [${name}] is in ${version.state} state.`, { status: "FAILED_PRECONDITION" })
    }
    sendJson(response, 200, {
      name: name.replace("/latest", "/3"),
      payload: { data: Buffer.from(version.data).toString("base64"), ...(version.crc === undefined ? {} : { dataCrc32c: version.crc }) }
    })
  })
