import { Context as Ctx, type Effect } from "effect"
import type { ServiceError } from "../domain/Errors.ts"
import type { RagFileName } from "../domain/RagFile.ts"
import type { Context, RetrievalRequest } from "../domain/Retrieval.ts"
import type { Embedder } from "./Embedder.ts"

/** Finds the chunks of a corpus that are relevant to a question, best first; equal requests return equal orders. */
export class Retrieval extends Ctx.Service<Retrieval, {
  readonly retrieve: (request: RetrievalRequest) => Effect.Effect<ReadonlyArray<Context>, ServiceError>
  /** The embedder that filled the corpus of a file; undefined where this process has none. Absent: the engine embeds elsewhere. */
  readonly embedderOf?: (file: RagFileName) => Effect.Effect<Embedder["Service"] | undefined>
}>()("sluice/ports/Retrieval") {}
