import { grown, hashOf, WordTable } from "../WordTable.ts"
import { forEachFeature, plain, weightOf } from "./Features.ts"

/** What is known of every word met before, by its number; together some 15 MB. */
const table = new WordTable()
/** How many words of the table have their features here: all but one that is just being added. */
let described = 0
let weights = new Float64Array(1 << 12)
/** A word's features are {@link slots} from its start to the next word's, so that they lie in one line of the cache or two. */
let starts = new Uint32Array(1 << 12)
let slots = new Uint16Array(1 << 16)

/** Words that are not plain ASCII, as they are written. */
const others = new Map<string, number>()

const mostWords = 100_000
/** With room for the words of one more text: {@link slots} would otherwise grow to twice that before it is seen that they are too many. */
const mostSlots = (1 << 21) - (1 << 16)

/** Called between texts, since a text's words must not change their numbers. */
export const forgetIfFull = (): void => {
  if (described + others.size < mostWords && starts[described]! < mostSlots) return
  table.clear()
  others.clear()
  described = 0
}

/** By number of word. The arrays are replaced when words are added. */
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
  // Copied, so that the text it is a slice of is not kept in memory.
  others.set(Buffer.from(surface, "utf16le").toString("utf16le"), id)
  return id
}

/** Adds what the next word of the table consists of. */
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
