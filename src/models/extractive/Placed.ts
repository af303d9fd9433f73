import type { Context } from "../../domain/Retrieval.ts"
import type { Place } from "../../domain/Stretches.ts"
import { type Block, blocksOf } from "./Blocks.ts"
import type { Evidence } from "./Evidence.ts"
import { isSource, type TextUnit } from "./Units.ts"

/** A unit of a stretch, which may be of several contexts: its blocks and offsets are those of the stretch's text. */
export interface StretchUnit extends TextUnit {
  /** Index into the stretches of the contexts. */
  readonly stretch: number
}

/** A unit in its stretch, and the evidence for it. */
export interface Placed {
  readonly unit: StretchUnit
  readonly evidence: Evidence
}

/** Places the units of contexts in the stretches that these are part of, so that what goes on in the next context can be read on. */
export const placedIn = (
  found: ReadonlyArray<Evidence>,
  contexts: ReadonlyArray<Context>,
  places: ReadonlyArray<Place>
): ReadonlyArray<Placed> => {
  const blocksOfContext = new Map(found.map(({ unit }) => [unit.context, unit.blocks]))
  const blocksOfStretch = new Map<number, Array<Block>>()
  /** By context, the number of blocks before it in its stretch. */
  const before = new Map<number, number>()
  for (const context of [...contexts.keys()].sort((a, b) => places[a]!.offset - places[b]!.offset)) {
    const { offset, stretch } = places[context]!
    const known = blocksOfStretch.get(stretch) ?? []
    before.set(context, known.length)
    known.push(
      ...(blocksOfContext.get(context) ?? blocksOf(contexts[context]!.text, false, undefined, isSource(contexts[context]!))).map((block) =>
        moved(block, offset)
      )
    )
    blocksOfStretch.set(stretch, known)
  }
  return found.map((evidence) => {
    const { context, ...unit } = evidence.unit
    const { offset, stretch } = places[context]!
    return {
      evidence,
      unit: {
        ...unit,
        stretch,
        blocks: blocksOfStretch.get(stretch)!,
        block: unit.block + before.get(context)!,
        start: unit.start + offset,
        end: unit.end + offset
      }
    }
  })
}

const moved = (block: Block, by: number): Block =>
  by === 0 ? block : {
    ...block,
    start: block.start + by,
    end: block.end + by,
    lines: block.lines.map((line) => ({ ...line, start: line.start + by, end: line.end + by })),
    ...(block.term === undefined ? {} : { term: { ...block.term, end: block.term.end + by } })
  }
