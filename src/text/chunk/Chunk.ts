import type { Chunking } from "../../domain/Chunking.ts"
import type { Chunk, ParsedDocument } from "../../domain/Document.ts"
import { TokenIndex } from "../Tokens.ts"
import { fixedSpans } from "./Fixed.ts"
import { locate } from "./Locate.ts"
import type { Span } from "./Span.ts"
import { structureSpans } from "./Structure.ts"

/**
 * Cuts a document into chunks, in order. Every character of the text is in at least one chunk, each chunk's text is
 * exactly `text.slice(start, end)`, and no chunk has more than `size` tokens, unless a single character has. The same
 * document and chunking always give the same chunks. A text of only white space gives none.
 */
export const chunk = (document: ParsedDocument, chunking: Chunking): Array<Chunk> => {
  if (document.text.trim() === "") return []
  const tokens = new TokenIndex(document.text)
  return locate(document, spans[chunking.strategy](document, tokens, chunking), tokens)
}

const spans: Record<
  Chunking["strategy"],
  (document: ParsedDocument, tokens: TokenIndex, chunking: Chunking) => Array<Span>
> = {
  fixed: fixedSpans,
  structure: structureSpans
}
