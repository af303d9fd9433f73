import { createHash, timingSafeEqual } from "node:crypto"
import { Redacted } from "effect"
import { ServiceError } from "../../domain/Errors.ts"
import { isLoopbackHost } from "../../domain/HttpAddress.ts"

export type RequestHeaders = Readonly<Record<string, string | undefined>>

export interface AccessRules {
  /** Whether the server listens on a loopback address. */
  readonly loopback: boolean
  /**
   * Token that every request must carry: as a bearer token, as `x-goog-api-key` or, as Anthropic's clients send it, as
   * `x-api-key`. Always set when not on loopback.
   */
  readonly token?: Redacted.Redacted<string>
  /** Origins of web pages that may call: `https://app.example.org`. Default none. */
  readonly origins?: ReadonlyArray<string>
}

/** Response headers that pages may read. */
const exposed =
  "retry-after, www-authenticate, x-goog-upload-url, x-goog-upload-status, x-goog-upload-size-received, x-goog-upload-chunk-granularity, mcp-session-id"

/** Headers that let an allowed page read the response. */
export const corsHeaders = ({ origins = [] }: AccessRules, { origin }: RequestHeaders): Readonly<Record<string, string>> =>
  origin !== undefined && origins.includes(origin)
    ? { "access-control-allow-origin": origin, "access-control-expose-headers": exposed, vary: "origin" }
    : {}

/** Headers of the response to a preflight request, which carries no token. */
export const preflightHeaders = (rules: AccessRules, headers: RequestHeaders): Readonly<Record<string, string>> => {
  const wanted = headers["access-control-request-headers"] ?? ""
  return {
    ...corsHeaders(rules, headers),
    "access-control-allow-methods": "GET, POST, PUT, PATCH, DELETE",
    "access-control-max-age": "600",
    ...(/^[\w-]+(?:\s*,\s*[\w-]+)*$/.test(wanted) ? { "access-control-allow-headers": wanted } : {}),
    ...(headers["access-control-request-private-network"] === "true" ? { "access-control-allow-private-network": "true" } : {})
  }
}

/**
 * Why a request is refused; undefined where it is let in. Web pages are kept out unless the operator allowed their origin: by
 * the `Origin` header, by `Sec-Fetch-Site`, and by `Host`, which exposes DNS rebinding.
 *
 * @param key the query parameter `key`, which may carry the token too
 */
export const refusal = (rules: AccessRules, headers: RequestHeaders, key?: string | null): ServiceError | undefined => {
  const page = refusedPage(rules, headers)
  if (page !== undefined || rules.token === undefined) return page
  return carries(headers, key, Redacted.value(rules.token)) ? undefined : unauthenticated
}

const unauthenticated = new ServiceError({
  code: "UNAUTHENTICATED",
  message: "Request had invalid authentication credentials. Expected the server's token as a bearer token.",
  reason: "ACCESS_TOKEN_TYPE_UNSUPPORTED"
})

/** Why a request is refused as one of a web page, whatever its token; undefined where it is not. */
export const refusedPage = (rules: AccessRules, headers: RequestHeaders): ServiceError | undefined => {
  const host = headers["host"]
  if (rules.loopback && !isLoopbackHost(hostname(host))) {
    return forbidden(`the Host header must name this machine's loopback address`)
  }
  const origin = headers["origin"]
  if (origin !== undefined && rules.origins?.includes(origin) === true) return undefined
  if (origin !== undefined && URL.parse(origin)?.host !== host) {
    return forbidden("requests from web pages are not served: the Origin header is foreign")
  }
  const site = headers["sec-fetch-site"]
  if (site !== undefined && site !== "same-origin" && site !== "none") {
    return forbidden("requests from web pages are not served: the Sec-Fetch-Site header says it is one")
  }
  return undefined
}

const forbidden = (message: string): ServiceError => new ServiceError({ code: "PERMISSION_DENIED", message })

/** The host name in a Host header, without the port and without the brackets of IPv6. */
const hostname = (host: string | undefined): string =>
  /^(?:\[([0-9a-f:.]+)\]|([^:[\]]*))(?::\d*)?$/i.exec(host ?? "")?.slice(1).find((part) => part !== undefined)?.toLowerCase() ?? ""

const carries = (headers: RequestHeaders, key: string | null | undefined, token: string): boolean => {
  return same(bearerOf(headers["authorization"]) ?? headers["x-goog-api-key"] ?? headers["x-api-key"] ?? key ?? "", token)
}

/** The token of an `Authorization: Bearer …`. */
export const bearerOf = (authorization: string | undefined): string | undefined => /^bearer +(\S+) *$/i.exec(authorization ?? "")?.[1]

/** Whether two secrets are equal, compared in constant time by their hashes, which have equal lengths. */
export const same = (given: string, token: string): boolean => timingSafeEqual(digest(given), digest(token))

const digest = (text: string): Buffer => createHash("sha256").update(text).digest()
