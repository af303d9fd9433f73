import { Effect, type Result, type Stream } from "effect"
import type { CorpusName } from "../domain/Corpus.ts"
import { ServiceError } from "../domain/Errors.ts"
import type { ApiVersion, JsonObject } from "../wire/Message.ts"
import type { Route } from "../wire/Routes.ts"
import type { AnswerForm } from "../wire/tolerant/Request.ts"
import type { RawAnswer } from "./Call.ts"
import type { ClientNames } from "./ClientNames.ts"
import type { RawPayload } from "./http/HttpBody.ts"
import type { UploadAnswer } from "./upload/Uploads.ts"

/** A request whose parts are read on demand, in the way of its protocol. */
export interface Incoming {
  /** Bytes of memory to reserve for the body until the request is answered. */
  readonly room: (mostBytes: number) => number
  readonly query: (
    route: Route<string, unknown, unknown, unknown>
  ) => Result.Result<{ readonly query: unknown; readonly form: AnswerForm }, ServiceError>
  /** The JSON body, as bytes or as an object that was parsed already. */
  readonly body: (mostBytes: number) => Effect.Effect<Uint8Array | JsonObject, ServiceError>
  /** The body of a raw method, which passes bytes on. */
  readonly payload: (mostBytes: number) => Effect.Effect<RawPayload, ServiceError>
  readonly upload: (
    to: { readonly version: ApiVersion; readonly names: ClientNames; readonly corpus: CorpusName }
  ) => Effect.Effect<UploadAnswer, ServiceError>
  /** Breaks the connection without a response. */
  readonly drop: Effect.Effect<never>
}

/** A response, to be written by the protocol of its request. */
export type Answered =
  & (
    | { readonly kind: "message"; readonly message: JsonObject; readonly headers?: Readonly<Record<string, string>> }
    | { readonly kind: "messages"; readonly messages: Stream.Stream<JsonObject, ServiceError> }
    | { readonly kind: "raw"; readonly answer: RawAnswer; readonly inMessage: boolean; readonly streaming: boolean }
    /** `metadata` goes into the ErrorInfo. */
    | { readonly kind: "failure"; readonly error: ServiceError; readonly metadata?: Readonly<Record<string, string>> }
  )
  & {
    /** Set by injected faults: the connection has to break within the response. */
    readonly cut?: true
  }

/** A budget of memory for the large bodies of all concurrent calls. */
export class Room {
  #left: number

  constructor(bytes: number) {
    this.#left = bytes
  }

  /** Takes bytes from the budget until `give`, or returns false where too few are left. */
  take(bytes: number): boolean {
    if (bytes > this.#left) return false
    this.#left -= bytes
    return true
  }

  give(bytes: number): void {
    this.#left += bytes
  }

  /** Runs a call with room for its body, which is given back afterwards; fails where there is none. */
  hold<A>(bytes: number, call: Effect.Effect<A, ServiceError>): Effect.Effect<A, ServiceError> {
    return Effect.suspend(() => this.take(bytes) ? Effect.ensuring(call, Effect.sync(() => this.give(bytes))) : Effect.fail(noRoom))
  }
}

export const noRoom = new ServiceError({
  code: "UNAVAILABLE",
  message: "The server is handling too many large requests.",
  retryAfter: 1_000
})
