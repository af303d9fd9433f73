import { isUtf8 } from "node:buffer"
import { likelihoodOf } from "../Charset.ts"
import { functionWords } from "../../FunctionWords.ts"

/** Least letters of a text that is judged. */
const fewest = 40
/** Most letters of a text that are examined. */
const most = 4_000

/** Scripts that the letter model knows. In any other it cannot distinguish nonsense from a language. */
const known =
  /\p{Script=Latin}|\p{Script=Cyrillic}|\p{Script=Greek}|\p{Script=Hebrew}|\p{Script=Arabic}|\p{Script=Thai}|\p{Script=Han}|\p{Script=Hiragana}|\p{Script=Katakana}|\p{Script=Hangul}/u
const ideographs = /\p{Script=Han}/u

/** Mean natural logarithm of the probability of a letter beyond ASCII, below which a text is nonsense; single ideographs are rarer. */
const unlikely = { letters: -9, ideographs: -10.5 }

/** Letter frequencies, per thousand, of languages written in Latin letters. */
const latin = "e125t70a90o70i75n75s65r65h30l45d40c33u38m28f14p22g16w12y12b13v12k14x2j6z10q4"
const frequencies = new Map(
  Array.from(latin.matchAll(/([a-z])(\d+)/g), ([, letter = "", share]) => [letter, Math.log(Number(share) / 1_000)])
)
/** Mean logarithm of the frequencies of letters below which a text is nonsense: English has -2.9, Polish -3, random letters -3.4. */
const leastLatin = -3.75

/** Fewer letters than this may be abbreviations. */
const fewestLatin = 300

const glyphOffsets = [29, 31]

const grammar: ReadonlySet<string> = new Set(Object.values(functionWords).flatMap((words) => [...words].filter((word) => word.length > 2)))

/**
 * Whether a text is nonsense: its characters make no language, as where a font maps them wrongly. Short texts, those in unknown scripts,
 * and those of figures and codes are not.
 */
export const isNonsense = (text: string): boolean => {
  const letters = Array.from(text.slice(0, most * 4).matchAll(/\p{L}/gu), ([letter]) => letter).slice(0, most)
  if (letters.length < fewest) return false
  const beyond = letters.filter((letter) => letter > "\u007f")
  return beyond.length * 2 > letters.length ? isUnlikely(text.slice(0, most * 4), beyond) : isScrambled(text)
}

/** Whether glyphs that a font does not map to characters make no text, taken by their numbers as most readers do. */
export const isNoise = (glyphs: string): boolean => {
  const shown = glyphs.replace(/\s/g, "")
  const strange = shown.match(/[\p{Cc}\p{Co}\p{Cn}\ufffd]/gu)?.length ?? 0
  return strange * 5 > shown.length || isNonsense(glyphs)
}

/** Most words of a document's vocabulary. */
const mostWords = 200_000

/** The longer words of a document's readable pages. */
export class Vocabulary {
  readonly #words = new Set<string>()

  learn(text: string): void {
    if (this.#words.size < mostWords) { for (const word of longWords(text)) this.#words.add(word) }
  }

  /** Whether more than half of a text's words stand on other pages. */
  knows(text: string): boolean {
    const words = new Set(longWords(text))
    let known = 0
    for (const word of words) if (this.#words.has(word)) known++
    return words.size > 0 && known * 2 > words.size
  }
}

const longWords = (text: string): ReadonlyArray<string> => text.match(/[\p{L}\p{N}]{5,}/gu) ?? []

/** Corrects a text whose font gives its characters in UTF-8 where UTF-16 is meant. `undefined` where that is not what is wrong with it. */
export const inUtf8 = (text: string): string | undefined => {
  if (!isNonsense(text)) return undefined
  const bytes = Buffer.from(
    Array.from(text).flatMap((character) => {
      const code = character.codePointAt(0)!
      // The first byte of a UTF-8 character of two bytes or more is at least this.
      return code >= 0xc200 && code <= 0xffff ? [code >> 8, code & 0xff] : Array.from(Buffer.from(character))
    })
  )
  const mended = isUtf8(bytes) ? bytes.toString("utf8") : undefined
  return mended === undefined || isNonsense(mended) ? undefined : mended
}

const isUnlikely = (text: string, beyond: ReadonlyArray<string>): boolean => {
  // One unknown script is a language of its own, but many at once are none.
  const scripts = beyond.filter((letter) => known.test(letter)).length
  if (scripts < beyond.length / 2) return false
  // A text that shows each character once is a specimen of a font.
  if (new Set(beyond).size > beyond.length * 0.7 && !beyond.some((letter) => ideographs.test(letter))) return false
  const { bytes, sum } = likelihoodOf(text.replace(/[^\p{L}\p{M}\s]/gu, " "), 1)
  const isHan = beyond.filter((letter) => ideographs.test(letter)).length * 2 > beyond.length
  return bytes > 0 && sum / bytes < (isHan ? unlikely.ideographs : unlikely.letters)
}

const isScrambled = (text: string): boolean => {
  if (grammarIn(text).size > 0) return false
  // The numbers of glyphs in place of characters: fonts number them in the same order, starting with the blank.
  if (glyphOffsets.some((offset) => smallWordsIn(shifted(text, offset)).size >= 3)) return true
  // Each word counts once: a few that occur many times, as in forms and samples, show no distribution of letters.
  const different = new Set(text.slice(0, most * 4).toLowerCase().split(/[^\p{L}]+/u))
  const ascii = Array.from([...different].join("")).filter((letter) => letter <= "\u007f").slice(0, most)
  const digits = text.match(/\p{N}/gu)?.length ?? 0
  const mean = ascii.reduce((sum, letter) => sum + (frequencies.get(letter) ?? 0), 0) / Math.max(1, ascii.length)
  return ascii.length >= fewestLatin && mean < leastLatin && digits * 5 < ascii.length
}

/** The lower-case function words: figures, taken for glyph numbers, are capitals and spell words by chance. */
const smallWordsIn = (text: string): ReadonlySet<string> => new Set(text.split(/[^\p{L}]+/u).filter((word) => grammar.has(word)))

const grammarIn = (text: string): ReadonlySet<string> =>
  new Set(text.slice(0, most * 4).toLowerCase().split(/[^\p{L}]+/u).filter((word) => grammar.has(word)))

const shifted = (text: string, offset: number): string =>
  Array.from(text.slice(0, most), (character) => character.trim() === "" ? " " : String.fromCodePoint(character.codePointAt(0)! + offset))
    .join("")
