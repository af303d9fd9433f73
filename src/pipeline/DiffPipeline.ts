import type { Effect } from "effect"
import type { Definition } from "./definition/Definition.ts"
import { corpusSpec } from "./RunPipeline.ts"
import { diff, type Difference } from "./sync/Diff.ts"

/** Holds the pipeline's ledger against its corpus, and tells each file that is not the same in both; see {@link diff}. */
export const diffPipeline = (pipeline: Definition, observe?: (difference: Difference) => Effect.Effect<void>) =>
  diff({ pipeline: pipeline.name, renamedFrom: pipeline.renamedFrom, corpus: corpusSpec(pipeline) }, observe)
