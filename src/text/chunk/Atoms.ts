import type { Block, BlockKind, ParsedDocument } from "../../domain/Document.ts"
import type { TokenIndex } from "../Tokens.ts"
import { firstWordEnd, splitters } from "./Splitters.ts"
import type { Span } from "./Span.ts"

/**
 * A document as the pieces that `structure` chunking packs: piece `i` is `text.slice(at[i], at[i + 1])`, and no piece has more tokens than
 * the limit. A piece is a block, part of a block over the limit, or headings together with the first piece below them, so that no chunk
 * ends with a heading.
 */
export interface Atoms {
  /** Start offset of each piece, and the end of the text. */
  readonly at: Uint32Array
  /** Tokens before each start. */
  readonly tokens: Uint32Array
  /** How good a place to cut each start is: headings by level, then blocks, then ever finer parts of blocks. */
  readonly strength: Uint8Array
}

const blockStrength = 8
const headingStrength = (level: number): number => blockStrength + 7 - level

export const atomsOf = ({ blocks, text }: ParsedDocument, tokens: TokenIndex, limit: number): Atoms => {
  const at: Array<number> = []
  const strength: Array<number> = []
  const push = (offset: number, value: number): void => {
    // The first piece includes any white space before the first block.
    at.push(at.length === 0 ? 0 : offset)
    strength.push(value)
  }

  /** Where the pending headings start, which are to stay with the next piece. */
  let heading: number | undefined
  const filled = blocks.filter((block) => block.end > block.start)
  const content: ReadonlyArray<Block> = filled.length > 0 ? filled : [{ kind: "paragraph", start: 0, end: text.length }]
  let start = 0
  content.forEach((block, i) => {
    // White space before the next block belongs to this one, unless that would make it too large.
    const next = content[i + 1]?.start ?? text.length
    const end = tokens.count(start, next) > limit && tokens.count(start, block.end) <= limit ? block.end : next
    const alone = tokens.count(start, end)
    // Keeping an unsplittable block whole takes precedence over keeping its heading with it, which `headings` carries anyway.
    const together = heading === undefined ? alone : tokens.count(heading, end)
    if (alone <= limit && together > limit && block.kind !== "paragraph") heading = undefined
    if (heading !== undefined && together > limit && !hasRoom(text, tokens, heading, start, limit)) heading = undefined
    if (heading === undefined) push(start, isLed(text, content[i - 1], block) ? blockStrength - 1 : strengthOf(block))
    const taken = heading === undefined ? 0 : tokens.count(heading, start)
    if (alone + taken > limit) {
      for (const part of split(text, tokens, { start, end }, block.kind, limit, taken)) push(part.offset, part.strength)
    }
    if (block.kind !== "heading") heading = undefined
    else {
      heading ??= start
      // The text below the heading needs room too.
      if (tokens.count(heading, end) > limit / 2) heading = undefined
    }
    start = end
  })
  if (start < text.length) push(start, blockStrength)

  const offsets = Uint32Array.from([...at, text.length])
  const before = new Uint32Array(offsets.length)
  for (let i = 1; i < offsets.length; i++) before[i] = before[i - 1]! + tokens.count(offsets[i - 1]!, offsets[i]!)
  return { at: offsets, tokens: before, strength: Uint8Array.from(strength) }
}

/** Whether the headings leave room for the first word after them, unless that word alone is over the limit. */
const hasRoom = (text: string, tokens: TokenIndex, heading: number, start: number, limit: number): boolean => {
  const end = firstWordEnd(text, start)
  return tokens.count(heading, end) <= limit || tokens.count(start, end) > limit
}

/** Whether a block is introduced by the paragraph before it, which ends in a colon: "Run this:" is useless without the command. */
const isLed = (text: string, before: Block | undefined, block: Block): boolean =>
  before?.kind === "paragraph" && block.kind !== "heading" &&
  /[:：]\s*$/u.test(text.slice(Math.max(before.start, before.end - 8), before.end))

const strengthOf = (block: Block): number => block.kind === "heading" ? headingStrength(block.level ?? 1) : blockStrength

interface Part {
  readonly offset: number
  readonly strength: number
}

/**
 * The cuts inside a block over the limit: into its coarsest parts first, and finer only inside parts that are still over it. `taken` tokens
 * of the first part's room are already used.
 */
const split = (
  text: string,
  tokens: TokenIndex,
  block: Span,
  kind: BlockKind,
  limit: number,
  taken: number
): Array<Part> => {
  const parts: Array<Part> = []
  const ways = splitters[kind]
  const visit = (span: Span, depth: number, room: number): void => {
    const way = ways[depth]
    if (way === undefined || tokens.count(span.start, span.end) <= room) return
    const cuts = way(text, span, tokens, limit, room)
    let start = span.start
    for (const cut of [...cuts, span.end]) {
      if (cut <= start) continue
      if (start > span.start) parts.push({ offset: start, strength: blockStrength - 1 - depth })
      visit({ start, end: cut }, depth + 1, start === block.start ? limit - taken : limit)
      start = cut
    }
  }
  visit(block, 0, limit - taken)
  return parts
}
