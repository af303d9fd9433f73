import { Effect, Stream } from "effect"
import type { CorpusName } from "../../domain/Corpus.ts"
import { plural } from "../../domain/Numbers.ts"
import type { RagFile } from "../../domain/RagFile.ts"
import type { Others } from "../../domain/Report.ts"
import type { LostCorpus } from "../../ports/Corpora.ts"
import { Files } from "../../ports/Files.ts"
import { Ledger, type LedgerEntry, recoveredPath, type Scan } from "../../ports/Ledger.ts"
import { pages } from "../../ports/Paging.ts"
import { compareTarget, countOthers } from "./Diff.ts"
import { ignoreMissing } from "./Failures.ts"
import * as Fingerprint from "./Fingerprint.ts"
import { isImporting } from "./ServiceFiles.ts"
import { drifted, markerSource, namesOf, Session, sourcesByMark, type SyncSpec } from "./Session.ts"

/** How the target differs from the ledger: what somebody else did to the files that this pipeline stored there. */
export interface Drift {
  /** Files deleted or changed there, by source; a run stores them again. */
  readonly lost: ReadonlyMap<string, number>
  /** Files that are there but cannot be used, by source; a run stores them again. */
  readonly damaged: ReadonlyMap<string, number>
  /** Files with this pipeline's marker that the ledger does not know, by source. */
  readonly strays: ReadonlyMap<string, ReadonlyArray<LedgerEntry>>
  /** Sources of files that differ: the differences only show where everything is listed. */
  readonly sources: ReadonlySet<string>
  /** Corrects a scan as if the ledger had recorded the drift: lost files are to be stored again, strays are known. */
  readonly over: (scan: Scan) => Scan
  /** Files of others in a corpus that has none of this pipeline's: a run would be its first there. */
  readonly joins: Others | undefined
}

export const noDrift: Drift = {
  joins: undefined,
  lost: new Map(),
  damaged: new Map(),
  strays: new Map(),
  sources: new Set(),
  over: (scan) => scan
}

/** Notes on the sources, for the report. */
export const driftNotes = ({ damaged, lost }: Pick<Drift, "damaged" | "lost">): ReadonlyArray<readonly [source: string, note: string]> => [
  ...[...lost].map(([source, count]) => [source, `${plural(count, "file")} deleted or changed in the corpus by somebody else`] as const),
  ...[...damaged].map(([source, count]) => [source, `${plural(count, "file")} damaged in the corpus, to be read again`] as const)
]

/**
 * Compares the ledger with the target, and returns the differences as corrections to a scan: nothing is written, so that
 * `plan` and `run` see the same. The target is listed before the sources, so that files another machine stores meanwhile
 * are in the sources' listings too.
 *
 * @param known false: the ledger is about another corpus, and every file with this pipeline's marker is taken from the target
 */
export const findDrift = Effect.fn("sync.findDrift")(function*(corpus: CorpusName, known = true) {
  const { scope, spec } = yield* Session
  const sourceOf = sourcesByMark(spec)
  const others = countOthers(spec)
  const corrected = new Map<string, LedgerEntry>()
  const lost = new Map<string, number>()
  const damaged = new Map<string, number>()
  const strays = new Map<string, Array<LedgerEntry>>()
  const correct = (entry: LedgerEntry, message: string, counts = lost) => {
    // Files that could not be stored before are not stored again.
    if (entry.state !== "done") return void corrected.set(keyOf(entry), entry)
    corrected.set(keyOf(entry), { ...entry, state: "failed", reason: drifted, message })
    counts.set(entry.source, (counts.get(entry.source) ?? 0) + 1)
  }
  yield* compareTarget(scope, spec, { corpus, known }, (comparison) => {
    others.see(comparison)
    switch (comparison._tag) {
      case "missing": {
        const { file: _, ...entry } = comparison.entry
        return correct(entry, "somebody else deleted it from the corpus")
      }
      case "differs":
        return correct(comparison.entry, comparison.why, comparison.broken ? damaged : lost)
      case "stray": {
        const entry = strayEntry(sourceOf, comparison.file)
        if (entry !== undefined) strays.set(keyOf(entry), [...strays.get(keyOf(entry)) ?? [], entry])
      }
    }
  })
  if (corrected.size + strays.size > 0) yield* dropWritten(corrected, lost, strays)
  const unknown = [...strays.values()].flat()
  return {
    joins: others.joined(),
    lost,
    damaged,
    strays: Map.groupBy(unknown, ({ source }) => source),
    sources: new Set([...corrected.values(), ...unknown].map(({ source }) => source)),
    over: corrected.size + unknown.length === 0 ? noDrift.over : overlay(corrected, strays)
  } satisfies Drift
})

/** The ledger entry of a file with this pipeline's marker; undefined where it has none, or that of another source. */
const strayEntry = (
  sourceOf: ReadonlyMap<string, string>,
  { marker, name: file, sizeBytes: size }: Pick<RagFile, "name" | "marker" | "sizeBytes">
): LedgerEntry | undefined => {
  const source = marker === undefined ? undefined : sourceOf.get(marker.source)
  if (marker === undefined || source === undefined) return undefined
  const { fingerprint, pathHash } = marker
  return { source, path: recoveredPath(pathHash), state: "done", revision: "", fingerprint, file, size }
}

/** Entries of the files that the pipeline's sources had stored in a lost corpus, by source. */
export const lostBySource = (spec: SyncSpec, { files }: Pick<LostCorpus, "files">): ReadonlyMap<string, ReadonlyArray<LedgerEntry>> => {
  const sourceOf = sourcesByMark(spec)
  return Map.groupBy(files.flatMap((file) => strayEntry(sourceOf, file) ?? []), ({ source }) => source)
}

/** The drift of a lost corpus, as a plan sees it before the corpus is taken in. */
export const lostDrift = (spec: SyncSpec, lost: LostCorpus): Drift => {
  const bySource = lostBySource(spec, lost)
  const strays = Map.groupBy([...bySource.values()].flat(), keyOf)
  return { ...noDrift, strays: bySource, sources: new Set(bySource.keys()), over: overlay(new Map(), strays) }
}

const keyOf = ({ path, source }: Pick<LedgerEntry, "path" | "source">): string => `${source}\n${path}`

/**
 * Removes differences that are only due to a write at this moment: ledger and target are read one after the other. An
 * entry that the ledger has changed by now, or has as an intent, is not drift.
 */
const dropWritten = Effect.fnUntraced(function*(
  corrected: Map<string, LedgerEntry>,
  lost: Map<string, number>,
  strays: Map<string, Array<LedgerEntry>>
) {
  const { scope } = yield* Session
  const now = new Map<string, LedgerEntry>()
  yield* (yield* Ledger).entries(scope).pipe(Stream.runForEach((entry) =>
    Effect.sync(() => {
      if (corrected.has(keyOf(entry))) now.set(keyOf(entry), entry)
      const key = keyOf({ source: entry.source, path: recoveredPath(Fingerprint.pathHash(entry.path)) })
      const left = strays.get(key)?.filter(({ file }) => entry.state !== "intent" && file !== entry.file)
      if (left?.length === 0) strays.delete(key)
      else if (left !== undefined) strays.set(key, left)
    })
  ))
  for (const [key, before] of corrected) {
    const entry = now.get(key)
    const same = entry !== undefined && entry.state === (before.reason === drifted ? "done" : before.state) &&
      entry.fingerprint === before.fingerprint && entry.revision === before.revision
    if (same) continue
    corrected.delete(key)
    if (before.reason === drifted) lost.set(before.source, (lost.get(before.source) ?? 1) - 1)
  }
  for (const [source, count] of lost) if (count === 0) lost.delete(source)
})

/** A scan of a ledger with these entries corrected, and these strays added. */
const overlay =
  (corrected: ReadonlyMap<string, LedgerEntry>, strays: ReadonlyMap<string, ReadonlyArray<LedgerEntry>>) => (scan: Scan): Scan => {
    const unseen = new Map(strays)
    /** Sources whose entries all count as seen. */
    const seen = new Set<string>()
    const correctedOf = (entry: LedgerEntry | undefined) => entry === undefined ? undefined : corrected.get(keyOf(entry)) ?? entry
    /** Where several files have one path, one is taken, and the others are missing. */
    const take = (key: string, which: (entry: LedgerEntry) => boolean = () => true): LedgerEntry | undefined => {
      const entries = unseen.get(key) ?? []
      const entry = entries.find(which)
      if (entry !== undefined) unseen.set(key, entries.filter((other) => other !== entry))
      return entry
    }
    const unlisted = () => [...unseen.values()].flat().filter(({ source }) => !seen.has(source))
    /** Entries that may have moved, by content; computed once the listings are over. */
    let movable:
      | { readonly byContent: ReadonlyMap<string, ReadonlyArray<LedgerEntry>>; readonly sizes: ReadonlySet<number | undefined> }
      | undefined
    const mayHaveMoved = () =>
      movable ??= {
        byContent: Map.groupBy(unlisted(), ({ fingerprint }) => Fingerprint.parse(fingerprint).content),
        sizes: new Set(unlisted().map(({ size }) => size))
      }
    const claim = (contentHash: string): LedgerEntry | undefined => {
      for (const entry of mayHaveMoved().byContent.get(contentHash) ?? []) {
        if (take(keyOf(entry), (other) => other === entry) !== undefined) return entry
      }
      return undefined
    }
    const seeSource = (source: string) => Effect.sync(() => void seen.add(source))
    const countOf = (source: string, entries: Iterable<LedgerEntry>) => [...entries].filter((entry) => entry.source === source).length
    return {
      ...scan,
      see: (source, paths, pathHash) =>
        Effect.map(scan.see(source, paths, pathHash), (entries) =>
          entries.map((entry, index) => {
            const known = correctedOf(entry)
            if (strays.size === 0 || known?.file !== undefined) return known
            return take(keyOf({ source, path: recoveredPath(pathHash(paths[index] ?? "")) })) ?? known
          })),
      seeUnder: (source, folder, before) => Effect.andThen(seeSource(source), scan.seeUnder(source, folder, before)),
      seeAll: (source) => Effect.andThen(seeSource(source), scan.seeAll(source)),
      seeRest: (source) => Effect.andThen(seeSource(source), scan.seeRest(source)),
      forget: (source, path) =>
        Effect.andThen(
          Effect.sync(() => {
            const entries = strays.get(keyOf({ source, path }))
            if (entries !== undefined) unseen.set(keyOf({ source, path }), entries)
          }),
          scan.forget(source, path)
        ),
      restart: (source) =>
        Effect.andThen(
          Effect.sync(() => {
            seen.delete(source)
            for (const [key, entries] of strays) if (entries[0]?.source === source) unseen.set(key, entries)
          }),
          scan.restart(source)
        ),
      missing: Stream.concat(
        Stream.map(scan.missing, (entry) => correctedOf(entry) ?? entry),
        Stream.suspend(() => Stream.fromIterable(unlisted()))
      ),
      countMissing: (source) =>
        Effect.map(scan.countMissing(source), ({ known, missing }) => ({
          known: known + countOf(source, [...strays.values()].flat()),
          missing: missing + countOf(source, unlisted())
        })),
      claim: (contentHash) => Effect.map(scan.claim(contentHash), (entry) => correctedOf(entry) ?? claim(contentHash)),
      mayMove: (size) =>
        Effect.map(scan.mayMove(size), (may) => {
          const { sizes } = mayHaveMoved()
          return may || sizes.has(undefined) || (size === undefined ? sizes.size > 0 : sizes.has(size))
        })
    }
  }

/** Entries written at a time. */
const batchSize = 500

/**
 * Rebuilds the ledger of a corpus that this pipeline has filled before (from a new machine, or after the data directory
 * was lost) from the markers of its files. Files without its marker stay unknown, and so are never deleted; returns whose
 * they are, where none are the pipeline's.
 *
 * @param wasLost the corpus's files were taken in from its vector database
 */
export const recoverLedger = Effect.fn("sync.recoverLedger")(function*(corpus: CorpusName, wasLost = false) {
  const ledger = yield* Ledger
  const { scope, spec } = yield* Session
  const { joins, strays } = yield* findDrift(corpus, false)
  // Metadata made by rules is not in the vector database.
  const known = (entry: LedgerEntry): LedgerEntry =>
    wasLost && spec.metadata !== undefined ? { ...entry, fingerprint: Fingerprint.undescribed(entry.fingerprint) } : entry
  yield* Stream.fromIterable(strays.values()).pipe(
    Stream.flatMap(Stream.fromIterable),
    Stream.grouped(batchSize),
    Stream.runForEach((put) => ledger.write(scope, { put: put.map(known) }))
  )
  return joins
})

/**
 * Settles writes that an earlier run left open, by examining the target and never by sending again: an intent whose
 * fingerprint the target has is done; any other is reset to what the target does have.
 */
export const settleIntents = Effect.fn("sync.settleIntents")(function*(corpus: CorpusName) {
  const ledger = yield* Ledger
  const files = yield* Files
  const { scope, spec } = yield* Session
  const intents = new Map<string, LedgerEntry>()
  yield* ledger.entries(scope, ["intent"]).pipe(
    Stream.filter((entry) => !isImporting(entry)),
    Stream.runForEach((entry) =>
      Effect.sync(() => {
        const path = Fingerprint.pathHash(entry.path)
        for (const name of namesOf(spec)) intents.set(keyOf({ source: markerSource(name, entry.source), path }), entry)
      })
    )
  )
  if (intents.size === 0) return

  const versions = new Map<LedgerEntry, Array<RagFile>>()
  yield* pages((page) => files.list(corpus, page)).pipe(Stream.runForEach((file) =>
    Effect.sync(() => {
      const entry = file.marker === undefined ? undefined : intents.get(keyOf({ source: file.marker.source, path: file.marker.pathHash }))
      if (entry !== undefined) versions.set(entry, [...(versions.get(entry) ?? []), file])
    })
  ))
  for (const entry of new Set(intents.values())) {
    const held = versions.get(entry) ?? []
    const arrived = held.find((file) => file.marker?.fingerprint === entry.fingerprint)
    const kept = arrived ?? held.find((file) => file.name === entry.file) ?? held[0]
    // A crash between "upload new" and "delete old" leaves both.
    yield* Effect.forEach(held.filter((file) => file !== kept), (file) => files.delete(file.name).pipe(ignoreMissing), { discard: true })
    const { file: _, ...rest } = entry
    if (arrived !== undefined) {
      // Its metadata may not have been written.
      const fingerprint = spec.metadata === undefined ? rest.fingerprint : Fingerprint.undescribed(rest.fingerprint)
      yield* ledger.write(scope, { put: [{ ...rest, state: "done", fingerprint, file: arrived.name }] })
    } else if (kept === undefined) yield* ledger.write(scope, { remove: [entry] })
    else {
      const message = "an earlier run ended before it was stored"
      yield* ledger.write(scope, { put: [{ ...rest, state: "failed", file: kept.name, reason: "interrupted", message }] })
    }
  }
})
