import { Effect, Stream } from "effect"
import type { CorpusName } from "../../domain/Corpus.ts"
import type { Marker, RagFile, RagFileName } from "../../domain/RagFile.ts"
import { Files } from "../../ports/Files.ts"
import { Ledger, type LedgerEntry } from "../../ports/Ledger.ts"
import { pages } from "../../ports/Paging.ts"
import { markerSource, type Named, namesOf } from "./SyncSpec.ts"

/** Files per page of the target's listing. */
const pageSize = 100

/** How a file stands in the ledger and in the target. */
export type Comparison =
  | { readonly _tag: "same" }
  /** In the ledger, not in the target: someone deleted it there. */
  | { readonly _tag: "missing"; readonly entry: Known }
  /** In both, but the target holds another version, or one it cannot use (`broken`). */
  | { readonly _tag: "differs"; readonly entry: Known; readonly why: string; readonly broken: boolean }
  /** In the target with this pipeline's marker, and unknown to the ledger. */
  | { readonly _tag: "stray"; readonly file: RagFile; readonly marker: Marker }
  /** In the target without a marker of this pipeline. */
  | { readonly _tag: "foreign"; readonly file: RagFile }
  /** A write that was begun and not confirmed. */
  | { readonly _tag: "open"; readonly entry: LedgerEntry }

export type Known = LedgerEntry & { readonly file: RagFileName }

/**
 * Holds the ledger against the target's own list of files, reading both and writing neither. Keeps a row in memory for
 * each file the ledger knows.
 *
 * @param target.corpus absent: there is none
 * @param target.known whether the ledger's entries are about this corpus
 */
export const compareTarget = Effect.fn("sync.compareTarget")(function*<E, R>(
  scope: string,
  pipeline: Named,
  target: { readonly corpus?: CorpusName; readonly known: boolean },
  tell: (comparison: Comparison) => Effect.Effect<void, E, R>
) {
  const ledger = yield* Ledger
  const files = yield* Files
  const known = new Map<RagFileName, Known>()
  if (target.known) {
    yield* ledger.entries(scope).pipe(Stream.runForEach((entry) => {
      const { file } = entry
      if (file !== undefined) known.set(file, { ...entry, file })
      return entry.state === "intent" ? tell({ _tag: "open", entry }) : Effect.void
    }))
  }
  if (target.corpus !== undefined) {
    const { corpus } = target
    const ours = namesOf(pipeline).map((name) => markerSource(name, ""))
    yield* pages((page) => files.list(corpus, page), pageSize).pipe(Stream.runForEach((file) => {
      const entry = known.get(file.name)
      known.delete(file.name)
      const { marker } = file
      if (entry === undefined) {
        return tell(marker !== undefined && ours.some((mark) => marker.source.startsWith(mark)) ? { _tag: "stray", file, marker } : { _tag: "foreign", file })
      }
      const why = difference(file, entry)
      return tell(why === undefined ? { _tag: "same" } : { _tag: "differs", entry, why, broken: file.state === "ERROR" })
    }))
  }
  yield* Effect.forEach(known.values(), (entry) => tell({ _tag: "missing", entry }), { discard: true })
})

const difference = ({ errorStatus, marker, state }: RagFile, entry: Known): string | undefined => {
  if (state === "ERROR") return errorStatus ?? "the target could not process it"
  // Only of what is done does the ledger say which version the target has.
  return entry.state === "done" && marker !== undefined && marker.fingerprint !== entry.fingerprint
    ? "the target holds another version"
    : undefined
}
