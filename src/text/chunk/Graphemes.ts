import { characterStart } from "../Tokens.ts"

/** UTF-16 units to look back for the start of a character: longer than any emoji sequence or accented letter. */
const window = 64

const graphemes = new Intl.Segmenter("und", { granularity: "grapheme" })

/**
 * The start of the user-perceived character that `offset` falls in, or of the code point where that character is
 * longer than any real one; `offset` itself where it falls between two.
 */
export const graphemeStart = (text: string, offset: number): number => {
  if (offset <= 0 || offset >= text.length || isPlain(text.charCodeAt(offset))) return offset
  const from = characterStart(text, Math.max(0, offset - window))
  const cluster = graphemes.segment(text.slice(from, offset + 2)).containing(offset - from)
  if (cluster === undefined || (cluster.index === 0 && from > 0)) return characterStart(text, offset)
  return from + cluster.index
}

/** The offset after the code point at `offset`. */
export const nextCharacter = (text: string, offset: number): number => offset + ((text.codePointAt(offset) ?? 0) > 0xffff ? 2 : 1)

/** Below the first combining mark nothing joins the character before it; parsed text has no carriage returns. */
const isPlain = (unit: number): boolean => unit < 0x300
