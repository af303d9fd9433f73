/**
 * The constants of ranking, each with its table in docs/search.md. All but `candidates`, `hiragana` and those of slips are of mixed
 * search alone.
 */
export interface Ranking {
  /** How many candidates each arm brings at least, and between whose best and last the arms' scores are scaled. */
  readonly candidates: number
  /** What a word of grammar counts for beside the others. */
  readonly grammar: number
  /**
   * What a pair of characters counts for that has hiragana: endings, particles and the bounds of words; what a text is about is
   * written in the other scripts.
   */
  readonly hiragana: number
  /** Power of the inverse document frequency that a word of the question counts for in its vector; 0: all alike. */
  readonly rarity: number
  /** Share of the whole file's BM25 in that of its chunks. */
  readonly file: number
  /** What a file's title and name count for that have all of the question, where a chunk's best BM25 is 1. */
  readonly title: number
  /** What it counts for that the question names the file by its number. */
  readonly named: number
  /** What it counts for that a chunk explains the option of a command that the question has, by the square of its file's BM25: many commands have a `-v`. */
  readonly option: number
  /** How far the question's vector is moved towards what the best chunks are about, where its own length is 1. */
  readonly feedback: number
  /** How many chunks that is. */
  readonly feedbackChunks: number
  /** What a word that the best chunks share weighs, were it all that they say and of the rarest, where the question's own words give the best of them 1. */
  readonly shared: number
  /** Terms that are added to the length of each of the best chunks: of a short one each word is much of it, by chance. */
  readonly sharedSmoothing: number
  /** What a pair of ideographs counts for among these words: neighbouring pairs are one word several times. */
  readonly sharedIdeographs: number
  /** How many words those are, at most. */
  readonly sharedTerms: number
  /** In how many of the best chunks they are looked for: no more than `sharedFrequency` of the corpus. */
  readonly sharedChunks: number
  /** Share of the corpus's chunks that such a word may be in, at most. */
  readonly sharedFrequency: number
  /** What a word counts for that was one edit away from that of the question: it may have been no slip. */
  readonly slip: number
  /** The same at two edits. */
  readonly slips: number
  /** For how many terms a word may be meant. */
  readonly meant: number
  /** How many times less likely than the likeliest of them the others may be. */
  readonly meantRatio: number
  /** Natural logarithm of the odds against a slip in the first letter, beside any other. */
  readonly firstLetter: number
  /** That for a term which is where the rest of the question is found best, beside one that is nowhere near any of it. */
  readonly fit: number
  /** Scripts without blanks: natural logarithm of the odds against a slip in a word, */
  readonly unspacedSlip: number
  /** against a word that no chunk has, */
  readonly unspacedUnknown: number
  /** and against a letter of no word. */
  readonly unspacedLetter: number
}

export const ranking: Ranking = {
  candidates: 100,
  grammar: 0.1,
  hiragana: 0.3,
  rarity: 0.5,
  file: 0.2,
  title: 0.2,
  named: 0.8,
  option: 1,
  feedback: 0.4,
  feedbackChunks: 5,
  shared: 2.5,
  sharedSmoothing: 30,
  sharedIdeographs: 0.2,
  sharedTerms: 20,
  sharedChunks: 10,
  sharedFrequency: 0.1,
  slip: 0.8,
  slips: 0.5,
  meant: 3,
  meantRatio: 3,
  firstLetter: 3,
  fit: 6,
  unspacedSlip: 7,
  unspacedUnknown: 20,
  unspacedLetter: 12
}
