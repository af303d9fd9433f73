import { Context, Data, Effect, type Result, Stream } from "effect"
import type { ServiceError } from "../domain/Errors.ts"
import type { ApiVersion } from "../wire/Message.ts"
import type { Params, Route, RouteKey, Routes } from "../wire/Routes.ts"
import type { ClientNames } from "./ClientNames.ts"

/** A decoded request. Its resource names are the client's; `names` translates them into the engine's. */
export interface Call<Q, B, P> {
  readonly version: ApiVersion
  /** True where the path has no version, so that `version` is a guess: an operation is then shown in the version that started it. */
  readonly unversioned?: true
  readonly params: P
  readonly query: Q
  readonly body: B
  readonly names: ClientNames
  /** Milliseconds for which an operation that the call starts must not appear done. Set by injected faults. */
  readonly slowBy: number | undefined
}

type CallOf<R> = R extends Route<string, infer Q, infer B, unknown> ? Call<Q, B, Params<R>> : never
type ResponseOf<R> = R extends Route<string, unknown, unknown, infer A> ? A & object : never

type Streaming = "streamGenerateContent"
/** The route without a handler here, because its bodies are not all JSON: see `upload/`. */
type Elsewhere = "uploadRagFile"

/** An answer in the model's own format. */
export interface RawAnswer {
  /** HTTP status. Default 200. */
  readonly status?: number
  readonly contentType: string
  readonly headers?: Readonly<Record<string, string>>
  readonly body: Uint8Array | Stream.Stream<Uint8Array, BrokenAnswer>
}

/** An answer in JSON, of a protocol other than the API's own. */
export const json = (body: object): RawAnswer => ({
  contentType: "application/json; charset=utf-8",
  body: new TextEncoder().encode(JSON.stringify(body))
})

/** The `retry-after` header of a failure, in whole seconds, where it is known when to call again. */
export const retryHeaders = ({ retryAfter }: ServiceError): Readonly<Record<string, string>> =>
  retryAfter === undefined ? {} : { "retry-after": String(Math.ceil(retryAfter / 1000)) }

/** Makes of failures answers in a protocol's own format. */
export const refusing = (toWire: (error: ServiceError) => { readonly status: number; readonly body: object }) =>
  Effect.catch((error: ServiceError) => {
    const { body, status } = toWire(error)
    return Effect.succeed<RawAnswer>({ ...json(body), status, headers: retryHeaders(error) })
  })

/**
 * Failure of a streamed answer whose status has been sent already; `last` reports it in the answer's own format. The
 * connection is broken after `last`: most clients do not look for errors in a stream, and would take a clean end for success.
 */
export class BrokenAnswer extends Data.TaggedError("BrokenAnswer")<{ readonly last: Uint8Array }> {}

/** Turns the failure of a stream into a {@link BrokenAnswer}; `tell` writes its last bytes. */
export const breakingWith = <A, E>(
  stream: Stream.Stream<A, E>,
  tell: (error: E) => string
): Stream.Stream<A, BrokenAnswer> => Stream.mapError(stream, (error) => new BrokenAnswer({ last: Buffer.from(tell(error)) }))

/** Handler of a raw route. `contentType` is that of the request body. */
export type RawHandler<R> = (
  call: Call<object, Uint8Array, Params<R>> & { readonly contentType: string }
) => Effect.Effect<RawAnswer, ServiceError>

/** The handler of each route in the table. */
export type Handlers = {
  readonly [K in Exclude<RouteKey, Elsewhere>]: Routes[K] extends { readonly raw: true } ? RawHandler<Routes[K]>
    : (call: CallOf<Routes[K]>) => K extends Streaming ? Effect.Effect<Stream.Stream<ResponseOf<Routes[K]>, ServiceError>, ServiceError>
      : Effect.Effect<ResponseOf<Routes[K]>, ServiceError>
}

/** The result of a codec as an Effect. */
export const take = <A, E>(result: Result.Result<A, E>): Effect.Effect<A, E> => Effect.fromResult(result)

/** API version of the current call. Operations that it starts are always shown in the types of this version. */
export const CallVersion = Context.Reference<ApiVersion>("sluice/server/CallVersion", { defaultValue: () => "v1beta1" })
