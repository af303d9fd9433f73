import { Effect, Stream } from "effect"
import type { Listed } from "../../src/ports/Connector.ts"
import type { File, Message } from "./Answers.ts"
import type { Directory } from "./Directory.ts"
import { dayTitle, type Digest, itemOf, makeDigest, permalink, threadTitle } from "./Documents.ts"
import { listedFile } from "./Files.ts"
import { history, thread } from "./History.ts"
import { isSaid, placeOf } from "./Said.ts"
import type { Failure, SlackApi } from "./SlackApi.ts"
import { dayOf, microsOf, type Range, startOfDay } from "./Timestamps.ts"

/** A configured channel. */
export interface Channel {
  readonly id: string
  readonly range: Range
}

/** Some days of a channel. */
export interface Days {
  readonly events: ReadonlyArray<Listed>
  /** Everything from this moment on is listed. */
  readonly until: number
}

/** Threads read at once. */
const concurrency = 4

/** A day as it comes in, newest first. */
interface Day {
  readonly day: string
  readonly said: Digest
  readonly threads: Array<string>
  readonly files: Array<File>
}

/**
 * A channel, day by day, from `until` back; `failure` turns what breaks one thread into events. A file that was
 * shared several times is listed once.
 */
export const listChannel = (
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
    let current: Day | undefined

    /** The days that these messages bring to their end. */
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
      const { digest, files } = yield* digestOf(thread(api, id, ts, range.until))
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
      return { events: [...said.flat(), ...threads.flat()], until: startOfDay(days.at(-1)?.day ?? "") }
    })

    const left = { from: range.from, until: Math.min(range.until, until ?? Infinity) }
    return left.until <= left.from ? Stream.empty : history(api, id, left).pipe(
      Stream.map(ended),
      Stream.concat(Stream.sync(() => current === undefined ? [] : [current])),
      Stream.filter((days) => days.length > 0),
      Stream.mapEffect(close)
    )
  }))

const digestOf = (messages: Stream.Stream<Message, Failure>) =>
  Stream.runFold(messages, () => ({ digest: makeDigest(), files: new Array<File>() }), (sum, message) => {
    if (isSaid(message)) {
      sum.digest.add(message)
      sum.files.push(...message.files ?? [])
    }
    return sum
  })

/** Deleted between its page and its turn. */
const isGone = (error: Failure): boolean => error._tag === "ServiceError" && error.reason === "thread_not_found"
