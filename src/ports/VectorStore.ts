import { Context, Effect } from "effect"
import type { VectorDb } from "../domain/Corpus.ts"
import { ServiceError } from "../domain/Errors.ts"
import type { Metadata, Permissions } from "../domain/RagFile.ts"

/** A chunk as a vector database keeps it: all that is known of it, so that the database is of use to others too. */
export interface VectorChunk {
  /** Place in its file, from 0. */
  readonly ordinal: number
  readonly text: string
  /** Of length 1, or zero. */
  readonly vector: Float32Array
  /** What the text is found by in a search by words: its terms in order, as the corpus's analysis has them. */
  readonly terms: ReadonlyArray<string>
  readonly headings: ReadonlyArray<string>
  readonly byteStart: number
  readonly byteEnd: number
  readonly firstPage?: number | undefined
  readonly lastPage?: number | undefined
  /** What the engine needs besides to have the chunk again, and with a file's first one the file: JSON of its own. */
  readonly record?: string | undefined
}

/** One version of a file. Another version has another `file`, so the two are never mixed. */
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
  /** Cosine similarity in the dense arm; in the sparse one whatever the database scores words by: larger is better. */
  readonly score: number
}

export interface VectorQuery {
  /** Absent: no dense arm. */
  readonly vector?: Float32Array | undefined
  /** Absent: no search by words. `weight`: what a term counts for beside the others, before how rare it is; at most 1. */
  readonly terms?: ReadonlyArray<{ readonly term: string; readonly weight: number }> | undefined
  /** Hits of each arm, at most. */
  readonly count: number
  /** Only chunks of these files, at most {@link VectorStore.mostFiles}. */
  readonly files?: ReadonlyArray<string> | undefined
  /**
   * Both arms mixed by the database, into one list: what the dense one counts for, more than 0 and less than 1, the other
   * one for the rest. For databases that {@link VectorAbilities.mixes}, with `vector` and `terms`, neither of them empty.
   */
  readonly alpha?: number | undefined
}

/** Each arm's hits, best first. */
export interface VectorHits {
  readonly dense: ReadonlyArray<VectorHit>
  readonly sparse: ReadonlyArray<VectorHit>
  /** Where {@link VectorQuery.alpha} was given, instead of the arms: larger scores are better. */
  readonly mixed?: ReadonlyArray<VectorHit> | undefined
}

/** What a database searches by, set up as it is. */
export interface VectorAbilities {
  /** Whether it searches by words. */
  readonly words: boolean
  /** Whether it mixes both arms by itself. */
  readonly mixes: boolean
  /** Whether it knows how rare words are; where not, the weights of a query's terms have to say it. */
  readonly rarity: boolean
}

/** Those of most databases that search by words. */
export const byWords: VectorAbilities = { words: true, mixes: false, rarity: true }

/** What of a corpus is in its database. */
export interface VectorDescription {
  readonly chunks: number
  readonly dimensions: number
  /** The database's own version, where it tells. */
  readonly version?: string | undefined
}

/** A corpus as its database knows it: what tells whoever lost his own records of it which one it is. */
export interface CorpusRecord {
  /** As in {@link VectorSpace}. */
  readonly corpus: string
  readonly displayName: string
  readonly description?: string | undefined
  readonly embeddingModel?: string | undefined
  /** Embedder.id of its vectors. */
  readonly embedder: string
  /** The one data directory that writes it. */
  readonly owner: string
}

/** A version of a file that is there, whole or not. */
export interface StoredVersion {
  readonly file: string
  readonly chunks: number
  /** {@link VectorChunk.record} of its first chunk, where that is there. */
  readonly record?: string | undefined
}

/** A file that others put into the database, in the layout that the service documents for it. */
export interface OtherFile {
  /** The service's own ids. */
  readonly corpus: string
  readonly file: string
  readonly sourceUri: string
}

/** What others put into the same place. Nothing of it is ever changed or deleted. */
export interface Others {
  readonly count: Effect.Effect<{ readonly corpora: number; readonly chunks: number }, ServiceError>
  /** Keeps a row in memory for each. */
  readonly files: Effect.Effect<ReadonlyArray<OtherFile>, ServiceError>
  /** The chunks of one, in order. */
  readonly read: (file: OtherFile) => Effect.Effect<ReadonlyArray<Pick<VectorChunk, "text" | "vector">>, ServiceError>
}

/** The part of a vector database that is one corpus's. Calls may be repeated: what was done stays done. */
export interface VectorStore {
  /** For people: `collection Docs of http://127.0.0.1:8080`. */
  readonly place: string
  /** May ask the database. */
  readonly abilities: Effect.Effect<VectorAbilities, ServiceError>
  /** Files that a query may be restricted to. */
  readonly mostFiles: number
  /**
   * Makes what is missing, once, and holds what is there against what the corpus needs: properties, dimensions, metric,
   * version, the right to write. Nothing is written where something is wrong.
   */
  readonly prepare: Effect.Effect<void, ServiceError>
  /** The same of what is there, making nothing: `NOT_FOUND` where `prepare` has something to make. */
  readonly check: Effect.Effect<VectorDescription, ServiceError>
  /** Puts whole versions; when it returns, every search finds them. Where it fails, some chunks of them may be there. */
  readonly put: (files: ReadonlyArray<VectorFile>) => Effect.Effect<void, ServiceError>
  /** Deletes versions, also half ones and ones that are not there. */
  readonly delete: (files: ReadonlyArray<string>) => Effect.Effect<void, ServiceError>
  /** Deletes all that is the corpus's, also where nothing is. */
  readonly drop: Effect.Effect<void, ServiceError>
  readonly search: (query: VectorQuery) => Effect.Effect<VectorHits, ServiceError>
  /** Every corpus that left a record in the database, this one's or another's. Makes nothing. */
  readonly corpora: Effect.Effect<ReadonlyArray<CorpusRecord>, ServiceError>
  /** Leaves the record of this corpus there, after `prepare`; `drop` takes it away. */
  readonly sign: (record: Omit<CorpusRecord, "corpus">) => Effect.Effect<void, ServiceError>
  /** Every version that is there. Keeps a row in memory for each. */
  readonly versions: Effect.Effect<ReadonlyArray<StoredVersion>, ServiceError>
  /** Versions as they were put, without their terms. Left out is what the database has not as it was put. */
  readonly read: (files: ReadonlyArray<string>) => Effect.Effect<ReadonlyArray<VectorFile>, ServiceError>
  /** Absent: the service documents no layout for it. */
  readonly others?: Others | undefined
}

/** Whose vectors they are, and of which length. */
export interface VectorSpace {
  /** Unlike any other corpus's, in any data directory. */
  readonly corpus: string
  readonly dimensions: number
}

/**
 * Vector databases by what a corpus says of its own. `open` calls nothing yet; it fails where a field is missing, or where
 * the database cannot be had here.
 */
export const VectorStores = Context.Reference<{
  readonly open: (db: VectorDb, space: VectorSpace) => Effect.Effect<VectorStore, ServiceError>
  /** Whether new corpora in databases that exist at Google only are to be there, and not stood in for. Default false. */
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
