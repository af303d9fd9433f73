import { Schema } from "effect"
import type { CorpusName } from "./Corpus.ts"
import { defined } from "./Defined.ts"
import { LocalModel } from "./LocalModel.ts"
import { Metadata, RagFileName } from "./RagFile.ts"

/** A query against one corpus, or against files of one corpus. */
export interface RetrievalRequest {
  readonly corpus: CorpusName
  /** Restrict to these files of the corpus. */
  readonly files?: ReadonlyArray<RagFileName>
  /** Further corpora that are searched likewise; contexts of all come in one order, as {@link mergedContexts} has it. */
  readonly also?: ReadonlyArray<SearchedCorpus>
  readonly query: string
  /** How many contexts; the engine's default is 10. */
  readonly topK?: number
  /**
   * `alpha` weighs dense against sparse: 0 sparse only, 1 dense only; a block without alpha means 0.5. The embedded
   * engine's 0 is BM25 as Lucene has it; in a mix, the sparse side lowers words of grammar.
   * No block at all means the engine's own measured default.
   */
  readonly hybrid?: { readonly alpha?: number }
  /** Only contexts whose cosine distance (0..2) is strictly less than `maxDistance`, or whose similarity strictly more. */
  readonly filter?: {
    readonly maxDistance?: number
    readonly minSimilarity?: number
    /** Every key must be equal. */
    readonly metadata?: Metadata
    /** An expression over a file's metadata, `year >= 2024 && lang in ["de", "en"]`: `MetadataFilter.ts`. */
    readonly metadataFilter?: string
  }
  readonly rank?: Ranking
  /** Only what this principal may read. Absent means the owner, who reads all. */
  readonly principal?: string
  /** Correct query terms that no document has. Default true. */
  readonly correctSpelling?: boolean
  /** Fill {@link Context.explanation}. Default false. */
  readonly explain?: boolean
}

/** A corpus, or files of it. */
export type SearchedCorpus = Pick<RetrievalRequest, "corpus" | "files">

/** A request for each of its corpora. */
export const perCorpus = ({ also = [], corpus, files, ...request }: RetrievalRequest): ReadonlyArray<RetrievalRequest> =>
  [{ corpus, files }, ...also].map((searched) => defined({ ...request, ...searched }))

/**
 * The best contexts of several searches. Scores are made comparable within one search only, distances between all:
 * contexts go by their distance, or, where a ranker gave the scores or some have no distance, by their score. Ties are
 * in the order of the corpora.
 */
export const mergedContexts = (
  found: ReadonlyArray<ReadonlyArray<Context>>,
  { rank, topK = 10 }: Pick<RetrievalRequest, "rank" | "topK">
): ReadonlyArray<Context> => {
  const all = found.flat()
  const near = rank === undefined && all.every(({ distance }) => distance !== undefined)
  return all.toSorted((a, b) => near ? (a.distance ?? 0) - (b.distance ?? 0) : b.score - a.score).slice(0, topK)
}

/**
 * What several queries found as one list, by reciprocal rank: each context counts `1 / (k + place)` for each list that has
 * it, places from 1, and that sum is its score. It is otherwise as the list has it that puts it first, with its least
 * distance; of equals comes first what stands higher in a list, then what an earlier list has. What is explained says where
 * each query found it.
 */
export const fusedByRank = (
  found: ReadonlyArray<{ readonly query: string; readonly contexts: ReadonlyArray<Context> }>,
  k: number
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

/** Contexts by a ranker's scores, one each in their order; of equals the one that came first. */
export const rankedBy = (contexts: ReadonlyArray<Context>, scores: ReadonlyArray<number>): ReadonlyArray<Context> =>
  contexts
    .map((context, from) => ({ context, from, score: scores[from] ?? 0 }))
    .toSorted((a, b) => b.score - a.score || a.from - b.from)
    .map(({ context, from, score }) => ({
      ...context,
      score,
      ...(context.explanation === undefined ? {} : { explanation: { ...context.explanation, ranked: { score, from } } })
    }))

/** What orders contexts anew after they are found: a ranking service, a model, one of this machine, or the offline ranker. `model` unset: the engine's default. */
export const Ranking = Schema.Union([
  Schema.TaggedStruct("rankService", { model: Schema.optionalKey(Schema.String) }),
  Schema.TaggedStruct("llmRanker", { model: Schema.optionalKey(Schema.String) }),
  /** The offline ranker: term proximity and coverage over the candidates. */
  Schema.TaggedStruct("lexical", {}),
  /** A model in ONNX on this machine, that reads question and text together. */
  Schema.TaggedStruct("crossEncoder", LocalModel.fields)
])
export type Ranking = typeof Ranking.Type

export const TermWeight = Schema.Struct({
  term: Schema.String,
  /** The query word it came from, where the analyzer or the spelling correction changed it. */
  from: Schema.optionalKey(Schema.String),
  corrected: Schema.optionalKey(Schema.Boolean),
  /** The question need not say it: the best contexts share it. */
  shared: Schema.optionalKey(Schema.Boolean),
  /** What it counts for where that is not 1: `weight` has it in. Words of grammar count less in a mixed search. */
  factor: Schema.optionalKey(Schema.Finite),
  documentFrequency: Schema.Int,
  termFrequency: Schema.Int,
  weight: Schema.Finite
})
export type TermWeight = typeof TermWeight.Type

/** A query of several that found a context, and its place among what that query found, from 0. */
export const FoundBy = Schema.Struct({ query: Schema.String, from: Schema.Int })
export type FoundBy = typeof FoundBy.Type

/** Why a context has its place. */
export const Explanation = Schema.Struct({
  analyzer: Schema.String,
  terms: Schema.Array(TermWeight),
  /** Raw BM25. */
  sparse: Schema.Finite,
  /** Cosine similarity, -1..1. */
  cosine: Schema.Finite,
  /** BM25 of the whole file, where it has several chunks and that was mixed in. */
  file: Schema.optionalKey(Schema.Finite),
  /** Share of the question that the file's title and name have, 0..1, where that was mixed in. */
  title: Schema.optionalKey(Schema.Finite),
  /** The question names the file by its number: "PEP 8" is `pep-0008.rst`. */
  named: Schema.optionalKey(Schema.Boolean),
  /** Share of the question's options of a command, `-x`, that the chunk explains, 0..1; absent where the question has none. */
  options: Schema.optionalKey(Schema.Finite),
  /** Cosine with the question moved towards what the best contexts are about, where that stood for `cosine`. */
  related: Schema.optionalKey(Schema.Finite),
  /** Each after normalisation, words with file and title, and the weight that mixed them. */
  normalizedSparse: Schema.Finite,
  normalizedDense: Schema.Finite,
  alpha: Schema.Finite,
  fused: Schema.Finite,
  /** The ranker's own score and the place before it, where a ranker ran. */
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
  /** Stable: the same chunk of the same file has the same id in every query. */
  chunkId: Schema.String,
  file: RagFileName,
  sourceUri: Schema.String,
  sourceDisplayName: Schema.String,
  text: Schema.String,
  headings: Schema.Array(Schema.String),
  /** Place of the chunk in its file, from 0, where the engine knows it; of the first one, where the context was expanded. */
  ordinal: Schema.optionalKey(Schema.Int),
  /** What the order is by; larger is better. */
  score: Schema.Finite,
  /** Cosine distance, 0..2, smaller is closer; the service's `score`. */
  distance: Schema.optionalKey(Schema.Finite),
  /** UTF-8 byte span in the document's parsed text. */
  byteStart: Schema.optionalKey(Schema.Int),
  byteEnd: Schema.optionalKey(Schema.Int),
  firstPage: Schema.optionalKey(Schema.Int),
  lastPage: Schema.optionalKey(Schema.Int),
  /** UTF-16 offsets into `text` at which each page after `firstPage` begins. */
  pageBreaks: Schema.optionalKey(Schema.Array(Schema.Int)),
  metadata: Schema.optionalKey(Metadata),
  /** Contexts that said the same and were left out for this one. */
  alsoIn: Schema.optionalKey(Schema.Array(AlsoIn)),
  explanation: Schema.optionalKey(Explanation)
})
export type Context = typeof Context.Type
