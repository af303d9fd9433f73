import { Effect, Stream } from "effect"
import { Files } from "../../ports/Files.ts"
import { Ledger, type LedgerEntry, type Scan } from "../../ports/Ledger.ts"
import { Held, ignoreMissing } from "./Failures.ts"
import { filesText, Session, type SyncSpec } from "./Session.ts"

/** So many deletes are never held, except where they are all that a source had. */
const freeDeletes = 20
/** Deletes in progress at once, and entries taken out of the ledger in one go. */
const concurrency = 8
const batchSize = 256
/** Paths named in a held event. */
const namedPaths = 20

/** How many of the known files may go without anybody's consent. */
const deleteLimit = (maxDelete: SyncSpec["maxDelete"], known: number): number =>
  Math.max(freeDeletes, "percent" in maxDelete ? Math.floor((known * maxDelete.percent) / 100) : maxDelete.count)

/**
 * Why the deletes of a source wait for a person: too many of the files that were known before the run, or all of them,
 * as where a disk is not mounted. A source that was taken out of the pipeline is expected to lose all.
 */
const holdReason = (
  { known, missing }: { readonly known: number; readonly missing: number },
  maxDelete: SyncSpec["maxDelete"],
  inPipeline: boolean
): string | undefined => {
  const limit = deleteLimit(maxDelete, known)
  if (missing > limit) {
    return `${missing} of ${known} files are gone at the source, more than maxDelete allows (${limit}); --yes deletes them`
  }
  return inPipeline && missing >= known
    ? `${known === 1 ? "the only file is" : `all ${known} files are`} gone at the source; --yes deletes what the corpus has of it`
    : undefined
}

/** What a scan found missing in one source, and why the guard holds it, where it does. */
export interface Missing {
  readonly source: string
  readonly count: number
  readonly held?: string
}

/**
 * Sources with something missing, among the pipeline's and those the ledger still knows from before. What `plan` says
 * and what `run` does is decided here.
 */
export const findMissing = Effect.fn("sync.findMissing")(function*(scan: Scan) {
  const ledger = yield* Ledger
  const { scope, spec, yes } = yield* Session
  const missing: Array<Missing> = []
  const own = new Set(spec.sources.map(({ id }) => id))
  for (const source of new Set([...yield* ledger.sources(scope), ...own])) {
    const counted = yield* scan.countMissing(source)
    if (counted.missing === 0) continue
    missing.push({ source, count: counted.missing, held: yes ? undefined : holdReason(counted, spec.maxDelete, own.has(source)) })
  }
  return missing
})

/** Deletes from the target what complete listings no longer have, except what is held. */
export const deleteMissing = Effect.fn("sync.deleteMissing")(function*(scan: Scan) {
  const { emit, tally } = yield* Session
  const missing = yield* findMissing(scan)
  const heldPaths = new Map(missing.flatMap(({ held, source }) => held === undefined ? [] : [[source, Array<string>()] as const]))
  yield* scan.missing.pipe(
    Stream.grouped(batchSize),
    Stream.runForEach(Effect.fnUntraced(function*(batch) {
      const [held, free] = [batch.filter(({ source }) => heldPaths.has(source)), batch.filter(({ source }) => !heldPaths.has(source))]
      for (const { file, path, source } of held) {
        const paths = heldPaths.get(source)
        if (file !== undefined && paths !== undefined && paths.length < namedPaths) paths.push(path)
      }
      yield* deleteEntries(free)
      for (const { file, path, source } of free) {
        // Only what the target held was deleted from it.
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
})

/** Deletes what the target has of these entries, and then the entries. */
const deleteEntries = Effect.fnUntraced(function*(entries: ReadonlyArray<LedgerEntry>) {
  const files = yield* Files
  const ledger = yield* Ledger
  const { scope } = yield* Session
  yield* Effect.forEach(entries, ({ file }) => file === undefined ? Effect.void : files.delete(file).pipe(ignoreMissing), {
    concurrency,
    discard: true
  })
  yield* ledger.write(scope, { remove: entries })
})

/**
 * Somebody else lists a source now: what the one who listed it before had put into the corpus is deleted, as soon as all
 * that the other one lists is there. Readers find both until then, and never neither. Far fewer files than there were,
 * or none, are not taken for all of it without consent: that fails with {@link Held}.
 *
 * @param stored how many files have come in their place
 */
export const deleteSuperseded = Effect.fn("sync.deleteSuperseded")(function*(entries: ReadonlyArray<LedgerEntry>, stored: number) {
  const { spec: { maxDelete }, yes } = yield* Session
  const there = entries.filter(({ file }) => file !== undefined).length
  if (!yes && there > 0 && (stored === 0 || there - stored > deleteLimit(maxDelete, there))) {
    const why = `${
      filesText(there)
    } would give way to ${stored}, fewer than maxDelete allows, now that somebody else lists the source; --yes deletes them`
    return yield* new Held({ count: entries.length, why })
  }
  yield* Stream.fromIterable(entries).pipe(Stream.grouped(batchSize), Stream.runForEach(deleteEntries))
})

/** What decides whether a corpus may take the place of one that has files which it has not. */
export interface LossRules extends Pick<SyncSpec, "maxDelete"> {
  /** Ids of the sources that the pipeline has. */
  readonly sources: ReadonlyArray<string>
  /** It may, whatever is missing. */
  readonly yes: boolean
}

/**
 * Fails with {@link Held} where a corpus that was built may not serve yet: by the rule that holds deletes, of the files
 * that the one which serves has and the new one has not. Both are given by the keys of their entries.
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
