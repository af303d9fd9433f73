/** Measures of a question, each from 0 to 1; a measure that its test does not define is absent. */
export interface Measures {
  /** Whether the first file is an expected one. */
  readonly hitAt1?: number
  /** Whether an expected file was found at all. */
  readonly hit?: number
  /** Reciprocal of the rank of the first expected file. */
  readonly reciprocalRank?: number
  /** nDCG over the first ten files, with all expected files equally relevant. */
  readonly ndcgAt10?: number
  /** Share of the expected texts that are in a context. */
  readonly contextRecall?: number
  /** Whether the answer passes the exact checks. */
  readonly answerRight?: number
  /** Whether the answer is right according to the judge. */
  readonly judgedRight?: number
  /** Share of the expected citations that the answer has. */
  readonly citationRight?: number
  /** Whether a question that the corpus does not answer was refused. */
  readonly refusedRight?: number
  /** Whether a question that the corpus answers was refused. */
  readonly refusedFalse?: number
}

/** The name of a measure. */
export type Measure = keyof Measures

/** Titles of the measures. */
export const measureTitles: Readonly<Record<Measure, string>> = {
  hitAt1: "right file first",
  hit: "right file found",
  reciprocalRank: "reciprocal rank",
  ndcgAt10: "nDCG@10",
  contextRecall: "text in contexts",
  answerRight: "answer right",
  judgedRight: "judged right",
  citationRight: "citation right",
  refusedRight: "rightly refused",
  refusedFalse: "wrongly refused"
}

/** Measures in the order in which they are shown; for the last one, less is better. */
export const measures: ReadonlyArray<Measure> = [
  "hitAt1",
  "hit",
  "reciprocalRank",
  "ndcgAt10",
  "contextRecall",
  "answerRight",
  "judgedRight",
  "citationRight",
  "refusedRight",
  "refusedFalse"
]
