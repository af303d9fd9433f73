import { Effect, Stream } from "effect"
import { ServiceError } from "../../src/domain/Errors.ts"
import { discard, download } from "../../src/net/Download.ts"
import { FileInfo, type Message } from "./Answers.ts"
import type { Channel } from "./Channel.ts"
import { channelTitle, type Directory } from "./Directory.ts"
import { dayTitle, type Place, threadTitle } from "./Documents.ts"
import { addressOf, isCanvas } from "./Files.ts"
import { history, thread } from "./History.ts"
import { idsIn, renderMessages } from "./Render.ts"
import { digestible, isSaid, placeOf } from "./Said.ts"
import type { Failure, SlackApi } from "./SlackApi.ts"
import { dayMicros, intersect, startOfDay } from "./Timestamps.ts"

/**
 * What an item's path names, as it is now: a channel that people talk in would never hold still to be read as it was
 * listed, and the next listing has its new revision.
 */
export const readPlace = (
  api: SlackApi,
  directory: Directory,
  { id, range }: Channel,
  place: Place,
  maxBytes: number
): Stream.Stream<Uint8Array, Failure> => {
  if (place._tag === "file") return readFile(api, place.id, maxBytes)
  const what = place._tag === "day" ? `${id}/${place.day}` : `${id}/threads/${place.ts}`
  return Stream.fromEffect(Effect.gen(function*() {
    const messages = place._tag === "thread"
      ? yield* bounded(Stream.filter(thread(api, id, place.ts, range.until), isSaid), what, maxBytes)
      : yield* bounded(
        history(api, id, intersect(range, { from: startOfDay(place.day), until: startOfDay(place.day) + dayMicros })).pipe(
          Stream.flatMap(Stream.fromIterable),
          Stream.filter((message) => placeOf(message, range) === "day")
        ),
        what,
        maxBytes
      )
    const first = messages[0]
    if (first === undefined) return yield* ServiceError.notFound(what, "Its messages were deleted.")
    const ids = idsIn(messages)
    const names = yield* directory.names({ users: ids.users, channels: ids.channels.add(id) })
    const name = channelTitle(id, names.channel(id))
    const [title, ordered] = place._tag === "thread"
      ? [threadTitle(name, first), messages] as const
      : [dayTitle(name, place.day), messages.toReversed()] as const
    const bytes = new TextEncoder().encode(renderMessages(title, ordered, names))
    return bytes.length > maxBytes ? yield* tooLarge(what, maxBytes) : bytes
  }))
}

/** Messages that are no larger than what may come of them. */
const bounded = (messages: Stream.Stream<Message, Failure>, what: string, maxBytes: number): Effect.Effect<ReadonlyArray<Message>, Failure> => {
  let size = 0
  return Stream.runCollect(Stream.mapEffect(messages, (message): Effect.Effect<Message, ServiceError> => {
    // A digest holds what a rendering shows; names and markup may come to more, which is checked in the end.
    size += digestible(message).length
    return size > 4 * maxBytes ? Effect.fail(tooLarge(what, maxBytes)) : Effect.succeed(message)
  }))
}

const tooLarge = (what: string, maxBytes: number): ServiceError =>
  new ServiceError({ code: "OUT_OF_RANGE", message: `${what} is larger than ${maxBytes} bytes` })

const readFile = (api: SlackApi, id: string, maxBytes: number): Stream.Stream<Uint8Array, Failure> =>
  Stream.unwrap(Effect.gen(function*() {
    const { file } = yield* api.call("files.info", id, { file: id }, FileInfo)
    const what = `the file ${id}`
    const url = addressOf(file)
    if (file.mode === "tombstone" || url === undefined) return yield* ServiceError.notFound(what)
    if (file.is_external === true || !api.owns(url)) {
      return yield* new ServiceError({ code: "PERMISSION_DENIED", message: `${what} is kept outside Slack, where the token is not sent` })
    }
    const fetch = yield* api.fetch
    return download({
      what,
      maxBytes,
      open: (offset) =>
        Effect.flatMap(fetch(url, what, offset), (response) =>
          // Without the scope Slack sends the page of its login in place of the file.
          /^text\/html\b/i.test(response.headers["content-type"] ?? "") && !isCanvas(file) && !/html/i.test(`${file.mimetype} ${file.name}`)
            ? Effect.andThen(discard(response), Effect.fail(new ServiceError({
              code: "PERMISSION_DENIED",
              message: `${what} answers with a login page`,
              fix: "Add the scope files:read to the app and install it again."
            })))
            : Effect.succeed(response))
    })
  }))
