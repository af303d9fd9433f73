import { Context, Effect, Stream } from "effect"
import type { CorpusName } from "../domain/Corpus.ts"
import type { FileChunk } from "../domain/Document.ts"
import type { DocumentError, ServiceError } from "../domain/Errors.ts"
import { type Facet, FacetCounts, type FacetQuery, type FileQuery } from "../domain/Facets.ts"
import type { ImportRequest } from "../domain/Import.ts"
import type { Operation } from "../domain/Operation.ts"
import type { FilePatch, RagFile, RagFileName, UploadRequest, UploadResult } from "../domain/RagFile.ts"
import type { SparseVector } from "./Embedder.ts"
import type { LedgerChange } from "./Ledger.ts"
import { type Page, type PageRequest, pages } from "./Paging.ts"

/** The fields of a stored file that runs compare: see `RagFile`. */
export type HeldFile = Pick<RagFile, "name" | "displayName" | "sourceUri" | "sizeBytes" | "state" | "errorStatus" | "marker">

/** The ledger change to record once a file is stored. */
export interface LedgerOfUpload {
  readonly scope: string
  readonly change: (file: RagFileName) => LedgerChange
}

/** The files of a corpus. */
export class Files extends Context.Service<Files, {
  /**
   * Parses, chunks, embeds and stores one file. On return the file is durable and searchable, and so is its `ledger`
   * change where the engine keeps both together (`Engine.ledgerWithFiles`).
   */
  readonly upload: (request: UploadRequest, ledger?: LedgerOfUpload) => Effect.Effect<UploadResult, ServiceError | DocumentError>
  /** Indexes of the texts that an upload would have to embed; vectors of the others are known. Absent: the engine cannot say. */
  readonly unembedded?: (texts: ReadonlyArray<string>) => Effect.Effect<ReadonlyArray<number>, ServiceError>
  /** Has the engine fetch the files itself; follow the operation through `Operations`. */
  readonly import: (request: ImportRequest) => Effect.Effect<Operation, ServiceError>
  readonly get: (name: RagFileName) => Effect.Effect<RagFile, ServiceError>
  readonly list: (corpus: CorpusName, page: PageRequest) => Effect.Effect<Page<RagFile>, ServiceError>
  /** Lists files with only the fields that runs compare, which is faster than {@link list}. Absent: use `list`. */
  readonly held?: (corpus: CorpusName, page: PageRequest) => Effect.Effect<Page<HeldFile>, ServiceError>
  /** Finds the files of a corpus with this display name, oldest first. Absent: they have to be listed ({@link filesNamed}). */
  readonly named?: (corpus: CorpusName, displayName: string) => Effect.Effect<ReadonlyArray<RagFile>, ServiceError>
  /**
   * Chunks of a file as stored and searched, in order. `UNIMPLEMENTED` where the engine does not return texts,
   * `DATA_LOSS` where one is damaged.
   */
  readonly chunks: (name: RagFileName, page: PageRequest) => Effect.Effect<Page<FileChunk>, ServiceError>
  /**
   * The chunks of a file from the ordinal `from` on (0 or more), `count` of them at most: none beyond its end. Fails as
   * {@link chunks} does. Absent: its chunks have to be read from the first one on ({@link chunksOf}).
   */
  readonly chunksFrom?: (
    name: RagFileName,
    from: number,
    count: number
  ) => Effect.Effect<ReadonlyArray<FileChunk>, ServiceError>
  /** Counts the files of a corpus by their metadata values. Absent: they have to be listed ({@link facetsOf}). */
  readonly facets?: (corpus: CorpusName, query: FacetQuery) => Effect.Effect<ReadonlyArray<Facet>, ServiceError>
  /**
   * Samples up to `most` files that match a query, spread over all matches, and counts the matches (`of`). The sample is
   * the same while the corpus is unchanged. Absent: the files have to be listed.
   */
  readonly sample?: (
    corpus: CorpusName,
    most: number,
    query: FileQuery
  ) => Effect.Effect<{ readonly names: ReadonlyArray<RagFileName>; readonly of: number }, ServiceError>
  /**
   * Vectors of the first chunk of each file, all of one corpus, in the order of the names; not normalized. Undefined for
   * a file that is gone or whose vectors are kept elsewhere. Absent: the engine does not return vectors.
   */
  readonly vectors?: (names: ReadonlyArray<RagFileName>) => Effect.Effect<ReadonlyArray<SparseVector | undefined>, ServiceError>
  /**
   * Changes facts about a file, not its content: nothing is parsed, embedded or indexed again. `UNIMPLEMENTED` where the
   * engine's files are immutable.
   */
  readonly update: (name: RagFileName, patch: FilePatch) => Effect.Effect<RagFile, ServiceError>
  readonly delete: (name: RagFileName) => Effect.Effect<void, ServiceError>
}>()("sluice/ports/Files") {}

/** Page size of a listing whose items are only filtered or counted. */
const wholePage = 500

/** Finds the files of a corpus with this display name, oldest first: through the engine's own search, or else by listing every file. */
export const filesNamed = Effect.fnUntraced(function*(
  files: Files["Service"],
  corpus: CorpusName,
  displayName: string
): Effect.fn.Return<ReadonlyArray<RagFile>, ServiceError> {
  if (files.named !== undefined) return yield* files.named(corpus, displayName)
  return yield* pages((page) => files.list(corpus, page), wholePage).pipe(
    Stream.filter((file) => file.displayName === displayName),
    Stream.runCollect
  )
})

/** The chunks of a file from the ordinal `from` on, `count` at most: the engine finds them, or else those before are read too. */
export const chunksOf = (
  files: Files["Service"],
  name: RagFileName,
  from: number,
  count: number
): Effect.Effect<ReadonlyArray<FileChunk>, ServiceError> =>
  files.chunksFrom !== undefined
    ? files.chunksFrom(name, from, count)
    : pages((page) => files.chunks(name, page), wholePage).pipe(Stream.drop(from), Stream.take(count), Stream.runCollect)

/** The file in an array, or an empty array where it was deleted in the meantime. */
export const stillThere = (file: Effect.Effect<RagFile, ServiceError>): Effect.Effect<ReadonlyArray<RagFile>, ServiceError> =>
  file.pipe(Effect.map((found) => [found]), Effect.catchIf(({ code }) => code === "NOT_FOUND", () => Effect.succeed([])))

/** Counts the files of a corpus by their metadata values: through the engine's own count, or else by listing every file. */
export const facetsOf = Effect.fnUntraced(function*(
  files: Files["Service"],
  corpus: CorpusName,
  query: FacetQuery
): Effect.fn.Return<ReadonlyArray<Facet>, ServiceError> {
  if (files.facets !== undefined) return yield* files.facets(corpus, query)
  const counts = new FacetCounts(query)
  yield* Stream.runForEach(pages((page) => files.list(corpus, page), wholePage), (file) => Effect.sync(() => counts.add(file)))
  return counts.facets
})
