import { Effect, Stream } from "effect"
import type { ImportedFile, ImportSource } from "../../domain/Import.ts"
import type { Operation } from "../../domain/Operation.ts"
import type { RagFile, RagFileName } from "../../domain/RagFile.ts"
import { Files } from "../../ports/Files.ts"
import { Ledger, type LedgerEntry } from "../../ports/Ledger.ts"
import { ignoreMissing } from "./Applying.ts"
import { deleteLimit } from "./Deleting.ts"
import { uriKey } from "./Imported.ts"
import { isOfDrive } from "./Others.ts"
import type { SyncSpec } from "./SyncSpec.ts"

/** Deletes under way at once, and entries taken out of the ledger in one go. */
const concurrency = 8
const batchSize = 256

/** Under which the ledger keeps the import of a source that only the engine lists. */
export const wholeSource = "#import"
/** Under which it keeps the files of such imports, by their ids. Nothing of what made them is known. */
const prefix = "#service/"

/** A file that an import of a whole source brought, or found there. */
export interface ServiceFile {
  /** Absent where only the result names it. */
  readonly file?: RagFileName
  /** What the service calls it. */
  readonly uri: string
  readonly outcome: "added" | "changed" | "unchanged"
}

export const serviceEntry = (source: string, { file, uri }: { readonly file: RagFileName; readonly uri: string }): LedgerEntry => ({
  source,
  path: prefix + file.slice(file.lastIndexOf("/") + 1),
  state: "done",
  revision: "",
  fingerprint: "",
  message: uri,
  file
})

/** What we store has a fingerprint, whatever its path. */
export const isServiceEntry = ({ fingerprint, path }: LedgerEntry): boolean => fingerprint === "" && path.startsWith(prefix)
export const isOurs = (entry: LedgerEntry): boolean => entry.path !== wholeSource && !isServiceEntry(entry)

/** The ledger's entries of these sources that are wanted, by source. */
export const entriesOf = Effect.fnUntraced(function*(
  scope: string,
  sources: ReadonlyArray<string>,
  wanted: (entry: LedgerEntry) => boolean
) {
  const found = new Map<string, Array<LedgerEntry>>()
  if (sources.length === 0) return found
  const asked = new Set(sources)
  yield* (yield* Ledger).entries(scope).pipe(
    Stream.filter((entry) => asked.has(entry.source) && wanted(entry)),
    Stream.runForEach((entry) => Effect.sync(() => {
      const others = found.get(entry.source)
      if (others === undefined) found.set(entry.source, [entry])
      else others.push(entry)
    }))
  )
  return found
})

/**
 * Names the files that the import of a whole source counted: by the result it wrote; otherwise by what the corpus
 * holds, where that leaves no doubt. Of the files without our mark that may be of such a source, those that are new or
 * were touched while it ran are all that it imported, and perhaps others: where there are as many as it counted, they
 * are those. Where there are as many altogether as it imported and skipped, they are all of this source. What was
 * named before stays so.
 *
 * @param before absent where nobody looked before the import began
 */
export const nameServiceFiles = (input: {
  readonly source: ImportSource
  readonly before: ReadonlyMap<RagFileName, RagFile> | undefined
  readonly after: ReadonlyMap<RagFileName, RagFile>
  readonly counts: Operation["counts"]
  readonly results: ReadonlyArray<ImportedFile>
  readonly known: ReadonlyArray<LedgerEntry>
}): ReadonlyArray<ServiceFile> => {
  const { after, before, counts = { imported: 0, skipped: 0, failed: 0 }, known, results, source } = input
  const namedBefore = new Set(known.flatMap(({ file }) => file === undefined ? [] : [file]))
  const urisBefore = new Set([
    ...known.flatMap(({ message }) => message === undefined ? [] : [uriKey(message)]),
    ...[...before?.values() ?? []].filter(hasAddress).map(({ sourceUri }) => uriKey(sourceUri))
  ])
  const arrived = (file: RagFileName | undefined, uri: string): ServiceFile["outcome"] =>
    urisBefore.has(uriKey(uri)) || (file !== undefined && (namedBefore.has(file) || before?.has(file) === true)) ? "changed" : "added"

  if (results.length > 0) {
    const byId = new Map([...after.keys()].map((name) => [name.slice(name.lastIndexOf("/") + 1), name]))
    const byUri = new Map([...after.values()].filter(hasAddress).map(({ name, sourceUri }) => [uriKey(sourceUri), name]))
    return results.filter(({ status }) => status !== "failed").map(({ file: id, status, uri }) => {
      const file = id === undefined ? byUri.get(uriKey(uri)) : byId.get(id)
      return { file, uri, outcome: status === "imported" ? arrived(file, uri) : "unchanged" }
    })
  }
  const candidates = [...after.values()].filter((file) => file.marker === undefined && mayBeOf(source, file))
  const fresh = before === undefined ? [] : candidates.filter(({ name, updateTime }) => before.get(name)?.updateTime !== updateTime)
  const imported = fresh.length === counts.imported ? fresh : []
  const all = candidates.length === counts.imported + counts.skipped
  const others = candidates.filter((file) => !imported.includes(file) && (all || namedBefore.has(file.name)))
  return [
    ...imported.map(({ name, sourceUri }) => ({ file: name, uri: sourceUri, outcome: arrived(name, sourceUri) })),
    ...others.map(({ name, sourceUri }) => ({ file: name, uri: sourceUri, outcome: "unchanged" as const }))
  ]
}

export const filesText = (count: number): string => count === 1 ? "1 file" : `${count} files`

const hasAddress = ({ sourceUri }: RagFile): boolean => /^[a-z]+:\/\//i.test(sourceUri)

/** Files of Drive have their addresses; those of the others are known by their names alone. */
const mayBeOf = ({ _tag }: ImportSource, file: RagFile): boolean =>
  _tag === "googleDrive" ? isOfDrive(file.sourceUri) : !hasAddress(file)

/**
 * A source has changed hands: what the one who listed it before had put into the corpus goes, as soon as all that the
 * other one lists is there. Readers find both until then, and never neither. Far fewer files than there were, or none,
 * are not taken for all of it until somebody says so.
 *
 * @param input.stored how many files have come in their place
 */
export const giveWay = Effect.fn("sync.giveWay")(function*(input: {
  readonly scope: string
  readonly spec: Pick<SyncSpec, "maxDelete">
  readonly entries: ReadonlyArray<LedgerEntry>
  readonly stored: number
  readonly yes: boolean
}) {
  const { entries, scope, spec: { maxDelete }, stored, yes } = input
  const files = yield* Files
  const ledger = yield* Ledger
  const there = entries.filter(({ file }) => file !== undefined).length
  const lost = there - stored
  if (!yes && there > 0 && (stored === 0 || lost > deleteLimit(maxDelete, there))) {
    return `${filesText(there)} would give way to ${stored}, fewer than maxDelete allows, now that somebody else lists the source; --yes deletes them`
  }
  yield* Stream.fromIterable(entries).pipe(
    Stream.grouped(batchSize),
    Stream.runForEach(Effect.fnUntraced(function*(batch) {
      yield* Effect.forEach(batch, ({ file }) => file === undefined ? Effect.void : files.delete(file).pipe(ignoreMissing), { concurrency, discard: true })
      yield* ledger.write(scope, { remove: batch })
    }))
  )
  return undefined
})
