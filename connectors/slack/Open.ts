import { Effect, Stream } from "effect"
import { ServiceError } from "../../src/domain/Errors.ts"
import { processHttp } from "../../src/net/ProcessHttp.ts"
import type { Connector } from "../../src/ports/Connector.ts"
import { Messages, UserList } from "./Answers.ts"
import type { Channel } from "./Channel.ts"
import { makeDirectory } from "./Directory.ts"
import { placeOfPath } from "./Documents.ts"
import { listing } from "./Listing.ts"
import { readPlace } from "./Reading.ts"
import { slackApi } from "./SlackApi.ts"
import type { SlackConfig, SlackContext } from "./SlackConfig.ts"
import { microsOfTime } from "./Timestamps.ts"

/** The connector behind `slack`, with everything that it loads. */
export const open = (config: SlackConfig, context: SlackContext): Omit<Connector, "kind"> => {
  const prepared = Effect.runSync(Effect.cached(Effect.gen(function*() {
    const channels = yield* channelsOf(config)
    const http = context.http ?? (yield* processHttp)
    const caller = { http, ...(context.retry === undefined ? {} : { retry: context.retry }) }
    const api = yield* slackApi(caller, context.secrets, config.token, config.endpoint)
    return { api, channels, directory: yield* makeDirectory(api) }
  })))
  return {
    check: Effect.flatMap(prepared, Effect.fn("slack.check")(function*({ api, channels, directory }) {
      yield* directory.workspace
      yield* api.call("users.list", "", { limit: "1" }, UserList)
      yield* Effect.forEach(channels, ({ id }) =>
        Effect.andThen(
          directory.channel(id),
          api.call("conversations.history", id, { channel: id, limit: "1" }, Messages)
        ), { discard: true })
    })),
    list: (cursor) => Stream.unwrap(Effect.map(prepared, ({ api, channels, directory }) => listing(api, directory, channels, cursor))),
    read: (item, maxBytes) =>
      Stream.unwrap(Effect.flatMap(prepared, ({ api, channels, directory }) => {
        const place = placeOfPath(item.path)
        const channel = channels.find(({ id }) => id === place?.channel)
        return place === undefined || channel === undefined
          ? Effect.fail(ServiceError.notFound(item.path, "It is no longer among the source's channels."))
          : Effect.succeed(readPlace(api, directory, channel, place, maxBytes))
      }))
  }
}

const channelsOf = Effect.fnUntraced(function*({ channels }: SlackConfig): Effect.fn.Return<ReadonlyArray<Channel>, ServiceError> {
  if (channels.length === 0) return yield* ServiceError.invalid("channels", "needs at least one channel")
  const ids = new Set<string>()
  return yield* Effect.forEach(channels, ({ end, id, start }, index) => {
    const field = `channels[${index}]`
    const range = { from: start === undefined ? 0 : microsOfTime(start), until: end === undefined ? Infinity : microsOfTime(end) }
    if (!/^[A-Z0-9]+$/.test(id)) return Effect.fail(ServiceError.invalid(`${field}.id`, "must be a channel's id, such as C012AB3CD"))
    if (ids.has(id)) return Effect.fail(ServiceError.invalid(`${field}.id`, `${id} is given twice`, "Give each channel once, with one start and one end."))
    if (!(range.from < range.until)) return Effect.fail(ServiceError.invalid(`${field}.end`, "must be an RFC 3339 time later than start"))
    ids.add(id)
    return Effect.succeed({ id, range })
  })
})
