import { Random } from "../lib/Random.ts"
import type { Search } from "./Engine.ts"

export interface Misspelt {
  readonly text: string
  /** The misspelt words and their misspellings, in order. */
  readonly slips: ReadonlyArray<{ readonly word: string; readonly slip: string }>
}

/**
 * Misspells a question: one slip, a letter lost, added, changed or swapped, in each of two words of five letters or more, or in
 * every sixth word of a longer question. For scripts without blanks, words of four letters or more are found by a dictionary.
 */
export const misspell = (question: string, seed: number): Misspelt => {
  const random = new Random(seed)
  const words = wordsOf(question)
  const slips = Math.min(words.length, Math.max(2, Math.round(words.length / 6)))
  const chosen = new Set<number>()
  while (chosen.size < slips) chosen.add(random.between(0, words.length - 1))
  const made: Array<Misspelt["slips"][number]> = []
  let out = ""
  let at = 0
  words.forEach(({ from, word }, index) => {
    const slip = chosen.has(index) ? slipIn(word, letters(word), random) : word
    if (slip !== word) made.push({ word, slip })
    out += question.slice(at, from) + slip
    at = from + word.length
  })
  return { text: out + question.slice(at), slips: made }
}

export interface Corrected {
  /** Number of slips in words that the corpus contains. */
  readonly slips: number
  /**
   * Number of slips for which the search finds the intended word: the likeliest correction is a term of the word, or another word
   * of the question is. A slip that makes another word of the corpus does not count.
   */
  readonly right: number
}

/** Counts the slips of a question that the search corrects to the intended word. */
export const correctedIn = async (search: Search, question: string, { slips, text }: Misspelt): Promise<Corrected> => {
  const termsOf = async (query: string) => {
    const [best] = await search(query, { topK: 1, explain: true })
    return (best?.terms ?? []).flatMap(({ corrected = false, from, shared, term }) =>
      shared === true ? [] : [{ corrected, from: from ?? term, term }]
    )
  }
  const [meant, read] = [await termsOf(question), await termsOf(text)]
  const known = slips.flatMap(({ slip, word }) => {
    const terms = new Set(meant.flatMap(({ corrected, from, term }) => corrected || from !== word ? [] : [term]))
    return terms.size === 0 ? [] : [{ slip, terms }]
  })
  const right = known.filter(({ slip, terms }) => {
    // The likeliest correction comes first.
    const likeliest = read.find(({ corrected, from }) => corrected && from === slip)
    return read.some((one) => (one === likeliest || !one.corrected) && terms.has(one.term))
  })
  return { slips: known.length, right: right.length }
}

const unspaced = /[\p{sc=Thai}\p{sc=Laoo}\p{sc=Khmr}\p{sc=Mymr}]/u

const wordsOf = (question: string): ReadonlyArray<{ readonly from: number; readonly word: string }> =>
  unspaced.test(question)
    ? [...new Intl.Segmenter("en", { granularity: "word" }).segment(question)].flatMap(({ index, isWordLike, segment }) =>
      isWordLike === true && segment.length >= 4 && unspaced.test(segment) ? [{ from: index, word: segment }] : []
    )
    : [...question.matchAll(/\p{L}{5,}/gu)].map(({ 0: word, index: from }) => ({ from, word }))

/** Letters that may replace one: the English alphabet, or for unspaced scripts the letters of the word. */
const letters = (word: string): string => unspaced.test(word) ? word : "abcdefghijklmnopqrstuvwxyz"

const slipIn = (word: string, letters: string, random: Random): string => {
  const at = random.between(0, word.length - 2)
  const letter = letters.charAt(random.between(0, letters.length - 1))
  switch (random.between(0, 3)) {
    case 0:
      return word.slice(0, at) + word.slice(at + 1)
    case 1:
      return word.slice(0, at) + letter + word.slice(at)
    case 2:
      return word.slice(0, at) + letter + word.slice(at + 1)
    default:
      return word.slice(0, at) + word.charAt(at + 1) + word.charAt(at) + word.slice(at + 2)
  }
}
