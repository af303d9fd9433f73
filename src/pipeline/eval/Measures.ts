/** The measures of a question, each from 0 to 1; those that its test says nothing of are absent. */
export interface Measures {
  /** Whether the first file is an expected one. */
  readonly hitAt1?: number
  /** Whether an expected file was found at all. */
  readonly hit?: number
  /** One over the place of the first expected file. */
  readonly reciprocalRank?: number
  /** nDCG over the first ten files, every expected file of equal worth. */
  readonly ndcgAt10?: number
  /** Share of the expected texts that a context holds. */
  readonly contextRecall?: number
  /** Whether the answer says what it must. */
  readonly answerRight?: number
  /** Whether the answer is right in the words of a judge. */
  readonly judgedRight?: number
  /** Share of the files to be cited that are. */
  readonly citationRight?: number
  /** Whether a question that the corpus does not answer was refused. */
  readonly refusedRight?: number
  /** Whether a question that it answers was refused. */
  readonly refusedFalse?: number
}

/** The name of a measure. */
export type Measure = keyof Measures

/** What each measure is called. */
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

/** The measures in the order in which they are shown; of the last, less is better. */
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
