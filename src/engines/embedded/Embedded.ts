import { Context, Effect, Layer } from "effect"
import type { ServiceError, StateError } from "../../domain/Errors.ts"
import type { Corpora } from "../../ports/Corpora.ts"
import type { Embedder } from "../../ports/Embedder.ts"
import type { FileMetadataStore } from "../../ports/FileMetadataStore.ts"
import type { Files } from "../../ports/Files.ts"
import type { Operations } from "../../ports/Operations.ts"
import { Retrieval } from "../../ports/Retrieval.ts"
import type { LedgerWrites } from "../../state/LedgerWrites.ts"
import type { TextPool } from "../../text/TextPool.ts"
import { CorpusVectors } from "./CorpusVectors.ts"
import { embeddedCorpora } from "./EmbeddedCorpora.ts"
import { embeddedFileMetadata } from "./EmbeddedFileMetadata.ts"
import { embeddedFiles } from "./EmbeddedFiles.ts"
import { embeddedLedger } from "./EmbeddedLedger.ts"
import { embeddedOperations } from "./EmbeddedOperations.ts"
import { IndexUpkeep } from "./IndexUpkeep.ts"
import { Names } from "./Names.ts"
import { OperationRunner } from "./OperationRunner.ts"
import { EmbeddingQueue } from "./store/EmbeddingQueue.ts"
import { Reader } from "./store/Reader.ts"
import { Writer } from "./store/Writer.ts"

export interface EmbeddedOptions {
  /** Directory of the database; made if it is not there. */
  readonly dataDir: string
  /** A bundle that is read in the place of the directory's database, which is then not opened: its path, once `checkBundle` has read it. */
  readonly bundle?: string
  /** Of resource names. Default `local`. */
  readonly project?: string
  /** Of resource names. Default `local`. */
  readonly location?: string
  /** Bytes of the index that are kept in memory for searching; answers that were given have an eighth of it besides. Default 256 MB. */
  readonly memory?: number
  /**
   * Threads that search at most, each with its share of `memory`; they start when they are needed. Default 0: a search
   * runs on the calling thread and holds its event loop, a millisecond or two in most corpora, longer in large ones.
   */
  readonly searchThreads?: number
  /**
   * Rebuilds at once, and whole before it closes, what indexes another version of Sluice made. Default: in the background
   * of questions to them, as long as the program runs.
   */
  readonly rebuildsOutdated?: boolean
  /** Shows of each pipeline's corpora the one that serves, also to those who name one that served before. Default false. */
  readonly serving?: boolean
  /** Milliseconds for which vectors that no file uses are kept, in case their texts come back. Default 24 hours. */
  readonly keepVectors?: number
  /** Starts the thread that writes at once, for who knows that files will come. Default false: with the first of them. */
  readonly started?: boolean
}

/** Bytes of the index kept in memory for searching, unless options say otherwise. */
export const defaultMemory = 256 * 1024 * 1024

/** The Retrieval port, loaded and opened by the first question: a run asks none, and the analysis and the search are most of the engine's code. */
const retrievalWhenAsked = (
  names: Names,
  { bundle, dataDir, memory = defaultMemory, searchThreads: threads = 0 }: EmbeddedOptions
): Layer.Layer<Retrieval, never, Reader | Writer | Embedder | CorpusVectors | IndexUpkeep> =>
  Layer.effect(
    Retrieval,
    Effect.gen(function*() {
      const context = yield* Effect.context<Reader | Writer | Embedder | CorpusVectors | IndexUpkeep>()
      const scope = yield* Effect.scope
      const opened = yield* Effect.gen(function*() {
        const [{ embeddedRetrieval }, { searchHere, searchInThreads }] = yield* Effect.promise(() =>
          Promise.all([import("./EmbeddedRetrieval.ts"), import("./search/Searcher.ts")])
        )
        const searcher = threads > 0
          ? searchInThreads({ dataDir: bundle ?? dataDir, names, memory, threads })
          : Effect.flatMap(Reader, (reader) => searchHere(reader, names, memory))
        return Context.get(yield* Layer.buildWithScope(embeddedRetrieval(names, memory, searcher), scope), Retrieval)
      }).pipe(
        Effect.provideContext(context),
        // Whoever asks first may give up; the others have what came of it.
        Effect.uninterruptible,
        Effect.cached
      )
      return Retrieval.of({ retrieve: (request) => Effect.flatMap(opened, ({ retrieve }) => retrieve(request)) })
    })
  )

/**
 * The engine that runs on one machine: corpora, files, chunks, vectors and the sparse index in one SQLite database.
 *
 * Several processes may use a data directory at once. A `Ranker`, where there is one, serves lexical ranking,
 * and `Rankers` every kind that it has; an `Importer` serves `Files.import`; `VectorStores` are the databases that corpora
 * may name.
 */
export const layer = (
  options: EmbeddedOptions
): Layer.Layer<
  Corpora | Files | FileMetadataStore | Retrieval | Operations | LedgerWrites,
  StateError | ServiceError,
  Embedder | TextPool
> => {
  const names = new Names(options.project ?? "local", options.location ?? "local")
  return Layer.mergeAll(
    embeddedCorpora(names),
    embeddedFiles(names),
    embeddedFileMetadata(names),
    retrievalWhenAsked(names, options),
    embeddedOperations(names),
    embeddedLedger
  ).pipe(
    Layer.provide(
      Layer.mergeAll(
        OperationRunner.layer(names),
        EmbeddingQueue.layer,
        CorpusVectors.layer,
        IndexUpkeep.layer(options.rebuildsOutdated ?? false)
      )
    ),
    // The reader comes first: it makes the database, and says what is wrong with it.
    Layer.provide(
      options.bundle === undefined
        ? Writer.layer(options.dataDir, { keepVectors: options.keepVectors, started: options.started })
        : Writer.layerOfBundle(options.bundle)
    ),
    Layer.provide(Reader.layer(options.bundle ?? options.dataDir, { serving: options.serving === true ? names.parent : undefined }))
  )
}
