import { Effect, Exit, Option, Scope, Sink, Stream } from "effect"

/**
 * Waits for a stream's first element, and gives the whole of it: what fails before that is a failure of the call, which
 * can still be answered with a status. Whoever is given the stream must run it.
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
