import type { Context } from "../../domain/Retrieval.ts"
import { type Block, blocksOf, bullet, itemsOf, leads, type Line } from "./Blocks.ts"
import { cellsOf, rowsOf } from "./Tables.ts"
import { normalize, partsOfNames, wordsOfNormal } from "./Words.ts"

export type UnitKind = "sentence" | "item" | "row" | "key" | "list" | "code"

/** The smallest piece of a context that an answer may quote. */
export interface Unit {
  readonly kind: UnitKind
  /** Index into the request's contexts. */
  readonly context: number
  /** The context's blocks, and which of them the unit is of. */
  readonly blocks: ReadonlyArray<Block>
  readonly block: number
  /** UTF-16 span in the context's text: the quote, to the letter. */
  readonly start: number
  readonly end: number
  /** What the answer prints: one line, list marks taken off, a row's cells named by their column. */
  readonly display: string
  /** Text above that says what the unit is about: a heading or question line, a list's lead-in, a table's header. */
  readonly above: string
  /** Of a row, its cells, and the names of their columns where they are known. */
  readonly cells?: ReadonlyArray<string>
  readonly columns?: ReadonlyArray<string>
  /** The heading within the context that it stands under, if any. */
  readonly heading: string | undefined
  /** Units since the last heading or the chunk's beginning. */
  readonly position: number
  /** Folded words of the quote, in order, and the same as a set, with the words that names in code are made of. */
  readonly words: ReadonlyArray<string>
  readonly wordSet: ReadonlySet<string>
  /** The quote, normalised, for finding CJK words in it. */
  readonly normal: string
}

type Push = (
  kind: UnitKind,
  start: number,
  end: number,
  above: string,
  display?: string,
  block?: number,
  row?: Pick<Unit, "cells" | "columns">
) => void

const abbreviations =
  /(?:^|[\s(])(?:\p{Lu}|Mrs?|Ms|Dr|Prof|Rev|Gen|Col|Capt|Lt|Sgt|Gov|Sen|Rep|Hon|Mt|St|Jr|Sr|vs|etc|e\.g|i\.e|cf|No|Nos|Fig|Eq|Sec|Art|approx|ca|al|Inc|Ltd|Co|Corp|z\.B|d\.h|u\.a|bzw|Nr|Abs|Abb|vgl|ggf|usw|Jan|Feb|Mar|Apr|Jun|Jul|Aug|Sept?|Oct|Nov|Dec)\.\s*$/u
/** What German and its neighbours count with a point: "18. Jahrhundert", "7. Januar". */
const ordinal =
  /^(?:Jahrh|Jahrt|Jan|Feb|Mär|Apr|Mai|Jun|Jul|Aug|Sep|Okt|Nov|Dez|Geburts|Präsident|Platz|Weltkrieg|Klasse|Tag|Woche|Monat|Auflage|Band|Kapitel|Absatz|Artikel)/u
const sentences = new Intl.Segmenter("en", { granularity: "sentence" })

/** A list that is asked for as a whole is quoted as a whole up to this many characters. */
const maxListCharacters = 600
const maxSentenceCharacters = 700
/** Words of a listing that are compared. */
const maxCodeCharacters = 2000

/** A document's own note marks, which would read as our citations: before a note, and after what it notes. */
const ownMark = /^\[\d{1,3}\]\s+/
const anyMark = /\s*\[\d{1,3}\]/g

/** A quote on one line, without the document's own note marks. */
export const onOneLine = (quote: string): string => oneLine(quote.replace(ownMark, "")).replace(anyMark, "")

const addresses = /<?\b[\w.+-]+@[\w-]+(?:\.[\w-]+)+>?|\bhttps?:\/\/[^\s<>)\]]+/g

/** The dots that lead to a page's number in a table of contents, which says where something is told, not what. */
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
  let leadIn: Line | undefined
  let term: Block["term"]

  const push: Push = (kind, from, end, over, display, of = block, row) => {
    const start = kind === "code" ? from : from + (ownMark.exec(text.slice(from, end))?.[0].length ?? 0)
    const quote = text.slice(start, end)
    // An address has words that its owner did not mean.
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
      ...row
    })
  }

  for (block = 0; block < blocks.length; block++) {
    const { columns, end, kind, lines } = blocks[block]!
    if (kind !== "code" && lines.filter((line) => leaders.test(line.text)).length * 2 > lines.length) continue
    const first = lines[0]!
    const next = blocks[block + 1]
    const lead = leadIn
    leadIn = undefined
    if (term !== undefined && first.indent <= term.indent) term = undefined
    term = blocks[block]!.term ?? term
    switch (kind) {
      case "code":
        push("code", first.start, end, lead === undefined ? above : `${above}\n${lead.text}`)
        if (lead !== undefined) push("sentence", lead.start, lead.end, above, undefined, block - 1)
        break
      case "table":
        for (const { cells, line, text } of rowsOf(lines, columns)) {
          const over = columns === undefined ? above : `${above}\n${columns.join(" ")}`
          push("row", line.start, line.end, over, text, block, columns === undefined ? { cells } : { cells, columns })
        }
        break
      case "keys":
        pushKeys(lines, above, push)
        break
      case "list": {
        const items = itemsOf(lines)
        if (lead !== undefined && end - lead.start <= maxListCharacters) {
          push("list", lead.start, end, above, `${oneLine(lead.text)} ${items.map(itemText).join("; ")}`)
        } else if (lead !== undefined) push("sentence", lead.start, lead.end, above, undefined, block - 1)
        const over = lead === undefined ? above : `${above}\n${lead.text}`
        for (const item of items) push("item", item.start, item.end, over, itemText(item))
        break
      }
      case "heading":
        // A lone line may be a heading or a fact ("Fax: 555 0100"); the latter is quotable too.
        if (/\d|: /.test(first.text) && !bullet.test(first.text) && !/[?？]$/u.test(first.text) && !context.headings.includes(first.text)) {
          push("sentence", first.start, first.end, above)
        }
        heading = above = oneLine(text.slice(first.start, end))
        position = 0
        break
      case "paragraph": {
        const found = sentencesOf(text, blocks[block]!)
        const isLed = next?.kind === "list" ? /[:：]$/u.test(lines.at(-1)!.text) : next?.kind === "code" && leads(found.at(-1)?.text ?? "")
        if (isLed) leadIn = found.pop()
        for (const sentence of found) {
          if (/[?？]["'”’)]*$/u.test(sentence.text)) {
            // A question that the text asks is what its next sentences answer.
            above = sentence.text
            // In a list of questions each ends the one before.
            if (heading !== undefined && /[?？]$/u.test(heading)) heading = above
            position = 0
          } else {
            push("sentence", sentence.start, sentence.end, above)
          }
        }
      }
    }
  }
  return units
}

/**
 * The blocks of each context. A chunk that begins within a table knows the names of its columns from the nearest one before it that
 * ends in the table, under the same heading and with no other text between.
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
    const blocks = blocksOf(text, startOf(at) > 0, columns !== undefined && cells.length <= columns.length ? columns : undefined)
    const last = blocks.at(-1)
    const heading = blocks.findLast(({ kind }) => kind === "heading")?.lines[0]?.text ?? headings.at(-1)
    open.set(file, { columns: last?.columns, heading })
    found[at] = blocks
  }
  return found
}

/** A hyphen that only typesetting put at the end of a line, as manual pages have it. */
const typeset = /(?<=\p{L})[\u2010\u00ad]\n\s*(?=\p{Ll})/gu

const oneLine = (text: string): string => text.replace(typeset, "").replace(/\s+/g, " ").trim()
export const itemText = (line: Pick<Line, "text">): string => oneLine(line.text.replace(bullet, ""))

/** Each line of keys and values, below the keys that it is part of; an entry of a list of them as a whole. */
const pushKeys = (lines: ReadonlyArray<Line>, above: string, push: Push): void => {
  const parents: Array<Line> = []
  for (let at = 0; at < lines.length; at++) {
    const line = lines[at]!
    while (parents.length > 0 && parents.at(-1)!.indent >= line.indent) parents.pop()
    const over = [above, ...parents.map(({ text }) => text.replace(/:$/, ""))].join("\n")
    let last = at
    const isEntry = line.text.startsWith("- ")
    const isParent = line.text.endsWith(":") && (lines[at + 1]?.indent ?? 0) > line.indent
    if (isParent && !isEntry) {
      parents.push(line)
      continue
    }
    while ((lines[last + 1]?.indent ?? 0) > line.indent) last++
    const end = lines[last]!.end
    push("key", line.start, end, over, lines.slice(at, last + 1).map(({ text }) => oneLine(text.replace(/^- /, ""))).join("; "))
    at = last
  }
}

/** Sentences of a paragraph. A line end inside one is a space, unless the lines stand alone (key and value, verse). */
export const sentencesOf = (text: string, { lines, term }: Pick<Block, "lines" | "term">): Array<Line> => {
  const start = lines[0]!.start
  const end = lines.at(-1)!.end
  const standalone = lines.every((line, at) => line.text.length < 60 && (at === 0 || !/^\p{Ll}/u.test(line.text)))
  // A term alone says nothing: what is told of it begins with it.
  const told = standalone ? lines.find((line) => line.start > (term?.end ?? Infinity))?.start ?? start : end
  const flat = text.slice(start, told).replaceAll("\n", " ") + text.slice(told, end)
  const found: Array<Line> = []
  let from = 0
  for (const { index, segment } of sentences.segment(flat)) {
    // The bracket of a note mark is taken for a closing one: `included.[1]` would be cut after `[`.
    const mark = segment.endsWith("[") ? /^\d{1,3}\]/.exec(flat.slice(index + segment.length)) : null
    const stop = index + segment.length + (mark?.[0].length ?? 0)
    const next = flat.slice(stop, stop + 12)
    if (
      stop < flat.length &&
      (abbreviations.test(segment) || /^[\p{Ll},;)]/u.test(next) ||
        (/(?<![\p{L}\p{N}.])\d{1,2}\.\s*$/u.test(segment) && ordinal.test(next))) &&
      !segment.endsWith("\n")
    ) continue
    const raw = flat.slice(from, stop)
    const body = raw.trim()
    if (body !== "") found.push(...bounded(text, start + from + raw.indexOf(body), body.length))
    from = stop
  }
  return found
}

/** Text without sentence ends (verse, logs, extracted tables) is cut at spaces. */
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
