import { Effect, Result } from "effect"
import { ServiceError } from "../../domain/Errors.ts"
import type { Unanswered } from "./Unanswered.ts"

type Retry = <A>(effect: Effect.Effect<A, ServiceError>) => Effect.Effect<A, ServiceError>

/**
 * Makes a write that must not be made twice. It is retried where the service certainly did not do it. After an attempt without an answer,
 * `find` checks whether the service did it, and it is sent again only if not. Fails with `Unanswered` where that remains unknown.
 */
export const idempotentWrite = <A>(write: {
  readonly send: Effect.Effect<A, ServiceError | Unanswered>
  /** What an unanswered attempt created, if anything. If absent, there is no way to know, and an unanswered attempt is the last one. */
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
        // Searching again may help, whatever failed.
        return Effect.fail(
          unanswered.error.retryable ? unanswered.error : new ServiceError({ code: "UNKNOWN", message: unanswered.error.message })
        )
      }),
      retry,
      Effect.catch((error) => open === undefined ? Effect.fail(error) : Effect.succeed(Result.fail(open))),
      Effect.flatMap(Effect.fromResult)
    )
  })

/** The error for a write that may have been made. Its code is `UNKNOWN`, so that it is not taken for one that was not made. */
export const inDoubt = (error: ServiceError, whether: string, look: string): ServiceError =>
  new ServiceError({
    code: "UNKNOWN",
    message: `${error.message}; it is not known whether ${whether}`,
    fix: `look before trying again: ${look}`
  })
