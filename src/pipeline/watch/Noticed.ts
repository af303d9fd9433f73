import { Clock, Duration, Effect, Queue } from "effect"
import type { Report, SyncEvent } from "../../domain/Report.ts"
import type { Definition } from "../definition/Definition.ts"
import { commonSettings } from "../definition/SourceSettings.ts"
import { Agenda, defaultTiming, type Timing } from "./Agenda.ts"
import { Attention } from "./Attention.ts"
import { takeDue } from "./Due.ts"
import { listChangesFor } from "./Watch.ts"

/** Notices come over a network, several for one change: a run waits a little longer for more of them than a watch of a folder. */
const timing: Timing = { ...defaultTiming, quiet: 1_000, maxWait: 10_000 }

/** Notices get lost: a source without `poll` is listed after this time without one. Milliseconds. */
const defaultInterval = 60 * 60_000

/** Events of running a pipeline on notices. */
export type NoticedEvent =
  /** A run of these sources has ended. */
  | { readonly type: "run"; readonly sources: ReadonlyArray<string>; readonly report: Report }
  /** A run failed, and is retried. */
  | { readonly type: "trouble"; readonly message: string; readonly retrySeconds: number }

/** One run, as {@link runNoticed} starts it. */
export interface NoticedRun {
  readonly sources: ReadonlyArray<string>
  readonly missesFor: number
  readonly observe: (event: SyncEvent) => Effect.Effect<void>
}

/** Sources that notices of a pipeline's hooks are about. */
export const hookedSources = ({ hooks, sources }: Definition): ReadonlyArray<string> => {
  const named = new Set(Object.values(hooks).flatMap((hook) => hook.sources ?? Object.keys(sources)))
  return Object.keys(sources).filter((id) => named.has(id))
}

/**
 * Runs a pipeline whenever notices say that its sources have changed. Notices in quick succession are one run, runs
 * follow each other, and notices during a run cause one more after it. A failed run is retried with growing waits. The
 * sources are also listed at the start, since earlier notices were missed, and at their `poll` interval or every hour.
 * Ends only by interruption.
 *
 * @param told receives the sources that each notice is about
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
