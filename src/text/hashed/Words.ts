import { forEachSegment, recomposed } from "../UnspacedWords.ts"
import { hashed, hashSeed, utf8Of } from "../WordTable.ts"

/** UTF-16 units after which longer words are cut. */
const longestWord = 64

/**
 * Calls `visit` with every plain ASCII word, as lower-case bytes with their hash, and `visitOther` with the others as they are written: for
 * Chinese, Japanese and Korean, every character and every pair of characters; for scripts without spaces, the words that a dictionary
 * finds.
 */
export const forEachWord = (
  text: string,
  visit: (bytes: Uint8Array, start: number, end: number, hash: number) => void,
  visitOther: (word: string) => void
): void => {
  const bytes = utf8Of(/[^\x00-\x7f]/.test(text) ? recomposed(text.normalize("NFKC")) : text)
  const length = bytes.length
  let at = 0
  while (at < length) {
    const start = at
    const longest = Math.min(length, start + longestWord)
    let hash = hashSeed
    while (at < longest) {
      const unit = plainLowerCase[bytes[at]!]!
      if (unit === 0) break
      bytes[at++] = unit
      hash = hashed(hash, unit)
    }
    if (at < length && bytes[at]! > 0x7f) {
      // Letters of other alphabets, or only a dash between words.
      while (at < length && (bytes[at]! > 0x7f || plainLowerCase[bytes[at]!] !== 0)) at++
      otherWords(Buffer.from(bytes.buffer, bytes.byteOffset + start, at - start).toString(), visitOther)
    } else if (at > start) visit(bytes, start, at, hash)
    else at++
  }
}

/** The lower case of each ASCII letter and digit; 0 for all other bytes. */
const plainLowerCase = Uint8Array.from({ length: 256 }, (_, byte) => {
  const character = String.fromCharCode(byte)
  return /[A-Za-z0-9]/.test(character) ? character.toLowerCase().charCodeAt(0) : 0
})

const words =
  /([\p{sc=Han}\p{sc=Hira}\p{sc=Kana}\p{sc=Hang}\u30fc]+)|([\p{sc=Thai}\p{sc=Laoo}\p{sc=Khmr}\p{sc=Mymr}]+)|[[\p{L}\p{M}\p{N}]--[\p{sc=Han}\p{sc=Hira}\p{sc=Kana}\p{sc=Hang}\p{sc=Thai}\p{sc=Laoo}\p{sc=Khmr}\p{sc=Mymr}\u30fc]]+/gv

const otherWords = (text: string, visit: (word: string) => void): void => {
  const visitPart = (word: string): void => {
    if (word.length <= longestWord) visit(word)
    else for (let i = 0; i < word.length; i += longestWord) visit(word.slice(i, i + longestWord))
  }
  for (const [word, ideographs, unspaced] of text.matchAll(words)) {
    if (ideographs !== undefined) visitPairs(ideographs, visit)
    else if (unspaced !== undefined) forEachSegment(unspaced, visitPart)
    else visitPart(word)
  }
}

const visitPairs = (run: string, visit: (word: string) => void): void => {
  let last = ""
  for (const character of run) {
    visit(character)
    if (last !== "") visit(last + character)
    last = character
  }
}
