import { defined } from "./Defined.ts"
import type { Context } from "./Retrieval.ts"

/**
 * Contexts that follow each other in their file without a gap, joined into one text: a statement may continue past the
 * end of a chunk.
 */
export interface Stretch {
  /** The chunks in the file's order, each with the UTF-16 offset at which it starts in `text`. */
  readonly chunks: ReadonlyArray<Chunk>
  readonly text: string
}

export interface Chunk {
  readonly context: Context
  readonly offset: number
}

/** Index of the stretch that a context belongs to, and the UTF-16 offset at which the context starts there. */
export interface Place {
  readonly stretch: number
  readonly offset: number
}

/**
 * Joins contexts into stretches, in the order of the contexts they start with, and locates each context. Chunks that
 * overlap are not joined.
 */
export const stretchesOf = (
  contexts: ReadonlyArray<Context>
): { readonly stretches: ReadonlyArray<Stretch>; readonly places: ReadonlyArray<Place> } => {
  const next = new Map<string, number>()
  const beginning = contexts.map(({ byteStart, file }) => `${file} ${byteStart}`)
  contexts.forEach(({ byteStart }, at) => {
    if (byteStart !== undefined && !next.has(beginning[at]!)) next.set(beginning[at]!, at)
  })
  // A text that was cut is shorter than its byte span, and nothing is joined to it.
  const followers = contexts.map(({ byteStart, file, text }) =>
    byteStart === undefined || text === "" ? undefined : next.get(`${file} ${byteStart + Buffer.byteLength(text)}`)
  )
  const followed = new Set(followers)
  const places: Array<Place | undefined> = contexts.map(() => undefined)
  const stretches: Array<Stretch> = []
  contexts.forEach((_, first) => {
    if (followed.has(first)) return
    const chunks: Array<Chunk> = []
    let text = ""
    for (let at: number | undefined = first; at !== undefined && places[at] === undefined; at = followers[at]) {
      places[at] = { stretch: stretches.length, offset: text.length }
      chunks.push({ context: contexts[at]!, offset: text.length })
      text += contexts[at]!.text
    }
    stretches.push({ chunks, text })
  })
  return { stretches, places: places.map((place) => place!) }
}

/**
 * The chunk that covers a span of a stretch: from the start of the chunk in which the span starts to the end of the one
 * in which it ends.
 */
export const chunkOver = ({ chunks, text }: Stretch, start: number, end: number): Chunk => {
  const first = chunkAt(chunks, start)
  const touched = chunks.filter(({ offset }) => offset >= first.offset && offset < Math.max(end, first.offset + 1))
  const last = touched.at(-1)!
  if (last === first) return first
  const { pageBreaks: _, ...context } = first.context
  return {
    offset: first.offset,
    context: {
      ...context,
      text: text.slice(first.offset, last.offset + last.context.text.length),
      ...defined({ byteEnd: last.context.byteEnd, lastPage: last.context.lastPage, pageBreaks: pageBreaksOf(touched) })
    }
  }
}

/** The chunk at an offset of a stretch. */
export const chunkAt = (chunks: ReadonlyArray<Chunk>, at: number): Chunk => chunks.findLast(({ offset }) => offset <= at) ?? chunks[0]!

/** Offsets from the first chunk's start at which pages start; undefined where a chunk does not know its pages. */
const pageBreaksOf = (chunks: ReadonlyArray<Chunk>): ReadonlyArray<number> | undefined => {
  const breaks: Array<number> = []
  let page = chunks[0]!.context.firstPage
  for (const { context: { firstPage, lastPage = firstPage, pageBreaks }, offset } of chunks) {
    if (page === undefined || firstPage === undefined || (pageBreaks === undefined && lastPage !== firstPage)) return undefined
    const from = offset - chunks[0]!.offset
    for (; page < firstPage; page++) breaks.push(from)
    for (const at of pageBreaks ?? []) breaks.push(from + at)
    page = firstPage + (pageBreaks?.length ?? 0)
  }
  return breaks
}
