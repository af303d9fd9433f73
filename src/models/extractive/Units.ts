import { defined } from "../../domain/Defined.ts"
import type { Context } from "../../domain/Retrieval.ts"
import { formatOfName } from "../../text/parse/Formats.ts"
import { type Block, blocksOf, leads } from "./Blocks.ts"
import { afterOrdinal, contentsHeading, endsInAbbreviation } from "./Cues.ts"
import { bullet, endsInColon, endsInQuestionMark, isQuestion, itemsOf, type Line } from "./Lines.ts"
import { cellsOf, rowsOf } from "./Tables.ts"
import { normalize, partsOfNames, wordsOfNormal } from "./Words.ts"

export type UnitKind = "sentence" | "item" | "row" | "key" | "list" | "code"

/** The smallest piece of a text that an answer may quote, and where it stands in that text. */
export interface TextUnit {
  readonly kind: UnitKind
  /** The text's blocks. */
  readonly blocks: ReadonlyArray<Block>
  /** Index of the unit's block in `blocks`. */
  readonly block: number
  /** UTF-16 span in the text: the quote, to the letter. */
  readonly start: number
  readonly end: number
  /** What the answer prints: one line, list marks taken off, a row's cells named by their columns. */
  readonly display: string
  /** Text above that says what the unit is about: a heading or question, a list's lead-in, a table's header. */
  readonly above: string
  /** The cells of a row; absent for other units. */
  readonly cells?: ReadonlyArray<string>
  /** The names of a row's columns, where they are known. */
  readonly columns?: ReadonlyArray<string>
  /** The heading within the text that the unit stands under, if any. */
  readonly heading: string | undefined
  /** Number of units before it since the last heading or the text's start. */
  readonly position: number
  /** Folded words of the quote, in order. */
  readonly words: ReadonlyArray<string>
  /** Folded words of the quote, and the words that names in code consist of. */
  readonly wordSet: ReadonlySet<string>
  /** The quote, normalised, for finding CJK words in it. */
  readonly normal: string
}

/** A unit of one context: its blocks and offsets are those of the context's text. */
export interface Unit extends TextUnit {
  /** Index into the request's contexts. */
  readonly context: number
}

/** What is known of a unit before its words are read. */
interface Draft {
  readonly kind: UnitKind
  readonly start: number
  readonly end: number
  readonly above: string
  /** Default: the quote on one line. */
  readonly display?: string
  /** Index of its block. Default: the block that is being cut. */
  readonly block?: number
  readonly cells?: ReadonlyArray<string>
  readonly columns?: ReadonlyArray<string>
}

const sentences = new Intl.Segmenter("en", { granularity: "sentence" })

/** Characters of a list that may be quoted whole. */
const maxListCharacters = 600
const maxSentenceCharacters = 700
/** UTF-16 units of a listing whose words are compared with the question's. */
const maxCodeCharacters = 2000

/** The number of a section, which makes its heading no fact. */
const sectionNumber = /^(?:(?:[Cc]hapter|[Ss]ection|[Pp]art|[Aa]ppendix) )?(?:\d+(?:\.\d+)*|[A-Z](?:\.\d+)+)[.):]?\s+(?=\p{Lu})/u

/** The mark that a document's own note starts with, which would read as one of our citations. */
const ownMark = /^\[\d{1,3}\]\s+/
/** A document's own reference to a note, which would read as one of our citations. */
const anyMark = /\s*\[\d{1,3}\]/g

/** A quote on one line, without the document's own note marks. */
export const onOneLine = (quote: string): string => oneLine(quote.replace(ownMark, "")).replace(anyMark, "")

const addresses = /<?\b[\w.+-]+@[\w-]+(?:\.[\w-]+)+>?|\bhttps?:\/\/[^\s<>)\]]+/g

/** The dots that lead to a page number in a table of contents, which says where something is explained and explains nothing. */
const leaders = /(?:\. ?){5,}\d/

/** A line that is no more than an address. */
const address = /^(?:\S+:?\s+)?(?:https?:|mailto:)\S+$/

/** Cuts the text of a context, which has these blocks, into units, in order. Linear in the text. */
export const unitsOf = (context: Context, index: number, blocks: ReadonlyArray<Block>): Array<Unit> => {
  const text = context.text
  const units: Array<Unit> = []
  let block = 0
  let heading: string | undefined
  let above = ""
  let position = 0
  /** A lead-in at the end of the last block, which becomes a unit only together with what it leads to. */
  let leadIn: Line | undefined
  /** The term that the current block, and deeper ones below it, explain. */
  let term: Block["term"]

  const push = ({ above: over, block: of = block, cells, columns, display, end, kind, start: from }: Draft): void => {
    const start = kind === "code" ? from : from + (ownMark.exec(text.slice(from, end))?.[0].length ?? 0)
    const quote = text.slice(start, end)
    // The words of an address are not about the subject.
    const read = (kind === "code" ? quote.slice(0, maxCodeCharacters) : quote.replace(typeset, "")).replace(addresses, " ")
    const normal = normalize(read)
    const words = wordsOfNormal(normal)
    if (words.length === 0 || address.test(quote)) return
    units.push({
      kind,
      context: index,
      blocks,
      block: of,
      start,
      end,
      display: kind === "code" ? quote : (display ?? oneLine(quote)).replace(anyMark, ""),
      above: term === undefined ? over : `${over}\n${term.text}`,
      heading,
      position: position++,
      words,
      wordSet: new Set([...words, ...partsOfNames(read)]),
      normal,
      ...defined({ cells, columns })
    })
  }

  for (block = 0; block < blocks.length; block++) {
    const { columns, end, kind, lines } = blocks[block]!
    if (kind !== "code" && lines.filter((line) => leaders.test(line.text)).length * 2 > lines.length) continue
    // A table of contents has the words of the headings, and nothing of what stands under them.
    if (kind === "list" && contentsHeading.test(heading ?? context.headings.at(-1) ?? "")) continue
    const first = lines[0]!
    const next = blocks[block + 1]
    const lead = leadIn
    leadIn = undefined
    if (term !== undefined && first.indent <= term.indent) term = undefined
    term = blocks[block]!.term ?? term
    const underLead = lead === undefined ? above : `${above}\n${lead.text}`
    const pushLead = ({ end, start }: Line): void => push({ kind: "sentence", start, end, above, block: block - 1 })
    switch (kind) {
      case "code":
        push({ kind: "code", start: first.start, end, above: underLead })
        if (lead !== undefined) pushLead(lead)
        break
      case "table":
        for (const { cells, line: { end, start }, text: display } of rowsOf(lines, columns)) {
          const over = columns === undefined ? above : `${above}\n${columns.join(" ")}`
          push({ kind: "row", start, end, above: over, display, cells, ...defined({ columns }) })
        }
        break
      case "keys":
        for (const key of keysOf(lines, above)) push(key)
        break
      case "list": {
        const items = itemsOf(lines)
        if (lead !== undefined && end - lead.start <= maxListCharacters) {
          push({ kind: "list", start: lead.start, end, above, display: `${oneLine(lead.text)} ${items.map(itemText).join("; ")}` })
        } else if (lead !== undefined) pushLead(lead)
        for (const item of items) push({ kind: "item", start: item.start, end: item.end, above: underLead, display: itemText(item) })
        break
      }
      case "heading":
        // A lone line may be a heading or a fact ("Fax: 555 0100"); the latter is quotable too.
        if (
          /\d|: /.test(first.text.replace(sectionNumber, "")) && !bullet.test(first.text) && !endsInQuestionMark.test(first.text) &&
          !context.headings.includes(first.text)
        ) push({ kind: "sentence", start: first.start, end: first.end, above })
        heading = above = oneLine(text.slice(first.start, end))
        position = 0
        break
      case "paragraph": {
        const found = sentencesOf(text, blocks[block]!)
        const isLeadIn = next?.kind === "list"
          ? endsInColon.test(lines.at(-1)!.text)
          : next?.kind === "code" && leads(found.at(-1)?.text ?? "")
        if (isLeadIn) leadIn = found.pop()
        for (const { end, start, text: sentence } of found) {
          if (isQuestion.test(sentence)) {
            // The next sentences answer a question that the text asks.
            above = sentence
            // In a list of questions each one takes the place of the one before as heading.
            if (heading !== undefined && endsInQuestionMark.test(heading)) heading = above
            position = 0
          } else push({ kind: "sentence", start, end, above })
        }
      }
    }
  }
  return units
}

/**
 * The blocks of each context. A chunk that starts within a table takes the names of its columns from the nearest chunk before it in the
 * file that ends in the table, under the same heading and with no other text between.
 */
export const blocksIn = (contexts: ReadonlyArray<Context>): ReadonlyArray<ReadonlyArray<Block>> => {
  const found: Array<ReadonlyArray<Block>> = []
  const open = new Map<string, { readonly columns: ReadonlyArray<string> | undefined; readonly heading: string | undefined }>()
  const startOf = (at: number): number => contexts[at]!.byteStart ?? 0
  for (const at of [...contexts.keys()].sort((a, b) => startOf(a) - startOf(b))) {
    const { file, headings, text } = contexts[at]!
    const before = open.get(file)
    const isOpen = startOf(at) > 0 && before?.heading === headings.at(-1)
    const [cells = []] = cellsOf([{ text: text.slice(0, text.search(/\n|$/)) }])
    const columns = isOpen ? before?.columns : undefined
    const blocks = blocksOf(
      text,
      startOf(at) > 0,
      columns !== undefined && cells.length <= columns.length ? columns : undefined,
      isSource(contexts[at]!)
    )
    const last = blocks.at(-1)
    const heading = blocks.findLast(({ kind }) => kind === "heading")?.lines[0]?.text ?? headings.at(-1)
    open.set(file, { columns: last?.columns, heading })
    found[at] = blocks
  }
  return found
}

/** Whether a context is of a file of source code. */
export const isSource = ({ sourceDisplayName }: Context): boolean => formatOfName(sourceDisplayName) === "code"

/** A hyphen at the end of a line that only typesetting put there, as manual pages have it. */
const typeset = /(?<=\p{L})[\u2010\u00ad]\n\s*(?=\p{Ll})/gu

const oneLine = (text: string): string => text.replace(typeset, "").replace(/\s+/g, " ").trim()
export const itemText = (line: Pick<Line, "text">): string => oneLine(line.text.replace(bullet, ""))

/** A unit for each line of keys and values, below the keys that it is part of; an entry of a list of them is one unit. */
const keysOf = (lines: ReadonlyArray<Line>, above: string): ReadonlyArray<Draft> => {
  const found: Array<Draft> = []
  const parents: Array<Line> = []
  for (let at = 0; at < lines.length; at++) {
    const line = lines[at]!
    while (parents.length > 0 && parents.at(-1)!.indent >= line.indent) parents.pop()
    const isEntry = line.text.startsWith("- ")
    const isParent = line.text.endsWith(":") && (lines[at + 1]?.indent ?? 0) > line.indent
    if (isParent && !isEntry) {
      parents.push(line)
      continue
    }
    let last = at
    while ((lines[last + 1]?.indent ?? 0) > line.indent) last++
    found.push({
      kind: "key",
      start: line.start,
      end: lines[last]!.end,
      above: [above, ...parents.map(({ text }) => text.replace(/:$/, ""))].join("\n"),
      display: lines.slice(at, last + 1).map(({ text }) => oneLine(text.replace(/^- /, ""))).join("; ")
    })
    at = last
  }
  return found
}

/** Lines this short, of which none goes on with a small letter, stand alone: key and value, verse. */
const maxStandaloneCharacters = 60

/** The sentences of a paragraph. A line end within a sentence is a space, unless the lines stand alone. */
export const sentencesOf = (text: string, { lines, term }: Pick<Block, "lines" | "term">): Array<Line> => {
  const start = lines[0]!.start
  const end = lines.at(-1)!.end
  const standalone = lines.every((line, at) => line.text.length < maxStandaloneCharacters && (at === 0 || !/^\p{Ll}/u.test(line.text)))
  // A term alone says nothing, so its line is joined with what explains it.
  const joinedTo = standalone ? lines.find((line) => line.start > (term?.end ?? Infinity))?.start ?? start : end
  const flat = text.slice(start, joinedTo).replaceAll("\n", " ") + text.slice(joinedTo, end)
  const found: Array<Line> = []
  let from = 0
  for (const { index, segment } of sentences.segment(flat)) {
    // The segmenter takes the bracket of a note mark for a closing one, and would cut `included.[1]` after `[`.
    const mark = segment.endsWith("[") ? /^\d{1,3}\]/.exec(flat.slice(index + segment.length)) : null
    const stop = index + segment.length + (mark?.[0].length ?? 0)
    const next = flat.slice(stop, stop + 12)
    const isCutShort = endsInAbbreviation.test(segment) || /^[\p{Ll},;)]/u.test(next) ||
      (/(?<![\p{L}\p{N}.])\d{1,2}\.\s*$/u.test(segment) && afterOrdinal.test(next))
    if (stop < flat.length && isCutShort && !segment.endsWith("\n")) continue
    const raw = flat.slice(from, stop)
    const body = raw.trim()
    if (body !== "") found.push(...bounded(text, start + from + raw.indexOf(body), body.length))
    from = stop
  }
  return found
}

/** A sentence, cut at spaces where it is too long to be one: verse, logs and extracted tables have no sentence ends. */
const bounded = (text: string, start: number, length: number): Array<Line> => {
  const pieces: Array<Line> = []
  const end = start + length
  for (let at = start; at < end;) {
    let stop = end
    if (end - at > maxSentenceCharacters) {
      const space = text.lastIndexOf(" ", at + maxSentenceCharacters)
      stop = space > at ? space : at + maxSentenceCharacters
    }
    pieces.push({ start: at, end: stop, text: text.slice(at, stop), indent: 0 })
    at = stop
    while (at < end && /\s/.test(text[at]!)) at++
  }
  return pieces
}
