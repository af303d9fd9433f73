import { Effect, Exit, Option, Scope, Sink, Stream } from "effect"

/**
 * Waits for a stream's first element, and returns the whole stream. A failure before the first element fails the effect, so
 * that it can still be answered with a status. The caller must run the returned stream.
 */
export const awaitFirst = <A, E>(stream: Stream.Stream<A, E>): Effect.Effect<Stream.Stream<A, E>, E> =>
  Effect.gen(function*() {
    const scope = yield* Scope.make()
    const [first, rest] = yield* Stream.peel(stream, Sink.head<A>()).pipe(
      Scope.provide(scope),
      Effect.onExit((exit) => (Exit.isSuccess(exit) ? Effect.void : Scope.close(scope, exit)))
    )
    return Stream.concat(Stream.fromIterable(Option.toArray(first)), rest).pipe(Stream.onExit((exit) => Scope.close(scope, exit)))
  })
