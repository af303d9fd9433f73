import type { Chunking } from "../../domain/Chunking.ts"
import type { ParsedDocument } from "../../domain/Document.ts"
import { partitionPoint } from "../PartitionPoint.ts"
import type { TokenIndex } from "../Tokens.ts"
import { type Atoms, atomsOf } from "./Atoms.ts"
import { cutPoints } from "./CutPoints.ts"
import type { Span } from "./Span.ts"
import { sentences } from "./Splitters.ts"

/**
 * Packs pieces of the document's structure into chunks of up to `size` tokens, which include up to `overlap` tokens of whole sentences and
 * pieces from the end of the chunk before. A text of up to `size` tokens is one chunk.
 */
export const structureSpans = (
  document: ParsedDocument,
  tokens: TokenIndex,
  { overlap, size }: Chunking
): Array<Span> => {
  const { text } = document
  if (tokens.total <= size) return [{ start: 0, end: text.length }]
  const atoms = atomsOf(document, tokens, size)
  const cuts = cutPoints(text, atoms, size - overlap)
  const spans: Array<Span> = []
  let before = 0
  let first = 0
  for (const cut of cuts) {
    while (first < cut) {
      const last = lastThatFits(tokens, atoms, first, cut, size)
      const end = atoms.at[last]!
      const room = Math.min(overlap, size - tokens.count(atoms.at[first]!, end))
      let start = overlapStart(text, tokens, atoms, before, first, room)
      if (tokens.count(start, end) > size) start = atoms.at[first]!
      spans.push({ start, end })
      before = first
      first = last
    }
  }
  return spans
}

/** Joined pieces may, rarely, count more tokens than separately: then the last of them start a new chunk. */
const lastThatFits = (tokens: TokenIndex, { at }: Atoms, first: number, cut: number, size: number): number => {
  let last = cut
  while (last > first + 1 && tokens.count(at[first]!, at[last]!) > size) last--
  return last
}

/** Where the overlap before piece `first` starts: at most `room` tokens of whole sentences and pieces, back to piece `before` at most. */
const overlapStart = (
  text: string,
  tokens: TokenIndex,
  atoms: Atoms,
  before: number,
  first: number,
  room: number
): number => {
  const end = atoms.at[first]!
  let piece = first
  // Never all of the previous chunk: each chunk starts after the start of the one before.
  while (piece > before + 1 && atoms.tokens[first]! - atoms.tokens[piece - 1]! <= room) piece--
  const start = atoms.at[piece]!
  if (piece === before || room <= 0) return start
  const starts = [...sentences(text, { start: atoms.at[piece - 1]!, end: start }, tokens, room, room), start]
  return starts[partitionPoint(starts.length - 1, (at) => tokens.count(starts[at]!, end) > room)]!
}
