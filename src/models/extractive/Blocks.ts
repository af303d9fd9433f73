/** The blocks of a chunk's parsed text, in which code, lists and tables have lost their marks but not their lines. */

export type BlockKind = "heading" | "paragraph" | "list" | "table" | "code" | "keys"

export interface Line {
  readonly start: number
  readonly end: number
  readonly text: string
  /** Columns of white space before it. */
  readonly indent: number
}

export interface Block {
  readonly kind: BlockKind
  readonly start: number
  readonly end: number
  readonly lines: ReadonlyArray<Line>
}

export const bullet = /^[ \t]*(?:[-*+•◦▪‣·–]|\(?(?:\d{1,3}|[a-zA-Z])[.)]|（\d+）|\d+、)[ \t]+/u
const terminal = /[.!?:;。！？：；…][)"'”’»」』\]]*$/u
const maxHeadingCharacters = 120

/** Cuts a text into blocks, in order. Linear in the text. */
export const blocksOf = (text: string): ReadonlyArray<Block> => {
  const runs = runsOf(text)
  const blocks: Array<Block> = []
  runs.forEach((lines, at) => {
    const previous = blocks.at(-1)
    const kind = kindOf(lines, previous, runs[at + 1])
    const start = lines[0]!.start
    const end = lines.at(-1)!.end
    // Blank lines stand within a listing too.
    if (kind === "code" && previous?.kind === "code") {
      blocks[blocks.length - 1] = { kind, start: previous.start, end, lines: [...previous.lines, ...lines] }
    } else blocks.push({ kind, start, end, lines })
  })
  return blocks
}

/** Runs of lines between blank lines. */
const runsOf = (text: string): Array<Array<Line>> => {
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
      const indent = raw.indexOf(line)
      current.push({ start: start + indent, end: start + indent + line.length, text: line, indent })
    }
    start = stop + 1
  }
  if (current.length > 0) runs.push(current)
  return runs
}

const kindOf = (lines: ReadonlyArray<Line>, previous: Block | undefined, next: ReadonlyArray<Line> | undefined): BlockKind => {
  const led = previous?.kind === "paragraph" && /[:：]$/u.test(previous.lines.at(-1)!.text)
  if (isCode(lines, led || previous?.kind === "code")) return "code"
  if (isTable(lines)) return "table"
  if (isKeys(lines)) return "keys"
  if (isList(lines, next, led || previous?.kind === "list")) return "list"
  if (isHeading(lines) && next !== undefined) return "heading"
  return "paragraph"
}

const prompt = /^(?:>>>|\.\.\.|\$|#!|%|C:\\>)(?:\s|$)/
const statement =
  /^(?:def|class|import|from|return|raise|async|await|elif|except|try|finally|yield|lambda|assert|case|match|const|let|var|function|public|private|static|void|int|struct|typedef|export|package|func|fn|use|SELECT|INSERT|UPDATE|CREATE|pip|npm|npx|apt|apt-get|brew|curl|git|docker|kubectl|sudo|python3?|node|cargo|go|make)\b(?!.*[a-z]{2}\.$)/
/** Lines of Python and its like that have no other sign of being code. */
const alone =
  /^(?:pass|break|continue|return|\.{3})$|^(?:else|try|finally)\s*:$|^(?:if|elif|for|while|with|except|class|def|async def|async with|async for)\b.{0,100}:(?:\s*#.*)?$/
const symbols =
  /^[\])}>;,]+$|[;{}]$|[([{,\\]$|^[@<#{}\])[]|^\/[/*]|=>|->|\w\(.*\)|\w\.\w+\(|^[\w.[\]"']+\s*[-+*/|&]?=\s|^--?\w|^\w+(?:\[.*\])?:\s*\w+(?:\[.*\])?(?:\s*=|$)/
/** A line that reads as prose: several plain words in a row, ended as a sentence is. */
const prose = /(?:\b\p{L}{2,}[,]?\s+){5}/u

/** Listings: prompts and statements, or, where something leads up to it, lines full of signs. */
const isCode = (lines: ReadonlyArray<Line>, led: boolean): boolean => {
  let strong = 0
  let weak = 0
  for (const { text } of lines) {
    const plain = prose.test(text)
    if (prompt.test(text) || alone.test(text)) strong++
    else if (plain && terminal.test(text) && !/[:;]$/.test(text)) weak--
    else if (statement.test(text) && (!plain || /[:;(){}=]/.test(text))) strong++
    else if (symbols.test(text) && !plain) weak++
  }
  if (bullet.test(lines[0]!.text) && lines.every(({ text }) => bullet.test(text)) && strong === 0) return false
  return 2 * (strong + (led || strong > 0 ? weak : 0.6 * weak)) > lines.length
}

const isTable = (lines: ReadonlyArray<Line>): boolean =>
  lines.length > 1 && lines.filter((line) => line.text.includes(" | ")).length * 2 > lines.length

const keyed = /^(?:- )?[\p{L}_][\p{L}\p{N} ._-]{0,40}:(?:\s|$)/u

/** Lines of key and value, as mail, front matter and structured files have them; a value may go on below it. */
const isKeys = (lines: ReadonlyArray<Line>): boolean =>
  lines.length > 1 && keyed.test(lines[0]!.text) && lines.filter(({ indent, text }) =>
      keyed.test(text) || indent > 0
    ).length >= 0.8 * lines.length &&
  lines.filter(({ text }) => keyed.test(text)).length >= 0.6 * lines.length

/** Marked lines; a single one only where a lead-in or another item shows that it is no numbered heading. */
const isList = (lines: ReadonlyArray<Line>, next: ReadonlyArray<Line> | undefined, led: boolean): boolean =>
  bullet.test(lines[0]!.text) && (led || lines.length > 1 || (next !== undefined && bullet.test(next[0]!.text)))

/** One line, short, ending in no punctuation; what stands under it is about it. */
const isHeading = (lines: ReadonlyArray<Line>): boolean => {
  const text = lines[0]!.text
  return lines.length === 1 && text.length <= maxHeadingCharacters && (!terminal.test(text) || /[?？]$/u.test(text)) &&
    !text.includes(" | ")
}

/** Items of a list, or entries of keys: a line with a mark and what stands under it. */
export const itemsOf = (lines: ReadonlyArray<Line>): ReadonlyArray<Line> => {
  const items: Array<Line> = []
  for (const line of lines) {
    const previous = items.at(-1)
    if (previous === undefined || bullet.test(line.text)) items.push(line)
    else items[items.length - 1] = { ...previous, end: line.end, text: `${previous.text} ${line.text}` }
  }
  return items
}
