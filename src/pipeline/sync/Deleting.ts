import { Clock, Effect, Stream } from "effect"
import { Files } from "../../ports/Files.ts"
import { Ledger, type LedgerEntry, type Scan } from "../../ports/Ledger.ts"
import type { ServiceError } from "../../domain/Errors.ts"
import { plural } from "../../domain/Numbers.ts"
import { concernsAll, Held, ignoreMissing, messageWithFix } from "./Failures.ts"
import { Session, type SyncSpec } from "./Session.ts"

/** Deletes up to this number are never held, unless they are all the files of a source. */
const freeDeletes = 20
/** Concurrent deletes, and the number of entries removed from the ledger at a time. */
const concurrency = 8
const batchSize = 256
/** Files that the target does not delete, after which no more are tried: it would most likely not delete them either. */
const mostUndeleted = 25
/** Paths named in a held event. */
const namedPaths = 20

/** Number of known files that may be deleted without consent. */
const deleteLimit = (maxDelete: SyncSpec["maxDelete"], known: number): number =>
  Math.max(freeDeletes, "percent" in maxDelete ? Math.floor((known * maxDelete.percent) / 100) : maxDelete.count)

/** What the guard compares the deletes of a source with. */
interface Loss {
  /** Number of files known before the run. */
  readonly known: number
  readonly missing: number
  /** Number of files that the source had lately, at least `known`: those that it lost since then count too. Default: `known`. */
  readonly lately?: number | undefined
}

/**
 * Why the deletes of a source wait for a person: there are too many, relative to the files it had, or they are all of its
 * files, as when a disk is not mounted. A source that was removed from the pipeline is expected to lose all.
 */
const holdReason = (
  { known, lately = known, missing }: Loss,
  maxDelete: SyncSpec["maxDelete"],
  inPipeline: boolean
): string | undefined => {
  const limit = deleteLimit(maxDelete, lately)
  const before = lately - known
  if (missing + before > limit) {
    return `${missing} of ${known} files are gone at the source${
      before === 0 ? "" : `, and ${before} more within the last hour`
    }, more than maxDelete allows (${limit}); --yes deletes them`
  }
  return inPipeline && missing >= known
    ? `${known === 1 ? "the only file is" : `all ${known} files are`} gone at the source; --yes deletes what the corpus has of it`
    : undefined
}

/** Files a scan found missing in one source, and why the guard holds their deletes, where it does. */
export interface Missing {
  readonly source: string
  readonly count: number
  readonly held?: string
}

/** Finds the sources with missing files, among the pipeline's and those still in the ledger. `plan` and `run` both use this decision. */
export const findMissing = Effect.fn("sync.findMissing")(function*(scan: Scan) {
  const ledger = yield* Ledger
  const { recentSizes, scope, spec, yes } = yield* Session
  const now = yield* Clock.currentTimeMillis
  const missing: Array<Missing> = []
  const own = new Set(spec.sources.map(({ id }) => id))
  for (const source of new Set([...yield* ledger.sources(scope), ...own])) {
    const counted = yield* scan.countMissing(source)
    if (yes) recentSizes?.forget(source)
    const lately = yes ? undefined : recentSizes?.lately(source, counted.known, now)
    const held = yes || counted.missing === 0 ? undefined : holdReason({ ...counted, lately }, spec.maxDelete, own.has(source))
    recentSizes?.hold(source, held !== undefined)
    if (counted.missing > 0) missing.push({ source, count: counted.missing, held })
  }
  return missing
})

/**
 * Deletes from the target the files that complete listings no longer have, except held ones. Files that it does not delete stay in the
 * ledger, and are noted; returns their sources.
 */
export const deleteMissing = Effect.fn("sync.deleteMissing")(function*(scan: Scan) {
  const { emit, tally } = yield* Session
  const missing = yield* findMissing(scan)
  const heldPaths = new Map(missing.flatMap(({ held, source }) => held === undefined ? [] : [[source, Array<string>()] as const]))
  const undeleted: Array<Undeleted> = []
  yield* scan.missing.pipe(
    Stream.grouped(batchSize),
    Stream.runForEach(Effect.fnUntraced(function*(batch) {
      const [held, free] = [batch.filter(({ source }) => heldPaths.has(source)), batch.filter(({ source }) => !heldPaths.has(source))]
      for (const { file, path, source } of held) {
        const paths = heldPaths.get(source)
        if (file !== undefined && paths !== undefined && paths.length < namedPaths) paths.push(path)
      }
      for (const { file, path, source } of yield* deleteEntries(free, undeleted)) {
        // Only entries with a file were deleted from the target.
        if (file === undefined) continue
        tally.add(source, "deleted", 1)
        yield* emit({ type: "deleted", source, path })
      }
    }))
  )
  for (const { count, held, source } of missing) {
    if (held === undefined) continue
    const paths = heldPaths.get(source) ?? []
    tally.held(source, count, held, paths)
    yield* emit({ type: "held", source, count, why: held, paths })
  }
  const bySource = Map.groupBy(undeleted, ({ entry }) => entry.source)
  for (const [source, failures] of bySource) tally.noted(source, undeletedText(failures))
  return [...bySource.keys()]
})

/** A file that the target did not delete. */
interface Undeleted {
  readonly entry: LedgerEntry
  readonly error: ServiceError
}

const undeletedText = (failures: ReadonlyArray<Undeleted>): string => {
  const [first] = failures
  const others = failures.length < mostUndeleted ? "" : ", and no others were tried"
  return `${plural(failures.length, "file")} could not be deleted${others}: ${first?.entry.path}: ${
    first === undefined ? "" : messageWithFix(first.error)
  }`
}

/**
 * Deletes the files of these entries, and then the entries. Returns the deleted ones; adds those that the target did not delete to
 * `undeleted`, and tries no more once it is full. Fails with what concerns every file.
 */
const deleteEntries = Effect.fnUntraced(function*(entries: ReadonlyArray<LedgerEntry>, undeleted: Array<Undeleted>) {
  const files = yield* Files
  const ledger = yield* Ledger
  const { scope } = yield* Session
  const isDeleted = (entry: LedgerEntry): Effect.Effect<boolean, ServiceError> =>
    Effect.suspend(() => {
      if (entry.file === undefined) return Effect.succeed(true)
      if (undeleted.length >= mostUndeleted) return Effect.succeed(false)
      return files.delete(entry.file).pipe(
        ignoreMissing,
        Effect.as(true),
        Effect.catchIf((error) => !concernsAll(error), (error) => {
          undeleted.push({ entry, error })
          return Effect.succeed(false)
        })
      )
    })
  const deleted = yield* Effect.filter(entries, isDeleted, { concurrency })
  yield* ledger.write(scope, { remove: deleted })
  return deleted
})

/**
 * Deletes a source's files when its lister has changed (from here to the engine, or the reverse), once all that the new
 * lister lists is stored. Until then readers find both, never neither. Fails with {@link Held}, unless consented to,
 * where the new files are far fewer than the old ones, or none.
 *
 * @param stored number of files that replace them
 */
export const deleteSuperseded = Effect.fn("sync.deleteSuperseded")(function*(entries: ReadonlyArray<LedgerEntry>, stored: number) {
  const { spec: { maxDelete }, yes } = yield* Session
  const there = entries.filter(({ file }) => file !== undefined).length
  if (!yes && there > 0 && (stored === 0 || there - stored > deleteLimit(maxDelete, there))) {
    const why = `${
      plural(there, "file")
    } would be replaced by ${stored}, fewer than maxDelete allows, since another side lists the source now; --yes deletes them`
    return yield* new Held({ count: entries.length, why })
  }
  const undeleted: Array<Undeleted> = []
  yield* Stream.fromIterable(entries).pipe(Stream.grouped(batchSize), Stream.runForEach((batch) => deleteEntries(batch, undeleted)))
  const [first] = undeleted
  if (first !== undefined) return yield* first.error
})

/** Rules for whether a corpus may replace one that has files it lacks. */
export interface LossRules extends Pick<SyncSpec, "maxDelete"> {
  /** Ids of the sources that the pipeline has. */
  readonly sources: ReadonlyArray<string>
  /** Allows the corpus to be replaced, however many files are missing. */
  readonly yes: boolean
}

/**
 * Fails with {@link Held} where a built corpus may not become live yet: applies the guard of deletes to the files that
 * the live corpus has and the new one lacks. Both are given by the keys of their entries.
 */
export const checkLosses = Effect.fn("sync.checkLosses")(
  function*(serving: string, candidate: string, { maxDelete, sources, yes }: LossRules) {
    const ledger = yield* Ledger
    if (yes) return
    const stored = (of: string) =>
      ledger.entries(of).pipe(
        Stream.filter(({ file }) => file !== undefined),
        Stream.runFold(() => new Map<string, number>(), (counts, { source }) => counts.set(source, (counts.get(source) ?? 0) + 1))
      )
    const now = yield* stored(candidate)
    for (const [source, known] of yield* stored(serving)) {
      const missing = known - (now.get(source) ?? 0)
      const why = missing > 0 ? holdReason({ known, missing }, maxDelete, sources.includes(source)) : undefined
      if (why !== undefined) return yield* new Held({ count: missing, why: `${source}: ${why}` })
    }
  }
)
