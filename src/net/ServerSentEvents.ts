import { Duration, Effect, Stream } from "effect"
import { Sse } from "effect/encoding"
import type { HttpClientResponse } from "effect/http"
import { ServiceError } from "../domain/Errors.ts"
import { transportErrorOf } from "./HttpErrors.ts"

/** Most UTF-16 units of one event. */
const maxEvent = 1024 * 1024

/** The bytes of an answer as they arrive. A silence of `idleMs` milliseconds is a failure; `what` names the call in messages. */
export const bytesOf = (
  what: string,
  response: HttpClientResponse.HttpClientResponse,
  idleMs: number
): Stream.Stream<Uint8Array, ServiceError> =>
  response.stream.pipe(
    Stream.mapError((error) => transportErrorOf(what, error)),
    Stream.timeoutOrElse({
      duration: Duration.millis(idleMs),
      orElse: () => Stream.fail(new ServiceError({ code: "DEADLINE_EXCEEDED", message: `${what} fell silent for ${idleMs} ms` }))
    })
  )

/**
 * The data of each event. `retry:` lines are ignored: they are for clients that reconnect, which makes no sense in the
 * middle of an answer.
 */
export const serverSentEvents = (
  what: string,
  bytes: Stream.Stream<Uint8Array, ServiceError>
): Stream.Stream<string, ServiceError> =>
  Stream.suspend(() => {
    let events: Array<string> = []
    const parser = Sse.makeParser((event) => {
      if (event._tag === "Event") events.push(event.data)
    }, { maxEventSize: maxEvent })
    return Stream.decodeText(bytes).pipe(
      Stream.mapEffect((text) => {
        events = []
        return parser.feed(text) === undefined
          ? Effect.succeed(events)
          : Effect.fail(
            new ServiceError({ code: "FAILED_PRECONDITION", message: `${what} sent an event of more than ${maxEvent} characters` })
          )
      }),
      Stream.flatMap(Stream.fromIterable)
    )
  })
