import { Clock, Effect, Option, Result, Schema, Stream } from "effect"
import { hash } from "node:crypto"
import { ServiceError } from "../../src/domain/Errors.ts"
import type { Listed } from "../../src/ports/Connector.ts"
import type { Directory } from "./Directory.ts"
import {
  dayMicros,
  dayOf,
  dayTitle,
  type Digest,
  isSaid,
  itemOf,
  listedFile,
  makeDigest,
  microsOf,
  permalink,
  placeOf,
  type Range,
  startOfDay,
  threadTitle,
  tsOf
} from "./Documents.ts"
import { type Failure, type File, Message, Messages, type SlackApi } from "./SlackApi.ts"

/** Is told the `ts` of a message that Slack returned in a form that is not known. */
type OnOdd = (ts: string) => void

/** Days that Slack shows of a channel in a workspace of its free plan. */
const shownDays = 90

const decodeMessage = Schema.decodeUnknownResult(Message)

const readable = (messages: typeof Messages.Type["messages"], onOdd: OnOdd): ReadonlyArray<Message> =>
  messages.flatMap((raw) => {
    const decoded = decodeMessage(raw)
    if (Result.isSuccess(decoded)) return [decoded.success]
    onOdd(raw.ts)
    return []
  })

/** The most that Slack recommends. */
const pageSize = "200"

interface At {
  readonly cursor?: string
  /** End of the range that the cursor was made with; it is valid for no other query. */
  readonly until: number
  /** The time of the oldest message seen. */
  readonly seen: number
}

/**
 * A channel's messages within a range, newest first, a page at a time. If Slack no longer knows a cursor, the listing continues without it,
 * from the oldest message seen. `onLimited` is called where the workspace's plan hides messages of the channel.
 */
export const history = (
  api: SlackApi,
  channel: string,
  { from, until }: Range,
  onOdd: OnOdd,
  onLimited: () => void = () => {}
): Stream.Stream<ReadonlyArray<Message>, Failure> => {
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
      if (page.is_limited === true) onLimited()
      const messages = readable(page.messages, onOdd).filter(({ ts }) => microsOf(ts) >= from && microsOf(ts) < at.seen)
      const cursor = page.response_metadata?.next_cursor ?? ""
      const seen = messages.reduce((least, { ts }) => Math.min(least, microsOf(ts)), at.seen)
      if (cursor !== "" && cursor === page.asked) return yield* circles("history", channel)
      if (cursor !== "") return [[messages], Option.some<At>({ cursor, until: page.until, seen })] as const
      return [[messages], page.has_more === true && seen < at.seen ? Option.some<At>({ until: seen, seen }) : Option.none<At>()] as const
    }))
}

/** A thread's messages before a time, the first message and then the replies, oldest first. */
export const thread = (api: SlackApi, channel: string, ts: string, until: number, onOdd: OnOdd): Stream.Stream<Message, Failure> =>
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
      // Slack may repeat the first message on every page.
      const fresh = readable(messages, onOdd).filter((message) =>
        microsOf(message.ts) < until && (cursor === undefined || message.ts !== ts)
      )
      return Effect.succeed([fresh, next === "" ? Option.none() : Option.some<string | undefined>(next)] as const)
    })))

/** `latest` for Slack, which includes it in the range. */
const before = (until: number): string | undefined => until === Infinity ? undefined : tsOf(until - 1)

const circles = (noun: string, what: string): ServiceError => ServiceError.internal(`the ${noun} of ${what} goes round in circles`)

/** A configured channel. */
export interface Channel {
  readonly id: string
  readonly range: Range
}

/** Some days of a channel. */
interface Days {
  readonly events: ReadonlyArray<Listed>
  /** The end of the days: everything from this time on has been listed. */
  readonly until: number
}

/** Most threads read at the same time. */
const concurrency = 4

/** A day whose messages are still arriving, newest first. */
interface Day {
  readonly day: string
  readonly said: Digest
  readonly threads: Array<string>
  readonly files: Array<File>
}

/**
 * Lists a channel, day by day, back from `until`; `failure` turns a thread's error into events. A file that was shared several times is
 * listed once.
 */
const listChannel = (
  api: SlackApi,
  directory: Directory,
  { id, range }: Channel,
  until: number | undefined,
  failure: (path: string) => (error: Failure) => Effect.Effect<ReadonlyArray<Listed>, Failure>
): Stream.Stream<Days, Failure> =>
  Stream.unwrap(Effect.gen(function*() {
    const { url } = yield* directory.workspace
    const channel = yield* directory.channel(id)
    const filesSeen = new Set<string>()
    const odd = new Set<string>()
    const onOdd: OnOdd = (ts) => void odd.add(ts)
    let current: Day | undefined

    /** The days that these messages complete. */
    const ended = (messages: ReadonlyArray<Message>): ReadonlyArray<Day> => {
      const days: Array<Day> = []
      for (const message of messages) {
        const day = dayOf(microsOf(message.ts))
        if (current?.day !== day) {
          if (current !== undefined) days.push(current)
          current = { day, said: makeDigest(), threads: [], files: [] }
        }
        const place = placeOf(message, range)
        if (place === "thread") current.threads.push(message.ts)
        if (place === "day") {
          current.said.add(message)
          current.files.push(...message.files ?? [])
        }
      }
      return days
    }

    const fileEvents = Effect.fnUntraced(function*(files: ReadonlyArray<File>): Effect.fn.Return<ReadonlyArray<Listed>, Failure> {
      const events: Array<Listed> = []
      for (const file of files) {
        if (filesSeen.has(file.id)) continue
        filesSeen.add(file.id)
        const author = typeof file.user === "string" ? yield* directory.userName(file.user) : undefined
        const listed = listedFile(file, channel, author, api.owns)
        if (listed !== undefined) events.push(listed)
      }
      return events
    })

    const threadEvents = Effect.fnUntraced(function*(ts: string): Effect.fn.Return<ReadonlyArray<Listed>, Failure> {
      const { digest, files } = yield* digestOf(thread(api, id, ts, range.until, onOdd))
      const first = digest.first()
      if (first === undefined) return []
      const item = itemOf(digest, {
        channel,
        path: `${id}/threads/${ts}`,
        title: threadTitle(channel.name, first),
        uri: permalink(url, id, ts),
        metadata: { threadTs: ts, ...(typeof first.user === "string" ? { author: yield* directory.userName(first.user) } : {}) }
      })
      return [{ _tag: "item", item }, ...yield* fileEvents(files)]
    })

    const dayEvents = Effect.fnUntraced(function*({ day, files, said }: Day): Effect.fn.Return<ReadonlyArray<Listed>, Failure> {
      const first = said.first()
      if (first === undefined) return []
      const title = dayTitle(channel.name, day)
      const item = itemOf(said, { channel, path: `${id}/${day}`, title, uri: permalink(url, id, first.ts), metadata: {} })
      return [{ _tag: "item", item }, ...yield* fileEvents(files)]
    })

    const oddEvents = Effect.suspend(() => {
      const unread = [...odd]
      odd.clear()
      return Effect.forEach(
        unread,
        (ts) => failure(`${id}/${ts}`)(new ServiceError({ code: "DATA_LOSS", message: `Slack returned ${ts} of ${id} in an unknown form` }))
      )
    }).pipe(Effect.map((events) => events.flat()))

    const close = Effect.fnUntraced(function*(days: ReadonlyArray<Day>) {
      const said = yield* Effect.forEach(days, dayEvents)
      const threads = yield* Effect.forEach(
        days.flatMap((day) => day.threads),
        (ts) =>
          threadEvents(ts).pipe(
            Effect.catchIf(isGone, () => Effect.succeed<ReadonlyArray<Listed>>([])),
            Effect.catch(failure(`${id}/threads/${ts}`))
          ),
        { concurrency }
      )
      return { events: [...said.flat(), ...threads.flat(), ...yield* oddEvents], until: startOfDay(days.at(-1)?.day ?? "") }
    })

    const left = { from: range.from, until: Math.min(range.until, until ?? Infinity) }
    /** Messages before this time may be hidden. */
    const shownFrom = (yield* Clock.currentTimeMillis) * 1000 - shownDays * dayMicros
    let limited = false
    const isLimited = () => limited && range.from < shownFrom

    const isCut = (day: string) => isLimited() && startOfDay(day) < shownFrom

    /** The last day. Where some of its messages may be hidden, only its threads: of the rest, more may be stored than is shown now. */
    const last = (): ReadonlyArray<Day> => current === undefined ? [] : [isCut(current.day) ? { ...current, said: makeDigest() } : current]

    const hiddenEvents = (): ReadonlyArray<Listed> => {
      if (!isLimited()) return []
      if (current === undefined) return hiddenBefore(id, Math.min(left.until, shownFrom))
      return hiddenBefore(id, startOfDay(current.day) + (isCut(current.day) ? dayMicros : 0))
    }

    return left.until <= left.from ? Stream.empty : history(api, id, left, onOdd, () => {
      limited = true
    }).pipe(
      Stream.map(ended),
      Stream.concat(Stream.sync(last)),
      Stream.filter((days) => days.length > 0),
      Stream.mapEffect(close),
      // Where no message could be read, no day was closed.
      Stream.concat(
        Stream.fromEffect(Effect.map(oddEvents, (events): Days => ({ events: [...events, ...hiddenEvents()], until: left.from })))
      )
    )
  }))

/** What a channel has from before a time, up to the end of its UTC day: a file's path does not say when it was shared. */
const hiddenBefore = (id: string, time: number): ReadonlyArray<Listed> => {
  const end = Math.ceil(time / dayMicros) * dayMicros
  const hidden = (path: string, what: string, before?: string): Listed => ({
    _tag: "skipped",
    path: `${id}/${path}`,
    reason: "hidden",
    detail: `${what} before ${dayOf(end)} are hidden by the workspace's plan; what is stored of them stays`,
    ...(before === undefined ? {} : { before: `${id}/${before}` })
  })
  return [
    hidden("", "messages", dayOf(end)),
    hidden("threads/", "threads that began", `threads/${tsOf(end)}`),
    hidden("files/", "files shared")
  ]
}

const digestOf = (messages: Stream.Stream<Message, Failure>) =>
  Stream.runFold(messages, () => ({ digest: makeDigest(), files: new Array<File>() }), (sum, message) => {
    if (isSaid(message)) {
      sum.digest.add(message)
      sum.files.push(...message.files ?? [])
    }
    return sum
  })

/** Whether the thread was deleted after its page was read. */
const isGone = (error: Failure): boolean => error._tag === "ServiceError" && error.reason === "thread_not_found"

/** How far a listing has come: the channel, and the time from which on everything in it was listed. */
const Cursor = Schema.Struct({
  of: Schema.String,
  at: Schema.Int.check(Schema.isGreaterThanOrEqualTo(0)),
  until: Schema.optionalKey(Schema.Finite),
  /** Whether something could not be listed, so that the listing will not be complete. */
  failed: Schema.Boolean
})
const decodeCursor = Schema.decodeUnknownEffect(Schema.fromJsonString(Cursor))

/** Every channel in turn, newest first. */
export const listing = (
  api: SlackApi,
  directory: Directory,
  channels: ReadonlyArray<Channel>,
  cursor: string | undefined
): Stream.Stream<Listed, Failure> =>
  Stream.unwrap(Effect.gen(function*() {
    const of = hash("sha256", JSON.stringify(channels)).slice(0, 16)
    const start = cursor === undefined ? { of, at: 0, failed: false } : yield* decodeCursor(cursor).pipe(
      Effect.filterOrFail((decoded) => decoded.of === of),
      Effect.mapError(() => ServiceError.invalid("cursor", "is not from a listing of these channels", "list from the start"))
    )
    let failed = start.failed
    const failure = (path: string) => (error: Failure): Effect.Effect<ReadonlyArray<Listed>, Failure> => {
      if (error._tag === "SecretError" || error.code === "UNAUTHENTICATED") return Effect.fail(error)
      failed = true
      return Effect.succeed([{ _tag: "failed", path, error }])
    }
    const checkpoint = (at: number, until?: number): Listed => ({
      _tag: "checkpoint",
      cursor: JSON.stringify({ of, at, ...(until === undefined ? {} : { until }), failed })
    })

    return Stream.fromIterable(channels.entries()).pipe(
      Stream.drop(start.at),
      Stream.flatMap(([at, channel]) =>
        listChannel(api, directory, channel, at === start.at ? start.until : undefined, failure).pipe(
          Stream.map(({ events, until }): ReadonlyArray<Listed> => [...events, checkpoint(at, until)]),
          Stream.catch((error) => Stream.fromEffect(failure(channel.id)(error))),
          Stream.concat(Stream.sync(() => [checkpoint(at + 1)]))
        )
      ),
      Stream.flatMap(Stream.fromIterable),
      Stream.concat(Stream.suspend(() => failed ? Stream.empty : Stream.succeed<Listed>({ _tag: "complete" })))
    )
  }))
