import { Cause, Clock, Effect, Exit, Pull, Semaphore, Stream } from "effect"
import type { CorpusName } from "../../domain/Corpus.ts"
import type { SecretError, ServiceError, StateError } from "../../domain/Errors.ts"
import type { Report } from "../../domain/Report.ts"
import type { Corpora } from "../../ports/Corpora.ts"
import { Engine } from "../../ports/Engine.ts"
import type { Files } from "../../ports/Files.ts"
import { Ledger, type LedgerEntry, type Scan } from "../../ports/Ledger.ts"
import { makeApply } from "./Applying.ts"
import { deleteMissing, deleteSuperseded } from "./Deleting.ts"
import { driftNotes, findDrift, lostBySource, noDrift, recoverLedger, settleIntents } from "./Drift.ts"
import { readySchemas } from "./Describing.ts"
import { Held } from "./Failures.ts"
import { findGenerations, promote, scopeOf } from "./Generations.ts"
import { handOver, importFiles, type ImportResult, importSize, importWhole, settleImports } from "./Importing.ts"
import { type Scanned, scanSources } from "./Scanning.ts"
import type { Handed } from "./ServiceFiles.ts"
import { decodeWork, filesText, makeSession, Session, type SyncOptions, type SyncSource, type SyncSpec } from "./Session.ts"
import { checkSources, followRunning, importOnlyNote, isHandedOver, type Sources } from "./Sources.ts"
import { foundNote, type Ready, readyTarget, takeOverRenamed } from "./Target.ts"

type Failure = ServiceError | StateError | SecretError

/**
 * Brings the target in line with the sources, and accounts for every item.
 *
 * A file's failure is an outcome in the report. The effect fails only with what concerns the whole run: the state
 * database, credentials, quota, a corpus that cannot be changed in place. Whatever happens, what was written stays
 * written, the run is recorded, and the next run continues from there.
 */
export const sync = Effect.fn("sync")(function*(
  spec: SyncSpec,
  options: SyncOptions = {}
): Effect.fn.Return<Report, Failure, Corpora | Files | Engine | Ledger> {
  const engine = yield* Engine
  const { candidate = false, replace = false } = options
  const own = scopeOf(engine, spec.pipeline)
  const started = yield* Clock.currentTimeMillis
  const takenOver = yield* takeOverRenamed(spec)
  const before = yield* findGenerations(spec)
  const sources = yield* checkSources((candidate ? before.candidate : before.live)?.scope ?? own, spec)
  const target = yield* readyTarget(own, spec, candidate ? "candidate" : replace ? "replace" : "live")
  yield* readySchemas(target.corpus, spec)
  const session = yield* makeSession(spec, target.scope, options)
  yield* session.emit({ type: "corpus", corpus: target.corpus, action: target.action })
  const { found } = target
  if (found !== undefined) {
    yield* session.emit({ type: "foundInDatabase", corpus: found.corpus, place: found.place, files: found.files.length })
    for (const [source, { length }] of lostBySource(spec, found)) session.tally.noted(source, foundNote(found.place, length))
  }
  if (takenOver !== undefined) yield* session.emit({ type: "takesOver", pipeline: spec.renamedFrom ?? "", files: takenOver })
  return yield* run(own, started, target, sources, options).pipe(Effect.provideService(Session, session))
})

const run = Effect.fnUntraced(
  function*(own: string, started: number, target: Ready, checked: Sources, { candidate = false, checkTarget = true }: SyncOptions) {
    const engine = yield* Engine
    const ledger = yield* Ledger
    const { emit, scope, spec, tally } = yield* Session
    const { corpus } = target
    const wasWhole = (yield* ledger.generations(own)).some((generation) => generation.scope === scope && generation.whole !== undefined)
    const recovered = target.adopted ? yield* recoverLedger(corpus, target.found !== undefined) : undefined
    if (target.resumed) yield* settleIntents(corpus)
    const running = engine.imports !== undefined && (target.resumed || target.adopted)
      ? yield* settleImports(corpus)
      : new Map<string, string>()
    const sources = followRunning(checked, running, spec)
    const drift = target.resumed && checkTarget ? yield* findDrift(corpus) : noDrift
    const others = recovered ?? drift.joins
    if (others !== undefined) yield* emit({ type: "joins", corpus, others })
    for (const [source, note] of driftNotes(drift)) tally.noted(source, note)

    const stop = new Stop()
    const record = yield* ledger.startRun(candidate ? target.scope : own, started)
    const finish = Effect.fnUntraced(function*(ended: Report["ended"], why = stop.why) {
      const now = yield* Clock.currentTimeMillis
      const report = tally.report({
        pipeline: spec.pipeline,
        engine: engine.name,
        corpus,
        started: new Date(started).toISOString(),
        seconds: (now - started) / 1000,
        ended,
        why
      })
      yield* ledger.endRun(record, now, report)
      yield* emit({ type: "report", report })
      return report
    })

    return yield* Effect.gen(function*() {
      const embedded = yield* engine.budget?.limit(spec.budget ?? {}) ?? Effect.undefined
      const scanned = yield* scanSources(sources, drift)
      for (const { id, source } of sources.importOnly) tally.source(id, source._tag)
      const staged = yield* applyQueued(corpus, sources.listed, scanned, stop)
      if (engine.imports !== undefined) yield* importAll(corpus, sources, running, scanned.scan, staged, stop)
      if (embedded !== undefined) tally.embeddedInAll(embedded())
      if (stop.error !== undefined) return yield* Effect.fail(stop.error)

      if (stop.ended === undefined) {
        // The ledger knows by now what their imports brought.
        for (const { id } of sources.importOnly) yield* scanned.scan.seeAll(id)
        yield* deleteMissing(scanned.scan)
        for (const [source, entries] of scanned.imported) yield* replaceImported(source, entries)
        yield* scanned.increments.commit
      }
      const incomplete = tally.sources.some(({ error }) => error !== undefined)
      const ended = stop.ended ?? (incomplete ? "incomplete" : "done")
      const open = wasWhole && !target.candidate ? 0 : yield* left
      const isWhole = ended === "done" && open === 0
      if (isWhole && !wasWhole) yield* ledger.noteGeneration(scope, { whole: yield* Clock.currentTimeMillis })
      if (candidate) return yield* finish(ended, isWhole ? undefined : stop.why ?? notWhole(open))
      if (!target.candidate) return yield* finish(ended)
      const whole = isWhole ? takeOver(target) : Effect.fail(new Held({ count: open, why: stop.why ?? notWhole(open) }))
      return yield* whole.pipe(
        Effect.andThen(finish(ended)),
        Effect.catchTag(
          "Held",
          ({ why }) => finish(stop.ended ?? "incomplete", `the corpus that was there serves on, and the new one waits: ${why}`)
        )
      )
    }).pipe(
      Effect.scoped,
      Effect.onExit((exit) =>
        Exit.isSuccess(exit)
          ? Effect.void
          // The record must not hide the failure that ended the run.
          : finish(Cause.hasInterrupts(exit.cause) ? "interrupted" : "stopped").pipe(Effect.ignore)
      )
    )
  }
)

/**
 * Whether a run starts more work, and if not, why. What is in progress when it stops is finished: a write that is cut off
 * would have to be settled by the next run.
 */
class Stop {
  ended: "budget" | "stopped" | undefined
  /** For the report. */
  why: string | undefined
  /** What the run fails with. */
  error: Failure | undefined

  fail(error: Failure): void {
    this.ended = "stopped"
    this.error = error
  }
}

/** Failures that may pass, one after the other without a success: the next file would meet the same. */
const longestStretch = 25

/** Applies what the scan has queued, and answers what it staged, by source: addresses only. */
const applyQueued = Effect.fnUntraced(function*(
  corpus: CorpusName,
  sources: ReadonlyArray<SyncSource>,
  { increments, scan }: Scanned,
  stop: Stop
) {
  const engine = yield* Engine
  const session = yield* Session
  const { emit, spec, tally } = session
  const apply = yield* makeApply(corpus, sources, scan)
  const byId = new Map(sources.map((source) => [source.id, source]))
  const staged = new Map<string, Array<Handed>>()
  let failuresInARow = 0
  const one = Effect.fnUntraced(function*(text: string) {
    const work = decodeWork(text)
    if (isHandedOver(byId.get(work.source), work.item, session) || stop.ended !== undefined) return
    const applied = yield* apply(work)
    if (applied._tag === "staged") {
      const others = staged.get(work.source)
      return void (others === undefined ? staged.set(work.source, [applied.handed]) : others.push(applied.handed))
    }
    const { embeddedTokens, outcome } = applied
    tally.settled(outcome, embeddedTokens)
    const failed = outcome.outcome === "failed"
    if (failed) increments.failed(work.source, work.item)
    if (!failed || outcome.retryable !== true) failuresInARow = 0
    else if (++failuresInARow === longestStretch) {
      stop.ended = "stopped"
      stop.why = `${longestStretch} files in a row failed, the last one with: ${outcome.message ?? outcome.reason}`
      yield* emit({ type: "stopped", why: stop.why })
    }
    yield* emit({ type: "file", ...outcome })
    if (failed && spec.onFileError === "stop") stop.ended = "stopped"
  }, Effect.catch((error) => Effect.sync(() => error._tag === "OverBudget" ? void (stop.ended = "budget") : stop.fail(error))))
  yield* forEachOf(scan.queued, spec.concurrency ?? engine.concurrency, one)
  return staged
})

/** Does something with all that a stream brings, so many at once, in no order: by so many fibers, and not by one for each. */
const forEachOf = <A, E, E2, R, R2>(
  stream: Stream.Stream<A, E, R>,
  concurrency: number,
  use: (element: A) => Effect.Effect<void, E2, R2>
) =>
  Effect.scoped(Effect.gen(function*() {
    const pull = yield* Stream.toPull(stream)
    const pulling = yield* Semaphore.make(1)
    let here: ReadonlyArray<A> = []
    let at = 0
    let ended = false
    const isDry = () => at === here.length && !ended
    const more = Pull.matchEffect(pull, {
      onSuccess: (elements) => Effect.sync(() => void ([here, at] = [elements, 0])),
      onFailure: Effect.failCause,
      onDone: () => Effect.sync(() => void (ended = true))
    })
    const work: Effect.Effect<void, E | E2, R | R2> = Effect.suspend(() =>
      at < here.length
        ? Effect.andThen(use(here[at++]!), work)
        : ended
        ? Effect.void
        : Effect.andThen(pulling.withPermits(1)(Effect.suspend(() => isDry() ? more : Effect.void)), work)
    )
    yield* more
    if (!ended) yield* Effect.all(Array.from({ length: concurrency }, () => work), { concurrency: "unbounded", discard: true })
  }))

/** Has the engine import what it fetches by itself: one import after the other, as a corpus takes one at a time. */
const importAll = Effect.fnUntraced(function*(
  corpus: CorpusName,
  { importOnly, listed }: Sources,
  running: ReadonlyMap<string, string>,
  scan: Scan,
  staged: ReadonlyMap<string, ReadonlyArray<Handed>>,
  stop: Stop
) {
  const session = yield* Session
  const { tally } = session
  for (const source of listed) {
    if (source.imports === undefined && source.staging === undefined) continue
    const handed = source.staging !== undefined
      ? Stream.fromIterable(staged.get(source.id) ?? [])
      : scan.queued.pipe(
        Stream.map(decodeWork),
        Stream.filter((work) => work.source === source.id && isHandedOver(source, work.item, session)),
        Stream.mapEffect(handOver)
      )
    yield* handed.pipe(
      Stream.grouped(importSize),
      Stream.runForEach((files) => account(source.id, importFiles(corpus, source.id, files), true, stop))
    )
  }
  for (const source of importOnly) {
    tally.noted(source.id, importOnlyNote(source))
    yield* account(source.id, importWhole(corpus, source.id, source.source, running.get(source.id)), false, stop)
  }
})

/**
 * Runs one import, where nothing has stopped the run, and accounts for what it did.
 *
 * @param queued whether the listing queued its files
 */
const account = Effect.fnUntraced(function*<R>(
  source: string,
  importing: Effect.Effect<ImportResult, ServiceError | StateError, R>,
  queued: boolean,
  stop: Stop
) {
  const { emit, spec, tally } = yield* Session
  if (stop.ended !== undefined) return
  const { held, note, outcomes, unnamed } = yield* importing
  tally.noted(source, note)
  if (held !== undefined) tally.held(source, held.count, held.why)
  for (const outcome of outcomes) {
    if (queued) tally.settled(outcome, 0)
    else tally.listedOutcome(outcome)
    yield* emit({ type: "file", ...outcome })
  }
  tally.counted(source, unnamed)
  tally.untold ||= unnamed.added > 0 || outcomes.some(({ outcome }) => outcome === "added" || outcome === "changed")
  if (spec.onFileError === "stop" && (unnamed.failed > 0 || outcomes.some(({ outcome }) => outcome === "failed"))) stop.ended = "stopped"
}, (effect, _source, _importing, _queued, stop) => Effect.catch(effect, (error) => Effect.sync(() => stop.fail(error))))

/** Deletes what the engine had imported of a source that we list now, once all that is listed is stored. */
const replaceImported = Effect.fnUntraced(function*(source: string, entries: ReadonlyArray<LedgerEntry>) {
  const { tally } = yield* Session
  const { added, changed, failed, moved, unchanged } = tally.countsOf(source)
  const files = `${filesText(entries.length)} that the service had imported`
  if (!tally.isComplete(source) || failed > 0) return tally.noted(source, `${files} stay until all that is listed is stored`)
  yield* deleteSuperseded(entries, added + changed + moved + unchanged).pipe(
    Effect.map(() => tally.noted(source, `${files} gave way to what is stored from here`)),
    Effect.catchTag("Held", ({ count, why }) => Effect.sync(() => tally.held(source, count, why)))
  )
})

/** Files that the generation should have and has not, those left out that no further run can store. */
const left = Effect.gen(function*() {
  const { scope, tally } = yield* Session
  const { quarantined = 0 } = yield* (yield* Ledger).count(scope)
  return tally.totals.failed + tally.totals.quarantined - quarantined
})

const notWhole = (open: number): string => open === 0 ? "it is not whole" : `${filesText(open)} could not be stored; run again`

/** Switches to the corpus that was built. Fails with {@link Held} where it may not serve yet. */
const takeOver = Effect.fnUntraced(function*(target: Ready) {
  const { emit, spec, yes } = yield* Session
  yield* promote(spec, { maxDelete: spec.maxDelete, sources: spec.sources.map(({ id }) => id), yes })
  yield* emit({ type: "corpus", corpus: target.corpus, action: "replaced" })
})
