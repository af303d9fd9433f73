import { Effect, Stream } from "effect"
import type { SyncEvent } from "../../domain/Report.ts"
import { Files } from "../../ports/Files.ts"
import { Ledger, type Scan } from "../../ports/Ledger.ts"
import { ignoreMissing } from "./Applying.ts"
import { freeDeletes, type SyncSpec } from "./SyncSpec.ts"

/** Deletes under way at once. */
const concurrency = 8
const batchSize = 256
/** Paths named in a held event. */
const named = 20

/** What a scan found gone in one source, and whether the guard lets it go. */
export interface Gone {
  readonly source: string
  readonly count: number
  readonly held: string | undefined
}

/** How many of the known files may go without anybody's word. */
export const deleteLimit = (maxDelete: SyncSpec["maxDelete"], known: number): number =>
  Math.max(freeDeletes, "percent" in maxDelete ? Math.floor((known * maxDelete.percent) / 100) : maxDelete.count)

/**
 * Why the deletes of a source wait for a person: too many of the files that were known before the run, or all of them,
 * as where a disk is not mounted. A source that was taken out of the pipeline is expected to lose all.
 */
export const holdReason = (
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

/**
 * Sources with something missing, among the pipeline's and those the ledger still knows from before. What `plan` says
 * and what `run` does is decided here.
 */
export const gone = Effect.fn("sync.gone")(function*(
  scope: string,
  spec: Pick<SyncSpec, "maxDelete" | "sources">,
  scan: Scan,
  yes: boolean
) {
  const ledger = yield* Ledger
  const found: Array<Gone> = []
  const own = new Set(spec.sources.map(({ id }) => id))
  for (const source of new Set([...yield* ledger.sources(scope), ...own])) {
    const counted = yield* scan.countMissing(source)
    if (counted.missing === 0) continue
    found.push({ source, count: counted.missing, held: yes ? undefined : holdReason(counted, spec.maxDelete, own.has(source)) })
  }
  return found
})

/**
 * Removes from the target what complete listings no longer have. Answers how many went, and the first of those that are
 * held, by source.
 */
export const deleteMissing = Effect.fn("sync.deleteMissing")(function*(input: {
  readonly scope: string
  readonly scan: Scan
  readonly gone: ReadonlyArray<Gone>
  readonly emit: (event: SyncEvent) => Effect.Effect<void>
}) {
  const { emit, scan, scope } = input
  const ledger = yield* Ledger
  const files = yield* Files
  const held = new Map(input.gone.flatMap((g) => (g.held === undefined ? [] : [[g.source, g] as const])))
  const deleted = new Map<string, number>()
  const heldPaths = new Map<string, Array<string>>()

  yield* scan.missing.pipe(
    Stream.grouped(batchSize),
    Stream.runForEach(Effect.fnUntraced(function*(batch) {
      const going = batch.filter((entry) => !held.has(entry.source))
      for (const { file, path, source } of batch) {
        const paths = heldPaths.get(source) ?? []
        if (held.has(source) && file !== undefined && paths.length < named) heldPaths.set(source, [...paths, path])
      }
      yield* Effect.forEach(
        going,
        (entry) => entry.file === undefined ? Effect.void : files.delete(entry.file).pipe(ignoreMissing),
        { concurrency, discard: true }
      )
      yield* ledger.write(scope, { remove: going })
      for (const entry of going) {
        // Only what the target held was deleted from it.
        if (entry.file === undefined) continue
        deleted.set(entry.source, (deleted.get(entry.source) ?? 0) + 1)
        yield* emit({ type: "deleted", source: entry.source, path: entry.path })
      }
    }))
  )
  for (const { count, held: why, source } of input.gone) {
    if (why !== undefined) yield* emit({ type: "held", source, count, why, paths: heldPaths.get(source) ?? [] })
  }
  return { deleted, heldPaths }
})
