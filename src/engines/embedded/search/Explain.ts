import { defined } from "../../../domain/Defined.ts"
import type { Explanation, TermWeight } from "../../../domain/Retrieval.ts"
import { termScore } from "./Bm25.ts"
import type { CorpusIndex } from "./CorpusIndex.ts"
import type { Fused } from "../../../search/Fusion.ts"
import type { ScoredTerm } from "./QueryTerms.ts"

/** Why a hit, whose id is its slot, has its place. A term's weight is what it added to the BM25 score. */
export const explain = (index: CorpusIndex, terms: ReadonlyArray<ScoredTerm>, hit: Fused, alpha: number): Explanation =>
  defined({
    analyzer: index.analyzers.join(", "),
    terms: terms.map((term): TermWeight => {
      const termFrequency = frequencyAt(term, hit.id)
      return defined({
        term: term.term,
        from: term.from === term.term ? undefined : term.from,
        corrected: term.corrected ? true : undefined,
        shared: term.shared ? true : undefined,
        factor: term.factor === 1 ? undefined : term.factor,
        documentFrequency: term.found.documentFrequency,
        termFrequency,
        weight: termScore(term.weight, termFrequency, index.norms[index.lengths[hit.id] ?? 0] ?? 0, index.bm25.k1)
      })
    }),
    sparse: hit.sparse,
    cosine: hit.cosine,
    file: hit.file,
    title: hit.title,
    named: hit.named === true ? true : undefined,
    options: hit.options,
    related: hit.related,
    normalizedSparse: hit.normalizedSparse,
    normalizedDense: hit.normalizedDense,
    alpha,
    fused: hit.fused
  })

const frequencyAt = ({ found }: ScoredTerm, slot: number): number => {
  const of = found.bySegment.findLast(({ segment }) => segment.offset <= slot)
  const at = of?.postings.ordinals.indexOf(slot - of.segment.offset) ?? -1
  return of?.postings.frequencies[at] ?? 0
}
