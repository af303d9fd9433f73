import { Duration, Effect, Schedule } from "effect"
import type { ServiceError } from "../domain/Errors.ts"
import { budgetSpent } from "../ports/EmbeddingBudget.ts"

/** How a call that may succeed later is retried. */
export interface RetryOptions {
  /** Attempts after the first. Default 5. */
  readonly times?: number
  /** Milliseconds before the first retry, doubled each time. Default 500. */
  readonly baseMs?: number
  /** Most milliseconds between attempts, unless the service asks for more. Default 30,000. */
  readonly capMs?: number
  /** Most milliseconds waited at the service's request; when it asks for more, its error is returned. Default 120,000. */
  readonly maxRetryAfterMs?: number
  /** Milliseconds after the first failure from which a call that was not answered in time is not tried again. Default: no bound. */
  readonly unansweredMs?: number
}

/** Reasons of exhausted quotas that waiting does not refill, in lower case; the last is a run's own budget. */
const hopeless = new Set<string>(["insufficient_quota", "billing_hard_limit_reached", budgetSpent.toLowerCase()])

/**
 * Retries calls that may succeed later: exponential, capped, jittered, bounded. The delay that the service requests
 * (`retryAfter`) takes precedence.
 */
export const retry = (options: RetryOptions = {}) => {
  const { times = 5, baseMs = 500, capMs = 30_000, maxRetryAfterMs = 120_000, unansweredMs = Infinity } = options
  const schedule = Schedule.min([Schedule.exponential(Duration.millis(baseMs)), Schedule.spaced(Duration.millis(capMs))]).pipe(
    Schedule.jittered,
    Schedule.upTo({ times }),
    Schedule.setInputType<ServiceError>(),
    Schedule.while(({ input }) =>
      input.retryable && !hopeless.has(input.reason?.toLowerCase() ?? "") && (input.retryAfter ?? 0) <= maxRetryAfterMs
    ),
    Schedule.while(({ elapsed, input }) => input.code !== "DEADLINE_EXCEEDED" || elapsed < unansweredMs),
    Schedule.modifyDelay(({ input, duration }) =>
      Effect.succeed(input.retryAfter === undefined ? duration : Duration.millis(input.retryAfter))
    )
  )
  return <A, R>(effect: Effect.Effect<A, ServiceError, R>): Effect.Effect<A, ServiceError, R> => Effect.retry(effect, schedule)
}
