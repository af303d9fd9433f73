import { createHash, timingSafeEqual } from "node:crypto"
import { Redacted } from "effect"
import { ServiceError } from "../../domain/Errors.ts"
import { isLoopbackHost } from "../../domain/HttpAddress.ts"

export type RequestHeaders = Readonly<Record<string, string | undefined>>

export interface AccessRules {
  /** The address served on is this machine's own. */
  readonly loopback: boolean
  /** Every request must carry it, as a bearer, as `x-goog-api-key` or, as Anthropic's clients do, as `x-api-key`. Always there when not on loopback. */
  readonly token?: Redacted.Redacted<string>
  /** Web pages that may call: `https://app.example.org`. Default none. */
  readonly origins?: ReadonlyArray<string>
}

/** What pages may read of an answer besides its body. */
const exposed =
  "retry-after, www-authenticate, x-goog-upload-url, x-goog-upload-status, x-goog-upload-size-received, x-goog-upload-chunk-granularity, mcp-session-id"

/** The headers by which a browser lets a page that may call see the answer. */
export const corsHeaders = ({ origins = [] }: AccessRules, { origin }: RequestHeaders): Readonly<Record<string, string>> =>
  origin !== undefined && origins.includes(origin)
    ? { "access-control-allow-origin": origin, "access-control-expose-headers": exposed, vary: "origin" }
    : {}

/** The answer to a browser that asks whether a page may call; it brings no token. */
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
 * Why a request may not come in. A page in a browser is kept out whatever it tries: by `Origin`, by what browsers say
 * of where a request comes from, and by `Host`, which a rebound name server cannot forge; unless the operator named it.
 *
 * @param key the `key` of the query: another place for the token
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

/** Why a request may not come in, whoever sends it. */
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

/** Of a Host header: without the port, without the brackets of IPv6. */
const hostname = (host: string | undefined): string =>
  /^(?:\[([0-9a-f:.]+)\]|([^:[\]]*))(?::\d*)?$/i.exec(host ?? "")?.slice(1).find((part) => part !== undefined)?.toLowerCase() ?? ""

const carries = (headers: RequestHeaders, key: string | null | undefined, token: string): boolean => {
  return same(bearerOf(headers["authorization"]) ?? headers["x-goog-api-key"] ?? headers["x-api-key"] ?? key ?? "", token)
}

/** The token of an `Authorization: Bearer …`. */
export const bearerOf = (authorization: string | undefined): string | undefined => /^bearer +(\S+) *$/i.exec(authorization ?? "")?.[1]

/** In a time that says nothing of either: hashes are equally long. */
export const same = (given: string, token: string): boolean => timingSafeEqual(digest(given), digest(token))

const digest = (text: string): Buffer => createHash("sha256").update(text).digest()
