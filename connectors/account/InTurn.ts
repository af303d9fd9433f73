import { Effect } from "effect"
import type { ServiceError } from "../../src/domain/Errors.ts"
import { RateLimit } from "../../src/net/RateLimit.ts"
import { retry, type RetryOptions } from "../../src/net/Retry.ts"

export interface Turns {
  /** Whose limits these are: all calls of one account wait together. */
  readonly account: string
  readonly requestsPerMinute: number
  readonly retry: RetryOptions | undefined
}

/** Milliseconds an account rests after a limit that does not say how long. */
const restMs = 1000
/** A turn for each attempt, tried again where that helps; when one is told to wait, all of the account wait. */
export const inTurn = ({ account, requestsPerMinute, retry: options = {} }: Turns) => {
  const { baseMs = restMs, maxRetryAfterMs = 120_000 } = options
  return <A>(attempt: Effect.Effect<A, ServiceError>): Effect.Effect<A, ServiceError> =>
    Effect.gen(function*() {
      const limits = yield* RateLimit
      yield* limits.take(account, requestsPerMinute)
      return yield* Effect.tapError(attempt, (error) => {
        const { retryAfter = baseMs } = error
        // Longer waits are the answer to the caller, not something to sit out.
        return isLimit(error) && retryAfter <= maxRetryAfterMs ? limits.pause(account, retryAfter) : Effect.void
      })
    }).pipe(retry(options))
}

const isLimit = ({ code, retryAfter }: ServiceError): boolean =>
  code === "RESOURCE_EXHAUSTED" || (code === "UNAVAILABLE" && retryAfter !== undefined)
