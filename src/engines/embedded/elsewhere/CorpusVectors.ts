import { Context, Effect, Exit, Layer, type Scope } from "effect"
import type { ServiceError } from "../../../domain/Errors.ts"
import { now } from "../../../domain/Stamps.ts"
import type { Embedder } from "../../../ports/Embedder.ts"
import type { VectorStore } from "../../../ports/VectorStore.ts"
import type { AnalyzerId } from "../../../search/analysis/Detection.ts"
import type { NewFile, NewVector } from "../store/Commands.ts"
import { Reader } from "../store/Reader.ts"
import type { CorpusRow } from "../store/Rows.ts"
import { Writer } from "../store/Writer.ts"
import { vectorFileOf } from "./FileRecord.ts"
import { active, NotedWork } from "./NotedWork.ts"
import { OpenStores } from "./OpenStores.ts"
import { elsewhereTerms, vectorsOf } from "./StoredFiles.ts"

/** A version on its way into a database. */
export interface Version {
  /** Writes the version's chunks; `fresh` has the vectors that are not stored yet. When it returns, searches of the database find them. */
  readonly put: (fresh: ReadonlyArray<NewVector>) => Effect.Effect<{ readonly analyzers: ReadonlyArray<AnalyzerId> }, ServiceError>
}

/**
 * Corpora whose vectors are in a database of their own. The engine's tables alone decide what is visible: a version of a file is written
 * whole, under its own ids, before its row is committed, and deleted after its row is gone. Each such step is noted before it is done
 * ({@link NotedWork}).
 */
export class CorpusVectors extends Context.Service<CorpusVectors, {
  /** Starts a version of a file. Where the scope closes before the file was committed, what was written is deleted. */
  readonly begin: (corpus: CorpusRow, file: NewFile) => Effect.Effect<Version, ServiceError, Scope.Scope>
  /** Does the work that is noted for a corpus; what fails stays noted, and is tried again by the next call. */
  readonly tidy: (corpus: string) => Effect.Effect<void>
  readonly store: (corpus: CorpusRow) => Effect.Effect<VectorStore, ServiceError>
  /** Writes a corpus's new name into the database; where that fails, the next process that writes does it. */
  readonly renamed: (corpus: string) => Effect.Effect<void>
}>()("sluice/embedded/CorpusVectors") {
  static readonly layer: Layer.Layer<CorpusVectors, never, Reader | Writer | Embedder> = Layer.effect(
    CorpusVectors,
    Effect.gen(function*() {
      const reader = yield* Reader
      const writer = yield* Writer
      const noted = yield* NotedWork
      const { open, recordOf } = yield* OpenStores
      const embedding = yield* Effect.context<Reader | Embedder>()

      const begin = Effect.fnUntraced(function*(corpus: CorpusRow, file: NewFile): Effect.fn.Return<Version, ServiceError, Scope.Scope> {
        const { prepared, put } = yield* open(corpus.vectorDb, corpus.name, corpus.embedder)
        yield* Effect.mapError(prepared, unusable)
        const version = { corpus: corpus.name, file: file.name }
        yield* Effect.acquireRelease(
          Effect.andThen(Effect.sync(() => active.add(file.name)), writer.send("beginVersion", version)),
          (_, exit) =>
            Effect.andThen(
              Exit.isSuccess(exit) ? Effect.void : Effect.ignore(writer.send("beginVersion", { ...version, failed: true })),
              Effect.sync(() => active.delete(file.name))
            )
        )
        const { analyzers, terms } = (yield* elsewhereTerms).termsOf(file)
        return {
          put: Effect.fnUntraced(function*(fresh) {
            const hashes = file.chunks.map(({ hash }) => hash)
            const vectors = yield* Effect.provide(vectorsOf(corpus, file.displayName, hashes, fresh), embedding)
            const record = { ...file, chunks: file.chunks.length, created: yield* now }
            const facts = vectors.map((vector, at) => ({ vector, terms: terms[at]! }))
            // A call under way cannot be taken back, and must not arrive after the version's deletion.
            yield* Effect.uninterruptible(put(vectorFileOf(file, record, facts)))
            return { analyzers }
          })
        }
      })

      return CorpusVectors.of({
        begin,
        renamed: Effect.fnUntraced(
          function*(name) {
            const { embedder, vectorDb } = yield* reader.read(() => reader.corpusNow(name))
            const { owned, store } = yield* open(vectorDb, name, embedder)
            const record = yield* recordOf(name)
            const there = (yield* store.corpora).some(({ corpus }) => corpus === name)
            if (record !== undefined && there && (yield* owned)) yield* store.sign(record)
          },
          Effect.catch(({ message }) => Effect.logWarning(`the database still has the corpus under its old name: ${message}`))
        ),
        tidy: noted.tidy,
        store: (corpus) => Effect.map(open(corpus.vectorDb, corpus.name, corpus.embedder), ({ store }) => store)
      })
    })
  ).pipe(Layer.provide(NotedWork.layer), Layer.provide(OpenStores.layer))
}

/** A database that cannot be used concerns every file, so the error ends the run: otherwise each file would fail with it separately. */
const unusable = (error: ServiceError): ServiceError =>
  error.code === "UNAUTHENTICATED" || error.code === "PERMISSION_DENIED" || error.code === "FAILED_PRECONDITION"
    ? error
    : error.with({ code: "FAILED_PRECONDITION", message: `the corpus's vector database cannot be used: ${error.message}` })
