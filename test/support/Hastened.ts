import { Clock, Duration, Effect, Layer } from "effect"

/** Factor by which waits are shortened. */
const times = 100

/** A clock whose waits, such as those between retries, take a hundredth of their time. The time of day is unchanged. */
export const hastened = Layer.effect(
  Clock.Clock,
  Effect.gen(function*() {
    const clock = yield* Clock.Clock
    const sleep: Clock.Clock["sleep"] = (duration) => clock.sleep(Duration.divideUnsafe(duration, times))
    return Object.assign(Object.create(clock), { sleep })
  })
)
