import { Clock, Duration, Effect, Queue } from "effect"
import type { Report, SyncEvent } from "../../domain/Report.ts"
import type { Definition } from "../definition/Definition.ts"
import { commonSettings } from "../definition/SourceSettings.ts"
import { Agenda, defaultTiming, type Timing } from "./Agenda.ts"
import { Attention } from "./Attention.ts"
import { takeDue } from "./Due.ts"
import { listChangesFor } from "./Watch.ts"

/** Notices come over a network, several for one change: a run waits a little longer for more of them than a watch of a folder does. */
const timing: Timing = { ...defaultTiming, quiet: 1_000, maxWait: 10_000 }

/** Notices get lost: a source is listed after this long without one, where it has no `poll`. Milliseconds. */
const defaultInterval = 60 * 60_000

/** What becomes of notices. */
export type NoticedEvent =
  /** A run of these sources is over. */
  | { readonly type: "run"; readonly sources: ReadonlyArray<string>; readonly report: Report }
  /** It failed, and is tried again. */
  | { readonly type: "trouble"; readonly message: string; readonly retrySeconds: number }

/** One run, as {@link runNoticed} asks for it. */
export interface NoticedRun {
  readonly sources: ReadonlyArray<string>
  readonly missesFor: number
  readonly observe: (event: SyncEvent) => Effect.Effect<void>
}

/** The sources that notices of a pipeline's hooks are about. */
export const hookedSources = ({ hooks, sources }: Definition): ReadonlyArray<string> => {
  const named = new Set(Object.values(hooks).flatMap((hook) => hook.sources ?? Object.keys(sources)))
  return Object.keys(sources).filter((id) => named.has(id))
}

/**
 * Runs a pipeline when it is told that sources of it have changed. Notices that come close together are one run, runs
 * follow each other, and what is told while one goes on is one more after it. A run that fails is tried again, ever more
 * rarely. The sources are also listed at the start, as nobody heard what was told before, and at their `poll` interval
 * or every hour. Ends only by interruption.
 *
 * @param told the sources that each notice is about
 */
export const runNoticed = Effect.fn("runNoticed")(function*<E extends { readonly message: string }, R>(
  pipeline: Definition,
  told: Queue.Dequeue<ReadonlyArray<string>>,
  run: (run: NoticedRun) => Effect.Effect<Report, E, R>,
  observe: (event: NoticedEvent) => Effect.Effect<void> = () => Effect.void
): Effect.fn.Return<never, never, R> {
  const wake = yield* Queue.sliding<void>(1)
  const sources = hookedSources(pipeline)
  const agenda = new Agenda(
    sources.map((id) => {
      const settings = pipeline.sources[id]
      const poll = settings === undefined ? undefined : commonSettings(settings).poll
      return { id, interval: poll === undefined ? defaultInterval : Duration.toMillis(poll) }
    }),
    yield* Clock.currentTimeMillis,
    timing
  )
  const listen = Effect.forever(Effect.gen(function*() {
    const about = yield* Queue.take(told)
    const now = yield* Clock.currentTimeMillis
    const news = about.filter((source) => agenda.hint(source, now))
    if (news.length > 0) yield* Queue.offer(wake, undefined)
  }))
  const work = Effect.forever(Effect.gen(function*() {
    const due = yield* takeDue(agenda, wake)
    const attention = new Attention()
    const done = yield* Effect.result(run({
      sources: due,
      missesFor: listChangesFor,
      observe: (event) => Effect.sync(() => attention.notice(event))
    }))
    const now = yield* Clock.currentTimeMillis
    if (done._tag === "Failure") {
      const wait = agenda.failed(due, now)
      return yield* observe({ type: "trouble", message: done.failure.message, retrySeconds: wait / 1_000 })
    }
    const report = done.success
    const failed = new Set(report.sources.flatMap(({ error, source }) => error === undefined ? [] : [source]))
    for (const source of due) {
      const left = failed.has(source) || report.ended === "stopped" ? "failures" : attention.left(source)
      agenda.listed(source, now, left, attention.progress(source))
    }
    yield* observe({ type: "run", sources: due, report })
  }))
  return yield* Effect.raceFirst(listen, work)
})
