import { Effect, Result } from "effect"
import type { ServiceError } from "../../src/domain/Errors.ts"

/** One thing's failure is its own, but without credentials nothing will do. */
export const isolated = <A>(effect: Effect.Effect<A, ServiceError>): Effect.Effect<Result.Result<A, ServiceError>, ServiceError> =>
  Effect.map(effect, (value): Result.Result<A, ServiceError> => Result.succeed(value)).pipe(
    Effect.catchIf(({ code }) => code !== "UNAUTHENTICATED", (error) => Effect.succeed(Result.fail(error)))
  )
