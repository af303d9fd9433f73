import { Clock, Effect, Fiber, Queue, Stream } from "effect"
import type { SecretError, ServiceError, StateError } from "../../domain/Errors.ts"
import type { Corpora } from "../../ports/Corpora.ts"
import type { Engine } from "../../ports/Engine.ts"
import type { Files } from "../../ports/Files.ts"
import type { Ledger } from "../../ports/Ledger.ts"
import { checkSources } from "../sync/Sources.ts"
import { findScope } from "../sync/Generations.ts"
import { RecentSizes } from "../sync/RecentSizes.ts"
import { generationSwitched } from "../sync/Target.ts"
import { sync } from "../sync/Sync.ts"
import type { SyncSpec } from "../sync/Session.ts"
import { Agenda, defaultTiming, type Timing } from "./Agenda.ts"
import { Attention, resting } from "./Attention.ts"
import { takeDue } from "./Due.ts"
import { Troubles } from "./Troubles.ts"
import type { WatchEvent } from "./WatchEvent.ts"

/** Options of `watch`: intervals, and the observer of its events. */
export interface WatchOptions {
  /**
   * Milliseconds between listings of a source, whatever its hints say. Default 5 minutes, and an hour for a source that
   * only the engine can list: it then fetches all of it.
   */
  readonly interval?: (source: string) => number | undefined
  readonly timing?: Timing
  /** Fails the first sync where a source is empty; later that is reported, and nothing is written. Default: a warning. */
  readonly strict?: boolean
  /** Each element releases the deletes that the guard holds at that time: everything is listed once more, and they are made. */
  readonly release?: Stream.Stream<void>
  readonly observe?: (event: WatchEvent) => Effect.Effect<void>
}

const defaultInterval = 5 * 60_000
const importOnlyInterval = 60 * 60_000

/** Milliseconds within which changes are found that incremental listings of a source miss: deletions or permissions. */
export const listChangesFor = 3_600_000

/**
 * Syncs, and then keeps syncing: hints of sources are gathered into batches, and each batch is one sync of the sources
 * concerned, never two at once. Hints are only hints: every source is also listed at its interval, after the machine
 * slept, and again as long as an item in it was too recent to be trusted. At the start and once an hour the target is
 * checked too.
 *
 * Ends only by interruption, which lets the current batch finish first, or with an error of the first sync that a retry
 * cannot solve. Later errors are reported and retried.
 */
export const watch = Effect.fn("watch")(function*(
  spec: SyncSpec,
  options: WatchOptions = {}
): Effect.fn.Return<never, ServiceError | StateError | SecretError, Corpora | Files | Engine | Ledger> {
  const emit = options.observe ?? (() => Effect.void)
  const troubles = new Troubles()
  /** Sources whose hints cannot be relied on, which a successful listing does not change. */
  const blind = new Set<string>()
  const tell = (events: ReadonlyArray<WatchEvent>) => Effect.forEach(events, emit, { discard: true })
  const wake = yield* Queue.sliding<void>(1)
  const checked = yield* checkSources(yield* findScope(spec), spec)
  const importOnly = new Set(checked.importOnly.map(({ id }) => id))
  // A source that is listed from here at the start stays so: a token that expires later breaks off a listing, and stops nothing else.
  const given = spec.sources.map((source) => checked.listed.find(({ id }) => id === source.id) ?? source)
  const intervalOf = (id: string) => importOnly.has(id) ? importOnlyInterval : defaultInterval
  const timing = options.timing ?? defaultTiming
  const agenda = new Agenda(
    spec.sources.map(({ id }) => ({ id, interval: options.interval?.(id) ?? intervalOf(id) })),
    yield* Clock.currentTimeMillis,
    timing
  )

  const listen = Effect.forEach(spec.sources, ({ connector, id }) =>
    (connector.hints ?? Stream.empty).pipe(
      // A burst arrives in arrays, each of which is one hint.
      Stream.runForEachArray(Effect.fnUntraced(function*(burst) {
        const now = yield* Clock.currentTimeMillis
        for (const hint of burst) {
          if (hint._tag === "changed") continue
          agenda.sees(id, hint._tag === "watching", now)
          if (hint._tag === "watching") blind.delete(id)
          else {
            blind.add(id)
            yield* tell(troubles.of(id, hint.message))
          }
        }
        if (agenda.hint(id, now)) yield* Queue.offer(wake, undefined)
      })),
      Effect.forkScoped
    ), { discard: true })

  let releasing = false
  const released = (options.release ?? Stream.empty).pipe(
    Stream.runForEach(() =>
      Effect.suspend(() => {
        releasing = true
        agenda.all()
        return Queue.offer(wake, undefined)
      })
    ),
    Effect.forkScoped
  )

  const recentSizes = new RecentSizes()
  let batch = 0
  let targetDue = -Infinity
  const one = Effect.fnUntraced(function*(due: ReadonlyArray<string>) {
    const attention = new Attention()
    const first = batch === 0
    const began = yield* Clock.currentTimeMillis
    const checkTarget = began >= targetDue
    // A release is for every source, also where it came after `due` was taken.
    const yes = releasing
    releasing = false
    // Files lost in the target are stored again by a listing of their source.
    const sources = spec.sources.map(({ id }) => id).filter((id) => yes || due.includes(id) || (checkTarget && !importOnly.has(id)))
    const syncing = sync({
      ...spec,
      sources: given.map((source) => sources.includes(source.id) ? attention.listed(source) : resting(source))
    }, {
      yes,
      checkTarget,
      recentSizes,
      missesFor: listChangesFor,
      strict: options.strict ?? false,
      observe: (event) => {
        attention.notice(event)
        return event.type !== "report" && (first || isNews(event)) ? emit(event) : Effect.void
      }
    })
    const done = yield* Effect.result(syncing)
    const now = yield* Clock.currentTimeMillis
    if (done._tag === "Failure") {
      releasing ||= yes
      const error = done.failure
      // A retry here would use the wrong settings: the caller has to open the pipeline again.
      if (error === generationSwitched) return yield* error
      if (first && !isRetryable(error)) return yield* error
      const wait = agenda.failed(sources, now, error._tag === "ServiceError" ? error.retryAfter : undefined)
      return yield* tell(troubles.of(undefined, error.message, wait / 1000))
    }
    batch += 1
    if (checkTarget) targetDue = began + timing.target
    yield* tell(troubles.over(undefined))
    const report = done.success
    for (const source of sources) {
      const error = report.sources.find((s) => s.source === source)?.error
      const warning = report.sources.find((s) => s.source === source)?.warning
      if (error !== undefined) yield* tell(troubles.of(source, `${error}; nothing of it is deleted meanwhile`))
      else if (warning !== undefined && !first) yield* tell(troubles.of(source, warning))
      else if (!blind.has(source)) yield* tell(troubles.over(source))
      const stopped = report.ended === "stopped"
      agenda.listed(source, now, stopped ? "failures" : attention.left(source), attention.progress(source))
    }
    yield* emit({ type: "batch", batch, sources, report })
    if (agenda.quiet && report.ended === "done") yield* emit({ type: "quiet", batch })
  })

  return yield* Effect.gen(function*() {
    yield* listen
    yield* released
    for (;;) {
      const sources = yield* takeDue(agenda, wake)
      // A batch in progress is finished, unless it is the first sync, which may be long and can as well be resumed.
      yield* batch === 0 ? one(sources) : finishing(one(sources), emit({ type: "stopping" }))
    }
  }).pipe(Effect.scoped)
})

/** Runs to its end even when interrupted; `stopping` runs when that happens. */
const finishing = <A, E, R>(effect: Effect.Effect<A, E, R>, stopping: Effect.Effect<void>) =>
  Effect.uninterruptibleMask((restore) =>
    Effect.gen(function*() {
      const fiber = yield* Effect.forkChild(Effect.interruptible(effect))
      return yield* restore(Fiber.join(fiber)).pipe(
        Effect.onInterrupt(() => Effect.andThen(stopping, Fiber.await(fiber)))
      )
    })
  )

/** There are many later batches: unchanged items are left out. */
const isNews = (event: { readonly type: string; readonly outcome?: string; readonly reason?: string }): boolean =>
  event.type === "deleted" || event.type === "held" ||
  (event.type === "file" && event.outcome !== "unchanged" && event.outcome !== "quarantined" && event.reason !== "ignored")

const isRetryable = (error: ServiceError | StateError | SecretError): boolean => error._tag === "ServiceError" && error.retryable
