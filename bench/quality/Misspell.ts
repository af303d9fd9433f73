import { Random } from "../lib/Random.ts"

/** The question with one slip in each of two words of five letters or more: a letter lost, added, changed or swapped. */
export const misspell = (question: string, seed: number): string => {
  const random = new Random(seed)
  const words = [...question.matchAll(/\p{L}{5,}/gu)]
  const chosen = new Set<number>()
  while (chosen.size < Math.min(2, words.length)) chosen.add(random.between(0, words.length - 1))
  let out = ""
  let at = 0
  words.forEach((word, index) => {
    out += question.slice(at, word.index) + (chosen.has(index) ? slip(word[0], random) : word[0])
    at = word.index + word[0].length
  })
  return out + question.slice(at)
}

const slip = (word: string, random: Random): string => {
  const at = random.between(0, word.length - 2)
  const letter = String.fromCharCode(97 + random.between(0, 25))
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
