import { Random } from "../lib/Random.ts"
import type { Search } from "./Engine.ts"

export interface Misspelt {
  readonly text: string
  /** Words that are no longer as they were, in their order. */
  readonly slips: ReadonlyArray<{ readonly word: string; readonly slip: string }>
}

/**
 * The question with one slip in each of two words of five letters or more, of a longer question in every sixth: a letter
 * lost, added, changed or swapped. Scripts without blanks have the words that a dictionary finds, of four letters or more.
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
  /** In words that the corpus has. */
  readonly slips: number
  /**
   * Those for which the search looks for the word that was meant: what it takes for the likeliest is a term of that, or another
   * word of the question is. A slip that makes another word of the corpus is not right.
   */
  readonly right: number
}

/** How many slips of a question the search reads as what was meant. */
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
    // Of corrections the likeliest comes first.
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

/** What a finger may hit instead: of another alphabet, the letters of the word. */
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
