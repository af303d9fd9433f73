/**
 * The constants of ranking, each with its table of measurements in docs/search.md. All of them are for mixed search alone, except
 * `candidates`, `hiragana` and those about spelling.
 */
export interface Ranking {
  /** Least number of candidates of each arm. An arm's scores are scaled between its best candidate and its candidate of this rank. */
  readonly candidates: number
  /** Weight of a word of grammar; other words weigh 1. */
  readonly grammar: number
  /**
   * Weight of a pair of characters with hiragana; other pairs weigh 1. Hiragana are endings, particles and bounds of words: a text's
   * subject is written in the other scripts.
   */
  readonly hiragana: number
  /** Power of the inverse document frequency by which a word counts in the question's vector; at 0 all words count alike. */
  readonly rarity: number
  /** Share of the whole file's BM25 in the sparse score of its chunks. */
  readonly file: number
  /** What a title and file name that have the whole question add, where a chunk's best BM25 is 1. */
  readonly title: number
  /** What is added to a chunk with a heading that is the question, where a chunk's best BM25 is 1. */
  readonly headed: number
  /** What is added to chunks of a file that the question names by its number, where a chunk's best BM25 is 1. */
  readonly named: number
  /**
   * What is added to a chunk that explains all of the question's command options, times the square of its file's BM25, since many
   * commands have a `-v`; a chunk's best BM25 is 1.
   */
  readonly option: number
  /** How far the question's vector, of length 1, is moved towards the vectors of the best chunks. */
  readonly feedback: number
  /** Number of best chunks that the question's vector is moved towards. */
  readonly feedbackChunks: number
  /**
   * Weight of the terms that the best chunks share: of the rarest term, if the chunks had no other, where the question's own terms give
   * the best of them 1.
   */
  readonly shared: number
  /** Terms that are added to each best chunk's length, as each word is a large part of a short chunk by chance. */
  readonly sharedSmoothing: number
  /** Weight of a pair of ideographs among the shared terms; others weigh 1. Neighbouring pairs are the same word several times. */
  readonly sharedIdeographs: number
  /** Most shared terms of a question. */
  readonly sharedTerms: number
  /** Number of best chunks that shared terms are looked for in; at most `sharedFrequency` of the corpus. */
  readonly sharedChunks: number
  /** Largest share of the corpus's chunks that may have a shared term. */
  readonly sharedFrequency: number
  /** What a chunk gains that has all neighbouring words of the question near each other, in their order, where the best score is 1. */
  readonly proximity: number
  /** How many terms on from the first word of such a pair the second may stand. */
  readonly proximityTerms: number
  /** Number of best chunks that are ordered again by it. */
  readonly proximityChunks: number
  /** Weight of a word that was corrected by one edit, since it may have been no slip; other words weigh 1. */
  readonly slip: number
  /** Weight of a word that was corrected by two edits; other words weigh 1. */
  readonly slips: number
  /** Most terms that one misspelled word may stand for. */
  readonly meant: number
  /** How many times less likely than the likeliest of these terms the others may be. */
  readonly meantRatio: number
  /** Natural logarithm of the odds against a slip in the first letter, compared with a slip in any other. */
  readonly firstLetter: number
  /** Natural logarithm of the odds for a term that fits the rest of the question best, compared with one that does not fit at all. */
  readonly fit: number
  /** In scripts without blanks: natural logarithm of the odds against a slip in a word. */
  readonly unspacedSlip: number
  /** In scripts without blanks: natural logarithm of the odds against a word that no chunk has. */
  readonly unspacedUnknown: number
  /** In scripts without blanks: natural logarithm of the odds against a letter that belongs to no word. */
  readonly unspacedLetter: number
}

export const ranking: Ranking = {
  candidates: 100,
  grammar: 0.1,
  hiragana: 0.3,
  rarity: 0.5,
  file: 0.2,
  title: 0.2,
  headed: 1.2,
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
  proximity: 0.3,
  proximityTerms: 4,
  proximityChunks: 10,
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
