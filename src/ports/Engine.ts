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
  /** The prefix of corpus names: `projects/{project}/locations/{location}`. */
  readonly parent: string
  /** Identifies the place where the corpora live, unlike any other place. Part of the ledger's scope. */
  readonly target: string
  /**
   * Everything besides the pipeline that determines what is stored for the same bytes: versions of parser and embedder.
   * Part of every fingerprint.
   */
  readonly signature: string
  /** Most bytes of one upload. */
  readonly maxFileBytes: number
  /** Most uploads per minute. Absent: no limit. */
  readonly uploadsPerMinute?: number
  /**
   * Stored files can be replaced but not changed (there is no `Files.update`), and keep no fact but their display name:
   * sync uploads a file again when its display name changes, and leaves it alone when other facts do.
   */
  readonly immutableFiles?: boolean
  /**
   * The embedder in use, comparable with `Corpus.embedder`; a corpus with another one needs a rebuild. Absent: the engine
   * does not report it.
   */
  readonly embedder?: string
  /** Fewest embedding requests that this number of texts takes. Absent: one each. */
  readonly embeddingRequests?: (texts: number) => number
  /** Whether embedding uses up requests of a rate; false for an embedder that runs in the process. */
  readonly remoteEmbedding: boolean
  /** Limits what a run embeds. Absent where the engine does not know what is embedded: runs cannot have a budget there. */
  readonly budget?: EmbeddingBudget["Service"]
  /** An upload and its ledger entry are written in one transaction: no intent has to be recorded before it. */
  readonly ledgerWithFiles?: boolean
  /**
   * Describes the state of the vector database that a corpus names; the corpus need not exist yet. Changes nothing.
   * Absent: the engine manages its own.
   */
  readonly checkVectors?: (db: VectorDb, corpus?: CorpusName) => Effect.Effect<string, ServiceError>
  /**
   * Embeds a word with the embedder that the pipeline names, and describes the embedder. Absent: the pipeline names none,
   * or the engine manages its own.
   */
  readonly checkEmbedder?: Effect.Effect<string, ServiceError>
  /** Metadata by keys. Absent: the engine keeps none, and a pipeline with rules for it is refused. */
  readonly metadata?: {
    readonly store: FileMetadataStore["Service"]
    /** Whether uploads and updates write the metadata together with the file. Otherwise it is written after them. */
    readonly withFiles: boolean
    /** Reads the document's own properties with these names. Fails as an upload of the document would. */
    readonly properties: (
      document: { readonly content: Uint8Array; readonly name: string; readonly mimeType?: string },
      names: ReadonlyArray<string>
    ) => Effect.Effect<Properties, DocumentError | ServiceError>
  }
  /** Concurrent uploads, unless the pipeline says otherwise. */
  readonly concurrency: number
  /** Imports by the engine. Absent where there is no `Files.import`. */
  readonly imports?: {
    /** Kinds of sources that the engine fetches itself. */
    readonly sources: ReadonlySet<ImportSource["_tag"]>
    /** Operations through which imports are followed. */
    readonly operations: Pick<Operations["Service"], "list" | "wait">
    /** Object store in which local files are staged for import. */
    readonly objects: ObjectStore["Service"]
    /**
     * Reads the outcome of each file from the address an import was told to write results to; undefined where that cannot
     * be read from here.
     */
    readonly results: (sink: string) => Effect.Effect<ReadonlyArray<ImportedFile> | undefined, ServiceError>
  }
}>()("sluice/ports/Engine") {}
