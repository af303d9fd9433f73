import { Effect } from "effect"
import type { ServiceError, StateError } from "../../domain/Errors.ts"
import type { RagFileName } from "../../domain/RagFile.ts"
import type { Others } from "../../domain/Report.ts"
import type { Corpora } from "../../ports/Corpora.ts"
import type { Engine } from "../../ports/Engine.ts"
import type { Files } from "../../ports/Files.ts"
import type { Ledger } from "../../ports/Ledger.ts"
import { compareTarget, type Comparison } from "./Comparing.ts"
import { countOthers, pipelineOf } from "./Others.ts"
import { findScope } from "./Renaming.ts"
import type { Named, SyncSpec } from "./SyncSpec.ts"
import { findTarget } from "./Target.ts"

/** One difference between what the ledger says we put and what the target holds. */
export type Difference =
  /** In the ledger, not in the target: someone deleted it there. */
  | { readonly type: "missing"; readonly source: string; readonly path: string; readonly file: RagFileName }
  /** In both, but the target holds another version, or one it cannot use. */
  | { readonly type: "differs"; readonly source: string; readonly path: string; readonly file: RagFileName; readonly why: string }
  /** In the target with this pipeline's marker, and unknown to the ledger. */
  | { readonly type: "stray"; readonly file: RagFileName; readonly displayName: string }
  /** In the target without a marker of this pipeline: never touched by it. Absent `pipeline`: without any marker. */
  | { readonly type: "foreign"; readonly file: RagFileName; readonly displayName: string; readonly pipeline?: string }
  /** A write that was begun and not confirmed; the next run settles it. */
  | { readonly type: "open"; readonly source: string; readonly path: string }

/** How the ledger and the target compare, in numbers of files. */
export interface Diff {
  readonly corpus: "found" | "missing"
  /** It holds nothing of this pipeline's, and these: the next run joins them. */
  readonly joins?: Others
  /** Files that are in both and agree. */
  readonly same: number
  readonly differences: Readonly<Record<Difference["type"], number>>
}

/**
 * Holds the ledger against the target, reading both and writing neither. The sources are not asked: `plan` does that.
 * Keeps a row in memory for each file the ledger knows.
 */
export const diff = Effect.fn("diff")(function*(
  spec: Named & Pick<SyncSpec, "corpus">,
  observe: (difference: Difference) => Effect.Effect<void> = () => Effect.void
): Effect.fn.Return<Diff, ServiceError | StateError, Corpora | Files | Engine | Ledger> {
  const scope = yield* findScope(spec)
  const target = yield* findTarget(scope, spec.corpus)
  const differences = { missing: 0, differs: 0, stray: 0, foreign: 0, open: 0 }
  const others = countOthers(spec)
  let same = 0
  yield* compareTarget(scope, spec, {
    // A ledger that belongs to another corpus, or to none, knows nothing of this one.
    known: target._tag === "missing" || !target.adopted,
    corpus: target._tag === "missing" ? undefined : target.corpus.name
  }, (comparison) => {
    if (comparison._tag === "foreign") others.see(comparison.file)
    else others.seeOwn()
    if (comparison._tag === "same") return Effect.sync(() => void (same += 1))
    differences[comparison._tag] += 1
    return observe(differenceOf(comparison))
  })
  const joins = others.joined()
  return { corpus: target._tag, joins, same, differences }
})

const differenceOf = (comparison: Exclude<Comparison, { readonly _tag: "same" }>): Difference => {
  switch (comparison._tag) {
    case "missing":
    case "differs": {
      const { file, path, source } = comparison.entry
      return comparison._tag === "missing"
        ? { type: "missing", source, path, file }
        : { type: "differs", source, path, file, why: comparison.why }
    }
    case "open":
      return { type: "open", source: comparison.entry.source, path: comparison.entry.path }
    case "stray":
    case "foreign": {
      const { displayName, marker, name } = comparison.file
      return {
        type: comparison._tag,
        file: name,
        displayName,
        pipeline: comparison._tag === "stray" || marker === undefined ? undefined : pipelineOf(marker)
      }
    }
  }
}
