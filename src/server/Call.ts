import { Context, Data, Effect, type Result, Stream } from "effect"
import type { ServiceError } from "../domain/Errors.ts"
import type { ApiVersion } from "../wire/Message.ts"
import type { Params, Route, RouteKey, Routes } from "../wire/Routes.ts"
import type { ClientNames } from "./ClientNames.ts"

/** A request that has been read: names are as the client writes them, `names` turns them into the engine's. */
export interface Call<Q, B, P> {
  readonly version: ApiVersion
  /** `version` is a guess: an operation is told in the version that it was started in. */
  readonly unversioned?: true
  readonly params: P
  readonly query: Q
  readonly body: B
  readonly names: ClientNames
  /** Milliseconds for which the operation it starts is not to say that it is done. */
  readonly slowBy: number | undefined
}

type CallOf<R> = R extends Route<string, infer Q, infer B, unknown> ? Call<Q, B, Params<R>> : never
type ResponseOf<R> = R extends Route<string, unknown, unknown, infer A> ? A & object : never

type Streaming = "streamGenerateContent"
/** Its bodies are not all JSON: see `upload/`. */
type Elsewhere = "uploadRagFile"

/** An answer whose form is the model's own. */
export interface RawAnswer {
  /** Default 200. */
  readonly status?: number
  readonly contentType: string
  readonly headers?: Readonly<Record<string, string>>
  readonly body: Uint8Array | Stream.Stream<Uint8Array, BrokenAnswer>
}

/**
 * Why a streamed answer does not reach its end, in the answer's own form: its status has been sent. The connection is
 * broken after it: most clients look at no element of a stream for an error, and would take a clean end for the whole.
 */
export class BrokenAnswer extends Data.TaggedError("BrokenAnswer")<{ readonly last: Uint8Array }> {}

/** Ends a stream with the bytes that tell of its failure. */
export const breakingWith = <A, E>(
  stream: Stream.Stream<A, E>,
  tell: (error: E) => string
): Stream.Stream<A, BrokenAnswer> => Stream.mapError(stream, (error) => new BrokenAnswer({ last: Buffer.from(tell(error)) }))

/** `contentType` is that of the body. */
export type RawHandler<R> = (
  call: Call<object, Uint8Array, Params<R>> & { readonly contentType: string }
) => Effect.Effect<RawAnswer, ServiceError>

/** What answers each method of the table. */
export type Handlers = {
  readonly [K in Exclude<RouteKey, Elsewhere>]: Routes[K] extends { readonly raw: true } ? RawHandler<Routes[K]>
    : (call: CallOf<Routes[K]>) => K extends Streaming ? Effect.Effect<Stream.Stream<ResponseOf<Routes[K]>, ServiceError>, ServiceError>
      : Effect.Effect<ResponseOf<Routes[K]>, ServiceError>
}

/** A codec's verdict within an Effect. */
export const take = <A, E>(result: Result.Result<A, E>): Effect.Effect<A, E> => Effect.fromResult(result)

/** The API version of the call under way: what it starts is told in its types, by whatever it is asked for. */
export const CallVersion = Context.Reference<ApiVersion>("sluice/server/CallVersion", { defaultValue: () => "v1beta1" })
