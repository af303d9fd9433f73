import { createHash, timingSafeEqual } from "node:crypto"
import { Redacted } from "effect"
import { ServiceError } from "../../domain/Errors.ts"
import { isLoopbackHost } from "../../domain/HttpAddress.ts"

export type RequestHeaders = Readonly<Record<string, string | undefined>>

export interface AccessRules {
  /** The address served on is this machine's own. */
  readonly loopback: boolean
  /** Every request must carry it, as a bearer or as `x-goog-api-key`. Always there when not on loopback. */
  readonly token?: Redacted.Redacted<string>
}

/**
 * Why a request may not come in. A page in a browser is kept out whatever it tries: by `Origin`, by what browsers say
 * of where a request comes from, and by `Host`, which a rebound name server cannot forge. Requests are never answered
 * with CORS headers.
 */
export const refusal = (rules: AccessRules, headers: RequestHeaders): ServiceError | undefined => {
  const host = headers["host"]
  if (rules.loopback && !isLoopbackHost(hostname(host))) {
    return forbidden(`the Host header must name this machine's loopback address`)
  }
  const origin = headers["origin"]
  if (origin !== undefined && URL.parse(origin)?.host !== host) {
    return forbidden("requests from web pages are not served: the Origin header is foreign")
  }
  const site = headers["sec-fetch-site"]
  if (site !== undefined && site !== "same-origin" && site !== "none") {
    return forbidden("requests from web pages are not served: the Sec-Fetch-Site header says it is one")
  }
  if (rules.token === undefined || carries(headers, Redacted.value(rules.token))) return undefined
  return new ServiceError({
    code: "UNAUTHENTICATED",
    message: "Request had invalid authentication credentials. Expected the server's token as a bearer token.",
    reason: "ACCESS_TOKEN_TYPE_UNSUPPORTED"
  })
}

const forbidden = (message: string): ServiceError => new ServiceError({ code: "PERMISSION_DENIED", message })

/** Of a Host header: without the port, without the brackets of IPv6. */
const hostname = (host: string | undefined): string =>
  /^(?:\[([0-9a-f:.]+)\]|([^:[\]]*))(?::\d*)?$/i.exec(host ?? "")?.slice(1).find((part) => part !== undefined)?.toLowerCase() ?? ""

const carries = (headers: RequestHeaders, token: string): boolean => {
  const bearer = /^bearer +(\S+) *$/i.exec(headers["authorization"] ?? "")?.[1]
  return same(bearer ?? headers["x-goog-api-key"] ?? "", token)
}

/** In a time that says nothing of either: hashes are equally long. */
const same = (given: string, token: string): boolean => timingSafeEqual(digest(given), digest(token))

const digest = (text: string): Buffer => createHash("sha256").update(text).digest()
