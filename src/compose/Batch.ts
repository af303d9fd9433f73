import { Effect, Layer, Result } from "effect"
import { join } from "node:path"
import type { SecretError, ServiceError, StateError } from "../domain/Errors.ts"
import * as EmbeddedBatchPrediction from "../engines/embedded/EmbeddedBatchPrediction.ts"
import { embeddedNames } from "./EmbeddedNames.ts"
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

/** Where batch jobs find their rows. The hosted engine uses buckets and tables of the cloud. */
export interface BatchOptions {
  /** The data directory. On the embedded engine jobs are rows of its database. */
  readonly dataDir: string
  /** On the embedded engine: folders that stand in for buckets, in addition to local files. Default none. */
  readonly buckets?: ReadonlyMap<string, string>
  /** On the embedded engine: an SQLite file with the tables that jobs read and write. Default none. */
  readonly tables?: string
  /** On the embedded engine: rows sent to the model concurrently. Default 4. */
  readonly concurrency?: number
}

/** Batch jobs of a pipeline's engine, and the stores of their rows and results. */
export const batchServices = (
  pipeline: Definition,
  options: BatchOptions
): Layer.Layer<BatchServices, ServiceError | StateError | SecretError> => {
  const own = Result.getOrThrow(forEngine(pipeline))
  return own.engine._tag === "vertex"
    // The HTTP client is large, and the embedded engine does not need it.
    ? Layer.unwrap(Effect.map(Effect.promise(() => import("./Vertex.ts")), ({ vertexBatch }) => vertexBatch(own, options)))
    : embeddedBatch(own, options)
}

/**
 * Batch jobs of a data directory, answered by the model of the pipeline's answering stage. A job runs while someone waits
 * for it, unless a server runs on the same directory.
 */
const embeddedBatch = (
  pipeline: Definition,
  { buckets = new Map(), concurrency, dataDir, tables }: BatchOptions
): Layer.Layer<BatchServices, ServiceError | StateError | SecretError> => {
  const chat = Layer.effect(ChatModel, Effect.flatMap(Models, ({ chat }) => chat(answering(pipeline)))).pipe(
    Layer.provide(models.layer(dataDir)),
    Layer.provide(LocalSecrets.layer(join(dataDir, "secrets")))
  )
  // Rows in a model's native form need the wire's codecs, which most jobs do not use.
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
  return EmbeddedBatchPrediction.layer(embeddedNames, { run: "awaited", files: true, concurrency }).pipe(
    Layer.provide([State.layer(dataDir), chat, rowModels]),
    Layer.provideMerge(Layer.mergeAll(
      FolderObjectStore.layer({ buckets, files: true }),
      tables === undefined ? SqliteTableStore.layerNone : SqliteTableStore.layer(tables),
      Layer.succeed(BatchEngine, { name: "embedded", parent: embeddedNames.parent })
    ))
  )
}

/** The model that a pipeline answers with. */
const answering = ({ stages }: Definition) => {
  const stage = stages.find((stage) => stage._tag === "generate" || stage._tag === "chat" || stage._tag === "batch")
  return stage?.model ?? { _tag: "extractive" as const }
}
