import { Schema } from "effect"
import type { Asker } from "./Asker.ts"
import type { CorpusName } from "./Corpus.ts"
import { defined } from "./Defined.ts"
import { LocalModel } from "./LocalModel.ts"
import { Metadata, RagFileName } from "./RagFile.ts"
import type { Synonyms } from "./Synonyms.ts"

/** Most contexts that the embedded engine returns for a request. */
export const largestTopK = 1_000
/** Contexts returned where a request names no `topK`. */
export const defaultTopK = 10

/** Weight of the dense arm where a request has a hybrid block without `alpha`. */
export const hybridAlpha = 0.5

/** A query of a corpus, or of files of it. */
export interface RetrievalRequest {
  readonly corpus: CorpusName
  /** Restricts the search to these files of the corpus. */
  readonly files?: ReadonlyArray<RagFileName>
  /** Further corpora to search; the contexts of all are merged into one order, by {@link mergedContexts}. */
  readonly also?: ReadonlyArray<SearchedCorpus>
  readonly query: string
  /** Number of contexts; the engine's default is 10. */
  readonly topK?: number
  /**
   * Hybrid search. `alpha` weighs dense against sparse: 0 sparse only, 1 dense only; without it 0.5. With 0, the embedded
   * engine's scores are BM25 as in Lucene; in a mix, function words count less on the sparse side. Without `hybrid`, the
   * engine uses its own measured default.
   */
  readonly hybrid?: { readonly alpha?: number }
  /**
   * Only contexts whose cosine distance (0 to 2) is strictly less than `maxDistance`, or whose similarity is strictly
   * more than `minSimilarity`.
   */
  readonly filter?: {
    readonly maxDistance?: number
    readonly minSimilarity?: number
    /** Metadata keys and the values they must have. */
    readonly metadata?: Metadata
    /** An expression over a file's metadata, such as `year >= 2024 && lang in ["de", "en"]`: see `MetadataFilter.ts`. */
    readonly metadataFilter?: string
  }
  readonly rank?: Ranking
  /**
   * Restricts results to files that this principal, or any of these, may read: a person is asked for together with their groups and
   * domain. An empty list finds only public files and files without permissions. Absent means the owner, who may read all.
   */
  readonly principal?: Asker
  /** Words and phrases that mean the same: where the query has one, the others are searched for too. Default: none. */
  readonly synonyms?: Synonyms
  /** Whether to correct query terms that no document has. Default true. */
  readonly correctSpelling?: boolean
  /** Whether to fill {@link Context.explanation}. Default false. */
  readonly explain?: boolean
}

/** A corpus to search, or files of it. */
export type SearchedCorpus = Pick<RetrievalRequest, "corpus" | "files">

/** Splits a request into one for each of its corpora. */
export const perCorpus = ({ also = [], corpus, files, ...request }: RetrievalRequest): ReadonlyArray<RetrievalRequest> =>
  [{ corpus, files }, ...also].map((searched) => defined({ ...request, ...searched }))

/**
 * Merges the best contexts of several searches. Scores are only comparable within one search, distances between all:
 * contexts are ordered by distance or, where a ranker gave the scores or some have no distance, by score. Ties are in the
 * order of the corpora.
 */
export const mergedContexts = (
  found: ReadonlyArray<ReadonlyArray<Context>>,
  { rank, topK = defaultTopK }: Pick<RetrievalRequest, "rank" | "topK">
): ReadonlyArray<Context> => {
  const all = found.flat()
  const near = rank === undefined && all.every(({ distance }) => distance !== undefined)
  return all.toSorted((a, b) => near ? (a.distance ?? 0) - (b.distance ?? 0) : b.score - a.score).slice(0, topK)
}

/** The default `k` of reciprocal rank fusion, from the paper that introduced it. */
const defaultFusion = 60

/**
 * Merges the results of several queries by reciprocal rank fusion. A context's score is the sum of `1 / (k + place)` over
 * the lists that have it, places from 1. Its distance is the smallest that a list gives it, and its other fields are those
 * of the list that ranks it highest. Of equal scores, the context with the higher place in any list comes first, then the
 * one of the earlier list. A context with an explanation also says at which place each query found it.
 */
export const fusedByRank = (
  found: ReadonlyArray<{ readonly query: string; readonly contexts: ReadonlyArray<Context> }>,
  k = defaultFusion
): ReadonlyArray<Context> => {
  const all = new Map<string, { context: Context; best: number; score: number; distance: number; queries: Array<FoundBy> }>()
  for (const { contexts, query } of found) {
    contexts.forEach((context, from) => {
      const key = `${context.file} ${context.chunkId}`
      const known = all.get(key) ?? { context, best: from, score: 0, distance: Infinity, queries: [] }
      all.set(key, known)
      if (from < known.best) Object.assign(known, { context, best: from })
      known.score += 1 / (k + from + 1)
      known.distance = Math.min(known.distance, context.distance ?? Infinity)
      known.queries.push({ query, from })
    })
  }
  return [...all.values()]
    .toSorted((a, b) => b.score - a.score || a.best - b.best)
    .map(({ context, distance, queries, score }) => ({
      ...context,
      score,
      ...(distance === Infinity ? {} : { distance }),
      ...(context.explanation === undefined ? {} : { explanation: { ...context.explanation, queries } })
    }))
}

/** Orders contexts by a ranker's scores, one per context; ties keep their order. */
export const rankedBy = (contexts: ReadonlyArray<Context>, scores: ReadonlyArray<number>): ReadonlyArray<Context> =>
  contexts
    .map((context, from) => ({ context, from, score: scores[from] ?? 0 }))
    .toSorted((a, b) => b.score - a.score || a.from - b.from)
    .map(({ context, from, score }) => ({
      ...context,
      score,
      ...(context.explanation === undefined ? {} : { explanation: { ...context.explanation, ranked: { score, from } } })
    }))

/**
 * The ranker that reorders contexts after retrieval: a ranking service, a model, a local model, or the offline ranker.
 * `model` unset: the engine's default.
 */
export const Ranking = Schema.Union([
  Schema.TaggedStruct("rankService", { model: Schema.optionalKey(Schema.String) }),
  Schema.TaggedStruct("llmRanker", { model: Schema.optionalKey(Schema.String) }),
  /** The offline ranker: term proximity and coverage over the candidates. */
  Schema.TaggedStruct("lexical", {}),
  /** A local ONNX model that reads question and text together. */
  Schema.TaggedStruct("crossEncoder", LocalModel.fields)
])
export type Ranking = typeof Ranking.Type

export const TermWeight = Schema.Struct({
  term: Schema.String,
  /** Query word it comes from, where the analyzer or the spelling correction changed it. */
  from: Schema.optionalKey(Schema.String),
  corrected: Schema.optionalKey(Schema.Boolean),
  /** The term need not be in the question: the best contexts share it. */
  shared: Schema.optionalKey(Schema.Boolean),
  /** Factor of the term's weight where it is not 1; included in `weight`. Function words count less in a mixed search. */
  factor: Schema.optionalKey(Schema.Finite),
  documentFrequency: Schema.Int,
  termFrequency: Schema.Int,
  weight: Schema.Finite
})
export type TermWeight = typeof TermWeight.Type

/** A query of several that found a context, and its place among what that query found, from 0. */
export const FoundBy = Schema.Struct({ query: Schema.String, from: Schema.Int })
export type FoundBy = typeof FoundBy.Type

/** Explanation of a context's rank. */
export const Explanation = Schema.Struct({
  analyzer: Schema.String,
  terms: Schema.Array(TermWeight),
  /** BM25 score. */
  sparse: Schema.Finite,
  /** Cosine similarity, -1 to 1. */
  cosine: Schema.Finite,
  /** BM25 score of the whole file, where it has several chunks and this was mixed in. */
  file: Schema.optionalKey(Schema.Finite),
  /** Share of the question in the file's title and name, 0 to 1, where this was mixed in. */
  title: Schema.optionalKey(Schema.Finite),
  /** Whether a heading of the context is the question. */
  headed: Schema.optionalKey(Schema.Boolean),
  /** Whether the question names the file by its number: "PEP 8" is `pep-0008.rst`. */
  named: Schema.optionalKey(Schema.Boolean),
  /**
   * Share of the command-line options in the question, such as `-x`, that the chunk explains, 0 to 1; absent where the
   * question has none.
   */
  options: Schema.optionalKey(Schema.Finite),
  /**
   * Cosine similarity to the question vector moved towards the best contexts (pseudo-relevance feedback), where this
   * replaced `cosine`.
   */
  related: Schema.optionalKey(Schema.Finite),
  /** Normalized sparse score, with file and title mixed in. */
  normalizedSparse: Schema.Finite,
  normalizedDense: Schema.Finite,
  alpha: Schema.Finite,
  /** `(1 - alpha) * normalizedSparse + alpha * normalizedDense`. It is the score, unless `proximity` or a ranker changed that. */
  fused: Schema.Finite,
  /**
   * Share of the question's neighbouring words, weighted by their rarity, that the context has near each other in their order, 0 to 1.
   * The score is `(fused + weight * share) / (1 + weight)`. 0 for contexts that are not among the best ten by `fused`, which are not
   * read for it; absent where the question has no such words.
   */
  proximity: Schema.optionalKey(Schema.Struct({ share: Schema.Finite, weight: Schema.Finite })),
  /** The ranker's score and the rank before it, where a ranker ran. */
  ranked: Schema.optionalKey(Schema.Struct({ score: Schema.Finite, from: Schema.Int })),
  /** Which queries found it, where several were searched for one question; the numbers above are those of the one that put it first. */
  queries: Schema.optionalKey(Schema.Array(FoundBy))
})
export type Explanation = typeof Explanation.Type

/** Where the text of a context stands once more, as in another format of its document. */
export const AlsoIn = Schema.Struct({
  chunkId: Schema.String,
  file: RagFileName,
  sourceUri: Schema.String,
  sourceDisplayName: Schema.String
})
export type AlsoIn = typeof AlsoIn.Type

/** A retrieved chunk. */
export const Context = Schema.Struct({
  /** Stable id: the same chunk of the same file has the same id in every query. */
  chunkId: Schema.String,
  file: RagFileName,
  sourceUri: Schema.String,
  sourceDisplayName: Schema.String,
  text: Schema.String,
  headings: Schema.Array(Schema.String),
  /** Place of the chunk in its file, from 0, where the engine knows it; of the first one, where the context was expanded. */
  ordinal: Schema.optionalKey(Schema.Int),
  /** Score that orders the contexts; larger is better. */
  score: Schema.Finite,
  /** Cosine distance, 0 to 2, smaller is closer; the service's `score`. */
  distance: Schema.optionalKey(Schema.Finite),
  /** First UTF-8 byte in the document's parsed text. */
  byteStart: Schema.optionalKey(Schema.Int),
  byteEnd: Schema.optionalKey(Schema.Int),
  firstPage: Schema.optionalKey(Schema.Int),
  lastPage: Schema.optionalKey(Schema.Int),
  /** UTF-16 offsets into `text` at which each page after `firstPage` starts. */
  pageBreaks: Schema.optionalKey(Schema.Array(Schema.Int)),
  metadata: Schema.optionalKey(Metadata),
  /** Contexts that said the same and were left out for this one. */
  alsoIn: Schema.optionalKey(Schema.Array(AlsoIn)),
  explanation: Schema.optionalKey(Explanation)
})
export type Context = typeof Context.Type
