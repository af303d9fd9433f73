import { Effect, Option, Stream } from "effect"
import { ServiceError } from "../../src/domain/Errors.ts"
import { type Message, Messages } from "./Answers.ts"
import type { Failure, SlackApi } from "./SlackApi.ts"
import { microsOf, type Range, tsOf } from "./Timestamps.ts"

/** What Slack recommends at most. */
const pageSize = "200"

interface At {
  readonly cursor?: string
  /** What the cursor was asked with: it holds for no other question. */
  readonly until: number
  /** The oldest moment seen. */
  readonly seen: number
}

/**
 * A channel's messages within a range, newest first, a page at a time. A cursor that Slack no longer knows is done
 * without: the rest is what is older than the last message seen.
 */
export const history = (api: SlackApi, channel: string, { from, until }: Range): Stream.Stream<ReadonlyArray<Message>, Failure> => {
  const ask = ({ cursor, until }: Omit<At, "seen">) =>
    api.call("conversations.history", channel, {
      channel,
      limit: pageSize,
      inclusive: "true",
      oldest: tsOf(from),
      latest: before(until),
      cursor
    }, Messages)

  return Stream.paginate<At, ReadonlyArray<Message>, Failure>({ until, seen: until }, (at) =>
    Effect.gen(function*() {
      const page = yield* ask(at).pipe(
        Effect.map((answer) => ({ ...answer, until: at.until, asked: at.cursor })),
        Effect.catchIf(
          (error) => at.cursor !== undefined && error._tag === "ServiceError" && error.reason === "invalid_cursor",
          () => Effect.map(ask({ until: at.seen }), (answer) => ({ ...answer, until: at.seen, asked: undefined }))
        )
      )
      const messages = page.messages.filter(({ ts }) => microsOf(ts) >= from && microsOf(ts) < at.seen)
      const cursor = page.response_metadata?.next_cursor ?? ""
      const seen = messages.reduce((least, { ts }) => Math.min(least, microsOf(ts)), at.seen)
      if (cursor !== "" && cursor === page.asked) return yield* circles("history", channel)
      if (cursor !== "") return [[messages], Option.some<At>({ cursor, until: page.until, seen })] as const
      return [[messages], page.has_more === true && seen < at.seen ? Option.some<At>({ until: seen, seen }) : Option.none<At>()] as const
    }))
}

/** A thread's messages before a moment, its first and then the replies, oldest first. */
export const thread = (api: SlackApi, channel: string, ts: string, until: number): Stream.Stream<Message, Failure> =>
  Stream.paginate<string | undefined, Message, Failure>(undefined, (cursor) =>
    api.call("conversations.replies", `${channel}/${ts}`, {
      channel,
      ts,
      limit: pageSize,
      inclusive: "true",
      latest: before(until),
      cursor
    }, Messages).pipe(Effect.flatMap(({ messages, response_metadata }) => {
      const next = response_metadata?.next_cursor ?? ""
      if (next !== "" && next === cursor) return Effect.fail(circles("thread", `${channel}/${ts}`))
      // Slack may put the first message on every page.
      const fresh = messages.filter((message) => microsOf(message.ts) < until && (cursor === undefined || message.ts !== ts))
      return Effect.succeed([fresh, next === "" ? Option.none() : Option.some<string | undefined>(next)] as const)
    })))

/** `latest` as Slack wants it, which counts it in. */
const before = (until: number): string | undefined => until === Infinity ? undefined : tsOf(until - 1)

const circles = (noun: string, what: string): ServiceError => ServiceError.internal(`the ${noun} of ${what} goes round in circles`)
