import { Data, Effect } from "effect"
import type { ServiceError } from "../../domain/Errors.ts"

/**
 * A request was sent, but no answer reported its outcome: the service may have acted. The caller must check before it sends the request
 * again.
 */
export class Unanswered extends Data.TaggedError("Unanswered")<{ readonly error: ServiceError }> {}

/** A call with `Unanswered` as an ordinary error, for calls that may be repeated. */
export const answered = <A>(call: Effect.Effect<A, ServiceError | Unanswered>): Effect.Effect<A, ServiceError> =>
  Effect.catchTag(call, "Unanswered", ({ error }) => Effect.fail(error))
