import type { Box, PlacedGlyph } from "./Glyphs.ts"

/** Combining characters by the accents that stand for themselves. */
const combining: Readonly<Record<string, string>> = {
  "´": "\u0301",
  "`": "\u0300",
  "ˆ": "\u0302",
  "¨": "\u0308",
  "˜": "\u0303",
  "¯": "\u0304",
  "˙": "\u0307",
  "˘": "\u0306",
  "˚": "\u030a",
  "˝": "\u030b",
  "ˇ": "\u030c",
  "¸": "\u0327",
  "˛": "\u0328"
}

/** Whether a text has accents that may belong to letters beside them. */
export const hasAccents = (text: string): boolean => /[´`ˆ¨˜¯˙˘˚˝ˇ¸˛]/.test(text)

/** Least share of the narrower of two glyphs that lies above or below the other where they are one letter. */
const leastOverlap = 0.5

const overlap = (a: Box, b: Box): number =>
  (Math.min(a.right, b.right) - Math.max(a.left, b.left)) / Math.max(0.01, Math.min(a.right - a.left, b.right - b.left))

const composed = (letter: string, accent: string): string | undefined => {
  const plain = letter === "ı" ? "i" : letter === "ȷ" ? "j" : letter
  const whole = (plain + accent).normalize("NFC")
  return /^\p{L}$/u.test(whole) ? whole : undefined
}

/**
 * Letters with accents that a page draws as two glyphs, one above the other, by how its text has them: `´e` or `e´`. An accent that stands
 * beside its letter is an apostrophe to its writer.
 */
export const accentedLetters = (glyphs: ReadonlyArray<PlacedGlyph>): ReadonlyMap<string, string> => {
  const found = new Map<string, string>()
  for (const [at, { box, text, turns }] of glyphs.entries()) {
    const accent = combining[text]
    if (accent === undefined || turns !== 0) continue
    for (const step of [1, -1]) {
      let beside = at + step
      let between = ""
      while (glyphs[beside]?.generated === true && glyphs[beside]?.text === " ") {
        between = " "
        beside += step
      }
      const letter = glyphs[beside]
      const whole = letter === undefined || overlap(box, letter.box) < leastOverlap ? undefined : composed(letter.text, accent)
      if (letter === undefined || whole === undefined) continue
      found.set(step > 0 ? text + between + letter.text : letter.text + between + text, whole)
      break
    }
  }
  return found
}

/** A text whose accents are on their letters. */
export const withAccents = (text: string, letters: ReadonlyMap<string, string>): string => {
  let whole = text
  for (const [apart, letter] of letters) whole = whole.replaceAll(apart, letter)
  return whole
}
