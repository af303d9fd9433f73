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
import { CorpusVectors } from "./elsewhere/CorpusVectors.ts"
import { LostCorpora } from "./elsewhere/LostCorpora.ts"
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
  /** Directory of the database, which is made if it is absent. */
  readonly dataDir: string
  /** Path of a bundle that is read instead of the directory's database, which is then not opened. `checkBundle` must have checked it. */
  readonly bundle?: string
  /** Project in resource names. Default `local`. */
  readonly project?: string
  /** Location in resource names. Default `local`. */
  readonly location?: string
  /** Bytes of the index that are kept in memory for searching; an eighth of it is added for kept answers. Default 256 MB. */
  readonly memory?: number
  /**
   * Most threads that search, each with its share of `memory`; they start on demand. Default 0: a search runs in the calling thread and
   * blocks its event loop, for a millisecond or two in most corpora, longer in large ones.
   */
  readonly searchThreads?: number
  /**
   * Rebuilds indexes that another version of Sluice made at once, and finishes before it closes. Default: in the background while they
   * are searched, for as long as the program runs.
   */
  readonly rebuildsOutdated?: boolean
  /** Shows only the serving corpus of each pipeline, also to callers who name one that served before. Default false. */
  readonly serving?: boolean
  /** Milliseconds for which unused vectors are kept, in case their texts come back. Default 24 hours. */
  readonly keepVectors?: number
  /** Starts the writer's thread at once, for programs that are certain to write. Default false: it starts with the first write. */
  readonly started?: boolean
}

/** Bytes of the index kept in memory for searching, unless options say otherwise. */
export const defaultMemory = 256 * 1024 * 1024

/** The Retrieval port, loaded by the first question: a run asks none, and analysis and search are most of the engine's code. */
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
        // The first caller may be interrupted, while others wait for the same result.
        Effect.uninterruptible,
        Effect.cached
      )
      return Retrieval.of({
        retrieve: (request) => Effect.flatMap(opened, ({ retrieve }) => retrieve(request)),
        embedderOf: (file) => Effect.flatMap(opened, ({ embedderOf }) => embedderOf?.(file) ?? Effect.undefined)
      })
    })
  )

/**
 * The engine that runs on one machine: corpora, files, chunks, vectors and the sparse index in one SQLite database.
 *
 * Several processes may use a data directory at once. Optional services: a `Ranker` for lexical ranking, `Rankers` for other kinds, an
 * `Importer` for `Files.import`, and `VectorStores` for the databases that corpora may name.
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
        LostCorpora.layer,
        IndexUpkeep.layer(options.rebuildsOutdated ?? false)
      )
    ),
    // The reader comes first: it makes the database, and reports what is wrong with it.
    Layer.provide(
      options.bundle === undefined
        ? Writer.layer(options.dataDir, { keepVectors: options.keepVectors, started: options.started })
        : Writer.layerOfBundle(options.bundle)
    ),
    Layer.provide(Reader.layer(options.bundle ?? options.dataDir, { serving: options.serving === true ? names.parent : undefined }))
  )
}
