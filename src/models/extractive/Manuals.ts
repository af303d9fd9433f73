/** Entries of manuals: an option or another term with what explains it, beside it, below it or below a blank line. */
import { bullet, type Line } from "./Lines.ts"

type Lines = ReadonlyArray<Line>

/** The lines or words that an entry explains: they stand out to the left of the rest. */
export type EntryTerm = Pick<Line, "end" | "text" | "indent">

const maxTerms = 5
const maxTermCharacters = 70

/** A line that starts with an option. */
const optionStart = /^--?[\w?#]/

/** An option with what it does beside it, two spaces or a tab apart. */
export const besideOption = /^--?[\w?#](?:\S| (?! )){0,40}?(?: {2,}| *\t\s*)\S/

/** Whether a line is no more than an option. */
export const isOption = ({ text }: Line): boolean => /^--?[A-Za-z]/.test(text) && text.length <= maxTermCharacters && !/[.;:!?]$/.test(text)

/** Joins an option and what explains it, where a blank line stands between them. */
export const joinExplained = (runs: ReadonlyArray<Lines>): ReadonlyArray<Lines> => {
  const joined: Array<Lines> = []
  for (const lines of runs) {
    const before = joined.at(-1)
    const isOfOption = before !== undefined && before.length <= maxTerms && before.every(isOption) &&
      lines.every(({ indent }) => indent > before[0]!.indent) && !isOption(lines[0]!)
    if (isOfOption) joined[joined.length - 1] = [...before, ...lines]
    else joined.push(lines)
  }
  return joined
}

/** Splits a heading from the terms below it, to the left of which it stands out. */
export const splitOutdented = (lines: Lines): ReadonlyArray<Lines> => {
  const rest = lines.slice(1)
  return rest.length > 0 && rest[0]!.indent > lines[0]!.indent && termOf(lines) !== undefined && termOf(rest) !== undefined
    ? [[lines[0]!], rest]
    : [lines]
}

/** Splits options that stand line after line, each with what it does beside it and the deeper lines below it. */
export const splitEntries = (lines: Lines): ReadonlyArray<Lines> => {
  const { indent } = lines[0]!
  if (!lines.some(({ text }) => besideOption.test(text)) || !lines.every((line) => line.indent > indent || optionStart.test(line.text))) {
    return [lines]
  }
  const entries: Array<Array<Line>> = []
  for (const line of lines) {
    const entry = entries.at(-1)
    if (entry === undefined || (line.indent <= indent && (entry.at(-1)!.indent > indent || besideOption.test(entry.at(-1)!.text)))) {
      entries.push([line])
    } else entry.push(line)
  }
  return entries
}

/**
 * The term that a paragraph explains: its first lines where they are short and all others are indented below them, or the words of the
 * first line that the rest stands beside.
 */
export const termOf = (lines: Lines): EntryTerm | undefined => {
  const { indent, start, text } = lines[0]!
  if (bullet.test(text)) return undefined
  const count = lines.findIndex((line) => line.indent !== indent)
  const rest = count === -1 ? [] : lines.slice(count)
  if (rest.some((line) => line.indent <= indent)) return undefined
  const beside = count === 1 || lines.length === 1 ? /^(\S(?:\S| (?! )){0,40}?)(?: {2,}| *\t\s*)(?=\S)/.exec(text) : null
  if (beside !== null && (optionStart.test(text) || indent + beside[0].length === rest[0]?.indent)) {
    return { indent, text: beside[1]!, end: start + beside[1]!.length }
  }
  if (count < 1 || count > maxTerms) return undefined
  const terms = lines.slice(0, count)
  const isTerm = terms.every((line) => line.text.length <= maxTermCharacters && !/[.,;!?]$/.test(line.text))
  return isTerm ? { indent, text: terms.map((line) => line.text).join("\n"), end: terms.at(-1)!.end } : undefined
}
