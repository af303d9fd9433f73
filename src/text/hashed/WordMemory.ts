import { grown, hashOf, WordTable } from "../WordTable.ts"
import { forEachFeature, plain, weightOf } from "./Features.ts"

/** Every word seen so far, by number; with its features, some 15 MB in all. */
const table = new WordTable()
/** How many words of the table have their features here: all but the one that is just being added. */
let described = 0
let weights = new Float64Array(1 << 12)
/** Where each word's features start in {@link slots}; they end where the next word's start, so that they lie in one cache line or two. */
let starts = new Uint32Array(1 << 12)
let slots = new Uint16Array(1 << 16)

/** Numbers of words that are not plain ASCII, by the word as it is written. */
const others = new Map<string, number>()

const mostWords = 100_000
/** Leaves room for the words of one more text: {@link slots} would otherwise double before the limit is noticed. */
const mostSlots = (1 << 21) - (1 << 16)

/** Empties the memory where it is full. Called between texts, since a text's words must not change their numbers. */
export const forgetIfFull = (): void => {
  if (described + others.size < mostWords && starts[described]! < mostSlots) return
  table.clear()
  others.clear()
  described = 0
}

/** Features and weights by the number of a word. The arrays are replaced when words are added. */
export const remembered = () => ({ slots, starts, weights })

/** The number of a word in ASCII lower case. */
export const wordOf = (bytes: Uint8Array, start: number, end: number, hash: number): number => {
  const id = table.idOf(bytes, start, end, hash)
  if (id === described) describe(Buffer.from(bytes.subarray(start, end)).toString())
  return id
}

/** The number of any word, as it is written. */
export const otherWordOf = (surface: string): number => {
  const known = others.get(surface)
  if (known !== undefined) return known
  const bytes = Buffer.from(plain(surface))
  const id = wordOf(bytes, 0, bytes.length, hashOf(bytes, 0, bytes.length))
  // Copied, so that the text that this is a slice of is not kept in memory.
  others.set(Buffer.from(surface, "utf16le").toString("utf16le"), id)
  return id
}

/** Adds the features of the next word of the table. */
const describe = (word: string): void => {
  if (described + 1 === starts.length) {
    starts = grown(starts)
    weights = grown(weights)
  }
  let end = starts[described]!
  forEachFeature(word, (slot) => {
    if (end === slots.length) slots = grown(slots)
    slots[end++] = slot
  })
  weights[described++] = weightOf(word)
  starts[described] = end
}
