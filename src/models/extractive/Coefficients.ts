import type { Grounds } from "./Confidence.ts"
import type { Signs } from "./Evidence.ts"

/** What each sign of a unit adds to its score. Made by `npm run bench:answers -- DATA --train`. */
export const unitWeights: Readonly<Record<keyof Signs, number>> = {
  own: -0.01,
  told: 6.15,
  block: 1.40,
  context: 1.16,
  heading: 1.54,
  title: 1.39,
  names: 0.38,
  adjacency: 1.18,
  typed: 1.63,
  first: 0.56,
  rank: 1.30,
  score: 1.83,
  cosine: -0.04,
  shape: 0.51,
  listing: -2.31,
  listingAsked: 2.17,
  steps: -1.01,
  instruction: 0.77,
  reason: 0.24,
  definition: 1.55,
  field: 1.46,
  key: -0.82,
  novelty: -1.35
}

/** What each ground adds to the logit of an answer's probability. Made by the same command. */
export const confidenceWeights: Readonly<Record<keyof Grounds, number>> = {
  bias: -5.46,
  own: -0.04,
  told: 2.37,
  block: 2.32,
  context: 0.90,
  title: 0.00,
  names: -0.03,
  adjacency: 1.19,
  definition: 1.33,
  rarest: 0.08,
  least: -0.69,
  missing: -1.70,
  untyped: -0.66,
  cosine: 0.99,
  rank: 2.20,
  agreement: -0.15,
  few: -2.15
}
