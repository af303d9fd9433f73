import { Effect, Stream } from "effect"
import type { ServiceError, StateError } from "../../domain/Errors.ts"
import type { RagFileName } from "../../domain/RagFile.ts"
import type { Corpora } from "../../ports/Corpora.ts"
import { Engine } from "../../ports/Engine.ts"
import { Files } from "../../ports/Files.ts"
import { Ledger } from "../../ports/Ledger.ts"
import { pages } from "../../ports/Paging.ts"
import { markerSource, type SyncSpec } from "./SyncSpec.ts"
import { scopeOf } from "./Sync.ts"
import { findTarget } from "./Target.ts"

/** One difference between what the ledger says we put and what the target holds. */
export type Difference =
  /** In the ledger, not in the target: someone deleted it there. */
  | { readonly type: "missing"; readonly source: string; readonly path: string; readonly file: RagFileName }
  /** In both, but the target holds another version, or one it cannot use. */
  | { readonly type: "differs"; readonly source: string; readonly path: string; readonly file: RagFileName; readonly why: string }
  /** In the target with this pipeline's marker, and unknown to the ledger. */
  | { readonly type: "stray"; readonly file: RagFileName; readonly displayName: string }
  /** In the target without a marker of this pipeline: never touched by it. */
  | { readonly type: "foreign"; readonly file: RagFileName; readonly displayName: string }
  /** A write that was begun and not confirmed; the next run settles it. */
  | { readonly type: "open"; readonly source: string; readonly path: string }

export interface Diff {
  readonly corpus: "found" | "missing"
  /** Files that are in both and agree. */
  readonly same: number
  readonly differences: Readonly<Record<Difference["type"], number>>
}

/**
 * Holds the ledger against the target, reading both and writing neither. The sources are not asked: `plan` does that.
 * Keeps a row in memory for each file the ledger knows.
 */
export const diff = Effect.fn("diff")(function*(
  spec: Pick<SyncSpec, "pipeline" | "corpus">,
  observe: (difference: Difference) => Effect.Effect<void> = () => Effect.void
): Effect.fn.Return<Diff, ServiceError | StateError, Corpora | Files | Engine | Ledger> {
  const ledger = yield* Ledger
  const files = yield* Files
  const scope = scopeOf(yield* Engine, spec.pipeline)
  const target = yield* findTarget(scope, spec.corpus)
  const differences = { missing: 0, differs: 0, stray: 0, foreign: 0, open: 0 }
  const tell = (difference: Difference) => {
    differences[difference.type] += 1
    return observe(difference)
  }
  let same = 0

  const known = new Map<RagFileName, { readonly source: string; readonly path: string; readonly fingerprint: string | undefined }>()
  // A ledger that belongs to another corpus, or to none, knows nothing of this one.
  if (target._tag === "missing" || !target.adopted) {
    yield* ledger.entries(scope).pipe(Stream.runForEach(({ file, fingerprint, path, source, state }) => {
      // Only of what is done does the ledger say which version the target has.
      if (file !== undefined) known.set(file, { source, path, fingerprint: state === "done" ? fingerprint : undefined })
      return state === "intent" ? tell({ type: "open", source, path }) : Effect.void
    }))
  }

  if (target._tag === "found") {
    const ours = markerSource(spec.pipeline, "")
    yield* pages((page) => files.list(target.corpus.name, page)).pipe(Stream.runForEach((file) => {
      const entry = known.get(file.name)
      known.delete(file.name)
      if (entry === undefined) {
        const type = file.marker?.source.startsWith(ours) === true ? "stray" : "foreign"
        return tell({ type, file: file.name, displayName: file.displayName })
      }
      const why = file.state === "ERROR"
        ? file.errorStatus ?? "the target could not process it"
        : entry.fingerprint !== undefined && file.marker !== undefined && file.marker.fingerprint !== entry.fingerprint
        ? "the target holds another version"
        : undefined
      if (why !== undefined) return tell({ type: "differs", source: entry.source, path: entry.path, file: file.name, why })
      same += 1
      return Effect.void
    }))
  }
  for (const [file, { path, source }] of known) yield* tell({ type: "missing", source, path, file })
  return { corpus: target._tag, same, differences }
})
