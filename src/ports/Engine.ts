import { Context, type Effect } from "effect"
import type { CorpusName, VectorDb } from "../domain/Corpus.ts"
import type { DocumentError, ServiceError } from "../domain/Errors.ts"
import type { ImportedFile, ImportSource } from "../domain/Import.ts"
import type { Properties } from "../domain/Properties.ts"
import type { EmbeddingBudget } from "./EmbeddingBudget.ts"
import type { FileMetadataStore } from "./FileMetadataStore.ts"
import type { ObjectStore } from "./ObjectStore.ts"
import type { Operations } from "./Operations.ts"

/** What sync must know of the engine it writes to. */
export class Engine extends Context.Service<Engine, {
  readonly name: "embedded" | "vertex"
  /** What corpora's names begin with: `projects/{project}/locations/{location}`. */
  readonly parent: string
  /** Where the corpora live, unlike any other place. Part of the ledger's scope. */
  readonly target: string
  /**
   * Everything beyond the pipeline that decides what is stored for the same bytes: parser and embedder versions.
   * Part of every fingerprint.
   */
  readonly signature: string
  /** Bytes of one upload. */
  readonly maxFileBytes: number
  /** Uploads the engine takes in a minute, where it sets a bound. */
  readonly uploadsPerMinute?: number
  /**
   * A stored file can be replaced but not changed (`Files.update` is not there), and keeps no fact but its display
   * name: sync then uploads a file anew when that changes, and leaves it alone when other facts do.
   */
  readonly immutableFiles?: boolean
  /** What it embeds with now, as `Corpus.embedder` tells it of a corpus; another one there means a rebuild. Absent: it does not tell. */
  readonly embedder?: string
  /** Requests that so many texts take at least. Absent: one each. */
  readonly embeddingRequests?: (texts: number) => number
  /** Whether embedding costs requests against a rate; false for an embedder that runs in the process. */
  readonly remoteEmbedding: boolean
  /** Absent where nothing tells what is embedded: a run cannot be held to a budget there. */
  readonly budget?: EmbeddingBudget["Service"]
  /** An upload and what the ledger says of it are one transaction: no intent is needed before it. */
  readonly ledgerWithFiles?: boolean
  /** Says how the database is that a corpus names for its vectors, which may not be made yet. Changes nothing. Absent: the engine's own affair. */
  readonly checkVectors?: (db: VectorDb, corpus?: CorpusName) => Effect.Effect<string, ServiceError>
  /** Has the embedder that the pipeline names embed a word, and says what it is. Absent: none is named, or it is the engine's own affair. */
  readonly checkEmbedder?: Effect.Effect<string, ServiceError>
  /** Absent: it keeps no metadata by keys, and a pipeline with rules for it is refused. */
  readonly metadata?: {
    readonly store: FileMetadataStore["Service"]
    /** Uploads and updates write what describes the file, with the file. Otherwise it is written after them. */
    readonly withFiles: boolean
    /** What a document says of itself under these names. Fails as an upload of it would. */
    readonly properties: (
      document: { readonly content: Uint8Array; readonly name: string; readonly mimeType?: string },
      names: ReadonlyArray<string>
    ) => Effect.Effect<Properties, DocumentError | ServiceError>
  }
  /** Uploads under way at once, unless the pipeline says otherwise. */
  readonly concurrency: number
  /** Absent where `Files.import` is not there. */
  readonly imports?: {
    /** What the engine fetches by itself. */
    readonly sources: ReadonlySet<ImportSource["_tag"]>
    /** Where its imports are followed. */
    readonly operations: Pick<Operations["Service"], "list" | "wait">
    /** Where files of this machine are staged for it. */
    readonly objects: ObjectStore["Service"]
    /** What became of each file, from where an import was asked to write it; undefined where that cannot be read from here. */
    readonly results: (sink: string) => Effect.Effect<ReadonlyArray<ImportedFile> | undefined, ServiceError>
  }
}>()("sluice/ports/Engine") {}
