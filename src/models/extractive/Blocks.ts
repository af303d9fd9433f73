/** The blocks of a chunk's parsed text, in which code, lists and tables have lost their marks but not their lines. */
import { defined } from "../../domain/Defined.ts"
import { namesOf } from "./Tables.ts"

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
  /** The lines at its beginning that stand out to the left of the rest, which explains them: an option in a manual, a label. */
  readonly term?: Pick<Line, "end" | "text" | "indent">
  /** The names of a table's columns, where they are known. */
  readonly columns?: ReadonlyArray<string>
}

export const bullet = /^[ \t]*(?:[-*+•◦▪‣·–]|#[.)]|\(?(?:\d{1,3}|[a-zA-Z])[.)]|（\d+）|\d+、)[ \t]+/u
const terminal = /[.!?:;。！？：；…][)"'”’»」』\]]*$/u
const maxHeadingCharacters = 120
const maxEntryCharacters = 200
export const maxListingCharacters = 1200

/**
 * Cuts a text into blocks, in order. Linear in the text. `goesOn`: it is from the middle of a file, where a table at its beginning
 * may have begun before, with `columns` of these names.
 */
export const blocksOf = (text: string, goesOn = false, columns?: ReadonlyArray<string>): ReadonlyArray<Block> => {
  const runs = explained(runsOf(text)).flatMap(underlined).flatMap(outdented).flatMap(entriesOf)
  const blocks: Array<Block> = []
  runs.forEach((lines, at) => {
    const previous = blocks.at(-1)
    const kind = kindOf(lines, previous, runs[at + 1])
    const term = kind === "paragraph" ? termOf(lines) : undefined
    const names = kind !== "table" ? undefined : (at === 0 ? columns : undefined) ?? namesOf(lines, at > 0 || !goesOn)
    const start = lines[0]!.start
    const end = lines.at(-1)!.end
    // Blank lines stand within a listing too; one that is too long to be shown is several.
    if (kind === "code" && previous?.kind === "code" && end - previous.start <= maxListingCharacters) {
      blocks[blocks.length - 1] = { kind, start: previous.start, end, lines: [...previous.lines, ...lines] }
    } else if (previous !== undefined && kind === "paragraph" && term === undefined && isCutOff(previous, lines)) {
      blocks[blocks.length - 1] = { ...previous, kind, end, lines: [...previous.lines, ...lines] }
    } else blocks.push({ kind, start, end, lines, ...defined({ term, columns: names }) })
  })
  return blocks
}

/** A sentence that a page or a column cut off, of a text in which the rest of it stands below a blank line. */
const isCutOff = ({ kind, lines: before }: Block, lines: ReadonlyArray<Line>): boolean => {
  const { text } = before.at(-1)!
  if (kind !== "paragraph" && kind !== "heading") return false
  if (text.length < leastCutOff || terminal.test(text) || lines[0]!.indent !== before.at(-1)!.indent) return false
  return /^\p{Ll}/u.test(lines[0]!.text) || goesOn.test(text)
}
/** Shorter lines are headings. */
const leastCutOff = 40
/** No sentence and no heading ends so. */
const goesOn =
  /(?:,|\b(?:a|an|the|of|and|or|with|by|from|for|to|in|as|that|which|after|before|than|der|die|das|und|oder|von|mit|des|de|la|le|et|y|los|las))$/u

/** A heading with a line of marks below it, as plain text has them, apart from what follows; the marks say nothing. */
const underlined = (lines: ReadonlyArray<Line>): ReadonlyArray<ReadonlyArray<Line>> => {
  const at = lines.findIndex(({ text }, at) =>
    at > 0 && /^([=~^*#-])\1{2,}$/.test(text) && text.length >= 0.6 * lines[at - 1]!.text.length &&
    /\p{L}/u.test(lines[at - 1]!.text) && !/\S {2,}\S| \| /.test(lines[at - 1]!.text)
  )
  if (at === -1) return [lines]
  const [before, rest] = [lines.slice(0, at - 1), lines.slice(at + 1)]
  return [...(before.length === 0 ? [] : [before]), [lines[at - 1]!], ...(rest.length === 0 ? [] : underlined(rest))]
}

/** A heading that stands out to the left of terms that follow at once, apart from them. */
const outdented = (lines: ReadonlyArray<Line>): ReadonlyArray<ReadonlyArray<Line>> => {
  const rest = lines.slice(1)
  return rest.length > 0 && rest[0]!.indent > lines[0]!.indent && termOf(lines) !== undefined && termOf(rest) !== undefined
    ? [[lines[0]!], rest]
    : [lines]
}

/** Options with what each does, line after line, apart; one that goes on below it has that with it. */
const entriesOf = (lines: ReadonlyArray<Line>): ReadonlyArray<ReadonlyArray<Line>> => {
  const { indent } = lines[0]!
  if (!lines.some(({ text }) => besideOption.test(text)) || !lines.every((line) => line.indent > indent || /^--?[\w?#]/.test(line.text))) {
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

const maxTerms = 5
const maxTermCharacters = 70

/** An option and what explains it, where a blank line stands between them. */
const explained = (runs: ReadonlyArray<ReadonlyArray<Line>>): ReadonlyArray<ReadonlyArray<Line>> => {
  const joined: Array<ReadonlyArray<Line>> = []
  for (const lines of runs) {
    const before = joined.at(-1)
    const isOfOption = before !== undefined && before.length <= maxTerms && before.every(isOption) &&
      lines.every(({ indent }) => indent > before[0]!.indent) && !isOption(lines[0]!)
    if (isOfOption) joined[joined.length - 1] = [...before, ...lines]
    else joined.push(lines)
  }
  return joined
}

const isOption = ({ text }: Line): boolean => /^--?[A-Za-z]/.test(text) && text.length <= maxTermCharacters && !/[.;:!?]$/.test(text)

/** The term of a paragraph: short lines that all else is indented below, or words, an option, that it stands beside. */
const termOf = (lines: ReadonlyArray<Line>): Block["term"] => {
  const { indent, start, text } = lines[0]!
  if (bullet.test(text)) return undefined
  const count = lines.findIndex((line) => line.indent !== indent)
  const rest = count === -1 ? [] : lines.slice(count)
  if (rest.some((line) => line.indent <= indent)) return undefined
  const beside = count === 1 || lines.length === 1 ? /^(\S(?:\S| (?! )){0,40}?)(?: {2,}| *\t\s*)(?=\S)/.exec(text) : null
  if (beside !== null && (/^--?[\w?#]/.test(text) || indent + beside[0].length === rest[0]?.indent)) {
    return { indent, text: beside[1]!, end: start + beside[1]!.length }
  }
  if (count < 1 || count > maxTerms) return undefined
  const terms = lines.slice(0, count)
  const isTerm = terms.every((line) => line.text.length <= maxTermCharacters && !/[.,;!?]$/.test(line.text))
  return isTerm ? { indent, text: terms.map((line) => line.text).join("\n"), end: terms.at(-1)!.end } : undefined
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
      const from = raw.indexOf(line)
      current.push({ start: start + from, end: start + from + line.length, text: line, indent: columnsOf(raw.slice(0, from)) })
    }
    start = stop + 1
  }
  if (current.length > 0) runs.push(current)
  return runs
}

/** A tab goes on to the next eighth column. */
const columnsOf = (space: string): number => {
  let columns = 0
  for (const one of space) columns += one === "\t" ? 8 - columns % 8 : 1
  return columns
}

/** A lead-in: it ends in a colon, or points at what stands below it. */
export const leads = (sentence: string): boolean =>
  /[:：]$/u.test(sentence) || (sentence.length <= 160 && pointing.test(sentence) && imperative.test(sentence))
const pointing = /\b(?:this|these|following|below|like so|as follows)\b/iu
const imperative =
  /^(?:(?:to|then|for|if|when|after|before|next|first|now|finally|alternatively|instead)\b[^.]*?,? )?(?:please |just |simply )?(?:run|use|try|type|enter|execute|call|issue|do|add|write|put|set|install|start)\b/iu

const kindOf = (lines: ReadonlyArray<Line>, previous: Block | undefined, next: ReadonlyArray<Line> | undefined): BlockKind => {
  const last = previous?.kind === "paragraph" ? sentenceBefore(previous) : undefined
  const led = last !== undefined && leads(last)
  if (isHead(lines)) return "keys"
  if (isRest(lines, previous)) return "code"
  if (besideOption.test(lines[0]!.text) && termOf(lines) !== undefined) return "paragraph"
  if (isRegular(lines)) return "table"
  if (!led && previous?.kind !== "code" && isOptionHeading(lines, next)) return "heading"
  if (isCode(lines, led || previous?.kind === "code") && !isSignature(lines, led || previous?.kind === "code", next)) return "code"
  if (isTable(lines)) return "table"
  if (isKeys(lines)) return "keys"
  if (!led && isEntry(lines, next)) return "heading"
  if (isList(lines, next, (led && last.endsWith(":")) || previous?.kind === "list")) return "list"
  if (led && isCommand(lines)) return "code"
  // What a listing stands below, indented, leads up to it.
  if (isHeading(lines) && next !== undefined && !(next[0]!.indent > lines[0]!.indent && isCode(next, true))) return "heading"
  return "paragraph"
}

/** The end of a paragraph, from its last sentence's beginning. */
const sentenceBefore = ({ lines }: Block): string =>
  lines.slice(-3).map(({ text }) => text).join(" ").split(/(?<=[.!?])\s+(?=\p{Lu})/u).at(-1)!

const prompt = /^(?:>>>|\.\.\.|\$>?|#!|%|PS>|C:\\>)(?:\s|$)/
const comment = /^(?:\/\/|\/\*|#)(?:\s|$)/
const command =
  /^(?:pip3?|npm|npx|pnpm|yarn|bun|bunx|deno|apt|apt-get|brew|curl|wget|git|docker|kubectl|gcloud|aws|sudo|python3?|node|cargo|go|make|bash|sh|cd|mkdir|export|set|ssh)\s+[-\w./$@"'=:]+/
const statement =
  /^(?:def|class|import|from|return|raise|async|await|elif|except|try|finally|yield|lambda|assert|case|match|const|let|var|function|public|private|static|void|int|struct|typedef|package|interface|type|enum|func|fn|use|SELECT|INSERT|UPDATE|CREATE)\b(?!.*[a-z]{2}\.$)/
/** Lines of Python and its like that have no other sign of being code. */
const alone =
  /^(?:pass|break|continue|return|\.{3})$|^(?:else|try|finally)\s*:$|^(?:if|elif|for|while|with|except|class|def|async def|async with|async for)\b.{0,100}:(?:\s*#.*)?$/
const symbols =
  /^[\])}>;,]+$|[;{}]$|[([{,\\]$|^[@<#{}\])[]|^\/[/*]|=>|->|\w\(.*\)|\w\.\w+\(|^[\w.[\]"']+\s*[-+*/|&]?=\s|^--?\w|^\w+(?:\[.*\])?:\s*\w+(?:\[.*\])?(?:\s*=|$)/
/** Nothing but brackets, or an assignment, or a call that is ended or opened as none is in prose. */
const unlikeProse = /^[\])}({[;,]+$|^[\w.:$[\]"']+\s*[-+*/|&:]?=\s*\S|[\w\])]\(.*(?:\);|[{(,])$|[)}\]];?$.*=>|^["'\w$-]+:\s\S.*,$/
const statementCall = /^[\w\s.$=]+\(.*\);$|^(?:await\s+)?[\w$]+(?:\.[\w$]+)+\(.*['"].*\)$/
const flag = /^[a-z][\w./-]*(?:\s\S+)*\s--?[a-zA-Z][\w-]*/
/** A line that reads as prose: several plain words in a row, ended as a sentence is. */
const prose = /(?:\b\p{L}{2,}[,]?\s+){5}|\p{Ll}[.!?]\s+\p{Lu}\p{Ll}/u

/** What is code whatever stands around it: imports, decorators, heads of functions and classes. */
const declaration =
  /^(?:import\s+[\w.]+(?:\s+as\s+\w+)?|from\s+[\w.]+\s+import\s+[\w*(].*|@[\w.]+(?:\(.*\)?)?|(?:async\s+)?def\s+\w+\(.*|class\s+\w+(?:\(.*\))?:)$/
const salutation = /^\p{Lu}[\p{L} .'’-]*,$/u
/** Words enough for a sentence that names a call, and no sign that only code has. */
const speaks = (text: string): boolean =>
  !/[;{}=|<>\\]|\w\.\w+\([^)]|^\W/.test(text) && (text.match(/(?<=^|\s)\p{L}{2,}(?=[.,:]?(?:\s|$))/gu)?.length ?? 0) >= 3

/** The last word of a line that a sentence goes on from. */
const unfinished = /[\p{L}\p{N})"'\]][,]?$/u

/**
 * Listings: prompts and statements, or, where something leads up to it, lines full of signs. What stands below the head of
 * a function, or is what a prompt prints, is of the listing, though it reads as prose.
 */
const isCode = (lines: ReadonlyArray<Line>, led: boolean): boolean => {
  if (lines[0]!.text.startsWith(">>> ")) return true
  let strong = 0
  let weak = 0
  let within = Infinity
  let isWrapped = false
  for (const { indent, text } of lines) {
    if (indent > within) {
      strong++
      continue
    }
    const plain = prose.test(text)
    // A sentence that goes on in the next line may begin that with any word: "package", "from", "import".
    const goesOn: boolean = isWrapped
    isWrapped = (plain || goesOn) && unfinished.test(text)
    within = declaration.test(text) && !goesOn && /[:(,]$/.test(text) ? indent : Infinity
    if (goesOn) { if (terminal.test(text) && !/[:;)]$/.test(text)) weak-- }
    else if (prompt.test(text) || alone.test(text) || comment.test(text) || statementCall.test(text) || declaration.test(text)) strong++
    else if (plain && terminal.test(text) && !/[:;)]$/.test(text)) weak--
    else if (!plain && (unlikeProse.test(text) || flag.test(text) || (command.test(text) && (lines.length === 1 || led)))) strong++
    else if (statement.test(text) && (plain ? /[:;(){}=]/.test(text) : lines.length > 1 || led || /[;(){}=.'"]/.test(text))) strong++
    else if (symbols.test(text) && !plain && !speaks(text) && !salutation.test(text)) weak++
  }
  if (bullet.test(lines[0]!.text) && lines.every(({ text }) => bullet.test(text)) && strong === 0) return false
  const most = comment.test(lines[0]!.text) && lines.length > 1 ? lines.length - 1 : lines.length
  return 2 * (strong + (led || strong > 0 ? weak : 0.6 * weak)) > most
}

/** Below a listing, deeper than its first line: the rest of a function, of which the run between blank lines may be prose. */
const isRest = (lines: ReadonlyArray<Line>, previous: Block | undefined): boolean =>
  previous?.kind === "code" && !bullet.test(lines[0]!.text) && lines.every(({ indent }) => indent > previous.lines[0]!.indent)

/** A heading that names a function: a call on a line of its own, which prose follows and nothing leads up to. */
const isSignature = (lines: ReadonlyArray<Line>, led: boolean, next: ReadonlyArray<Line> | undefined): boolean =>
  !led && lines.length === 1 && next !== undefined && !isCode(next, false) &&
  /^(?:new |await |(?:class|static) (?:method|property): )?[@\w.$#[\]/-]+(?:\(.*\))?(?:\s*(?:->|:|=>)\s*[\w<>[\]|.]+)?$/iu.test(
    lines[0]!.text
  ) && !/['"]/.test(lines[0]!.text) && !/[=;]/.test(lines[0]!.text.replace(/\([^)]*\)/, ""))

/** After a lead-in: one line that begins as no sentence and no name does, and ends as none does. */
const isCommand = (lines: ReadonlyArray<Line>): boolean =>
  lines.length === 1 && /^[a-z./~$][^\s]*\s/.test(lines[0]!.text) && !terminal.test(lines[0]!.text) && !prose.test(lines[0]!.text)

/**
 * A table whatever its cells hold: calls and signs do not make it a listing, as what is piped to a command does. A short one of these
 * is well shown whole.
 */
const isRegular = (lines: ReadonlyArray<Line>): boolean =>
  isTable(lines) && lines.at(-1)!.end - lines[0]!.start > maxEntryCharacters && lines.filter(({ text }) =>
      text.includes(" | ")
    ).length >= 0.8 * lines.length &&
  !lines.some(({ text }) => prompt.test(text) || piped.test(text))
const piped =
  / \| (?:grep|sed|awk|sort|uniq|head|tail|wc|xargs|tee|cut|tr|less|more|jq|sh|bash|python3?|node|docker|kubectl|openssl|base64)\b/

const isTable = (lines: ReadonlyArray<Line>): boolean =>
  lines.length > 1 && lines.filter((line) => line.text.includes(" | ")).length * 2 > lines.length

const keyed = /^(?:- )?[\p{L}_][\p{L}\p{N} ._-]{0,40}:(?:\s|$)/u

/** Lines of key and value, as mail, front matter and structured files have them; a value may go on below it. */
const isKeys = (lines: ReadonlyArray<Line>): boolean =>
  lines.length > 1 && keyed.test(lines[0]!.text) && lines.filter(({ indent, text }, at) =>
      keyed.test(text) || indent > 0 || lines[at - 1]?.text.endsWith(",")
    ).length >= 0.8 * lines.length &&
  lines.filter(({ text }) => keyed.test(text)).length >= 0.6 * lines.length

/** Keys and values as the head of a document has them: keys in capitals, where code has names. */
const isHead = (lines: ReadonlyArray<Line>): boolean =>
  lines.length > 2 && isKeys(lines) && lines.filter(({ text }) => /^\p{Lu}[\p{L}\p{N} -]*:\s\S/u.test(text)).length >= 0.6 * lines.length &&
  lines.every(({ text }) => !/[;{}]$/.test(text))

/** Marked lines; a single one only where a lead-in or another item shows that it is no numbered heading. */
const isList = (lines: ReadonlyArray<Line>, next: ReadonlyArray<Line> | undefined, led: boolean): boolean =>
  bullet.test(lines[0]!.text) && (led || lines.length > 1 || (next !== undefined && bullet.test(next[0]!.text)))

/** A marked line by itself, above what is indented below it, or a question: an entry of a list of questions. */
const isEntry = (lines: ReadonlyArray<Line>, next: ReadonlyArray<Line> | undefined): boolean =>
  bullet.test(lines[0]!.text) && itemsOf(lines).length === 1 && lines.at(-1)!.end - lines[0]!.start <= maxEntryCharacters &&
  next !== undefined && !bullet.test(next[0]!.text) &&
  (next[0]!.indent > lines[0]!.indent || /[?？]$/u.test(lines.at(-1)!.text))

/** One line, short, ending in no punctuation; what stands under it is about it. */
const isHeading = (lines: ReadonlyArray<Line>): boolean => {
  const text = lines[0]!.text
  return lines.length === 1 && text.length <= maxHeadingCharacters && (!terminal.test(text) || /[?？]$/u.test(text)) &&
    !text.includes(" | ") && !besideOption.test(text)
}
/** What an option does, beside it. */
const besideOption = /^--?[\w?#](?:\S| (?! )){0,40}?(?: {2,}| *\t\s*)\S/

/** An option by itself, above prose that is no deeper: a section about it. */
const isOptionHeading = (lines: ReadonlyArray<Line>, next: ReadonlyArray<Line> | undefined): boolean =>
  lines.length === 1 && isOption(lines[0]!) && next !== undefined && next[0]!.indent === lines[0]!.indent && !isOption(next[0]!) &&
  !isCode(next, false)

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
