import { stopwords as dutch } from "@orama/stopwords/dutch"
import { stopwords as english } from "@orama/stopwords/english"
import { stopwords as french } from "@orama/stopwords/french"
import { stopwords as german } from "@orama/stopwords/german"
import { stopwords as italian } from "@orama/stopwords/italian"
import { stopwords as portuguese } from "@orama/stopwords/portuguese"
import { stopwords as russian } from "@orama/stopwords/russian"
import { stopwords as spanish } from "@orama/stopwords/spanish"
import { stopwords as swedish } from "@orama/stopwords/swedish"
import { hashed, hashSeed } from "../WordTable.ts"

/** Dimensions of a vector. A power of two, so that a hash is reduced by a mask. */
export const dimensions = 2048

/** Where a feature adds to: twice its dimension, plus one where its hash says to subtract. */
type Slot = number

/** Letters that a word's stem keeps: cutting a word short is a stemmer for every alphabet. */
export const stemLength = 6
/** Characters of the shortest n-gram. */
export const shortestGram = 3
/** Characters of the longest n-gram. */
export const longestGram = 5

/** A word in lower case without accents. Other marks, such as the vowel signs of Devanagari, are letters of the word. */
export const plain = (word: string): string =>
  word.toLowerCase().normalize("NFD").replace(/[\u0300-\u036f]/g, "").normalize("NFC").replaceAll("ß", "ss")

let functionWords: ReadonlySet<string> | undefined

/** Created at its first use: a run that embeds nothing must not wait for it. */
const allFunctionWords = (): ReadonlySet<string> =>
  new Set([dutch, english, french, german, italian, portuguese, russian, spanish, swedish].flat().map(plain))

/**
 * Calls `add` with every feature of a {@link plain} word: its stem first, then the whole word, then its n-grams. A single ideograph and a
 * pair of ideographs have one feature.
 */
export const forEachFeature = (word: string, add: (slot: Slot) => void): void => {
  add(slotOf(hashOf("w", word, stemLength)))
  if (ideographic.test(word)) return
  add(slotOf(hashOf("x", word, word.length)))
  const padded = `<${word}>`
  const seed = hashOf("g", "", 0)
  for (let i = 0; i + shortestGram <= padded.length; i++) {
    // A longer n-gram's hash continues the shorter one's.
    const end = Math.min(padded.length, i + longestGram)
    let hash = seed
    for (let at = i; at < end; at++) {
      hash = hashed(hash, padded.charCodeAt(at))
      if (at - i >= shortestGram - 1) add(slotOf(hash))
    }
  }
}

/** The kind of a word, as an index into {@link kindWeights}. */
export const kindOf = (word: string): 0 | 1 | 2 => {
  functionWords ??= allFunctionWords()
  return functionWords.has(word) ? 1 : word.length === 1 && ideographic.test(word) ? 2 : 0
}

/**
 * Weights of ordinary words, of function words (kept because a question may contain nothing else), and of single ideographs (which say
 * little: their pairs are the words).
 */
export const kindWeights = [1, 0.1, 0.15] as const

export const weightOf = (word: string): number => kindWeights[kindOf(word)]

const ideographic = /[\p{sc=Han}\p{sc=Hira}\p{sc=Kana}\p{sc=Hang}]/u

/** FNV-1a over UTF-16 units of the kind of feature and the first `length` units of a text. */
const hashOf = (kind: string, text: string, length: number): number => {
  let hash = hashed(hashSeed, kind.charCodeAt(0))
  const end = Math.min(length, text.length)
  for (let i = 0; i < end; i++) hash = hashed(hash, text.charCodeAt(i))
  return hash
}

/** The finaliser of MurmurHash3, without which the low bits of FNV-1a are poor. */
const slotOf = (fnv: number): Slot => {
  let hash = Math.imul(fnv ^ (fnv >>> 15), 0x85ebca6b)
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35)
  return (hash ^ (hash >>> 16)) & (2 * dimensions - 1)
}
