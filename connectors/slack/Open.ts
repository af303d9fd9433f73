import { Effect, Stream } from "effect"
import type { HttpClient } from "effect/http"
import { ServiceError } from "../../src/domain/Errors.ts"
import type { SettingsOf } from "../../src/domain/sources/BuiltInSources.ts"
import { discard, download } from "../../src/net/Download.ts"
import { processHttp } from "../../src/net/ProcessHttp.ts"
import type { RetryOptions } from "../../src/net/Retry.ts"
import type { Connector } from "../../src/ports/Connector.ts"
import type { Secrets } from "../../src/ports/Secrets.ts"
import { channelTitle, type Directory, makeDirectory } from "./Directory.ts"
import {
  addressOf,
  dayMicros,
  dayTitle,
  digestible,
  idsIn,
  intersect,
  isCanvas,
  isSaid,
  microsOfTime,
  type Place,
  placeOf,
  placeOfPath,
  renderMessages,
  startOfDay,
  threadTitle
} from "./Documents.ts"
import { type Channel, history, listing, thread } from "./Listing.ts"
import { type Failure, FileInfo, type Message, Messages, slackApi, type SlackApi, UserList } from "./SlackApi.ts"

/** Dependencies of the connector. */
export interface SlackContext {
  readonly secrets: Secrets["Service"]
  /** Default: one for the process, as `src/net/Http.ts` makes it. */
  readonly http?: HttpClient.HttpClient
  readonly retry?: RetryOptions
}

/** The implementation of `slack`, loaded when it is first connected. */
export const open = (config: SettingsOf<"slack">, context: SlackContext): Omit<Connector, "kind"> => {
  const prepared = Effect.runSync(Effect.cached(Effect.gen(function*() {
    const channels = yield* channelsOf(config)
    const http = context.http ?? (yield* processHttp)
    const caller = { http, ...(context.retry === undefined ? {} : { retry: context.retry }) }
    const api = yield* slackApi(caller, context.secrets, config.token, config.endpoint)
    return { api, channels, directory: yield* makeDirectory(api) }
  })))
  return {
    check: Effect.flatMap(
      prepared,
      Effect.fn("slack.check")(function*({ api, channels, directory }) {
        yield* directory.workspace
        yield* api.call("users.list", "", { limit: "1" }, UserList)
        yield* Effect.forEach(channels, ({ id }) =>
          Effect.andThen(
            directory.channel(id),
            api.call("conversations.history", id, { channel: id, limit: "1" }, Messages)
          ), { discard: true })
      })
    ),
    list: (cursor) => Stream.unwrap(Effect.map(prepared, ({ api, channels, directory }) => listing(api, directory, channels, cursor))),
    read: (item, maxBytes) =>
      Stream.unwrap(Effect.flatMap(prepared, ({ api, channels, directory }) => {
        const place = placeOfPath(item.path)
        const channel = channels.find(({ id }) => id === place?.channel)
        return place === undefined || channel === undefined
          ? Effect.fail(ServiceError.notFound(item.path, "it is no longer among the source's channels"))
          : Effect.succeed(readPlace(api, directory, channel, place, maxBytes))
      }))
  }
}

const channelsOf = Effect.fnUntraced(function*({ channels }: SettingsOf<"slack">): Effect.fn.Return<ReadonlyArray<Channel>, ServiceError> {
  if (channels.length === 0) return yield* ServiceError.invalid("channels", "needs at least one channel")
  const ids = new Set<string>()
  return yield* Effect.forEach(channels, ({ end, id, start }, index) => {
    const field = `channels[${index}]`
    const range = { from: start === undefined ? 0 : microsOfTime(start), until: end === undefined ? Infinity : microsOfTime(end) }
    if (!/^[A-Z0-9]+$/.test(id)) return Effect.fail(ServiceError.invalid(`${field}.id`, "must be a channel's id, such as C012AB3CD"))
    if (ids.has(id)) {
      return Effect.fail(ServiceError.invalid(`${field}.id`, `${id} is given twice`, "give each channel once, with one start and one end"))
    }
    if (!(range.from < range.until)) return Effect.fail(ServiceError.invalid(`${field}.end`, "must be an RFC 3339 time later than start"))
    ids.add(id)
    return Effect.succeed({ id, range })
  })
})

/** What cannot be read was named when it was listed. */
const named = (): void => {}

/**
 * The content of an item in its current state: a busy channel would never stay as it was listed, and the next listing will have its new
 * revision.
 */
const readPlace = (
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
      ? yield* bounded(Stream.filter(thread(api, id, place.ts, range.until, named), isSaid), what, maxBytes)
      : yield* bounded(
        history(api, id, intersect(range, { from: startOfDay(place.day), until: startOfDay(place.day) + dayMicros }), named).pipe(
          Stream.flatMap(Stream.fromIterable),
          Stream.filter((message) => placeOf(message, range) === "day")
        ),
        what,
        maxBytes
      )
    const first = messages[0]
    if (first === undefined) return yield* ServiceError.notFound(what, "its messages were deleted")
    const ids = idsIn(messages)
    const names = yield* directory.names({ ...ids, channels: ids.channels.add(id) })
    const name = channelTitle(id, names.channel(id))
    const [title, ordered] = place._tag === "thread"
      ? [threadTitle(name, first), messages] as const
      : [dayTitle(name, place.day), messages.toReversed()] as const
    const bytes = new TextEncoder().encode(renderMessages(title, ordered, names))
    return bytes.length > maxBytes ? yield* tooLarge(what, maxBytes) : bytes
  }))
}

/** Passes messages on until they are larger than the document may be. */
const bounded = (
  messages: Stream.Stream<Message, Failure>,
  what: string,
  maxBytes: number
): Effect.Effect<ReadonlyArray<Message>, Failure> => {
  let size = 0
  return Stream.runCollect(Stream.mapEffect(messages, (message): Effect.Effect<Message, ServiceError> => {
    // A digest contains what a rendering shows; names and markup may make it longer, which is checked at the end.
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
          // Without the scope, Slack sends its login page instead of the file.
          /^text\/html\b/i.test(response.headers["content-type"] ?? "") && !isCanvas(file) && !/html/i.test(`${file.mimetype} ${file.name}`)
            ? Effect.andThen(
              discard(response),
              Effect.fail(
                new ServiceError({
                  code: "PERMISSION_DENIED",
                  message: `${what} answers with a login page`,
                  fix: "add the scope files:read to the app and install it again"
                })
              )
            )
            : Effect.succeed(response))
    })
  }))
