import { defined } from "../../../domain/Defined.ts"
import type { Explanation, TermWeight } from "../../../domain/Retrieval.ts"
import { termScore } from "./Bm25.ts"
import { type CorpusIndex, frequencyAt } from "./CorpusIndex.ts"
import type { Fused } from "../../../search/Fusion.ts"
import { ranking } from "../../../search/Ranking.ts"
import type { ScoredTerm } from "./QueryTerms.ts"

/** Why a hit has its place: its scores, with the question's analyzers and terms. */
export const explanationOf = (
  { cosine, facts: { proximity, ...facts } = {}, fused, normalizedDense, normalizedSparse, related, score, sparse }: Fused,
  alpha: number,
  analyzers: ReadonlyArray<string>,
  terms: ReadonlyArray<TermWeight>
): Explanation =>
  defined({
    analyzer: analyzers.join(", "),
    terms,
    sparse,
    cosine,
    ...facts,
    related,
    normalizedSparse,
    normalizedDense,
    alpha,
    fused,
    proximity: proximity === undefined && score === fused ? undefined : { share: proximity ?? 0, weight: ranking.proximity }
  })

/** What each term added to the BM25 score of the chunk at a slot. */
export const termWeights = (index: CorpusIndex, terms: ReadonlyArray<ScoredTerm>, slot: number): ReadonlyArray<TermWeight> =>
  terms.map((term) => {
    const termFrequency = frequencyAt(term.found, slot)
    return defined({
      term: term.term,
      from: term.from === term.term ? undefined : term.from,
      corrected: term.corrected ? true : undefined,
      shared: term.shared ? true : undefined,
      factor: term.factor === 1 ? undefined : term.factor,
      documentFrequency: term.found.documentFrequency,
      termFrequency,
      weight: termScore(term.weight, termFrequency, index.norms[index.lengths[slot] ?? 0] ?? 0, index.bm25.k1)
    })
  })
