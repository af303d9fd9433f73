/** What is looked at in a unit, each 0..1. */
export interface Signs {
  /** Weighted share of the question's terms in the quote, … */
  readonly own: number
  /** … with what stands above it, … */
  readonly told: number
  /** … with the rest of its paragraph, list or table, … */
  readonly block: number
  /** … and in the whole context, its title and headings; then in the nearest heading, and in title and headings, alone. */
  readonly context: number
  readonly heading: number
  readonly title: number
  /** Share of the names and numbers asked for that the quote or what stands above it has. */
  readonly names: number
  /** Question terms that stand side by side here too. */
  readonly adjacency: number
  /** Holds the number, date or name that the question asks for. */
  readonly typed: number
  /** The first under its heading. */
  readonly first: number
  /** Retrieval's opinion of the context: its place, and score and cosine over the highest. */
  readonly rank: number
  readonly score: number
  readonly cosine: number
  /** See `shapePenalty`. */
  readonly shape: number
  readonly listing: number
  /** Asked how to: a listing or what leads up to one; a step of a list; words that tell one what to do. */
  readonly listingAsked: number
  readonly steps: number
  readonly instruction: number
  /** Asked why: words that give a reason. */
  readonly reason: number
  /** Asked what something is: begins with it and goes on as a definition does. */
  readonly definition: number
  /** The share of a field's name that the question has; a field or a row of a table. */
  readonly field: number
  readonly key: number
  /** Words that the question did not have, up to 8. */
  readonly novelty: number
  /** The question names the file by its number. */
  readonly named: number
  /** Share of the words of the nearest heading that the question has; and of the context's own heading. */
  readonly headed: number
  readonly under: number
  /** The same of the nearest heading, for the first unit under it. */
  readonly lead: number
  /** Share of the words of the document's title that the question has; how near to the document's beginning it is. */
  readonly titled: number
  readonly early: number
  /** Question terms of the quote over the words that they stand among. */
  readonly window: number
  /** How much the quote and its surroundings have of the question's rarest term, and of the term they have least of. */
  readonly rarest: number
  readonly least: number
  /** Begins with a term of the question. */
  readonly subject: number
  /** Share of the contexts' scores that contexts of its file have. */
  readonly votes: number
  /** Under a heading such as "Summary", or one such as "Rejected ideas". */
  readonly opening: number
  readonly aside: number
  /** Words, up to 40. */
  readonly length: number
  /** `own`, squared; `told` where the quote has the number, date or name; how near a term its number or date stands. */
  readonly both: number
  readonly typedTold: number
  readonly typedNear: number
}

/** What each sign of a unit adds to its score. Made by `npm run bench:answers -- DATA --train`. */
export const unitWeights: Readonly<Record<keyof Signs, number>> = {
  own: 0.79,
  told: 3.91,
  block: 1.74,
  context: 1.40,
  heading: 0.00,
  title: 0.49,
  names: 0.50,
  adjacency: 1.63,
  typed: 1.48,
  first: 0.33,
  rank: 0.39,
  score: 2.06,
  cosine: 0.15,
  shape: -0.62,
  listing: -0.49,
  listingAsked: 1.30,
  steps: -0.28,
  instruction: 0.61,
  reason: 0.41,
  definition: 1.51,
  field: 1.81,
  key: -0.36,
  novelty: -0.43,
  named: 1.08,
  headed: 1.12,
  under: -0.75,
  lead: 0.89,
  titled: 0.21,
  early: 0.36,
  window: 0.32,
  rarest: 0.42,
  least: 0.21,
  subject: 0.56,
  votes: 1.81,
  opening: -0.07,
  aside: -0.82,
  length: 0.12,
  both: 0.13,
  typedTold: 0.95,
  typedNear: 0.93
}

/** What speaks for the best unit being an answer, each 0..1. */
export interface Grounds {
  readonly bias: number
  /** See `Signs`. */
  readonly own: number
  readonly told: number
  readonly block: number
  readonly context: number
  readonly title: number
  readonly names: number
  readonly adjacency: number
  readonly definition: number
  /** How much the quote and its surroundings have of the question's rarest term, … */
  readonly rarest: number
  /** … and of the term they have least of; the share of terms that are nowhere in the contexts. */
  readonly least: number
  readonly missing: number
  /** A number, date or name was asked for and is not there. */
  readonly untyped: number
  /** Cosine similarity of the context, and retrieval's place for it. */
  readonly cosine: number
  readonly rank: number
  /** Another context says the same. */
  readonly agreement: number
  /** Score of the best unit, over 20, and how far the best one of another passage is behind, over 5. */
  readonly best: number
  readonly margin: number
  /** Share of the names and numbers asked for that neither the quote nor its surroundings have to the letter. */
  readonly nameless: number
  /** See `Signs`. */
  readonly window: number
  readonly headed: number
  readonly votes: number
  readonly named: number
  /** The question is about one of a number, as "Rule 8" is, and the quote about none or another. */
  readonly other: number
  /** How much is lacking of the term they have least of, over the number of terms. */
  readonly gap: number
  /** The question has few terms, of which the share in a text tells less. */
  readonly few: number
}

/** What each ground adds to the logit of an answer's probability. Made by the same command. */
export const confidenceWeights: Readonly<Record<keyof Grounds, number>> = {
  bias: -3.78,
  own: -0.33,
  told: 0.91,
  block: 1.13,
  context: 0.38,
  title: 0.25,
  names: -0.20,
  adjacency: 0.87,
  definition: 0.43,
  rarest: 0.28,
  least: 0.19,
  missing: -1.59,
  untyped: -0.12,
  cosine: 0.74,
  rank: 1.19,
  agreement: 0.06,
  best: 0.80,
  margin: 2.20,
  nameless: -0.17,
  window: -0.53,
  headed: 0.56,
  votes: 0.61,
  named: 0.45,
  other: -0.34,
  gap: -0.82,
  few: -1.39
}
