import { Cause, Clock, Effect, Exit } from "effect"
import type { CorpusName } from "../../domain/Corpus.ts"
import type { SecretError, ServiceError, StateError } from "../../domain/Errors.ts"
import { plural } from "../../domain/Numbers.ts"
import type { Report } from "../../domain/Report.ts"
import type { Corpora } from "../../ports/Corpora.ts"
import { Engine } from "../../ports/Engine.ts"
import type { Files } from "../../ports/Files.ts"
import { Ledger } from "../../ports/Ledger.ts"
import { makeApply } from "./Applying.ts"
import { deleteMissing } from "./Deleting.ts"
import { driftNotes, findDrift, lostBySource, noDrift, recoverLedger, settleIntents } from "./Drift.ts"
import { readySchemas } from "./Describing.ts"
import { Held } from "./Failures.ts"
import { forEachOf } from "./ForEachOf.ts"
import { findGenerations, pipelineKeyOf, promote } from "./Generations.ts"
import { importAll, replaceImported } from "./ImportAll.ts"
import { settleImports } from "./Importing.ts"
import { type Scanned, scanSources } from "./Scanning.ts"
import type { Handed } from "./ServiceFiles.ts"
import { decodeWork, makeSession, Session, type SyncOptions, type SyncSource, type SyncSpec } from "./Session.ts"
import { checkSources, followRunning, isHandedOver, type Sources } from "./Sources.ts"
import { Stop } from "./Stop.ts"
import { foundNote, type Ready, readyTarget, takeOverRenamed } from "./Target.ts"

type Failure = ServiceError | StateError | SecretError

/**
 * Brings the target in line with the sources, and accounts for every item.
 *
 * The failure of a file is an outcome in the report. The effect fails only for what concerns the whole run: the state
 * database, credentials, quota, a corpus that cannot be changed in place. Whatever happens, completed writes stay, the
 * run is recorded, and the next run continues from there.
 */
export const sync = Effect.fn("sync")(function*(
  spec: SyncSpec,
  options: SyncOptions = {}
): Effect.fn.Return<Report, Failure, Corpora | Files | Engine | Ledger> {
  const engine = yield* Engine
  const { candidate = false, replace = false } = options
  const pipelineKey = pipelineKeyOf(engine, spec.pipeline)
  const started = yield* Clock.currentTimeMillis
  const takenOver = yield* takeOverRenamed(spec)
  const before = yield* findGenerations(spec)
  const sources = yield* checkSources((candidate ? before.candidate : before.live)?.scope ?? pipelineKey, spec)
  const target = yield* readyTarget(pipelineKey, spec, candidate ? "candidate" : replace ? "replace" : "live")
  yield* readySchemas(target.corpus, spec)
  const session = yield* makeSession(spec, target.scope, options)
  yield* session.emit({ type: "corpus", corpus: target.corpus, action: actionOn(target) })
  const { found } = target
  if (found !== undefined) {
    yield* session.emit({ type: "foundInDatabase", corpus: found.corpus, place: found.place, files: found.files.length })
    for (const [source, { length }] of lostBySource(spec, found)) session.tally.noted(source, foundNote(found.place, length))
  }
  if (takenOver !== undefined) yield* session.emit({ type: "takesOver", pipeline: spec.renamedFrom ?? "", files: takenOver })
  return yield* run(pipelineKey, started, target, sources, options).pipe(Effect.provideService(Session, session))
})

const actionOn = ({ files, role }: Ready): "created" | "found" | "building" =>
  role === "candidate" ? "building" : files === "new" ? "created" : "found"

const run = Effect.fnUntraced(
  function*(pipelineKey: string, started: number, target: Ready, checked: Sources, { candidate = false, checkTarget = true }: SyncOptions) {
    const engine = yield* Engine
    const ledger = yield* Ledger
    const { emit, scope, spec, tally } = yield* Session
    const { corpus } = target
    const wasWhole = (yield* ledger.generations(pipelineKey)).some((generation) =>
      generation.scope === scope && generation.whole !== undefined
    )
    const recovered = target.files === "unknown" ? yield* recoverLedger(corpus, target.found !== undefined) : undefined
    if (target.files === "known") yield* settleIntents(corpus)
    const running = engine.imports !== undefined && target.files !== "new"
      ? yield* settleImports(corpus)
      : new Map<string, string>()
    const sources = followRunning(checked, running, spec)
    const drift = target.files !== "new" && checkTarget ? yield* findDrift(corpus) : noDrift
    const others = recovered ?? drift.joins
    if (others !== undefined) yield* emit({ type: "joins", corpus, others })
    for (const [source, note] of driftNotes(drift)) tally.noted(source, note)

    const stop = new Stop()
    const record = yield* ledger.startRun(candidate ? target.scope : pipelineKey, started)
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

      let undeleted: ReadonlyArray<string> = []
      if (stop.ended === undefined) {
        // By now the ledger has what the imports brought.
        for (const { id } of sources.importOnly) yield* scanned.scan.seeAll(id)
        undeleted = yield* deleteMissing(scanned.scan)
        undeleted.forEach(scanned.increments.wholeNext)
        for (const [source, entries] of scanned.imported) yield* replaceImported(source, entries)
        yield* scanned.increments.commit
      }
      const incomplete = undeleted.length > 0 || tally.sources.some(({ error }) => error !== undefined)
      const ended = stop.ended ?? (incomplete ? "incomplete" : "done")
      const open = wasWhole && target.role === "live" ? 0 : yield* left
      const isWhole = ended === "done" && open === 0
      if (isWhole && !wasWhole) yield* ledger.noteGeneration(scope, { whole: yield* Clock.currentTimeMillis })
      if (candidate) return yield* finish(ended, isWhole ? undefined : stop.why ?? notWhole(open))
      if (target.role === "live") return yield* finish(ended)
      const whole = isWhole ? takeOver(target) : Effect.fail(new Held({ count: open, why: stop.why ?? notWhole(open) }))
      return yield* whole.pipe(
        Effect.andThen(finish(ended)),
        Effect.catchTag(
          "Held",
          ({ why }) => finish(stop.ended ?? "incomplete", `the old corpus stays live, and the new one waits: ${why}`)
        )
      )
    }).pipe(
      Effect.scoped,
      Effect.onExit((exit) =>
        Exit.isSuccess(exit)
          ? Effect.void
          // Recording must not hide the failure that ended the run.
          : finish(Cause.hasInterrupts(exit.cause) ? "interrupted" : "stopped").pipe(Effect.ignore)
      )
    )
  }
)

/** Retryable failures in a row, without a success, after which the run stops: the next file would most likely fail too. */
const longestStretch = 25

/** Applies the work that the scan has queued, and returns the addresses of staged files, by source. */
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

/** Number of files that the generation still lacks, without those that no further run can store. */
const left = Effect.gen(function*() {
  const { scope, tally } = yield* Session
  const { quarantined = 0 } = yield* (yield* Ledger).count(scope)
  return tally.totals.failed + tally.totals.quarantined - quarantined
})

const notWhole = (open: number): string => open === 0 ? "it is not complete" : `${plural(open, "file")} could not be stored; run again`

/** Makes the corpus that was built the live one. Fails with {@link Held} where it may not be live yet. */
const takeOver = Effect.fnUntraced(function*(target: Ready) {
  const { emit, spec, yes } = yield* Session
  yield* promote(spec, { maxDelete: spec.maxDelete, sources: spec.sources.map(({ id }) => id), yes })
  yield* emit({ type: "corpus", corpus: target.corpus, action: "replaced" })
})
