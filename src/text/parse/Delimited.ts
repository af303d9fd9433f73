import { oneLine, rowLine } from "./BlockSink.ts"
import { decodeLines } from "./Decode.ts"
import { DocumentBuilder } from "./DocumentBuilder.ts"
import type { Reader } from "./Reader.ts"
import { addParagraphs } from "./Text.ts"

/** Reads values separated by commas, semicolons, tabs or pipes as one table, a line for each row, the header first. */
export const delimited: Reader = ({ bytes, format, limits }) => {
  const builder = new DocumentBuilder(limits.characters)
  const source = decodeLines(bytes)
  // Excel's own hint is a first line of `sep=;`.
  const hint = /^sep=([^\n])\n/i.exec(source)
  const separator = hint?.[1] ?? separatorOf(source, format)
  if (separator === undefined) addParagraphs(source, builder)
  else builder.add("table", rows(source, separator, hint?.[0].length ?? 0).join("\n"))
  return builder.build({ format })
}

const candidates = [",", ";", "\t", "|"]
const sampleLines = 50

/** The candidate that divides the first lines most evenly; of equals, the one that the format's name promises. */
export const separatorOf = (given: string, format: string): string | undefined => {
  const promised = format === "tsv" ? "\t" : ","
  const lines = given.slice(0, 64 * 1024).split("\n", sampleLines).filter((line) => line.trim() !== "")
  let best: string | undefined
  let bestScore = 0
  for (const candidate of [promised, ...candidates.filter((other) => other !== promised)]) {
    const counts = lines.map((line) => line.replace(/"[^"]*"/g, "").split(candidate).length - 1)
    const columns = counts.toSorted((a, b) => a - b)[counts.length >> 1] ?? 0
    const score = columns === 0 ? 0 : counts.filter((count) => count === columns).length / counts.length
    if (score > bestScore + 0.2) {
      best = candidate
      bestScore = score
    }
  }
  return best
}

/** The rows that are not empty, as lines of a table. */
const rows = (source: string, separator: string, start: number): ReadonlyArray<string> =>
  [...records(source, separator, start)].map(({ cells }) => rowLine(cells.map(oneLine)))

/**
 * Records by RFC 4180, tolerating what programs write besides: quotes after blanks, text after a closing quote. Empty rows are left out.
 */
export function* records(
  source: string,
  separator: string,
  start = 0
): Generator<{ readonly cells: ReadonlyArray<string>; readonly start: number }> {
  const ends = { line: nextOf(source, "\n"), field: nextOf(source, separator) }
  let cells: Array<string> = []
  let from = start
  let at = start
  while (at < source.length) {
    const { value, end } = field(source, ends, at)
    cells.push(value)
    at = end + 1
    if (source[end] === separator) continue
    if (cells.some((cell) => cell.trim() !== "")) yield { cells, start: from }
    cells = []
    from = at
  }
  if (cells.some((cell) => cell.trim() !== "")) yield { cells, start: from }
}

type Next = (at: number) => number

/**
 * A function that returns the first position of `mark` at `at` or later; the length of the source where there is none. Positions must only
 * grow: each search is remembered, since in a file of one line, or without the separator, every field would search to the end.
 */
const nextOf = (source: string, mark: string): Next => {
  let found = -1
  return (at) => {
    if (found < at) {
      const next = source.indexOf(mark, at)
      found = next < 0 ? source.length : next
    }
    return found
  }
}

const field = (
  source: string,
  ends: { readonly line: Next; readonly field: Next },
  start: number
): { readonly value: string; readonly end: number } => {
  let at = start
  while (source[at] === " ") at++
  let value = ""
  if (source[at] === "\"") {
    for (let open = at;;) {
      const close = source.indexOf("\"", open + 1)
      // A quote that is never closed is an ordinary character.
      if (close < 0) break
      value += source.slice(open + 1, close)
      at = close + 1
      if (source[at] !== "\"") break
      value += "\""
      open = at
    }
  }
  const end = Math.min(ends.line(at), ends.field(at))
  return { value: value + source.slice(at, end), end }
}
