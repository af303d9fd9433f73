import { Data, Effect } from "effect"
import type { ServiceError } from "../../domain/Errors.ts"

/**
 * The request went out and no answer told what became of it: the service may have acted. Whoever sent it looks before
 * sending it again.
 */
export class Unanswered extends Data.TaggedError("Unanswered")<{ readonly error: ServiceError }> {}

/** For calls that may be made again, no answer is an error like others. */
export const answered = <A>(call: Effect.Effect<A, ServiceError | Unanswered>): Effect.Effect<A, ServiceError> =>
  Effect.catchTag(call, "Unanswered", ({ error }) => Effect.fail(error))
