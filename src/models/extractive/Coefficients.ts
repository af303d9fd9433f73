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
  own: 0.02,
  told: 2.72,
  block: 1.02,
  context: 2.54,
  heading: 0.85,
  title: 0.01,
  names: 0.17,
  adjacency: 1.32,
  typed: 2.00,
  first: 0.45,
  rank: -0.19,
  score: 2.44,
  cosine: 0.77,
  shape: -0.22,
  listing: -0.80,
  listingAsked: 1.89,
  steps: 0.15,
  instruction: 1.06,
  reason: 1.18,
  definition: 1.62,
  field: 1.26,
  key: -1.73,
  keyTyped: 0.36,
  keyOdd: -0.90,
  listingOdd: -1.31,
  novelty: 0.15,
  named: 0.80,
  headed: 0.84,
  under: 0.04,
  lead: 0.33,
  titled: 0.05,
  early: 2.23,
  window: 0.80,
  rarest: -0.28,
  least: -0.19,
  subject: 0.57,
  votes: 0.52,
  opening: 0.82,
  aside: -0.29,
  length: 0.03,
  both: -1.89,
  typedTold: 1.28,
  typedNear: 1.02,
  ahead: 2.50,
  ownHow: -0.52,
  ownWhy: -2.09,
  ownDefinition: 0.64,
  toldYesNo: 1.13,
  negative: -0.72,
  carried: 3.05,
  toldSquared: 2.32,
  verb: -0.14,
  listingNear: 0.47,
  firstFile: 0.49
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
  /** What is counted, the property asked for or the deed is named neither there nor in the titles, or the file has only what these name. */
  readonly unasked: number
  /** A name is nowhere in the file, or what happened is not near the quote. */
  readonly absent: number
  /** How much is lacking of the term they have least of, over the number of terms. */
  readonly gap: number
  /** The question has few terms, of which the share in a text tells less; or many, up to 10, of which no text has all. */
  readonly few: number
  readonly terms: number
  /** See `Signs`. */
  readonly early: number
  readonly typedNear: number
}

/** What each ground adds to the logit of an answer's probability, but for those that leave a share of it (`Shares`). Made by the same command. */
export const confidenceWeights: Readonly<Record<Exclude<keyof Grounds, "absent" | "unasked">, number>> = {
  bias: -6.12,
  own: -0.56,
  told: 1.63,
  block: 1.27,
  context: 1.15,
  title: 0.13,
  names: -0.30,
  adjacency: 0.91,
  definition: 1.15,
  rarest: 0.09,
  least: 0.06,
  missing: -2.41,
  untyped: -0.33,
  cosine: 0.96,
  rank: 1.12,
  agreement: -0.46,
  best: 1.51,
  margin: 1.04,
  nameless: -0.78,
  window: -0.61,
  headed: 0.33,
  votes: 1.72,
  named: 0.69,
  other: -0.81,
  gap: -0.75,
  few: -0.97,
  terms: 1.98,
  early: 1.02,
  typedNear: -0.51
}
