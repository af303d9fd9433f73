import { Random } from "../lib/Random.ts"

/**
 * The question with one slip in each of two words of five letters or more, of a longer question in every sixth: a letter
 * lost, added, changed or swapped. Scripts without blanks have the words that a dictionary finds, of four letters or more.
 */
export const misspell = (question: string, seed: number): string => {
  const random = new Random(seed)
  const words = wordsOf(question)
  const slips = Math.min(words.length, Math.max(2, Math.round(words.length / 6)))
  const chosen = new Set<number>()
  while (chosen.size < slips) chosen.add(random.between(0, words.length - 1))
  let out = ""
  let at = 0
  words.forEach(({ from, word }, index) => {
    out += question.slice(at, from) + (chosen.has(index) ? slip(word, letters(word), random) : word)
    at = from + word.length
  })
  return out + question.slice(at)
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

const slip = (word: string, letters: string, random: Random): string => {
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
