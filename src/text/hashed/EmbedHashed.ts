import type { EmbeddingTask, SparseVector } from "../../ports/Embedder.ts"
import { grown } from "../WordTable.ts"
import { dimensions, forEachFeature, plain, weightOf } from "./Features.ts"
import { sparseUnit } from "./SparseUnit.ts"
import { forgetIfFull, otherWordOf, remembered, wordOf } from "./WordMemory.ts"
import { forEachWord } from "./Words.ts"

/**
 * The vector of a text: the sum over its words' features, each weighted by 1 + ln of how often the word occurs, cut to the largest
 * components and scaled to length 1. The same text gives the same numbers on every machine; nothing is learnt or remembered that could
 * change them. A text without words gives the zero vector.
 */
export const embedHashedSparse = (text: string, task: EmbeddingTask): SparseVector => {
  forgetIfFull()
  forEachWord(text, countPlain, countOther)
  sumUp()
  const distinct = seen.length
  seen.length = 0
  return sparseUnit(sums, task === "query" ? mostKept : keptOf(distinct))
}

/** {@link embedHashedSparse} as a dense vector. */
export const embedHashed = (text: string, task: EmbeddingTask): Float32Array => dense(embedHashedSparse(text, task))

const dense = ({ components, values }: SparseVector): Float32Array => {
  const vector = new Float32Array(dimensions)
  for (let i = 0; i < components.length; i++) vector[components[i]!] = values[i]!
  return vector
}

/**
 * The vector of a question whose words count with the weight that `weigh` returns for each: what is rare in a corpus says more. `weigh`
 * receives ASCII words in lower case, and others as they are written.
 */
export const embedWeighed = (text: string, weigh: (word: string) => number): Float32Array => {
  const counted = new Map<string, number>()
  const add = (word: string): void => void counted.set(word, (counted.get(word) ?? 0) + 1)
  forEachWord(text, (bytes, start, end) => add(Buffer.from(bytes.subarray(start, end)).toString()), add)
  sums.fill(0)
  for (const [surface, occurrences] of counted) {
    const word = plain(surface)
    const weight = weigh(surface) * weightOf(word) * (1 + Math.log(occurrences))
    const features: Array<number> = []
    forEachFeature(word, (slot) => features.push(slot))
    features.forEach((slot, place) => {
      const share = place === 0 ? 1 : place === 1 ? wholeWordWeight : 1 / Math.sqrt(features.length - 2)
      sums[slot]! += weight * share
    })
  }
  return dense(sparseUnit(sums, mostKept))
}

/**
 * Fewest components that a vector keeps; a text of 200 tokens keeps about 300. Small ones are sums of chance collisions: dropping them
 * costs little quality. Questions are not stored, and keep more.
 */
const leastKept = 128
/** Most components that a vector keeps; always the bound for questions. */
const mostKept = 512
const keptPerWord = 1.5

/** How many components the vector of a document with this number of distinct words keeps. */
export const keptOf = (distinct: number): number => Math.min(mostKept, leastKept + Math.round(distinct * keptPerWord))

/** Weight of the whole word, relative to the stem's 1. Its n-grams together make a vector as long as the stem's. */
export const wholeWordWeight = 0.5

/** For dimension `i`, the sum of positive features is at `2 * i` and that of negative ones at `2 * i + 1`. */
const sums = new Float64Array(2 * dimensions)
/** Numbers of the distinct words of the current text. */
const seen: Array<number> = []
/** How often each word occurs in the current text, by its number; all 0 between texts. */
let counts = new Uint32Array(1 << 12)

const count = (word: number): void => {
  while (word >= counts.length) counts = grown(counts)
  if (counts[word]!++ === 0) seen.push(word)
}
const countPlain = (bytes: Uint8Array, start: number, end: number, hash: number): void => count(wordOf(bytes, start, end, hash))
const countOther = (surface: string): void => count(otherWordOf(surface))

/** Adds up the features of all words seen. */
const sumUp = (): void => {
  const { slots, starts, weights } = remembered()
  sums.fill(0)
  for (let i = 0; i < seen.length; i++) {
    const word = seen[i]!
    const weight = weights[word]! * (1 + Math.log(counts[word]!))
    counts[word] = 0
    const start = starts[word]!
    const end = starts[word + 1]!
    sums[slots[start]!]! += weight
    if (end === start + 1) continue
    sums[slots[start + 1]!]! += weight * wholeWordWeight
    const gramWeight = weight / Math.sqrt(end - start - 2)
    for (let gram = start + 2; gram < end; gram++) sums[slots[gram]!]! += gramWeight
  }
}
