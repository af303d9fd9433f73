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
  /** A field or a row that has the number, date or name that is asked for. */
  readonly keyTyped: number
  /** A field, or a listing, where something is to be told: how, why, whether, what. */
  readonly keyOdd: number
  readonly listingOdd: number
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
  /** `told`, with what the passage goes on to say. */
  readonly ahead: number
  /** `own` or `told` again, for the kinds of question that it tells more or less of. */
  readonly ownHow: number
  readonly ownWhy: number
  readonly ownDefinition: number
  readonly toldYesNo: number
  /** Says what is not so. */
  readonly negative: number
  /** `told`, with the sentence before where this one leans on it. */
  readonly carried: number
  readonly toldSquared: number
  /** Asked how to: how much of the question's first term it has; a listing is at most two blocks below. */
  readonly verb: number
  readonly listingNear: number
  /** Of the file whose context retrieval put first. */
  readonly firstFile: number
}

/** What each sign of a unit adds to its score. Made by `npm run bench:answers -- DATA --train`. */
export const unitWeights: Readonly<Record<keyof Signs, number>> = {
  own: -0.01,
  told: 2.73,
  block: 1.10,
  context: 2.50,
  heading: 0.87,
  title: 0.09,
  names: 0.21,
  adjacency: 1.25,
  typed: 2.02,
  first: 0.46,
  rank: -0.22,
  score: 2.47,
  cosine: 0.84,
  shape: -0.01,
  listing: -0.72,
  listingAsked: 1.63,
  steps: 0.13,
  instruction: 0.96,
  reason: 1.18,
  definition: 1.62,
  field: 1.24,
  key: -1.72,
  keyTyped: 0.34,
  keyOdd: -0.92,
  listingOdd: -1.42,
  novelty: 0.13,
  named: 0.78,
  headed: 0.76,
  under: -0.01,
  lead: 0.35,
  titled: 0.06,
  early: 2.21,
  window: 0.83,
  rarest: -0.36,
  least: -0.19,
  subject: 0.57,
  votes: 0.45,
  opening: 0.85,
  aside: -0.28,
  length: 0.06,
  both: -1.90,
  typedTold: 1.28,
  typedNear: 1.00,
  ahead: 2.47,
  ownHow: -0.59,
  ownWhy: -2.07,
  ownDefinition: 0.66,
  toldYesNo: 1.11,
  negative: -0.67,
  carried: 3.04,
  toldSquared: 2.40,
  verb: -0.06,
  listingNear: 0.65,
  firstFile: 0.50
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
  /** The question has few terms, of which the share in a text tells less; or many, up to 10, of which no text has all. */
  readonly few: number
  readonly terms: number
  /** See `Signs`. */
  readonly early: number
  readonly typedNear: number
}

/** What each ground adds to the logit of an answer's probability. Made by the same command. */
export const confidenceWeights: Readonly<Record<keyof Grounds, number>> = {
  bias: -6.01,
  own: -0.61,
  told: 1.64,
  block: 1.26,
  context: 1.09,
  title: -0.08,
  names: -0.31,
  adjacency: 0.85,
  definition: 1.08,
  rarest: 0.06,
  least: 0.02,
  missing: -2.41,
  untyped: -1.21,
  cosine: 1.01,
  rank: 1.16,
  agreement: -0.46,
  best: 1.49,
  margin: 1.11,
  nameless: -0.81,
  window: -0.56,
  headed: 0.32,
  votes: 1.62,
  named: 0.77,
  other: -0.68,
  gap: -0.80,
  few: -1.00,
  terms: 1.90,
  early: 1.05,
  typedNear: -0.42
}
