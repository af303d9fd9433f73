import type { Box, PlacedGlyph } from "./Glyphs.ts"

/** Position in points: along the direction of the text, and down from its first line. */
interface Place {
  readonly start: number
  readonly end: number
  readonly top: number
  readonly bottom: number
}

interface Mark extends Place {
  readonly text: string
  readonly blankAfter: boolean
}

/** Words of one line that stand together. */
interface Segment extends Place {
  readonly text: string
}

/** Gap that separates words, as a share of a line's height. */
const wordGap = 0.13
/** Gap that separates what stands side by side, as a share of a line's height. */
const segmentGap = 1.5

/** Texts side by side are columns, read one after the other, where each has at least this many lines. */
const columnLines = 3
/** Texts side by side are columns, read one after the other, where their lines have at least this many words. */
const columnWords = 3

/**
 * The text of a page in the order in which a person reads who turns the page: first in the direction of most of it. `undefined` where
 * letters stand at other angles.
 */
export const uprightText = (glyphs: ReadonlyArray<PlacedGlyph>): string | undefined => {
  const directions: ReadonlyArray<Array<Mark>> = [[], [], [], []]
  for (const [at, glyph] of glyphs.entries()) {
    if (glyph.generated || glyph.text.trim() === "") continue
    if (glyph.turns === undefined) return undefined
    const next = glyphs[at + 1]
    directions[glyph.turns]!.push({
      ...placeOf(glyph.box, glyph.turns),
      text: glyph.text,
      blankAfter: next?.text.trim() === "" && !next.generated
    })
  }
  return directions.toSorted((a, b) => b.length - a.length).flatMap((marks) => rowsOf(segmentsOf(marks))).join("\n")
}

const placeOf = ({ bottom, left, right, top }: Box, turns: number): Place => {
  if (turns === 0) return { start: left, end: right, top: -top, bottom: -bottom }
  if (turns === 1) return { start: -top, end: -bottom, top: -right, bottom: -left }
  return turns === 2 ? { start: -right, end: -left, top: bottom, bottom: top } : { start: bottom, end: top, top: left, bottom: right }
}

const height = ({ bottom, top }: Place): number => Math.max(0.01, bottom - top)
const middle = ({ bottom, top }: Place): number => (top + bottom) / 2

/** Groups what stands at the same height, starting at the top. */
const bands = <A extends Place>(places: ReadonlyArray<A>): ReadonlyArray<ReadonlyArray<A>> => {
  const found: Array<Array<A>> = []
  for (const place of places.toSorted((a, b) => middle(a) - middle(b))) {
    const first = found.at(-1)?.[0]
    if (first !== undefined && middle(place) - middle(first) < height(first) / 2) found.at(-1)!.push(place)
    else found.push([place])
  }
  return found.map((band) => band.toSorted((a, b) => a.start - b.start))
}

const segmentsOf = (marks: ReadonlyArray<Mark>): ReadonlyArray<Segment> =>
  bands(marks).flatMap((line) => {
    const segments: Array<{ -readonly [Key in keyof Segment]: Segment[Key] }> = []
    let last: Mark | undefined
    for (const mark of line) {
      const open = segments.at(-1)
      const gap = last === undefined ? 0 : (mark.start - last.end) / height(last)
      if (open === undefined || last === undefined || gap > segmentGap) segments.push({ ...mark })
      else {
        open.text += last.blankAfter || gap > wordGap ? ` ${mark.text}` : mark.text
        open.end = Math.max(open.end, mark.end)
        open.top = Math.min(open.top, mark.top)
        open.bottom = Math.max(open.bottom, mark.bottom)
      }
      last = mark
    }
    return segments
  })

/** Lines in reading order: columns one after the other, everything else from top to bottom. */
const rowsOf = (segments: ReadonlyArray<Segment>): ReadonlyArray<string> => {
  const gutter = gutterOf(segments)
  if (gutter !== undefined) {
    return [...rowsOf(segments.filter(({ start }) => start < gutter)), ...rowsOf(segments.filter(({ start }) => start >= gutter))]
  }
  const rows = bands(segments)
  const cut = widestGap(rows)
  if (cut === undefined) return rows.map((row) => row.map(({ text }) => text).join(" "))
  return [...rowsOf(rows.slice(0, cut).flat()), ...rowsOf(rows.slice(cut).flat())]
}

/** Where a column starts beside another one, with a gap that no line crosses. */
const gutterOf = (segments: ReadonlyArray<Segment>): number | undefined => {
  const sorted = segments.toSorted((a, b) => a.start - b.start)
  let end = Number.NEGATIVE_INFINITY
  for (const [at, segment] of sorted.entries()) {
    if (at > 0 && segment.start - end > height(segment) && isColumn(sorted.slice(0, at)) && isColumn(sorted.slice(at))) return segment.start
    end = Math.max(end, segment.end)
  }
  return undefined
}

const isColumn = (segments: ReadonlyArray<Segment>): boolean =>
  segments.length >= columnLines &&
  segments.reduce((sum, { text }) => sum + text.split(" ").length, 0) >= columnWords * segments.length

/** The row above which there is most room, where that is more than between lines. */
const widestGap = (rows: ReadonlyArray<ReadonlyArray<Segment>>): number | undefined => {
  let widest: number | undefined
  let most = 0
  for (let at = 1; at < rows.length; at++) {
    const [above, below] = [rows[at - 1]!, rows[at]!]
    const gap = Math.min(...below.map(({ top }) => top)) - Math.max(...above.map(({ bottom }) => bottom))
    if (gap > height(below[0]!) / 2 && gap > most) [widest, most] = [at, gap]
  }
  return widest
}
