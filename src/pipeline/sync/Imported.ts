import type { ServiceError } from "../../domain/Errors.ts"
import type { ImportedFile } from "../../domain/Import.ts"
import type { Operation } from "../../domain/Operation.ts"
import type { RagFile, RagFileName } from "../../domain/RagFile.ts"
import type { LedgerEntry } from "../../ports/Ledger.ts"

/** A file that the engine fetches by itself, and the ledger's entry once it has. */
export interface Handed {
  readonly uri: string
  readonly entry: LedgerEntry
  /** We put it there for the engine to fetch. */
  readonly staged?: true
  /** An entry under another path that this one takes the place of. */
  readonly from?: LedgerEntry
}

/** What became of one. */
export type Imported =
  | { readonly _tag: "there"; readonly outcome: "added" | "changed" | "unchanged"; readonly file: RagFile }
  | { readonly _tag: "failed"; readonly reason: string; readonly message: string; readonly retryable: boolean; readonly file?: RagFileName }

/** An intent of an import; `message` is the operation's name, once it is known, and where the file was staged. */
export const importing = "importing"
export const importingMessage = (operation: string, { staged, uri }: Pick<Handed, "staged" | "uri">): string =>
  staged === true ? `${operation} ${uri}` : operation
export const importingOf = (message: string): { readonly operation: string; readonly staged?: string } => {
  const end = message.indexOf(" ")
  return end === -1 ? { operation: message } : { operation: message.slice(0, end), staged: message.slice(end + 1) }
}
export const isImporting = ({ reason, state }: LedgerEntry): boolean => state === "intent" && reason === importing

/** Names that differ only in how their accents are written are one. */
export const uriKey = (uri: string): string => uri.normalize("NFC")

/**
 * Reconciles what the service counted with the files we can name. A file that a failure names has failed. One that the
 * corpus does not hold afterwards has failed too. Of those it holds, one that is new, or took the place of another,
 * was imported; the counts decide about the rest: failures that no file explains may be any of them, so that all are
 * tried again. Where the service wrote what became of each file, that is what happened to those it names.
 *
 * @param before The corpus's files by {@link uriKey}; absent where nobody looked.
 */
export const reconcile = (
  handed: ReadonlyArray<Handed>,
  before: ReadonlyMap<string, RagFile> | undefined,
  after: ReadonlyMap<string, RagFile>,
  operation: Pick<Operation, "counts" | "partialFailures">,
  results: ReadonlyArray<ImportedFile> = []
): ReadonlyArray<Imported> => {
  const { counts } = operation
  const told = new Map(results.map((result) => [uriKey(result.uri), result]))
  const failures = failuresByUri(handed, operation.partialFailures)
  const states = handed.map(({ uri }) => {
    const key = uriKey(uri)
    const [old, now, failure, result] = [before?.get(key), after.get(key), failures.get(key), told.get(key)]
    if (failure !== undefined) return { is: "named", failure, now } as const
    if (result?.status === "failed") return { is: "told", message: result.message, now } as const
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
  const unexplained = Math.max(0, (counts?.failed ?? 0) - count("named", "told", "absent", "broken"))
  // A skip may touch a file as well: whether this one was imported again is what the counts say.
  const touchedMeansChanged = (counts?.imported ?? Infinity) >= count("added", "changed", "touched")

  return states.map((state): Imported => {
    switch (state.is) {
      case "named": {
        const { code, message } = state.failure
        return { _tag: "failed", reason: code, message, retryable: !permanent.has(code), ...keptAs(state.now) }
      }
      case "told":
        return { _tag: "failed", reason: "failed", message: state.message ?? "the service says no more", retryable: true, ...keptAs(state.now) }
      case "skipped":
        return { _tag: "there", outcome: "unchanged", file: state.now }
      case "absent":
        return { _tag: "failed", reason: "unaccounted", message: unaccounted(counts), retryable: true }
      case "broken":
        return { _tag: "failed", reason: "INVALID_ARGUMENT", message: state.now.errorStatus ?? "the service could not index the file", retryable: false, ...keptAs(state.now) }
      case "added":
      case "changed":
        return { _tag: "there", outcome: state.is, file: state.now }
      case "touched":
      case "unsure":
        return unexplained > 0
          ? { _tag: "failed", reason: "unaccounted", message: unaccounted(counts), retryable: true, ...keptAs(state.now) }
          : { _tag: "there", outcome: state.is === "touched" && touchedMeansChanged ? "changed" : "unchanged", file: state.now }
    }
  })
}

const permanent: ReadonlySet<ServiceError["code"]> = new Set(["INVALID_ARGUMENT", "OUT_OF_RANGE", "FAILED_PRECONDITION"])

const keptAs = (file: RagFile | undefined) => (file === undefined ? {} : { file: file.name })

/** As the service counts them: what it skips is there already, and the same. */
export const countsText = (counts: Operation["counts"]): string =>
  counts === undefined ? "no counts" : `${counts.imported} imported, ${counts.skipped} skipped, ${counts.failed} failed`

const unaccounted = (counts: Operation["counts"]): string =>
  `the service does not say what became of it; of all files of its import it counts ${countsText(counts)}`

type Failure = Operation["partialFailures"][number]

/** The failures whose words name a file of ours, by {@link uriKey}: the longest address that fits. */
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
