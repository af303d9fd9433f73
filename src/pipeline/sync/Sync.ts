import { Cause, Clock, Effect, Exit, Ref, Stream } from "effect"
import type { SecretError, ServiceError, StateError } from "../../domain/Errors.ts"
import type { Report } from "../../domain/Report.ts"
import type { Corpora } from "../../ports/Corpora.ts"
import { Engine } from "../../ports/Engine.ts"
import { Files } from "../../ports/Files.ts"
import { Ledger, type LedgerEntry } from "../../ports/Ledger.ts"
import * as Applying from "./Applying.ts"
import { deleteMissing, gone } from "./Deleting.ts"
import { driftNotes, findDrift, noDrift } from "./Drift.ts"
import * as Fingerprint from "./Fingerprint.ts"
import { checkSources, followFirst, importOnlyNote, isHandedOver } from "./HandOver.ts"
import type { Handed } from "./Imported.ts"
import { makeIncrements } from "./Increments.ts"
import * as Importing from "./Importing.ts"
import { recoverLedger, settleIntents } from "./Recovery.ts"
import { scopeOf, takeOverRenamed } from "./Renaming.ts"
import { decodeWork, scanSources } from "./Scanning.ts"
import { entriesOf, filesText, giveWay, isServiceEntry } from "./ServiceFiles.ts"
import type { SyncOptions, SyncSource, SyncSpec } from "./SyncSpec.ts"
import { Tally } from "./Tally.ts"
import { promote, readyTarget, whyNotPromoted } from "./Target.ts"

/** Failures that may pass, one after the other without a success: the next file would meet the same. */
const longestStretch = 25

export const settingsOf = (engine: Engine["Service"], spec: SyncSpec): string =>
  Fingerprint.settingsHash(engine.signature, { ...spec, embeddingModel: spec.corpus.embeddingModel })

/**
 * Brings the target in line with the sources, and accounts for every item.
 *
 * A file's failure is an outcome in the report. The effect fails only with what concerns the whole run: the state
 * database, credentials, quota, a corpus that cannot be changed in place. Whatever happens, what was written stays
 * written, the run is recorded, and the next run goes on from there.
 */
export const sync = Effect.fn("sync")(function*(
  spec: SyncSpec,
  options: SyncOptions = {}
): Effect.fn.Return<Report, ServiceError | StateError | SecretError, Corpora | Files | Engine | Ledger> {
  const engine = yield* Engine
  const files = yield* Files
  const ledger = yield* Ledger
  const emit = options.observe ?? (() => Effect.void)
  const own = scopeOf(engine, spec.pipeline)
  const settings = settingsOf(engine, spec)
  const retryFailed = options.retryFailed ?? false
  const started = yield* Clock.currentTimeMillis
  const tally = new Tally()

  const takenOver = yield* takeOverRenamed(spec)
  const checked = yield* checkSources(own, spec, engine)
  const target = yield* readyTarget(own, spec.corpus, options.replace ?? false)
  const { corpus, scope } = target
  yield* emit({ type: "corpus", corpus, action: target.action })
  if (takenOver !== undefined) yield* emit({ type: "takesOver", pipeline: spec.renamedFrom ?? "", files: takenOver })
  const met = target.adopted ? yield* recoverLedger(scope, corpus, spec) : undefined
  if (target.resumed) yield* settleIntents(scope, corpus, spec)
  const importer = engine.imports === undefined ? undefined : Importing.make({
    spec,
    corpus,
    settings,
    engine,
    imports: engine.imports,
    files,
    ledger,
    scope,
    yes: options.yes ?? false,
    emit
  })
  const begun = importer === undefined || !(target.resumed || target.adopted) ? new Map<string, string>() : yield* importer.settleEarlier()
  const sources = followFirst(checked, begun, spec)
  const drift = target.resumed && options.checkTarget !== false
    ? yield* findDrift(scope, corpus, spec)
    : noDrift
  const others = met ?? drift.joins
  if (others !== undefined) yield* emit({ type: "joins", corpus, others })
  for (const [source, note] of driftNotes(drift)) tally.noted(source, note)
  /** What the engine imported of sources that we list now: it gives way to what we store. */
  const imported = engine.imports === undefined
    ? new Map<string, ReadonlyArray<LedgerEntry>>()
    : yield* entriesOf(scope, sources.listed.map(({ id }) => id), isServiceEntry)

  const run = yield* ledger.startRun(own, started)
  let why: string | undefined
  const finish = Effect.fnUntraced(function*(ended: Report["ended"]) {
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
    yield* ledger.endRun(run, now, report)
    yield* emit({ type: "report", report })
    return report
  })

  /** Switches to the corpus that was built, or answers why not. */
  const takeOver = Effect.gen(function*() {
    const { quarantined = 0 } = yield* ledger.count(scope)
    const open = tally.totals.failed + tally.totals.quarantined - quarantined
    if (open > 0) return `${filesText(open)} could not be stored; run again`
    const held = options.yes === true ? undefined : yield* whyNotPromoted(own, target, spec)
    if (held !== undefined) return held
    yield* promote(own, spec.corpus, target)
    yield* emit({ type: "corpus", corpus, action: "replaced" })
    return undefined
  })

  return yield* Effect.gen(function*() {
    const embedded = yield* engine.budget?.limit(spec.budget ?? {}) ?? Effect.succeed(undefined)
    const scan = drift.over(yield* ledger.scan(scope))
    const increments = yield* makeIncrements({
      scope,
      settings,
      missesFor: options.missesFor ?? 0,
      everything: (source) => retryFailed || drift.sources.has(source) || imported.has(source)
    })
    for (const [source, entries] of imported) yield* scan.see(source, entries.map(({ path }) => path), Fingerprint.pathHash)
    yield* scanSources(sources.listed, { scan, tally, settings, engine, retryFailed, increments, emit, strict: options.strict ?? false, remember: (put) => ledger.write(scope, { put }) })
    for (const { id, source } of sources.importOnly) {
      tally.source(id, source._tag)
      yield* scan.seeAll(id)
    }
    const byId = new Map(sources.listed.map((source) => [source.id, source]))
    const apply = yield* Applying.make({
      spec,
      sources: sources.listed,
      corpus,
      scan,
      settings,
      retryFailed,
      engine,
      files,
      ledger,
      scope
    })
    /** Why no more work is begun; what is left is pending. */
    const stopped = yield* Ref.make<"budget" | "stopped" | undefined>(undefined)
    const fatal = yield* Ref.make<ServiceError | StateError | SecretError | undefined>(undefined)

    let failuresInARow = 0

    /** Addresses only: the bytes are where the engine fetches them. */
    const stagedBySource = new Map<string, Array<Handed>>()

    yield* scan.queued.pipe(
      Stream.mapEffect(
        Effect.fnUntraced(function*(text) {
          const work = decodeWork(text)
          if (isHandedOver(byId.get(work.source), work.item) || (yield* Ref.get(stopped)) !== undefined) return
          const applied = yield* Effect.result(apply(work))
          if (applied._tag === "Failure") {
            yield* Ref.set(stopped, "stopped")
            yield* Ref.set(fatal, applied.failure)
            return
          }
          if ("overBudget" in applied.success) return yield* Ref.set(stopped, "budget")
          if ("staged" in applied.success) {
            const { staged } = applied.success
            const others = stagedBySource.get(work.source)
            return void (others === undefined ? stagedBySource.set(work.source, [staged]) : others.push(staged))
          }
          const { embeddedTokens, outcome } = applied.success
          if (outcome.outcome !== "failed" || outcome.retryable !== true) failuresInARow = 0
          else if (++failuresInARow === longestStretch) {
            why = `${longestStretch} files in a row failed, the last one with: ${outcome.message ?? outcome.reason}`
            yield* Ref.set(stopped, "stopped")
            yield* emit({ type: "stopped", why })
          }
          tally.settled(outcome, embeddedTokens)
          if (outcome.outcome === "failed") increments.failed(work.source, work.item)
          yield* emit({ type: "file", ...outcome })
          if (outcome.outcome === "failed" && spec.onFileError === "stop") yield* Ref.set(stopped, "stopped")
        }),
        { concurrency: spec.concurrency ?? engine.concurrency, unordered: true }
      ),
      Stream.runDrain
    )

    /** Runs one import, unless something has stopped the run, and accounts for what it did. */
    const account = Effect.fnUntraced(function*(source: string, run: Effect.Effect<Importing.ImportResult, ServiceError | StateError>, queued: boolean) {
      if ((yield* Ref.get(stopped)) !== undefined) return
      const done = yield* Effect.result(run)
      if (done._tag === "Failure") {
        yield* Ref.set(stopped, "stopped")
        return yield* Ref.set(fatal, done.failure)
      }
      const { held, note, outcomes, unnamed } = done.success
      tally.noted(source, note)
      if (held !== undefined) {
        tally.add(source, "held", held.count)
        tally.held(source, held.why)
      }
      for (const outcome of outcomes) {
        if (queued) tally.settled(outcome, 0)
        else tally.listedOutcome(outcome)
        yield* emit({ type: "file", ...outcome })
      }
      tally.counted(source, unnamed)
      tally.untold ||= unnamed.added > 0 || outcomes.some(({ outcome }) => outcome === "added" || outcome === "changed")
      if (spec.onFileError === "stop" && (unnamed.failed > 0 || outcomes.some(({ outcome }) => outcome === "failed"))) {
        yield* Ref.set(stopped, "stopped")
      }
    })
    if (importer !== undefined) {
      const handed = (source: SyncSource) =>
        source.staging !== undefined
          ? Stream.fromIterable(stagedBySource.get(source.id) ?? [])
          : scan.queued.pipe(
            Stream.map(decodeWork),
            Stream.filter((work) => work.source === source.id && isHandedOver(source, work.item)),
            Stream.map(importer.handOver)
          )
      const batches = Stream.fromIterable(sources.listed).pipe(
        Stream.filter(({ imports, staging }) => imports !== undefined || staging !== undefined),
        Stream.flatMap((source) => handed(source).pipe(
          Stream.grouped(Importing.importSize),
          Stream.map((files) => account(source.id, importer.importFiles(source.id, files), true))
        ))
      )
      const whole = Stream.fromIterable(sources.importOnly).pipe(Stream.map((source) => {
        tally.noted(source.id, importOnlyNote(source))
        return account(source.id, importer.importWhole(source, begun.get(source.id)), false)
      }))
      // One after the other: a corpus takes one import at a time.
      yield* Stream.runForEach(Stream.concat(batches, whole), (run) => run)
    }
    if (embedded !== undefined) tally.embeddedInAll(embedded())
    const error = yield* Ref.get(fatal)
    if (error !== undefined) return yield* error

    const stop = yield* Ref.get(stopped)
    if (stop === undefined) {
      // The ledger knows by now what their imports brought.
      for (const { id } of sources.importOnly) yield* scan.seeAll(id)
      const missing = yield* gone(scope, spec, scan, options.yes ?? false)
      const { deleted, heldPaths } = yield* deleteMissing({ scope, scan, gone: missing, emit })
      for (const [source, count] of deleted) tally.add(source, "deleted", count)
      for (const { count, held, source } of missing) {
        if (held === undefined) continue
        tally.add(source, "held", count)
        tally.held(source, held, heldPaths.get(source))
      }
      for (const [source, entries] of imported) {
        const { added, changed, failed, moved, unchanged } = tally.countsOf(source)
        if (!tally.isComplete(source) || failed > 0) {
          tally.noted(source, `${filesText(entries.length)} that the service had imported stay until all that is listed is stored`)
          continue
        }
        const why = yield* giveWay({ scope, spec, entries, stored: added + changed + moved + unchanged, yes: options.yes ?? false })
        if (why === undefined) tally.noted(source, `${filesText(entries.length)} that the service had imported gave way to what is stored from here`)
        else {
          tally.add(source, "held", entries.length)
          tally.held(source, why)
        }
      }
      yield* increments.commit((source) => tally.countsOf(source))
    }
    const unlisted = tally.sources.some(({ error }) => error !== undefined)
    if (target.serving !== undefined) {
      why ??= stop === undefined && !unlisted ? yield* takeOver : "it is not whole"
      if (why !== undefined) {
        why = `the corpus that was there serves on, and the new one waits: ${why}`
        return yield* finish(stop ?? "incomplete")
      }
    }
    return yield* finish(stop ?? (unlisted ? "incomplete" : "done"))
  }).pipe(
    Effect.scoped,
    Effect.onExit((exit) =>
      Exit.isSuccess(exit)
        ? Effect.void
        // The record must not hide the failure that ended the run.
        : finish(Cause.hasInterrupts(exit.cause) ? "interrupted" : "stopped").pipe(Effect.ignore)
    )
  )
})

