import { Clock, Duration, Effect, Layer } from "effect"

/** How much shorter. */
const times = 100

/** Waits, such as those between attempts, are a hundredth as long; the time of day is not changed. */
export const hastened = Layer.effect(
  Clock.Clock,
  Effect.gen(function*() {
    const clock = yield* Clock.Clock
    const sleep: Clock.Clock["sleep"] = (duration) => clock.sleep(Duration.divideUnsafe(duration, times))
    return Object.assign(Object.create(clock), { sleep })
  })
)
