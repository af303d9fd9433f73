import { stopwords as dutch } from "@orama/stopwords/dutch"
import { stopwords as english } from "@orama/stopwords/english"
import { stopwords as french } from "@orama/stopwords/french"
import { stopwords as german } from "@orama/stopwords/german"
import { stopwords as italian } from "@orama/stopwords/italian"
import { stopwords as portuguese } from "@orama/stopwords/portuguese"
import { stopwords as russian } from "@orama/stopwords/russian"
import { stopwords as spanish } from "@orama/stopwords/spanish"
import { stopwords as swedish } from "@orama/stopwords/swedish"

/** A power of two, so that a hash is reduced by a mask. */
export const dimensions = 2048

/** Where a feature adds to: twice its dimension, one more where its hash says to subtract. */
type Slot = number

/** Letters of a word's stem: cutting is a stemmer for every alphabet. */
const stemLength = 6
const shortestGram = 3
const longestGram = 5
/** Of a function word, which is left in because a question may hold nothing else. */
const functionWordWeight = 0.1

/** Lower case without accents. Other marks, such as the vowel signs of Devanagari, are letters of the word. */
export const plain = (word: string): string =>
  word.toLowerCase().normalize("NFD").replace(/[\u0300-\u036f]/g, "").normalize("NFC").replaceAll("ß", "ss")

const functionWords: ReadonlySet<string> = new Set(
  [dutch, english, french, german, italian, portuguese, russian, spanish, swedish].flat().map(plain)
)

/**
 * Calls `add` with every feature of a {@link plain} word, in a fixed order: its stem, the word whole, its n-grams. A
 * single ideograph and a pair of them have one.
 */
export const forEachFeature = (word: string, add: (slot: Slot) => void): void => {
  add(slotOf("w", word.slice(0, stemLength)))
  if (ideographic.test(word)) return
  add(slotOf("x", word))
  const padded = `<${word}>`
  for (let n = shortestGram; n <= longestGram; n++) {
    for (let i = 0; i + n <= padded.length; i++) add(slotOf("g", padded.slice(i, i + n)))
  }
}

/** Of a word, over the things it is counted in: ideographs by themselves say little, their pairs are the words. */
export const weightOf = (word: string): number =>
  functionWords.has(word) ? functionWordWeight : word.length === 1 && ideographic.test(word) ? ideographWeight : 1

const ideographWeight = 0.15

const ideographic = /[\p{sc=Han}\p{sc=Hira}\p{sc=Kana}\p{sc=Hang}]/u

/** FNV-1a over UTF-16 units, with the finaliser of MurmurHash3, without which its low bits are poor. */
const slotOf = (kind: string, text: string): Slot => {
  let hash = Math.imul(0x811c9dc5 ^ kind.charCodeAt(0), 0x01000193)
  for (let i = 0; i < text.length; i++) hash = Math.imul(hash ^ text.charCodeAt(i), 0x01000193)
  hash = Math.imul(hash ^ (hash >>> 15), 0x85ebca6b)
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35)
  return (hash ^ (hash >>> 16)) & (2 * dimensions - 1)
}
