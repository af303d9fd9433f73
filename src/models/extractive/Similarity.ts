/** Whether two units say the same, by their words and numbers. */
import type { TextUnit } from "./Units.ts"

type Compared = Pick<TextUnit, "normal" | "wordSet">

/** Word overlap (Jaccard) from which two quotes say the same. */
const sameness = 0.8

/** Whether two quotes have nearly the same words and exactly the same numbers: "25 days" and "30 days" are two statements. */
export const saysSame = (a: Compared, b: Compared): boolean =>
  a.normal === b.normal || (overlap(a, b) >= sameness && numbersOf(a) === numbersOf(b))

/** The share of the words of both units that each of them has (Jaccard), 0..1. */
export const overlap = (a: Compared, b: Compared): number => {
  const small = a.wordSet.size < b.wordSet.size ? a.wordSet : b.wordSet
  const large = small === a.wordSet ? b.wordSet : a.wordSet
  let shared = 0
  for (const word of small) if (large.has(word)) shared++
  return shared / (small.size + large.size - shared)
}

/** The numbers of a quote, in order; empty where it has none. */
export const numbersOf = ({ normal }: Compared): string => (normal.match(/\p{N}+/gu) ?? []).join(" ")
