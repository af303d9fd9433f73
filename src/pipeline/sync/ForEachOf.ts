import { Effect, Pull, Semaphore, Stream } from "effect"

/**
 * Runs an effect for every element of a stream, `concurrency` at a time, in no particular order. The elements are shared
 * by that number of fibers: `Stream.mapEffect` would fork a fiber for each of them, which for most items takes longer
 * than the item itself.
 */
export const forEachOf = <A, E, E2, R, R2>(
  stream: Stream.Stream<A, E, R>,
  concurrency: number,
  use: (element: A) => Effect.Effect<void, E2, R2>
) =>
  Effect.scoped(Effect.gen(function*() {
    const pull = yield* Stream.toPull(stream)
    const pulling = yield* Semaphore.make(1)
    let here: ReadonlyArray<A> = []
    let at = 0
    let ended = false
    const isDry = () => at === here.length && !ended
    const more = Pull.matchEffect(pull, {
      onSuccess: (elements) => Effect.sync(() => void ([here, at] = [elements, 0])),
      onFailure: Effect.failCause,
      onDone: () => Effect.sync(() => void (ended = true))
    })
    const work: Effect.Effect<void, E | E2, R | R2> = Effect.suspend(() =>
      at < here.length
        ? Effect.andThen(use(here[at++]!), work)
        : ended
        ? Effect.void
        : Effect.andThen(pulling.withPermits(1)(Effect.suspend(() => isDry() ? more : Effect.void)), work)
    )
    yield* more
    if (!ended) yield* Effect.all(Array.from({ length: concurrency }, () => work), { concurrency: "unbounded", discard: true })
  }))
