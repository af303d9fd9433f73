import { Effect, Stream } from "effect"
import type { CorpusName } from "../../domain/Corpus.ts"
import type { RagFile } from "../../domain/RagFile.ts"
import { Files } from "../../ports/Files.ts"
import { Ledger, type LedgerEntry, recoveredPath } from "../../ports/Ledger.ts"
import { pages } from "../../ports/Paging.ts"
import { ignoreMissing } from "./Applying.ts"
import * as Fingerprint from "./Fingerprint.ts"
import { isImporting } from "./Imported.ts"
import { countOthers } from "./Others.ts"
import { markerSource, type Named, namesOf, sourcesByMark, type SyncSpec } from "./SyncSpec.ts"

const batchSize = 500

/**
 * Settles what an earlier run left open, by looking at the target and never by sending again: an intent whose
 * fingerprint the target holds is done; any other goes back to what the target does hold.
 */
export const settleIntents = Effect.fn("sync.settleIntents")(function*(scope: string, corpus: CorpusName, spec: Named) {
  const ledger = yield* Ledger
  const files = yield* Files
  const intents = new Map<string, LedgerEntry>()
  const names = namesOf(spec)
  yield* ledger.entries(scope, ["intent"]).pipe(Stream.filter((entry) => !isImporting(entry)), Stream.runForEach((entry) =>
    Effect.sync(() => names.forEach((name) => intents.set(key(markerSource(name, entry.source), Fingerprint.pathHash(entry.path)), entry)))
  ))
  if (intents.size === 0) return

  const held = new Map<LedgerEntry, Array<RagFile>>()
  yield* pages((page) => files.list(corpus, page)).pipe(Stream.runForEach((file) =>
    Effect.sync(() => {
      const entry = file.marker === undefined ? undefined : intents.get(key(file.marker.source, file.marker.pathHash))
      if (entry !== undefined) held.set(entry, [...(held.get(entry) ?? []), file])
    })
  ))
  for (const entry of new Set(intents.values())) {
    const versions = held.get(entry) ?? []
    const arrived = versions.find((file) => file.marker?.fingerprint === entry.fingerprint)
    const kept = arrived ?? versions.find((file) => file.name === entry.file) ?? versions[0]
    // A crash between "upload new" and "delete old" leaves both.
    yield* Effect.forEach(
      versions.filter((file) => file !== kept),
      (file) => files.delete(file.name).pipe(ignoreMissing),
      { discard: true }
    )
    const { file: _, ...rest } = entry
    if (arrived !== undefined) yield* ledger.write(scope, { put: [{ ...rest, state: "done", file: arrived.name }] })
    else if (kept === undefined) yield* ledger.write(scope, { remove: [entry] })
    else {
      const message = "an earlier run ended before it was stored"
      yield* ledger.write(scope, { put: [{ ...rest, state: "failed", file: kept.name, reason: "interrupted", message }] })
    }
  }
})

/**
 * Rebuilds the ledger of a corpus we find filled by this pipeline (a new machine, a lost data directory) from the
 * markers its files carry. Files without our mark stay unknown, and so are never deleted; answers whose they are, where none
 * are ours.
 */
export const recoverLedger = Effect.fn("sync.recoverLedger")(function*(
  scope: string,
  corpus: CorpusName,
  spec: Named & Pick<SyncSpec, "sources">
) {
  const ledger = yield* Ledger
  const files = yield* Files
  const ours = sourcesByMark(spec)
  const others = countOthers(spec)
  yield* pages((page) => files.list(corpus, page)).pipe(
    Stream.grouped(batchSize),
    Stream.runForEach((batch) =>
      ledger.write(scope, {
        put: batch.flatMap((file): ReadonlyArray<LedgerEntry> => {
          others.see(file)
          const source = file.marker === undefined ? undefined : ours.get(file.marker.source)
          return file.marker === undefined || source === undefined ? [] : [{
            source,
            path: recoveredPath(file.marker.pathHash),
            state: "done",
            revision: "",
            fingerprint: file.marker.fingerprint,
            file: file.name,
            size: file.sizeBytes
          }]
        })
      })
    )
  )
  return others.joined()
})

const key = (source: string, pathHash: string): string => `${source}\n${pathHash}`
