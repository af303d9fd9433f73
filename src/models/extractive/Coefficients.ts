import type { Grounds } from "./Confidence.ts"
import type { Signs } from "./Evidence.ts"

/** What each sign of a unit adds to its score. Made by `npm run bench:answers -- DATA --train`. */
export const unitWeights: Readonly<Record<keyof Signs, number>> = {
  own: -0.13,
  told: 6.35,
  block: 1.29,
  context: 1.51,
  heading: 1.93,
  title: 0.99,
  names: 0.24,
  adjacency: 1.07,
  typed: 1.63,
  first: 0.59,
  rank: 1.16,
  score: 2.42,
  cosine: 0.19,
  shape: 0.10,
  listing: -1.69,
  listingAsked: 2.19,
  steps: -0.87,
  instruction: 0.12,
  reason: 0.23,
  definition: 1.56,
  field: 1.45,
  key: -0.45,
  novelty: -1.16
}

/** What each ground adds to the logit of an answer's probability. Made by the same command. */
export const confidenceWeights: Readonly<Record<keyof Grounds, number>> = {
  bias: -5.23,
  own: 0.02,
  told: 2.31,
  block: 2.36,
  context: 0.68,
  title: -0.28,
  names: 0.03,
  adjacency: 1.56,
  definition: 1.25,
  rarest: -0.16,
  least: -0.59,
  missing: -1.93,
  untyped: -0.66,
  cosine: 1.09,
  rank: 2.18,
  agreement: -0.37,
  few: -2.22
}
