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

/** What is asked, read as its protocol carries it, when its turn comes. */
export interface Incoming {
  /** Bytes of memory that its body may come to, to be kept for it while it is answered. */
  readonly room: (mostBytes: number) => number
  readonly query: (
    route: Route<string, unknown, unknown, unknown>
  ) => Result.Result<{ readonly query: unknown; readonly form: AnswerForm }, ServiceError>
  /** Bytes of JSON, or what they would be. */
  readonly body: (mostBytes: number) => Effect.Effect<Uint8Array | JsonObject, ServiceError>
  /** The body of a method that passes bytes on. */
  readonly payload: (mostBytes: number) => Effect.Effect<RawPayload, ServiceError>
  readonly upload: (
    to: { readonly version: ApiVersion; readonly names: ClientNames; readonly corpus: CorpusName }
  ) => Effect.Effect<UploadAnswer, ServiceError>
  /** Breaks the connection; nothing is answered. */
  readonly drop: Effect.Effect<never>
}

/** What is answered, for its protocol to write. */
export type Answered =
  & (
    | { readonly kind: "message"; readonly message: JsonObject; readonly headers?: Readonly<Record<string, string>> }
    | { readonly kind: "messages"; readonly messages: Stream.Stream<JsonObject, ServiceError> }
    | { readonly kind: "raw"; readonly answer: RawAnswer; readonly inMessage: boolean; readonly streaming: boolean }
    /** `metadata` is that of the ErrorInfo. */
    | { readonly kind: "failure"; readonly error: ServiceError; readonly metadata?: Readonly<Record<string, string>> }
  )
  & {
    /** The connection is to break within the answer. */
    readonly cut?: true
  }

/** Memory for the large bodies of all calls under way. */
export class Room {
  #left: number

  constructor(bytes: number) {
    this.#left = bytes
  }

  /** Whether there is room for so many bytes, which are then the caller's until `give`. */
  take(bytes: number): boolean {
    if (bytes > this.#left) return false
    this.#left -= bytes
    return true
  }

  give(bytes: number): void {
    this.#left += bytes
  }

  /** Runs a call once there is room for its body, which it keeps until it is answered. */
  hold<A>(bytes: number, call: Effect.Effect<A, ServiceError>): Effect.Effect<A, ServiceError> {
    return Effect.suspend(() => this.take(bytes) ? Effect.ensuring(call, Effect.sync(() => this.give(bytes))) : Effect.fail(noRoom))
  }
}

export const noRoom = new ServiceError({
  code: "UNAVAILABLE",
  message: "The server has too many large requests under way.",
  retryAfter: 1_000
})
