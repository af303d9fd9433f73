import { Clock, Effect, Option, Predicate, Redacted, Schema, Semaphore } from "effect"
import { HttpClientRequest, type HttpClientResponse } from "effect/http"
import { ServiceError } from "../../src/domain/Errors.ts"
import { microsoftLogin, type SettingsOf } from "../../src/domain/sources/BuiltInSources.ts"
import { type Caller, callOnce, jsonOf, malformed } from "../../src/net/Call.ts"
import { GoogleAuth } from "../../src/net/GoogleAuth.ts"
import { bodyText, errorOfBody, retryAfterOf, serviceErrorOf } from "../../src/net/HttpErrors.ts"
import { redactText } from "../../src/domain/Redact.ts"
import { retry } from "../../src/net/Retry.ts"
import type { Secrets } from "../../src/ports/Secrets.ts"
import { makeAccount } from "../Account.ts"

/** The error of a refusal by Microsoft Graph, with Graph's code as its `reason`. */
const graphError = (what: string, response: HttpClientResponse.HttpClientResponse): Effect.Effect<ServiceError> =>
  Effect.map(serviceErrorOf(what, response), (error) => {
    // Throttling, whatever the status it comes with.
    if (error.reason === "activityLimitReached") return error.with({ code: "RESOURCE_EXHAUSTED" })
    if (response.status === 423) return error.with({ code: "FAILED_PRECONDITION", fix: "the site is locked: ask its administrator" })
    switch (error.code) {
      case "UNAUTHENTICATED":
        return error.with({ fix: "check tenantId and clientId: Microsoft Graph does not accept their token" })
      case "PERMISSION_DENIED":
        return error.with({
          fix:
            "grant the app the application permission Sites.Read.All with admin consent, or Sites.Selected and the role read on this site"
        })
      case "NOT_FOUND":
        return error.with({ message: `${what} was not found`, fix: "correct its name or id, or take it out of the source" })
      default:
        return error
    }
  })

/** Fixes by the numbers of Microsoft's sign-in service (its "error codes" reference). */
const fixes: Readonly<Record<string, string>> = {
  AADSTS7000215: "the client secret is not the app's: store the secret's value, not its id",
  AADSTS7000222: "the client secret has expired: make a new one and store it as a new secret version",
  AADSTS700016: "there is no such app in the tenant: check clientId and tenantId",
  AADSTS7000229: "the app has no service principal in the tenant: an administrator consents to it once",
  AADSTS7000112: "the app is disabled in the tenant: ask its administrator",
  AADSTS90002: "there is no such tenant: check tenantId",
  AADSTS900023: "tenantId is neither a tenant's id nor its domain",
  AADSTS53003: "a conditional access policy of the tenant blocks the app: ask its administrator"
}

/** The error for a failed sign-in. */
const loginError = Effect.fnUntraced(function*(
  what: string,
  response: HttpClientResponse.HttpClientResponse,
  secret: Redacted.Redacted<string>
) {
  const body = yield* bodyText(response)
  const retryAfter = retryAfterOf(response.headers, yield* Clock.currentTimeMillis)
  const error = errorOfBody(what, { status: response.status, body, secrets: [secret], ...(retryAfter === undefined ? {} : { retryAfter }) })
  if (error.retryable) return error
  const said = descriptionOf(body)
  const number = /\bAADSTS\d+/.exec(said)?.[0]
  return new ServiceError({
    code: "UNAUTHENTICATED",
    message: `${what} was refused${said === "" ? "" : `: ${redactText(said.replace(/ Trace ID: .*$/s, ""), [secret], 300)}`}`,
    ...(number === undefined ? {} : { reason: number }),
    fix: fixes[number ?? ""] ?? "check tenantId, clientId and the client secret"
  })
})

const descriptionOf = (body: string): string => {
  try {
    const json: unknown = JSON.parse(body)
    if (Predicate.hasProperty(json, "error_description") && typeof json.error_description === "string") return json.error_description
    return Predicate.hasProperty(json, "error") && typeof json.error === "string" ? json.error : ""
  } catch {
    return ""
  }
}

/** Milliseconds of remaining life below which a token is replaced before it is used. */
const spareMs = 5 * 60_000

const Answer = Schema.Struct({ access_token: Schema.String, expires_in: Schema.Union([Schema.Finite, Schema.FiniteFromString]) })
const decode = Schema.decodeUnknownEffect(Answer)

/**
 * Tokens of an app (client credentials), in the form that `sendAuthorized` takes: cached, replaced ahead of their expiry by one request for
 * all waiting calls, and once more when Graph refuses one.
 */
export const graphAuth = (
  caller: Caller,
  config: SettingsOf<"sharePoint">,
  secrets: Secrets["Service"],
  graphOrigin: string
): GoogleAuth["Service"] => {
  const one = Semaphore.makeUnsafe(1)
  let held: { readonly token: Redacted.Redacted<string>; readonly until: number } | undefined
  const login = (config.loginEndpoint ?? microsoftLogin).replace(/\/+$/, "")
  const what = `the sign-in of app ${config.clientId}`

  const attempt = Effect.gen(function*() {
    // Resolved each time, so that a rotated secret is picked up.
    const secret = yield* secrets.resolve(config.clientSecret).pipe(
      Effect.mapError(({ fix, message }) => new ServiceError({ code: "UNAUTHENTICATED", message, fix }))
    )
    const request = HttpClientRequest.post(`${login}/${encodeURIComponent(config.tenantId)}/oauth2/v2.0/token`).pipe(
      HttpClientRequest.bodyUrlParams({
        grant_type: "client_credentials",
        client_id: config.clientId,
        client_secret: Redacted.value(secret),
        scope: `${graphOrigin}/.default`
      })
    )
    const response = yield* callOnce(caller, what, request, () => true)
    if (response.status !== 200) return yield* yield* loginError(what, response, secret)
    const answer = yield* decode(yield* jsonOf(what, response)).pipe(Effect.mapError(() => malformed(what, "no token")))
    const now = yield* Clock.currentTimeMillis
    // Tokens that live shorter than the spare time are used for half their life.
    const life = answer.expires_in * 1000
    held = { token: Redacted.make(answer.access_token, { label: "access token" }), until: now + Math.max(life - spareMs, life / 2) }
    return held.token
  }).pipe(retry(caller.retry))

  return {
    ...GoogleAuth.anonymous,
    token: one.withPermits(1)(
      Effect.flatMap(Clock.currentTimeMillis, (now) => held !== undefined && held.until > now ? Effect.succeed(held.token) : attempt)
    ),
    reject: (bad) =>
      Effect.sync(() => {
        if (held?.token === bad) held = undefined
      })
  }
}

/** One page of a collection. */
interface GraphPage<A> {
  readonly value: ReadonlyArray<A>
  /** Path of the next page, or at the end of a delta of the next delta: below the endpoint, with its query. */
  readonly next?: string
  readonly delta?: string
}

/** The Microsoft Graph API. Paths are below the endpoint and start with `/`. */
export interface Graph {
  readonly get: <A>(what: string, path: string, schema: Schema.Decoder<A>) => Effect.Effect<A, ServiceError>
  readonly page: <A>(what: string, path: string, schema: Schema.Decoder<A>) => Effect.Effect<GraphPage<A>, ServiceError>
  /** All items of a collection, up to 10,000. */
  readonly all: <A>(what: string, path: string, schema: Schema.Decoder<A>) => Effect.Effect<ReadonlyArray<A>, ServiceError>
  /** Sends up to {@link batchSize} GETs in one request. Those that failed are absent from the result, to be requested separately. */
  readonly batch: <A>(
    what: string,
    paths: ReadonlyArray<string>,
    schema: Schema.Decoder<A>
  ) => Effect.Effect<ReadonlyArray<A | undefined>, ServiceError>
  /** Downloads bytes from `offset` on, from an address that needs no credentials and receives none. */
  readonly bytes: (what: string, address: string, offset: number) => Effect.Effect<HttpClientResponse.HttpClientResponse, ServiceError>
}

const maxThings = 10_000
/** Most requests in one batch of Graph. */
export const batchSize = 20

const Answers = Schema.Struct({
  responses: Schema.Array(Schema.Struct({ id: Schema.String, status: Schema.Finite, body: Schema.optionalKey(Schema.Unknown) }))
})

export const defaultEndpoint = "https://graph.microsoft.com/v1.0"

/** Makes a client. `caller` has the credentials, `bare` has none. `account` is the tenant, which is throttled as a whole. */
export const graph = (caller: Caller, bare: Caller, endpoint: string, account: string, requestsPerMinute = 6000): Graph => {
  const base = endpoint.replace(/\/+$/, "")
  const { json } = makeAccount({ caller, account: `${base} ${account}`, requestsPerMinute, errorOf: graphError })

  /** The path of a link below the endpoint. Links elsewhere are not followed, since they would receive the token. */
  const below = (what: string, link: string | undefined): Effect.Effect<string | undefined, ServiceError> => {
    if (link === undefined) return Effect.undefined
    return link.startsWith(`${base}/`)
      ? Effect.succeed(link.slice(base.length))
      : Effect.fail(ServiceError.internal(`${what} continues at an address outside ${base}, which is not followed`))
  }

  // URL parsers would resolve such parts upwards, out of the named item, and the token would go along.
  const get: Graph["get"] = (what, path, schema) =>
    /\/\.{1,2}(?:[/?:]|$)/.test(path)
      ? Effect.fail(ServiceError.invalid("sharePoint", `${what} has a part that is . or .. in its name, which no address can contain`))
      : json(what, HttpClientRequest.get(base + path), schema)

  const page: Graph["page"] = Effect.fnUntraced(function*<A>(what: string, path: string, schema: Schema.Decoder<A>) {
    const { "@odata.deltaLink": deltaLink, "@odata.nextLink": nextLink, value } = yield* get(
      what,
      path,
      Schema.Struct({
        value: Schema.Array(schema),
        "@odata.nextLink": Schema.optionalKey(Schema.String),
        "@odata.deltaLink": Schema.optionalKey(Schema.String)
      })
    )
    const next = yield* below(what, nextLink)
    const delta = yield* below(what, deltaLink)
    if (next === path) return yield* ServiceError.internal(`${what} goes round in circles`)
    return { value, ...(next === undefined ? {} : { next }), ...(delta === undefined ? {} : { delta }) }
  })

  const all: Graph["all"] = Effect.fnUntraced(function*<A>(what: string, path: string, schema: Schema.Decoder<A>) {
    const found: Array<A> = []
    for (let at: string | undefined = path; at !== undefined;) {
      const { next, value }: GraphPage<A> = yield* page(what, at, schema)
      found.push(...value)
      if (found.length > maxThings) {
        return yield* new ServiceError({ code: "OUT_OF_RANGE", message: `${what} has more than ${maxThings} entries` })
      }
      at = next
    }
    return found
  })

  const batch: Graph["batch"] = Effect.fnUntraced(function*<A>(what: string, paths: ReadonlyArray<string>, schema: Schema.Decoder<A>) {
    const request = HttpClientRequest.post(`${base}/$batch`).pipe(
      HttpClientRequest.bodyJsonUnsafe({ requests: paths.map((url, index) => ({ id: String(index), method: "GET", url })) })
    )
    const { responses } = yield* json(what, request, Answers)
    const decode = Schema.decodeUnknownOption(schema)
    const found = new Map(responses.flatMap(({ body, id, status }) => status === 200 ? [[id, Option.getOrUndefined(decode(body))]] : []))
    return paths.map((_, index) => found.get(String(index)))
  })

  return {
    get,
    page,
    all,
    batch,
    bytes: (what, address, offset) => {
      const url = URL.parse(address)
      if (url === null || !(url.protocol === "https:" || (url.protocol === "http:" && base.startsWith("http:")))) {
        return Effect.fail(ServiceError.internal(`${what} is at an address that is not fetched`))
      }
      const request = HttpClientRequest.get(url, {
        headers: { "accept-encoding": "gzip", ...(offset === 0 ? {} : { range: `bytes=${offset}-` }) }
      })
      return callOnce(bare, what, request).pipe(retry(bare.retry))
    }
  }
}
