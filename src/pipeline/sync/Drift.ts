import { Effect, Stream } from "effect"
import type { CorpusName } from "../../domain/Corpus.ts"
import type { FileOutcome, Others } from "../../domain/Report.ts"
import { Ledger, type LedgerEntry, recoveredPath, type Scan } from "../../ports/Ledger.ts"
import { compareTarget } from "./Comparing.ts"
import * as Fingerprint from "./Fingerprint.ts"
import { countOthers } from "./Others.ts"
import type { Work } from "./Scanning.ts"
import { type Named, sourcesByMark, type SyncSpec } from "./SyncSpec.ts"

/** What somebody else did to the files that this pipeline put into its corpus. */
export interface Drift {
  /** Files deleted or changed there, by source; a run puts them back. */
  readonly lost: ReadonlyMap<string, number>
  /** Files that are there and cannot be used, by source; a run puts them again. */
  readonly damaged: ReadonlyMap<string, number>
  /** Sources of files that differ: they are met only where everything is listed. */
  readonly sources: ReadonlySet<string>
  /** Files that carry our mark and that the ledger does not know, by source. */
  readonly strays: ReadonlyMap<string, ReadonlyArray<LedgerEntry>>
  /** The ledger as it would be had it seen that: what is lost is to be stored again, what carries our mark is known. */
  readonly over: (scan: Scan) => Scan
  /** The corpus holds these and nothing of this pipeline's: a run would be its first in there. */
  readonly joins: Others | undefined
}

export const noDrift: Drift = { joins: undefined, lost: new Map(), damaged: new Map(), sources: new Set(), strays: new Map(), over: (scan) => scan }

const drifted = "drift"

/** Why a file is stored again that the source did not change. */
export const driftOf = ({ known }: Pick<Work, "known">): Pick<FileOutcome, "reason" | "message"> =>
  known?.reason !== drifted ? {} : { reason: drifted, message: known.message }

/** What to tell of each source. */
export const driftNotes = ({ damaged, lost }: Pick<Drift, "damaged" | "lost">): ReadonlyArray<readonly [source: string, note: string]> => [
  ...[...lost].map(([source, count]) => [source, `${filesText(count)} deleted or changed in the corpus by somebody else`] as const),
  ...[...damaged].map(([source, count]) => [source, `${filesText(count)} damaged in the corpus, to be read again`] as const)
]

const filesText = (count: number): string => count === 1 ? "1 file" : `${count} files`

/**
 * Holds the ledger against the target, and answers what differs as corrections to a scan: nothing is written, so that
 * `plan` and `run` see the same. The target is listed before the sources are, so that what another machine puts there
 * meanwhile is in their listings too.
 *
 * @param known false: the ledger is about another corpus, and all that carries our mark is taken from the target
 */
export const findDrift = Effect.fn("sync.findDrift")(function*(
  scope: string,
  corpus: CorpusName,
  spec: Named & Pick<SyncSpec, "sources">,
  known = true
) {
  const ours = sourcesByMark(spec)
  const corrected = new Map<string, LedgerEntry>()
  const lost = new Map<string, number>()
  const damaged = new Map<string, number>()
  const strays = new Map<string, Array<LedgerEntry>>()
  const others = countOthers(spec)
  const correct = (entry: LedgerEntry, message: string, counts = lost) => {
    // What was not to be had before is not put back.
    if (entry.state !== "done") return void corrected.set(key(entry.source, entry.path), entry)
    corrected.set(key(entry.source, entry.path), { ...entry, state: "failed", reason: drifted, message })
    counts.set(entry.source, (counts.get(entry.source) ?? 0) + 1)
  }
  yield* compareTarget(scope, spec, { corpus, known }, (comparison) => Effect.sync(() => {
    if (comparison._tag === "foreign") return others.see(comparison.file)
    others.seeOwn()
    switch (comparison._tag) {
      case "missing": {
        const { file: _, ...entry } = comparison.entry
        return correct(entry, "somebody else deleted it from the corpus")
      }
      case "differs":
        return correct(comparison.entry, comparison.why, comparison.broken ? damaged : lost)
      case "stray": {
        const { file, marker } = comparison
        const source = ours.get(marker.source)
        if (source === undefined) return
        const path = recoveredPath(marker.pathHash)
        const before = strays.get(key(source, path)) ?? []
        strays.set(key(source, path), [...before, {
          source,
          path,
          state: "done",
          revision: "",
          fingerprint: marker.fingerprint,
          file: file.name,
          size: file.sizeBytes
        }])
      }
    }
  }))
  if (corrected.size + strays.size > 0) yield* dropMoved(scope, corrected, lost, strays)
  const touched = new Set([...corrected.values(), ...[...strays.values()].flat()].map(({ source }) => source))
  const unrecorded = Map.groupBy([...strays.values()].flat(), ({ source }) => source)
  return { joins: others.joined(), lost, damaged, sources: touched, strays: unrecorded, over: corrected.size + strays.size === 0 ? noDrift.over : overlay(corrected, strays) } satisfies Drift
})

/**
 * Takes back what only looked different because somebody writes at this moment: ledger and target are two readings, one
 * after the other. What the ledger says otherwise by now, or has begun to write, is not drift.
 */
const dropMoved = Effect.fnUntraced(function*(
  scope: string,
  corrected: Map<string, LedgerEntry>,
  lost: Map<string, number>,
  strays: Map<string, Array<LedgerEntry>>
) {
  const now = new Map<string, LedgerEntry>()
  const strayAt = (entry: LedgerEntry) => key(entry.source, recoveredPath(Fingerprint.pathHash(entry.path)))
  yield* (yield* Ledger).entries(scope).pipe(Stream.runForEach((entry) => Effect.sync(() => {
    const at = key(entry.source, entry.path)
    if (corrected.has(at)) now.set(at, entry)
    const hidden = strayAt(entry)
    const left = strays.get(hidden)?.filter(({ file }) => entry.state !== "intent" && file !== entry.file)
    if (left === undefined) return
    if (left.length === 0) strays.delete(hidden)
    else strays.set(hidden, left)
  })))
  for (const [at, before] of corrected) {
    const entry = now.get(at)
    const same = entry !== undefined && entry.state === (before.reason === drifted ? "done" : before.state) &&
      entry.fingerprint === before.fingerprint && entry.revision === before.revision
    if (same) continue
    corrected.delete(at)
    if (before.reason === drifted) lost.set(before.source, (lost.get(before.source) ?? 1) - 1)
  }
  for (const [source, count] of lost) if (count === 0) lost.delete(source)
})

const key = (source: string, path: string): string => `${source}\n${path}`

const overlay = (corrected: ReadonlyMap<string, LedgerEntry>, strays: ReadonlyMap<string, ReadonlyArray<LedgerEntry>>) => (scan: Scan): Scan => {
  const unseen = new Map(strays)
  const kept = new Set<string>()
  const asIs = (entry: LedgerEntry): LedgerEntry => corrected.get(key(entry.source, entry.path)) ?? entry
  /** Of several files of one path one is taken, and the others go with what is missing. */
  const adopt = (at: string): LedgerEntry | undefined => {
    const [first, ...others] = unseen.get(at) ?? []
    unseen.set(at, others)
    return first
  }
  const unlisted = () => [...unseen.values()].flat().filter(({ source }) => !kept.has(source))
  /** What may have moved, by content: looked through once the listings are over. */
  let byContent: ReadonlyMap<string, ReadonlyArray<LedgerEntry>> | undefined
  const movable = () => byContent ??= Map.groupBy(unlisted(), ({ fingerprint }) => Fingerprint.parse(fingerprint).content)
  const claim = (contentHash: string): LedgerEntry | undefined => {
    const entry = movable().get(contentHash)?.find((entry) => unseen.get(key(entry.source, entry.path))?.includes(entry))
    if (entry !== undefined) unseen.set(key(entry.source, entry.path), (unseen.get(key(entry.source, entry.path)) ?? []).filter((other) => other !== entry))
    return entry
  }
  return {
    ...scan,
    see: (source, paths, pathHash) =>
      Effect.map(scan.see(source, paths, pathHash), (entries) => entries.map((entry, index) => {
        const known = entry === undefined ? undefined : asIs(entry)
        if (strays.size === 0 || known?.file !== undefined) return known
        return adopt(key(source, recoveredPath(pathHash(paths[index] ?? "")))) ?? known
      })),
    seeUnder: (source, folder) => Effect.andThen(Effect.sync(() => kept.add(source)), scan.seeUnder(source, folder)),
    seeAll: (source) => Effect.andThen(Effect.sync(() => kept.add(source)), scan.seeAll(source)),
    seeRest: (source) => Effect.andThen(Effect.sync(() => kept.add(source)), scan.seeRest(source)),
    restart: (source) => Effect.andThen(Effect.sync(() => {
      kept.delete(source)
      for (const [at, entries] of strays) if (entries[0]?.source === source) unseen.set(at, entries)
    }), scan.restart(source)),
    missing: Stream.concat(Stream.map(scan.missing, asIs), Stream.suspend(() => Stream.fromIterable(unlisted()))),
    countMissing: (source) => Effect.map(scan.countMissing(source), ({ known, missing }) => {
      const of = (entries: ReadonlyArray<LedgerEntry>) => entries.filter((entry) => entry.source === source).length
      return { known: known + of([...strays.values()].flat()), missing: missing + of(unlisted()) }
    }),
    claim: (contentHash) => Effect.map(scan.claim(contentHash), (entry) => entry === undefined ? claim(contentHash) : asIs(entry)),
    mayMove: (size) => Effect.map(scan.mayMove(size), (may) => may || [...movable().values()].flat().some((entry) => entry.size === undefined || size === undefined || entry.size === size))
  }
}
