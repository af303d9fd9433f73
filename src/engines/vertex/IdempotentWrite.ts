import { Effect, Result } from "effect"
import { ServiceError } from "../../domain/Errors.ts"
import type { Unanswered } from "./Unanswered.ts"

type Retry = <A>(effect: Effect.Effect<A, ServiceError>) => Effect.Effect<A, ServiceError>

/**
 * Does once what must not be done twice. What the service certainly did not do is tried again; after an attempt without
 * an answer, `find` looks whether the service did it, and only if it did not is it sent again. Ends `Unanswered` while
 * that is still not known.
 */
export const idempotentWrite = <A>(write: {
  readonly send: Effect.Effect<A, ServiceError | Unanswered>
  /** What an unanswered attempt left, if it left anything. Absent: there is no way to know, and one such attempt is the last. */
  readonly find?: Effect.Effect<A | undefined, ServiceError>
  readonly retry: Retry
}): Effect.Effect<A, ServiceError | Unanswered> =>
  Effect.suspend(() => {
    const { find, retry, send } = write
    let open: Unanswered | undefined
    return Effect.suspend(() => open === undefined || find === undefined ? Effect.undefined : find).pipe(
      Effect.flatMap((found) => found === undefined ? send : Effect.succeed(found)),
      Effect.map(Result.succeed),
      Effect.catchTag("Unanswered", (unanswered) => {
        open = unanswered
        if (find === undefined) return Effect.succeed(Result.fail(unanswered))
        // Looking may help, whatever it was.
        return Effect.fail(
          unanswered.error.retryable ? unanswered.error : new ServiceError({ code: "UNKNOWN", message: unanswered.error.message })
        )
      }),
      retry,
      Effect.catch((error) => open === undefined ? Effect.fail(error) : Effect.succeed(Result.fail(open))),
      Effect.flatMap(Effect.fromResult)
    )
  })

/** The error of a write that may have been done all the same. `UNKNOWN`, so that nobody takes it for one that was not. */
export const inDoubt = (error: ServiceError, whether: string, look: string): ServiceError =>
  new ServiceError({
    code: "UNKNOWN",
    message: `${error.message}; it is not known whether ${whether}`,
    fix: `look before trying again: ${look}`
  })
