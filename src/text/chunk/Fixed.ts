import type { Chunking } from "../../domain/Chunking.ts"
import type { ParsedDocument } from "../../domain/Document.ts"
import { characterStart, type TokenIndex } from "../Tokens.ts"
import { graphemeStart, nextCharacter } from "./Graphemes.ts"
import type { Span } from "./Span.ts"

/**
 * Windows of `size` tokens, each starting `size - overlap` tokens after the one before; the last one ends with the text. Where a token
 * starts inside a character (an emoji is several tokens), the cut moves back to that character's start.
 */
export const fixedSpans = (
  { text }: ParsedDocument,
  tokens: TokenIndex,
  { overlap, size }: Chunking
): Array<Span> => {
  const spans: Array<Span> = []
  let covered = 0
  let start = 0
  let first = 0
  for (;;) {
    let last = Math.min(first + size, tokens.total)
    let end = endAt(text, tokens.offsetOf(last), start)
    // On its own, a window can count more tokens than in context, where a cut falls inside a word.
    while (end > nextCharacter(text, start) && tokens.count(start, end) > size) {
      last--
      end = endAt(text, tokens.offsetOf(last), start)
    }
    if (end > covered) {
      spans.push({ start, end })
      covered = end
      if (end === text.length) return spans
    }

    first = Math.max(tokens.tokenAt(end) - overlap, first + 1)
    let next = graphemeStart(text, tokens.offsetOf(first))
    // The token is in the character that the previous window started with.
    while (next <= start) next = graphemeStart(text, tokens.offsetOf(++first))
    if (next > covered) first = tokens.tokenAt(covered)
    start = Math.min(next, covered)
  }
}

/** The end of a window: between user-perceived characters, or between code points where such a character is longer than the window. */
const endAt = (text: string, offset: number, start: number): number => {
  const end = graphemeStart(text, offset)
  return end > start ? end : Math.max(characterStart(text, offset), nextCharacter(text, start))
}
