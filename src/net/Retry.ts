import { Duration, Effect, Schedule } from "effect"
import type { ServiceError } from "../domain/Errors.ts"
import { budgetSpent } from "../ports/EmbeddingBudget.ts"

/** How often and how long a call that may succeed later is tried again. */
export interface RetryOptions {
  /** Attempts after the first. Default 5. */
  readonly times?: number
  /** Milliseconds before the first retry, doubled each time. Default 500. */
  readonly baseMs?: number
  /** Most milliseconds between attempts of our own accord. Default 30,000. */
  readonly capMs?: number
  /** Most milliseconds waited because the service asked; when it asks for more, its error is the answer. Default 120,000. */
  readonly maxRetryAfterMs?: number
}

/** A quota that waiting does not refill; the last is a run's own. */
const hopeless = new Set<string>(["insufficient_quota", "billing_hard_limit_reached", budgetSpent])

/**
 * Tries again what may succeed later: exponential, capped, jittered, bounded. What the service asks for
 * (`retryAfter`) wins over our own delay.
 */
export const retry = (options: RetryOptions = {}) => {
  const { times = 5, baseMs = 500, capMs = 30_000, maxRetryAfterMs = 120_000 } = options
  const schedule = Schedule.min([Schedule.exponential(Duration.millis(baseMs)), Schedule.spaced(Duration.millis(capMs))]).pipe(
    Schedule.jittered,
    Schedule.upTo({ times }),
    Schedule.setInputType<ServiceError>(),
    Schedule.while(({ input }) => input.retryable && !hopeless.has(input.reason ?? "") && (input.retryAfter ?? 0) <= maxRetryAfterMs),
    Schedule.modifyDelay(({ input, duration }) =>
      Effect.succeed(input.retryAfter === undefined ? duration : Duration.millis(input.retryAfter))
    )
  )
  return <A, R>(effect: Effect.Effect<A, ServiceError, R>): Effect.Effect<A, ServiceError, R> => Effect.retry(effect, schedule)
}
