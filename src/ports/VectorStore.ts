import { Context, Effect } from "effect"
import type { VectorDb } from "../domain/Corpus.ts"
import { ServiceError } from "../domain/Errors.ts"
import type { Metadata, Permissions } from "../domain/RagFile.ts"

/** A chunk as a vector database stores it, with everything known of it, so that other programs can use the database too. */
export interface VectorChunk {
  /** Position in its file, from 0. */
  readonly ordinal: number
  readonly text: string
  /** Unit vector, or the zero vector. */
  readonly vector: Float32Array
  /** Terms of the text in order, as the corpus's analysis makes them, for search by words. */
  readonly terms: ReadonlyArray<string>
  readonly headings: ReadonlyArray<string>
  readonly byteStart: number
  readonly byteEnd: number
  readonly firstPage?: number | undefined
  readonly lastPage?: number | undefined
  /** JSON of the engine's own: what it needs to rebuild its record of the chunk and, on a file's first chunk, of the file. */
  readonly record?: string | undefined
}

/** One version of a file. Versions have different `file` ids, so they are never mixed. */
export interface VectorFile {
  readonly file: string
  readonly sourceUri: string
  readonly displayName: string
  readonly metadata?: Metadata | undefined
  readonly permissions?: Permissions | undefined
  readonly chunks: ReadonlyArray<VectorChunk>
}

/** A chunk that was found. */
export interface VectorHit {
  readonly file: string
  readonly ordinal: number
  /** Cosine similarity in the dense arm; in the sparse arm the database's own score for words. Larger is better. */
  readonly score: number
}

export interface VectorQuery {
  /** Vector of the dense arm. Absent: no dense arm. */
  readonly vector?: Float32Array | undefined
  /**
   * Terms of the search by words, absent for none. `weight` is what a term counts relative to the others, before its
   * rarity; at most 1.
   */
  readonly terms?: ReadonlyArray<{ readonly term: string; readonly weight: number }> | undefined
  /** Most hits of each arm. */
  readonly count: number
  /** Restricts hits to chunks of these files, at most {@link VectorStore.mostFiles}. */
  readonly files?: ReadonlyArray<string> | undefined
  /**
   * Has the database mix both arms into one list: the weight of the dense arm, more than 0 and less than 1; the rest is
   * the sparse arm's. For databases that {@link VectorAbilities.mixes}, with `vector` and `terms`, neither of them empty.
   */
  readonly alpha?: number | undefined
}

/** Hits of each arm, best first. */
export interface VectorHits {
  readonly dense: ReadonlyArray<VectorHit>
  readonly sparse: ReadonlyArray<VectorHit>
  /** Mixed hits, instead of those of the arms, where {@link VectorQuery.alpha} was given: larger scores are better. */
  readonly mixed?: ReadonlyArray<VectorHit> | undefined
}

/** How a database can search, as it is set up. */
export interface VectorAbilities {
  /** Whether it searches by words. */
  readonly words: boolean
  /** Whether it can mix both arms itself. */
  readonly mixes: boolean
  /** Whether it accounts for the rarity of words; otherwise the weights of a query's terms have to. */
  readonly rarity: boolean
}

/** Abilities of most databases that search by words. */
export const byWords: VectorAbilities = { words: true, mixes: false, rarity: true }

/** What a database has of a corpus. */
export interface VectorDescription {
  readonly chunks: number
  readonly dimensions: number
  /** Version of the database, where it reports one. */
  readonly version?: string | undefined
}

/** A corpus as recorded in its database: identifies it to an engine that has lost its own records. */
export interface CorpusRecord {
  /** Id of the corpus; see {@link VectorSpace.corpus}. */
  readonly corpus: string
  readonly displayName: string
  readonly description?: string | undefined
  readonly embeddingModel?: string | undefined
  /** `Embedder.id` of the embedder that made its vectors. */
  readonly embedder: string
  /** Id of the one data directory that writes it. */
  readonly owner: string
}

/** A version of a file in the database, complete or not. */
export interface StoredVersion {
  readonly file: string
  readonly chunks: number
  /** {@link VectorChunk.record} of its first chunk, where present. */
  readonly record?: string | undefined
}

/** A file that another program put into the database, in the layout that the service documents. */
export interface OtherFile {
  /** The service's own id of the corpus. */
  readonly corpus: string
  readonly file: string
  readonly sourceUri: string
}

/** What other programs put into the same place. None of it is ever changed or deleted. */
export interface Others {
  readonly count: Effect.Effect<{ readonly corpora: number; readonly chunks: number }, ServiceError>
  /** Lists these files, keeping a row in memory for each. */
  readonly files: Effect.Effect<ReadonlyArray<OtherFile>, ServiceError>
  /** Reads the chunks of a file, in order. */
  readonly read: (file: OtherFile) => Effect.Effect<ReadonlyArray<Pick<VectorChunk, "text" | "vector">>, ServiceError>
}

/** The part of a vector database that belongs to one corpus. Calls are idempotent. */
export interface VectorStore {
  /** Describes the place for people: `collection Docs of http://127.0.0.1:8080`. */
  readonly place: string
  /** How the database can search; may call it. */
  readonly abilities: Effect.Effect<VectorAbilities, ServiceError>
  /** Most files that a query can be restricted to. */
  readonly mostFiles: number
  /**
   * Creates what is missing, once, and checks that what exists meets the corpus's needs: properties, dimensions, metric,
   * version, the right to write. Writes nothing where something is wrong.
   */
  readonly prepare: Effect.Effect<void, ServiceError>
  /** Checks like `prepare` without creating anything: `NOT_FOUND` where `prepare` would create something. */
  readonly check: Effect.Effect<VectorDescription, ServiceError>
  /** Stores complete versions; on return every search finds them. On failure some of their chunks may be stored. */
  readonly put: (files: ReadonlyArray<VectorFile>) => Effect.Effect<void, ServiceError>
  /** Deletes versions, incomplete and missing ones included. */
  readonly delete: (files: ReadonlyArray<string>) => Effect.Effect<void, ServiceError>
  /** Deletes everything of the corpus; succeeds where there is nothing. */
  readonly drop: Effect.Effect<void, ServiceError>
  readonly search: (query: VectorQuery) => Effect.Effect<VectorHits, ServiceError>
  /** Every corpus recorded in the database, this one and others. Creates nothing. */
  readonly corpora: Effect.Effect<ReadonlyArray<CorpusRecord>, ServiceError>
  /** Records this corpus in the database, after `prepare`; `drop` removes the record. */
  readonly sign: (record: Omit<CorpusRecord, "corpus">) => Effect.Effect<void, ServiceError>
  /** Lists every stored version, keeping a row in memory for each. */
  readonly versions: Effect.Effect<ReadonlyArray<StoredVersion>, ServiceError>
  /**
   * Reads versions as they were put, without their terms. Leaves out versions that the database does not have in full as
   * they were put.
   */
  readonly read: (files: ReadonlyArray<string>) => Effect.Effect<ReadonlyArray<VectorFile>, ServiceError>
  /** Files of other programs. Absent: the service documents no layout for them. */
  readonly others?: Others | undefined
}

/** Identifies a corpus's vectors and their length. */
export interface VectorSpace {
  /** Id of the corpus, unique over all data directories. */
  readonly corpus: string
  readonly dimensions: number
}

/**
 * Vector databases, by a corpus's settings. `open` does not call the database yet; it fails where a field is missing, or
 * where this program cannot reach that kind of database.
 */
export const VectorStores = Context.Reference<{
  readonly open: (db: VectorDb, space: VectorSpace) => Effect.Effect<VectorStore, ServiceError>
  /** Whether new corpora in databases that exist only at Google are created there, instead of in a stand-in. Default false. */
  readonly callsGoogle?: boolean
}>("sluice/ports/VectorStores", {
  defaultValue: () => ({
    open: ({ _tag }) =>
      Effect.fail(
        new ServiceError({
          code: "UNIMPLEMENTED",
          message: `the corpus keeps its vectors in ${_tag}, and this program has no connection to it`,
          fix: "give the engine VectorStores, or use the managed database"
        })
      )
  })
})
export type VectorStores = typeof VectorStores.Service
