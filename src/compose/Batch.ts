import { Effect, Layer, Result } from "effect"
import { join } from "node:path"
import type { SecretError, ServiceError, StateError } from "../domain/Errors.ts"
import * as EmbeddedBatchPrediction from "../engines/embedded/EmbeddedBatchPrediction.ts"
import { Names } from "../engines/embedded/Names.ts"
import * as FolderObjectStore from "../engines/embedded/stores/FolderObjectStore.ts"
import * as SqliteTableStore from "../engines/embedded/stores/SqliteTableStore.ts"
import { BatchEngine, type BatchServices } from "../pipeline/batch/BatchEngine.ts"
import type { Definition } from "../pipeline/definition/Definition.ts"
import { forEngine } from "../pipeline/definition/ForEngine.ts"
import { Models } from "../pipeline/Services.ts"
import { ChatModel } from "../ports/ChatModel.ts"
import * as LocalSecrets from "../secrets/LocalSecrets.ts"
import { State } from "../state/State.ts"
import * as models from "./Models.ts"

/** Where batch jobs find their rows. The hosted engine has buckets and tables of its own. */
export interface BatchOptions {
  /** The data directory. On the embedded engine jobs are rows of its database. */
  readonly dataDir: string
  /** On the embedded engine: folders that stand for buckets, besides the files of this machine. Default none. */
  readonly buckets?: ReadonlyMap<string, string>
  /** On the embedded engine: the SQLite file whose tables jobs read and write. Default none. */
  readonly tables?: string
  /** On the embedded engine: rows put to the model at once. Default 4. */
  readonly concurrency?: number
}

/** Batch jobs of a pipeline's engine, and the places their rows come from and their results go to. */
export const batchServices = (
  pipeline: Definition,
  options: BatchOptions
): Layer.Layer<BatchServices, ServiceError | StateError | SecretError> => {
  const own = Result.getOrThrow(forEngine(pipeline))
  return own.engine._tag === "vertex"
    // The HTTP client is large, and the embedded engine does without.
    ? Layer.unwrap(Effect.map(Effect.promise(() => import("./Vertex.ts")), ({ vertexBatch }) => vertexBatch(own, options)))
    : embeddedBatch(own, options)
}

/**
 * Batch jobs of a data directory, answered by the model of the pipeline's answering stage. They are run by whoever waits
 * for them, unless a server over the same directory does.
 */
const embeddedBatch = (
  pipeline: Definition,
  { buckets = new Map(), concurrency, dataDir, tables }: BatchOptions
): Layer.Layer<BatchServices, ServiceError | StateError | SecretError> => {
  const chat = Layer.effect(ChatModel, Effect.flatMap(Models, ({ chat }) => chat(answering(pipeline)))).pipe(
    Layer.provide(models.layer(dataDir)),
    Layer.provide(LocalSecrets.layer(join(dataDir, "secrets")))
  )
  const names = new Names("local", "local")
  // Rows in a model's own form take the wire's codecs, which most jobs never need.
  const rowModels = Layer.unwrap(Effect.map(
    Effect.promise(() =>
      Promise.all([
        import("../engines/embedded/EmbeddedGeneration.ts"),
        import("../models/LocalPartnerChat.ts"),
        import("../server/RowModels.ts"),
        import("../text/Tokens.ts")
      ])
    ),
    ([generation, partner, rows, { countTokens }]) =>
      rows.layer.pipe(Layer.provide([generation.layer(countTokens), partner.layer(countTokens)]), Layer.provide(chat))
  ))
  return EmbeddedBatchPrediction.layer(names, { run: "awaited", files: true, concurrency }).pipe(
    Layer.provide([State.layer(dataDir), chat, rowModels]),
    Layer.provideMerge(Layer.mergeAll(
      FolderObjectStore.layer({ buckets, files: true }),
      tables === undefined ? SqliteTableStore.layerNone : SqliteTableStore.layer(tables),
      Layer.succeed(BatchEngine, { name: "embedded", parent: names.parent })
    ))
  )
}

/** The model that a pipeline answers with. */
const answering = ({ stages }: Definition) => {
  const stage = stages.find((stage) => stage._tag === "generate" || stage._tag === "chat" || stage._tag === "batch")
  return stage?.model ?? { _tag: "extractive" as const }
}
