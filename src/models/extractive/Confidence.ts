import { confidenceWeights } from "./Coefficients.ts"
import type { Grounds } from "./Grounds.ts"

/** What a rule leaves of the probability where it holds, each 0..1. Few examples show these, so they are not among the weights. */
export interface Shares {
  /** The question is about a number, a date or an author, or about one of several numbered things, and the answer has none or another. */
  readonly untyped: number
  /** The thing in question, such as the entrance fee of a museum, is not named, or only the subject of the titles is there. */
  readonly unasked: number
  /** A name of the question is not in the file, or what happened is not near the quote. */
  readonly absent: number
  /** A question of one or two terms has one that is nowhere near the quote. */
  readonly gap: number
}

export const shares: Shares = { untyped: 0.2, unasked: 0.2, absent: 0.5, gap: 0.5 }

/** The examples are too few to distinguish .99 from 1. */
const mostCertain = 0.99

/** A probability as it is reported, to three digits. */
export const rounded = (probability: number): number => Math.round(probability * 1000) / 1000

/** Object.keys has no type for the names of its object. */
const names = Object.keys(confidenceWeights) as ReadonlyArray<keyof typeof confidenceWeights>

/** The probability that the answer is right, 0..0.99. */
export const confidenceOf = (grounds: Grounds, { absent, gap, unasked, untyped }: Shares = shares): number => {
  let sum = 0
  for (const ground of names) sum += confidenceWeights[ground] * grounds[ground]
  const share = (grounds.untyped + grounds.otherNumber > 0 ? untyped : 1) * (grounds.unasked > 0 ? unasked : 1) *
    (grounds.absent > 0 ? absent : 1) * (grounds.shortGap > 0 ? gap : 1)
  return Math.min(mostCertain, share / (1 + Math.exp(-sum)))
}
