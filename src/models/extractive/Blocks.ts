/** The blocks of a chunk's parsed text, in which code, lists and tables have lost their marks but not their lines. */
import { defined } from "../../domain/Defined.ts"
import { pointsBelow, saysToRun, unfinishedLine } from "./Cues.ts"
import { bullet, endsInColon, endsInQuestionMark, itemsOf, type Line, runsOf, terminal } from "./Lines.ts"
import { isAddress, isCode, isCommand, isOutput, isSignature, isUnfinished, piped, prompt } from "./Listings.ts"
import { besideOption, type EntryTerm, isOption, joinExplained, splitEntries, splitOutdented, termOf } from "./Manuals.ts"
import { namesOf } from "./Tables.ts"

export type BlockKind = "heading" | "paragraph" | "list" | "table" | "code" | "keys"

export interface Block {
  readonly kind: BlockKind
  /** UTF-16 span in the text. */
  readonly start: number
  readonly end: number
  readonly lines: ReadonlyArray<Line>
  /** What the rest of the block explains: an option in a manual, a label. */
  readonly term?: EntryTerm
  /** The names of a table's columns, where they are known. */
  readonly columns?: ReadonlyArray<string>
}

type Lines = ReadonlyArray<Line>

const maxHeadingCharacters = 120
const maxEntryCharacters = 200
/** Characters of a listing that is shown whole; a longer one is several blocks. */
export const maxListingCharacters = 1200

/**
 * Cuts a text into blocks, in order. Linear in the text. `goesOn` is true for a text from the middle of a file: a table at its start may
 * have started before it, with columns of the names `columns`. Of source code, all is code but comments that stand alone.
 */
export const blocksOf = (
  text: string,
  goesOn = false,
  columns?: ReadonlyArray<string>,
  isSource = false
): ReadonlyArray<Block> => {
  if (isSource) return sourceBlocks(text)
  const runs = joinExplained(runsOf(text)).flatMap(splitUnderlined).flatMap(splitOutdented).flatMap(splitEntries)
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

const comment = /^(?:\/\/|\/\*|\*|#(?!\w)|--(?!\w)|;)/

/** The blocks of source code: what is indented below a blank line is the rest of what stands above it. */
const sourceBlocks = (text: string): ReadonlyArray<Block> => {
  const blocks: Array<Block> = []
  for (const lines of runsOf(text)) {
    const previous = blocks.at(-1)
    const [start, end] = [lines[0]!.start, lines.at(-1)!.end]
    if (lines.every(({ text }) => comment.test(text))) blocks.push({ kind: "paragraph", start, end, lines })
    else if (previous?.kind === "code" && lines[0]!.indent > 0 && end - previous.start <= maxListingCharacters) {
      blocks[blocks.length - 1] = { kind: "code", start: previous.start, end, lines: [...previous.lines, ...lines] }
    } else blocks.push({ kind: "code", start, end, lines })
  }
  return blocks
}

/** A shorter line is a heading, not a sentence that was cut off. */
const minCutOffCharacters = 40

/** Whether the end of a page or a column cut off the block's sentence, so that it goes on in these lines below a blank line. */
const isCutOff = ({ kind, lines: before }: Block, lines: Lines): boolean => {
  const { text } = before.at(-1)!
  if (kind !== "paragraph" && kind !== "heading") return false
  if (text.length < minCutOffCharacters || terminal.test(text) || lines[0]!.indent !== before.at(-1)!.indent) return false
  return /^\p{Ll}/u.test(lines[0]!.text) || unfinishedLine.test(text)
}

/** Splits a heading that is underlined with a line of marks, as plain text has them, from the lines around it, and drops the marks. */
const splitUnderlined = (lines: Lines): ReadonlyArray<Lines> => {
  const at = lines.findIndex(({ text }, at) =>
    at > 0 && /^([=~^*#-])\1{2,}$/.test(text) && text.length >= 0.6 * lines[at - 1]!.text.length &&
    /\p{L}/u.test(lines[at - 1]!.text) && !/\S {2,}\S| \| /.test(lines[at - 1]!.text)
  )
  if (at === -1) return [lines]
  const [before, rest] = [lines.slice(0, at - 1), lines.slice(at + 1)]
  return [...(before.length === 0 ? [] : [before]), [lines[at - 1]!], ...(rest.length === 0 ? [] : splitUnderlined(rest))]
}

const maxLeadInCharacters = 160

/** Whether a sentence is a lead-in: it ends in a colon, or points at what stands below it and says to run or install it. */
export const leads = (sentence: string): boolean =>
  endsInColon.test(sentence) || (sentence.length <= maxLeadInCharacters && pointsBelow.test(sentence) && saysToRun.test(sentence))

const kindOf = (lines: Lines, previous: Block | undefined, next: Lines | undefined): BlockKind => {
  const last = previous?.kind === "paragraph" ? sentenceBefore(previous) : undefined
  const led = last !== undefined && leads(last)
  const isLedToCode = led || previous?.kind === "code"
  if (isHead(lines)) return "keys"
  if (isRest(lines, previous) || (previous?.kind === "code" && isOutput(lines, previous.lines))) return "code"
  if (isAddress(lines) && (led || (last !== undefined && !terminal.test(last)))) return "code"
  if (besideOption.test(lines[0]!.text) && termOf(lines) !== undefined) return "paragraph"
  if (isRegular(lines)) return "table"
  if (!isLedToCode && isOptionHeading(lines, next)) return "heading"
  if (isCode(lines, isLedToCode) && !isSignature(lines, isLedToCode, next)) return "code"
  if (isTable(lines)) return "table"
  if (isKeys(lines)) return "keys"
  if (!led && isEntry(lines, next)) return "heading"
  if (isList(lines, next, (led && last.endsWith(":")) || previous?.kind === "list")) return "list"
  if (led && isCommand(lines)) return "code"
  // A line above an indented listing leads up to it, and half a sentence to an address.
  const isLead = next !== undefined &&
    ((next[0]!.indent > lines[0]!.indent && isCode(next, true)) || (isAddress(next) && isUnfinished(lines[0]!.text)))
  if (isHeading(lines) && next !== undefined && !isLead) return "heading"
  return "paragraph"
}

/** The last sentence of a paragraph, as far as it stands in the last three lines. */
const sentenceBefore = ({ lines }: Block): string =>
  lines.slice(-3).map(({ text }) => text).join(" ").split(/(?<=[.!?])\s+(?=\p{Lu})/u).at(-1)!

/** Whether lines below a listing, all deeper than its first line, are the rest of a function, though they may read as prose. */
const isRest = (lines: Lines, previous: Block | undefined): boolean =>
  previous?.kind === "code" && !bullet.test(lines[0]!.text) && lines.every(({ indent }) => indent > previous.lines[0]!.indent)

/**
 * Whether lines are a table whatever their cells contain: calls and symbols do not make them a listing, but pipes of a shell do. A short
 * table is left to the other rules, as it is shown well whole.
 */
const isRegular = (lines: Lines): boolean =>
  isTable(lines) && lines.at(-1)!.end - lines[0]!.start > maxEntryCharacters && lines.filter(({ text }) =>
      text.includes(" | ")
    ).length >= 0.8 * lines.length &&
  !lines.some(({ text }) => prompt.test(text) || piped.test(text))

const isTable = (lines: Lines): boolean => lines.length > 1 && lines.filter((line) => line.text.includes(" | ")).length * 2 > lines.length

const keyed = /^(?:- )?[\p{L}_][\p{L}\p{N} ._-]{0,40}:(?:\s|$)/u

/** Whether lines are keys and values, as mail, front matter and structured files have them; a value may go on below its key. */
const isKeys = (lines: Lines): boolean =>
  lines.length > 1 && keyed.test(lines[0]!.text) && lines.filter(({ indent, text }, at) =>
      keyed.test(text) || indent > 0 || lines[at - 1]?.text.endsWith(",")
    ).length >= 0.8 * lines.length &&
  lines.filter(({ text }) => keyed.test(text)).length >= 0.6 * lines.length

/** Whether lines are the head of a document: keys and values whose keys are capitalised, where those of code are not. */
const isHead = (lines: Lines): boolean =>
  lines.length > 2 && isKeys(lines) && lines.filter(({ text }) => /^\p{Lu}[\p{L}\p{N} -]*:\s\S/u.test(text)).length >= 0.6 * lines.length &&
  lines.every(({ text }) => !/[;{}]$/.test(text))

/** Whether lines are a list. A single marked line is one only where a lead-in or another item shows that it is no numbered heading. */
const isList = (lines: Lines, next: Lines | undefined, led: boolean): boolean =>
  bullet.test(lines[0]!.text) && (led || lines.length > 1 || (next !== undefined && bullet.test(next[0]!.text)))

/** Whether a marked line is an entry of a list of questions: it is a question, or what is indented below it answers it. */
const isEntry = (lines: Lines, next: Lines | undefined): boolean =>
  bullet.test(lines[0]!.text) && itemsOf(lines).length === 1 && lines.at(-1)!.end - lines[0]!.start <= maxEntryCharacters &&
  next !== undefined && !bullet.test(next[0]!.text) &&
  (next[0]!.indent > lines[0]!.indent || endsInQuestionMark.test(lines.at(-1)!.text))

/** Whether lines are a heading: one short line without punctuation at its end, or a question; what stands under it is about it. */
const isHeading = (lines: Lines): boolean => {
  const text = lines[0]!.text
  return lines.length === 1 && text.length <= maxHeadingCharacters && (!terminal.test(text) || endsInQuestionMark.test(text)) &&
    !text.includes(" | ") && !besideOption.test(text) && !caption.test(text)
}

/** What stands for a picture heads nothing: "Screenshot of the dialog". */
const caption =
  /^(?:an? |the )?(?:screen ?shot|screen ?capture|image|photo(?:graph)?|picture|diagram|illustration|logo|icon|animation|gif|bildschirmfoto|abbildung|capture d['’]écran|captura de pantalla) (?:of|showing|that|with|for|der|des|von|de|du)\b|^(?:figure|fig\.|abb\.) ?\d/iu

/** Whether an option stands alone above prose that is no deeper, and so heads a section about it. */
const isOptionHeading = (lines: Lines, next: Lines | undefined): boolean =>
  lines.length === 1 && isOption(lines[0]!) && next !== undefined && next[0]!.indent === lines[0]!.indent && !isOption(next[0]!) &&
  !isCode(next, false)
