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

/** What runs compare of a file that a corpus holds: see `RagFile`. */
export type HeldFile = Pick<RagFile, "name" | "displayName" | "sourceUri" | "sizeBytes" | "state" | "errorStatus" | "marker">

/** What the ledger is to say of a file, once it is stored. */
export interface LedgerOfUpload {
  readonly scope: string
  readonly change: (file: RagFileName) => LedgerChange
}

/** The files of a corpus. */
export class Files extends Context.Service<Files, {
  /**
   * Parses, chunks, embeds and stores one file. When it returns the file is durable and searchable, and so is what
   * `ledger` says of it, where the engine keeps both together (`Engine.ledgerWithFiles`).
   */
  readonly upload: (request: UploadRequest, ledger?: LedgerOfUpload) => Effect.Effect<UploadResult, ServiceError | DocumentError>
  /**
   * The places of those of these texts that an upload would have embedded: the others are known. Absent: the engine does
   * not tell.
   */
  readonly unembedded?: (texts: ReadonlyArray<string>) => Effect.Effect<ReadonlyArray<number>, ServiceError>
  /** Has the engine fetch the files itself; poll the operation through `Operations`. */
  readonly import: (request: ImportRequest) => Effect.Effect<Operation, ServiceError>
  readonly get: (name: RagFileName) => Effect.Effect<RagFile, ServiceError>
  readonly list: (corpus: CorpusName, page: PageRequest) => Effect.Effect<Page<RagFile>, ServiceError>
  /** {@link list} with nothing but what runs compare, which is sooner told. Absent: it is not. */
  readonly held?: (corpus: CorpusName, page: PageRequest) => Effect.Effect<Page<HeldFile>, ServiceError>
  /** The files of a corpus with this display name, oldest first. Absent: they have to be listed ({@link filesNamed}). */
  readonly named?: (corpus: CorpusName, displayName: string) => Effect.Effect<ReadonlyArray<RagFile>, ServiceError>
  /**
   * The text of a file as it is stored and found: its chunks, in order. `UNIMPLEMENTED` where the engine does not give
   * texts back, `DATA_LOSS` where one is damaged.
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
  /** How many files of a corpus have which values of their metadata. Absent: they have to be listed ({@link facetsOf}). */
  readonly facets?: (corpus: CorpusName, query: FacetQuery) => Effect.Effect<ReadonlyArray<Facet>, ServiceError>
  /**
   * Up to `most` files of those that a query means, spread over all of them, and how many these are: the same ones while
   * the corpus stays as it is. Absent: they have to be listed.
   */
  readonly sample?: (
    corpus: CorpusName,
    most: number,
    query: FileQuery
  ) => Effect.Effect<{ readonly names: ReadonlyArray<RagFileName>; readonly of: number }, ServiceError>
  /**
   * The vectors of the first chunks of files of one corpus, in the order of the names; of no length in particular.
   * Undefined of a file that is gone, or whose vectors are kept elsewhere. Absent: the engine gives no vectors back.
   */
  readonly vectors?: (names: ReadonlyArray<RagFileName>) => Effect.Effect<ReadonlyArray<SparseVector | undefined>, ServiceError>
  /**
   * Changes facts about a file, not its content: nothing is parsed, embedded or indexed again. `UNIMPLEMENTED` where
   * the engine's files are immutable.
   */
  readonly update: (name: RagFileName, patch: FilePatch) => Effect.Effect<RagFile, ServiceError>
  readonly delete: (name: RagFileName) => Effect.Effect<void, ServiceError>
}>()("sluice/ports/Files") {}

/** Files of a page of a listing that is only looked through. */
const wholePage = 500

/** The files of a corpus with this display name, oldest first: the engine finds them, or else every file is listed. */
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

/** A file, or none where it was deleted since somebody named it. */
export const stillThere = (file: Effect.Effect<RagFile, ServiceError>): Effect.Effect<ReadonlyArray<RagFile>, ServiceError> =>
  file.pipe(Effect.map((found) => [found]), Effect.catchIf(({ code }) => code === "NOT_FOUND", () => Effect.succeed([])))

/** How many files of a corpus have which values of their metadata: the engine counts, or else every file is listed. */
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
