import { Effect } from "effect"
import { onEngine } from "./OnEngine.ts"
import type { Pipeline } from "./Pipeline.ts"
import { corpusSpec } from "./RunPipeline.ts"
import { diff, type Difference } from "./sync/Diff.ts"

/** Holds the pipeline's ledger against its corpus, and tells each file that is not the same in both; see {@link diff}. */
export const diffPipeline = (pipeline: Pipeline, observe?: (difference: Difference) => Effect.Effect<void>) =>
  Effect.flatMap(onEngine(pipeline), (own) => diff({ pipeline: own.name, renamedFrom: own.renamedFrom, corpus: corpusSpec(own) }, observe))
