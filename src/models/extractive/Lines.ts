/** The lines of a parsed text, in which code, lists and tables have lost their marks but not their lines. */

export interface Line {
  /** UTF-16 span in the text, without white space around it. */
  readonly start: number
  readonly end: number
  readonly text: string
  /** Columns of white space before it. */
  readonly indent: number
}

/** The mark that a list's item starts with, and the white space after it. */
export const bullet = /^[ \t]*(?:[-*+•◦▪‣·–]|#[.)]|\(?(?:\d{1,3}|[a-zA-Z])[.)]|（\d+）|\d+、)[ \t]+/u

/** The punctuation that a sentence or a clause ends with, at the end of a text. */
export const terminal = /[.!?:;。！？：；…][)"'”’»」』\]]*$/u

/** A colon at the end of a text, which leads up to what follows it. */
export const endsInColon = /[:：]$/u

/** A question mark at the end of a text. */
export const endsInQuestionMark = /[?？]$/u

/** A question mark at the end of a text, quotation marks and brackets aside. */
export const isQuestion = /[?？]["'”’)]*$/u

/** The runs of lines between blank lines. */
export const runsOf = (text: string): Array<Array<Line>> => {
  const runs: Array<Array<Line>> = []
  let current: Array<Line> = []
  let start = 0
  while (start <= text.length) {
    const newline = text.indexOf("\n", start)
    const stop = newline === -1 ? text.length : newline
    const raw = text.slice(start, stop)
    const line = raw.trim()
    if (line === "") {
      if (current.length > 0) runs.push(current)
      current = []
    } else {
      const from = raw.indexOf(line)
      current.push({ start: start + from, end: start + from + line.length, text: line, indent: columnsOf(raw.slice(0, from)) })
    }
    start = stop + 1
  }
  if (current.length > 0) runs.push(current)
  return runs
}

const tabWidth = 8

const columnsOf = (space: string): number => {
  let columns = 0
  for (const one of space) columns += one === "\t" ? tabWidth - columns % tabWidth : 1
  return columns
}

/** The items of a list, or the entries of keys: a line with a mark and the lines below it without one. */
export const itemsOf = (lines: ReadonlyArray<Line>): ReadonlyArray<Line> => {
  const items: Array<Line> = []
  for (const line of lines) {
    const previous = items.at(-1)
    if (previous === undefined || bullet.test(line.text)) items.push(line)
    else items[items.length - 1] = { ...previous, end: line.end, text: `${previous.text} ${line.text}` }
  }
  return items
}
