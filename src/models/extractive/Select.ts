import type { Evidence } from "./Evidence.ts"

/** One sentence of the answer and everywhere it is written. */
export interface Chosen {
  readonly evidence: Evidence
  /** Units that say the same, best first, starting with the chosen one. */
  readonly sources: ReadonlyArray<Evidence>
}

const maxSources = 3
/** What a further sentence must add: this share of the question's weight, … */
const minGain = 0.12
/** … and this share of the best one's score. */
const minScore = 0.7
/** Word overlap (Jaccard) from which two quotes say the same. */
const sameness = 0.8

/**
 * The best unit, then, in reading order with those of its context first, units that cover terms the chosen ones lack;
 * at most `limit`.
 */
export const select = (
  evidence: ReadonlyArray<Evidence>,
  weights: ReadonlyArray<number>,
  limit: number
): ReadonlyArray<Chosen> => {
  const ranked = [...evidence].sort((a, b) =>
    b.score - a.score || a.unit.context - b.unit.context || a.unit.start - b.unit.start)
  const first = ranked[0]
  if (first === undefined) return []
  const total = weights.reduce((sum, weight) => sum + weight, 0)
  const covered = [...first.told]
  const chosen: Array<Evidence> = []
  for (const candidate of ranked.slice(1)) {
    if (chosen.length + 1 >= limit || candidate.score < minScore * first.score) break
    if ([first, ...chosen].some((other) => overlaps(other, candidate) || same(other, candidate))) continue
    const gain = weights.reduce((sum, weight, term) => sum + weight * Math.max(0, candidate.matches[term]! - covered[term]!), 0)
    if (gain < minGain * total) continue
    chosen.push(candidate)
    candidate.told.forEach((match, term) => {
      covered[term] = Math.max(covered[term]!, match)
    })
  }
  const lead = first.unit.context
  chosen.sort((a, b) =>
    Number(b.unit.context === lead) - Number(a.unit.context === lead) ||
    a.unit.context - b.unit.context || a.unit.start - b.unit.start)
  return [first, ...chosen].map((evidence) => ({
    evidence,
    sources: [evidence, ...ranked.filter((other) => other !== evidence && same(evidence, other))].slice(0, maxSources)
  }))
}

const overlaps = (a: Evidence, b: Evidence): boolean =>
  a.unit.context === b.unit.context && a.unit.start < b.unit.end && b.unit.start < a.unit.end

/** Nearly the same words, and the very same numbers: "25 days" and "30 days" are two statements. */
const same = (a: Evidence, b: Evidence): boolean => {
  if (a.unit.normal === b.unit.normal) return true
  const small = a.unit.wordSet.size < b.unit.wordSet.size ? a.unit.wordSet : b.unit.wordSet
  const large = small === a.unit.wordSet ? b.unit.wordSet : a.unit.wordSet
  let shared = 0
  for (const word of small) if (large.has(word)) shared++
  if (shared < sameness * (small.size + large.size - shared)) return false
  return numbersOf(a) === numbersOf(b)
}

const numbersOf = (evidence: Evidence): string =>
  (evidence.unit.normal.match(/\p{N}+/gu) ?? []).join(" ")
