import { Effect, Stream } from "effect"
import type { ServiceError } from "../../domain/Errors.ts"
import type { ImportedFile, ImportSource } from "../../domain/Import.ts"
import type { Operation } from "../../domain/Operation.ts"
import type { RagFile, RagFileName } from "../../domain/RagFile.ts"
import type { FileOutcome } from "../../domain/Report.ts"
import { lastSegment } from "../../domain/ResourceNames.ts"
import { Ledger, type LedgerEntry } from "../../ports/Ledger.ts"
import type { SyncSource } from "./Session.ts"

/** A file that the engine fetches itself, and its ledger entry once it has. */
export interface Handed {
  readonly uri: string
  readonly entry: LedgerEntry
  /** Whether the object was staged for the engine to fetch. */
  readonly staged?: boolean
  /** The entry of another path that this one replaces. */
  readonly from?: LedgerEntry
}

const importing = "importing"

/** The intent of an import. `message` is the operation's name, once known, and the address of a staged object. */
export const importIntent = ({ entry, staged, uri }: Handed, operation: string): LedgerEntry => ({
  ...entry,
  state: "intent",
  reason: importing,
  message: staged === true ? `${operation} ${uri}` : operation
})

export const isImporting = ({ reason, state }: LedgerEntry): boolean => state === "intent" && reason === importing

/** Parses an entry made by {@link importIntent}. */
export const importOf = ({ message = "", reason: _, ...entry }: LedgerEntry): { readonly operation: string; readonly handed: Handed } => {
  const [operation = "", ...address] = message.split(" ")
  const done: LedgerEntry = { ...entry, state: "done" }
  return address.length === 0
    ? { operation, handed: { uri: entry.path, entry: done } }
    : { operation, handed: { uri: address.join(" "), entry: done, staged: true } }
}

/** Path of the ledger's entry for the import of a source that only the engine lists. */
export const wholeSource = "#import"

/** The intent of an import of a whole source. */
export const wholeImportIntent = (source: string, operation: string): LedgerEntry => ({
  source,
  path: wholeSource,
  state: "intent",
  revision: "",
  fingerprint: "",
  reason: importing,
  message: operation
})

/** Prefix of the paths of files of such imports, followed by their ids. Nothing is known of how they were made. */
const prefix = "#service/"

export const serviceEntry = (source: string, { file, uri }: { readonly file: RagFileName; readonly uri: string }): LedgerEntry => ({
  source,
  path: prefix + lastSegment(file),
  state: "done",
  revision: "",
  fingerprint: "",
  message: uri,
  file
})

/** Files stored from here have a fingerprint, whatever their path. */
export const isServiceEntry = ({ fingerprint, path }: LedgerEntry): boolean => fingerprint === "" && path.startsWith(prefix)
export const isOurs = (entry: LedgerEntry): boolean => entry.path !== wholeSource && !isServiceEntry(entry)

/** The wanted ledger entries of these sources, by source. */
export const entriesOf = Effect.fnUntraced(
  function*(scope: string, sources: ReadonlyArray<string>, isWanted: (entry: LedgerEntry) => boolean) {
    const found = new Map<string, Array<LedgerEntry>>()
    if (sources.length === 0) return found
    yield* (yield* Ledger).entries(scope).pipe(
      Stream.filter((entry) => sources.includes(entry.source) && isWanted(entry)),
      Stream.runForEach((entry) =>
        Effect.sync(() => {
          const others = found.get(entry.source)
          if (others === undefined) found.set(entry.source, [entry])
          else others.push(entry)
        })
      )
    )
    return found
  }
)

/** Outcome of a file that the engine was to fetch. */
export type Imported =
  | { readonly _tag: "there"; readonly outcome: "added" | "changed" | "unchanged"; readonly file: RagFile }
  | { readonly _tag: "failed"; readonly reason: string; readonly message: string; readonly retryable: boolean; readonly file?: RagFileName }

/** Makes names equal that differ only in the encoding of accents. */
export const uriKey = (uri: string): string => uri.normalize("NFC")

/**
 * Reconciles the service's counts with the files that can be named. A file that a failure names has failed. A file that
 * the corpus lacks afterwards has failed too. Of the files it has, one that is new, or replaced another, was imported;
 * the counts decide about the rest: failures that no file explains may be of any of them, so all are retried. Where the
 * service wrote a result for each file, that decides about the files it names.
 *
 * @param before the corpus's files by {@link uriKey} before the import; absent where they were not listed
 */
export const reconcile = (
  handed: ReadonlyArray<Handed>,
  before: ReadonlyMap<string, RagFile> | undefined,
  after: ReadonlyMap<string, RagFile>,
  operation: Pick<Operation, "counts" | "partialFailures">,
  results: ReadonlyArray<ImportedFile> = []
): ReadonlyArray<Imported> => {
  const { counts, partialFailures } = operation
  const resultsByUri = new Map(results.map((result) => [uriKey(result.uri), result]))
  const failures = failuresByUri(handed, partialFailures)
  const named = new Set(failures.values())
  const unaccounted = unaccountedText(counts, partialFailures.filter((failure) => !named.has(failure)))
  const states = handed.map(({ uri }) => {
    const key = uriKey(uri)
    const [old, now, failure, result] = [before?.get(key), after.get(key), failures.get(key), resultsByUri.get(key)]
    if (failure !== undefined) return { is: "named", failure, now } as const
    if (result?.status === "failed") return { is: "reported", message: result.message, now } as const
    if (now === undefined) return { is: "absent" } as const
    if (now.state === "ERROR") return { is: "broken", now } as const
    if (result?.status === "skipped") return { is: "skipped", now } as const
    if (result?.status === "imported") return { is: old === undefined ? "added" : "changed", now } as const
    if (before === undefined) return { is: "unsure", now } as const
    if (old === undefined) return { is: "added", now } as const
    if (old.name !== now.name) return { is: "changed", now } as const
    return old.updateTime === now.updateTime ? { is: "unsure", now } as const : { is: "touched", now } as const
  })
  const count = (...kinds: ReadonlyArray<string>) => states.filter(({ is }) => kinds.includes(is)).length
  const unexplained = Math.max(0, (counts?.failed ?? 0) - count("named", "reported", "absent", "broken"))
  // A skip can update a file too: the counts say whether this one was imported again.
  const touchedMeansChanged = (counts?.imported ?? Infinity) >= count("added", "changed", "touched")

  return states.map((state): Imported => {
    switch (state.is) {
      case "named": {
        const { code, message } = state.failure
        return { _tag: "failed", reason: code, message, retryable: !permanent.has(code), file: state.now?.name }
      }
      case "reported":
        return {
          _tag: "failed",
          reason: "failed",
          message: state.message ?? "the service gives no details",
          retryable: true,
          file: state.now?.name
        }
      case "skipped":
        return { _tag: "there", outcome: "unchanged", file: state.now }
      case "absent":
        return { _tag: "failed", reason: "unaccounted", message: unaccounted, retryable: true }
      case "broken":
        return {
          _tag: "failed",
          reason: "INVALID_ARGUMENT",
          message: state.now.errorStatus ?? "the service could not index the file",
          retryable: false,
          file: state.now?.name
        }
      case "added":
      case "changed":
        return { _tag: "there", outcome: state.is, file: state.now }
      case "touched":
      case "unsure":
        return unexplained > 0
          ? { _tag: "failed", reason: "unaccounted", message: unaccounted, retryable: true, file: state.now?.name }
          : { _tag: "there", outcome: state.is === "touched" && touchedMeansChanged ? "changed" : "unchanged", file: state.now }
    }
  })
}

const permanent: ReadonlySet<ServiceError["code"]> = new Set(["INVALID_ARGUMENT", "OUT_OF_RANGE", "FAILED_PRECONDITION"])

/** Outcome of files of an import whose end was not seen: they are imported again, and the service skips those it has. */
export const interrupted: Imported = {
  _tag: "failed",
  reason: "interrupted",
  message: "an earlier run ended before its import was known to be over",
  retryable: true
}

/** Whether its staged object is not needed any more. */
export const isOver = (imported: Imported | undefined): boolean => imported?._tag === "there" || imported?.retryable === false

export const outcomeOf = ({ file, path, size, source }: LedgerEntry, imported: Imported | undefined): FileOutcome => {
  const base = { source, path, bytes: size }
  if (imported === undefined) return { ...base, outcome: "pending" }
  // A new version of a staged file has its own address, so the service takes it for a new file.
  if (imported._tag === "there") {
    return { ...base, outcome: imported.outcome === "added" && file !== undefined ? "changed" : imported.outcome }
  }
  const { message, reason, retryable } = imported
  return { ...base, outcome: "failed", reason, message, retryable }
}

/** The service's counts: a skipped file is there already, unchanged. */
export const countsText = (counts: Operation["counts"]): string =>
  counts === undefined ? "no counts" : `${counts.imported} imported, ${counts.skipped} skipped, ${counts.failed} failed`

type Failure = Operation["partialFailures"][number]

const unaccountedText = (counts: Operation["counts"], unnamed: ReadonlyArray<Failure>): string => {
  const reasons = [...new Set(unnamed.map(({ code, message }) => `${code}: ${message}`))].slice(0, mostReasons)
  const failures = reasons.length === 0 ? "" : `; failures that name no file: ${reasons.join("; ")}`
  return `the service does not report this file's outcome; of all files of its import it counts ${countsText(counts)}${failures}`
}

/** Most reasons given of failures that name no file. */
const mostReasons = 3

/** Failures whose messages name one of these files, by {@link uriKey}: the longest matching address. */
const failuresByUri = (handed: ReadonlyArray<Handed>, failures: ReadonlyArray<Failure>): ReadonlyMap<string, Failure> => {
  const ours = new Set(handed.map(({ uri }) => uriKey(uri)))
  const found = new Map<string, Failure>()
  for (const failure of failures) {
    const message = uriKey(failure.message)
    for (let at = message.indexOf("gs://"); at >= 0; at = message.indexOf("gs://", at + 1)) {
      for (let end = Math.min(message.length, at + longestUri); end > at; end--) {
        const uri = message.slice(at, end)
        if (!ours.has(uri)) continue
        found.set(uri, failure)
        break
      }
    }
  }
  return found
}

/** `gs://`, a bucket of up to 222 characters, `/`, and a name of up to 1,024 bytes. */
const longestUri = 1_252

/** A file that an import of a whole source brought, or found. */
export interface ServiceFile {
  /** Name of the file; absent where only the result names it. */
  readonly file?: RagFileName
  /** The service's address or name of it. */
  readonly uri: string
  readonly outcome: "added" | "changed" | "unchanged"
}

/**
 * Names the files that the import of a whole source counted: from the results it wrote; otherwise from the corpus's
 * files, where that is unambiguous. Among the files without a marker that may be of such a source, those that are new or
 * were updated during the import include all that it imported, and perhaps others: if there are exactly as many as it
 * counted, they are the imported ones. If there are exactly as many in all as it imported and skipped, they are all of
 * this source. Files named before keep their names.
 *
 * @param before absent where the corpus was not listed before the import started
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
    const byId = new Map([...after.keys()].map((name) => [lastSegment(name), name]))
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

const hasAddress = ({ sourceUri }: Pick<RagFile, "sourceUri">): boolean => /^[a-z]+:\/\//i.test(sourceUri)

/** Files of Drive have addresses; those of the other sources are known only by their names. */
const mayBeOf = ({ _tag }: ImportSource, file: RagFile): boolean => _tag === "googleDrive" ? isOfDrive(file.sourceUri) : !hasAddress(file)

/** The service's addresses of files that it fetched from Drive. */
const isOfDrive = (uri: string): boolean => /^https:\/\/(?:drive|docs)\.google\.com\//.test(uri)

/** Whether a file without a marker may be one that the service fetched from a source: its address is one of the source's. */
export const mayBeFetched = ({ imports, staging }: SyncSource, { sourceUri }: Pick<RagFile, "sourceUri">): boolean =>
  (staging !== undefined && sourceUri.startsWith(`${staging.replace(/\/+$/, "")}/`)) ||
  (imports?._tag === "storage" && imports.uris.some((uri) => sourceUri.startsWith(uri.replace(/\*.*$/, "")))) ||
  (imports?._tag === "googleDrive" && isOfDrive(sourceUri))
