import { Effect, Option, Schema } from "effect"
import { HttpClientRequest, type HttpClientResponse } from "effect/http"
import { ServiceError } from "../../src/domain/Errors.ts"
import { type Caller, callOnce } from "../../src/net/Call.ts"
import { retry } from "../../src/net/Retry.ts"
import { makeAccount } from "../account/MakeAccount.ts"
import { graphError } from "./GraphErrors.ts"

/** One page of a collection. */
export interface GraphPage<A> {
  readonly value: ReadonlyArray<A>
  /** Of the next page, or at the end of a delta of the next delta: below the endpoint, with its query. */
  readonly next?: string
  readonly delta?: string
}

/** Microsoft Graph. Paths are below the endpoint and begin with `/`. */
export interface Graph {
  readonly get: <A>(what: string, path: string, schema: Schema.Decoder<A>) => Effect.Effect<A, ServiceError>
  readonly page: <A>(what: string, path: string, schema: Schema.Decoder<A>) => Effect.Effect<GraphPage<A>, ServiceError>
  /** All pages, up to 10,000 things. */
  readonly all: <A>(what: string, path: string, schema: Schema.Decoder<A>) => Effect.Effect<ReadonlyArray<A>, ServiceError>
  /** Up to {@link batchSize} GETs in one request. Absent are those that failed, to be asked for singly. */
  readonly batch: <A>(
    what: string,
    paths: ReadonlyArray<string>,
    schema: Schema.Decoder<A>
  ) => Effect.Effect<ReadonlyArray<A | undefined>, ServiceError>
  /** Bytes by an address that needs no credentials and gets none, from `offset` on. */
  readonly bytes: (what: string, address: string, offset: number) => Effect.Effect<HttpClientResponse.HttpClientResponse, ServiceError>
}

const maxThings = 10_000
/** What Graph takes in one batch. */
export const batchSize = 20

const Answers = Schema.Struct({
  responses: Schema.Array(Schema.Struct({ id: Schema.String, status: Schema.Finite, body: Schema.optionalKey(Schema.Unknown) }))
})

export const defaultEndpoint = "https://graph.microsoft.com/v1.0"

/** `caller` has the credentials, `bare` has none. `account` is the tenant, which is throttled as a whole. */
export const graph = (caller: Caller, bare: Caller, endpoint: string, account: string, requestsPerMinute = 6000): Graph => {
  const base = endpoint.replace(/\/+$/, "")
  const { json } = makeAccount({ caller, account: `${base} ${account}`, requestsPerMinute, errorOf: graphError })

  /** Links are followed below the endpoint only: they get the token. */
  const below = (what: string, link: string | undefined): Effect.Effect<string | undefined, ServiceError> => {
    if (link === undefined) return Effect.undefined
    return link.startsWith(`${base}/`)
      ? Effect.succeed(link.slice(base.length))
      : Effect.fail(ServiceError.internal(`${what} goes on at another address than ${base}, which is not followed`))
  }

  const get: Graph["get"] = (what, path, schema) => json(what, HttpClientRequest.get(base + path), schema)

  const page: Graph["page"] = Effect.fnUntraced(function*<A>(what: string, path: string, schema: Schema.Decoder<A>) {
    const { "@odata.deltaLink": deltaLink, "@odata.nextLink": nextLink, value } = yield* get(what, path, Schema.Struct({
      value: Schema.Array(schema),
      "@odata.nextLink": Schema.optionalKey(Schema.String),
      "@odata.deltaLink": Schema.optionalKey(Schema.String)
    }))
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
      if (found.length > maxThings) return yield* new ServiceError({ code: "OUT_OF_RANGE", message: `${what} has more than ${maxThings} entries` })
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
