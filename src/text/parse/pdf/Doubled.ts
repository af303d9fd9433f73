import type { Box, PlacedGlyph } from "./Glyphs.ts"

/** Whether a text may have letters that are drawn twice to look bold. */
export const hasDoubled = (text: string): boolean => /(\p{L})\1(\p{L})\2/u.test(text)

/** Least share of a glyph that lies on the one before it where both are one letter. */
const leastOverlap = 0.6

const isOn = (a: Box, b: Box): boolean => {
  const across = (Math.min(a.right, b.right) - Math.max(a.left, b.left)) / Math.max(0.01, a.right - a.left)
  const down = (Math.min(a.top, b.top) - Math.max(a.bottom, b.bottom)) / Math.max(0.01, a.top - a.bottom)
  return across >= leastOverlap && down >= leastOverlap
}

/** Words with letters that a page draws twice, one on the other, by how its text has them. */
export const doubledWords = (glyphs: ReadonlyArray<PlacedGlyph>): ReadonlyMap<string, string> => {
  const found = new Map<string, string>()
  let [word, once] = ["", ""]
  let last: PlacedGlyph | undefined
  const end = (): void => {
    if (word !== once) found.set(word, once)
    word = ""
    once = ""
    last = undefined
  }
  for (const glyph of glyphs) {
    if (glyph.text.trim() === "") {
      end()
      continue
    }
    word += glyph.text
    if (last?.text === glyph.text && isOn(glyph.box, last.box)) last = undefined
    else {
      once += glyph.text
      last = glyph
    }
  }
  end()
  return found
}

/** A text in which each letter stands once. */
export const withoutDoubled = (text: string, words: ReadonlyMap<string, string>): string =>
  words.size === 0 ? text : text.replace(/\S+/g, (word) => words.get(word) ?? word)
