import { type Block, bullet, itemsOf, leads, maxListingCharacters } from "./Blocks.ts"
import type { QuestionKind } from "./Question.ts"
import { rowsOf } from "./Tables.ts"
import { itemText, onOneLine, sentencesOf, type Unit } from "./Units.ts"
import { isCjk } from "./Words.ts"

/** A unit with what belongs to it: what an answer shows and cites. */
export interface Passage {
  /** UTF-16 span in the context's text. */
  readonly start: number
  readonly end: number
  /** What is shown of it, in order. */
  readonly parts: ReadonlyArray<Part>
}

export interface Part {
  /** UTF-16 span in the context's text. */
  readonly start: number
  readonly end: number
  /** On one line; or lines to be shown as they are: code, or the steps of a list. */
  readonly text: string
  readonly listing: boolean
  /** Stands above what follows and says nothing by itself. */
  readonly heading?: boolean
}

const passage = (...parts: ReadonlyArray<Part>): Passage => ({ start: parts[0]!.start, end: parts.at(-1)!.end, parts })
const prose = (start: number, end: number, text: string): Part => ({ start, end, text, listing: false })
const heading = (start: number, end: number, text: string): Part => ({ start, end, text, listing: false, heading: true })
const listing = (start: number, end: number, text: string): Part => ({ start, end, text, listing: true })

/** Two passages of one text as one, with what stands between them, each block of it by itself. */
export const joined = (a: Passage, b: Passage, text: string, blocks: ReadonlyArray<Block>): Passage => {
  const parts: Array<Part> = []
  for (const part of [...a.parts, ...b.parts].sort((one, other) => one.start - other.start || other.end - one.end)) {
    const before = parts.at(-1)
    const start = Math.max(part.start, before?.end ?? 0)
    if (part.end <= start) continue
    if (before !== undefined) { for (const one of partsBetween(before.end, start, text, blocks)) add(parts, one, text) }
    const rest = text.slice(start, part.end)
    add(parts, start === part.start ? part : { ...part, start, text: part.listing ? rest.trim() : onOneLine(rest) }, text)
  }
  return passage(...parts)
}

const partsBetween = (start: number, end: number, text: string, blocks: ReadonlyArray<Block>): ReadonlyArray<Part> =>
  blocks.flatMap((block) => {
    const from = Math.max(start, block.start)
    const to = Math.min(end, block.end)
    if (block.kind === "code" && from === block.start && to === block.end) return [listing(from, to, asWritten(block, to, text))]
    if (block.kind === "table") {
      return rowsOf(block.lines.filter((line) => line.start >= from && line.end <= to), block.columns).map(({ line, text }) =>
        prose(line.start, line.end, text)
      )
    }
    const written = text.slice(from, Math.max(from, to)).trimEnd()
    const said = onOneLine(written)
    if (said === "") return []
    return [(block.kind === "heading" ? heading : prose)(from, from + written.length, said)]
  })

/** As a part of its own, or as the next sentence of the last one's paragraph. */
const add = (parts: Array<Part>, next: Part, text: string): void => {
  const before = parts.at(-1)
  const gap = /^\s*/.exec(text.slice(before?.end ?? next.start, next.end))![0]
  if (before !== undefined && goesOn(before, next, gap, text)) {
    parts[parts.length - 1] = prose(before.start, next.end, `${before.text}${gap === "" ? "" : " "}${next.text}`)
  } else parts.push(next)
}

/** Whether one is the next sentence of the other's paragraph. `gap` is the white space between them. */
const goesOn = (before: Part, next: Part, gap: string, text: string): boolean =>
  !before.listing && !next.listing && !before.heading && !next.heading && next.start <= before.end + gap.length && !/\n\s*\n/.test(gap) &&
  /[.!?。！？]["'”’»」』)\]]*$/u.test(before.text) && !bullet.test(text.slice(before.end + gap.length, next.end))

/** Characters of a paragraph that are shown, the sentence that answers among them. */
const room: Readonly<Record<QuestionKind, number>> = {
  howTo: 600,
  why: 500,
  definition: 450,
  yesNo: 450,
  other: 450,
  number: 0,
  date: 0,
  person: 0
}
const most = { listing: maxListingCharacters, list: 800, shortList: 450, intro: 320, term: 160 }

/** Begins with what the sentence before it named, or answers it with a word. */
export const leaning =
  /^(?:this|that|these|those|it|its|they|their|he|she|such|then|however|but|therefore|thus|so|otherwise|instead|also|in this case|doing so|no|yes|dies|diese[rsmn]?|das|er|sie|es|damit|dann|aber|cela|ceci|eso|esto|questo)\b|^(?:这|那|它|他|她|因此|其|これ|それ|その|この)/iu

/** A line of options; a name that only code has. */
const option = /^--?[\w?[]/
const term = /^(?:--?[a-zA-Z][\w-]*(?:[ =[<].{0,40})?|[\w$]+(?:[.:/_-]+[\w$]+)+(?:\(.*\))?|[\w$]+\(.*\))$/
/** Answers a question with a word. */
const polarity = /^(?:yes|no|ja|nein|oui|non|sí|sì)\b(?! one)|^(?:是的|不|はい|いいえ)/iu

/** The smallest span that says all that the unit says: a sentence that leans on another with it, a lead-in with what it leads to. */
export const passageOf = (unit: Unit, text: string, kind: QuestionKind): Passage => {
  const block = unit.blocks[unit.block]!
  if (unit.kind === "code") return withIntroduction(unit, block, text)
  const isSteps = kind === "howTo" && block.end - block.start <= most.list && /^\(?\d/.test(block.lines[0]!.text)
  if ((unit.kind === "item" || unit.kind === "list") && isSteps) {
    return steps(unit, block, text)
  }
  if (unit.kind === "sentence" && block.kind === "paragraph") {
    const { end, start } = sentencesAround(unit, block, text, kind)
    return withTerm(unit, withWhatFollows(unit, start, end, text, kind), text)
  }
  if (unit.kind === "item") {
    const items = itemsOf(block.lines)
    if (kind !== "number" && kind !== "date" && kind !== "person" && block.end - block.start <= most.shortList && items.length > 1) {
      return passage(prose(block.start, block.end, items.map(itemText).join("; ")))
    }
    return withWhatFollows(unit, unit.start, unit.end, text, kind)
  }
  return passage(prose(unit.start, unit.end, unit.display))
}

const sentencesAround = (unit: Unit, block: Block, text: string, kind: QuestionKind): { readonly start: number; readonly end: number } => {
  const sentences = sentencesOf(text, block)
  const at = sentences.findIndex(({ end }) => end > unit.start)
  if (at === -1) return unit
  let first = at
  let last = at
  const length = (): number => sentences[last]!.end - sentences[first]!.start
  const isQuestion = (index: number): boolean => /[?？]["'”’)]*$/u.test(sentences[index]!.text)
  while (first > 0 && at - first < (kind === "person" ? 4 : 2) && leaning.test(sentences[first]!.text) && !isQuestion(first - 1)) first--
  // What explains a term is shown with it.
  const most = block.term === undefined ? room[kind] : Math.max(room[kind], room.definition)
  // A Chinese or Japanese text says as much in fewer characters.
  const limit = Math.max(isCjk(unit.words[0] ?? "") ? most / 3 : most, length())
  while (last + 1 < sentences.length && !isQuestion(last + 1) && sentences[last + 1]!.end - sentences[first]!.start <= limit) last++
  if (last === sentences.length - 1 || kind === "howTo" || kind === "why") {
    while (first > 0 && !isQuestion(first - 1) && sentences[last]!.end - sentences[first - 1]!.start <= limit) first--
  }
  // The document's own number of a note is no part of it.
  return { start: first === at ? unit.start : sentences[first]!.start, end: sentences[last]!.end }
}

const withWhatFollows = (unit: Unit, start: number, end: number, text: string, kind: QuestionKind): Passage => {
  const block = unit.blocks[unit.block]!
  const next = unit.blocks[unit.block + 1]
  const isLast = end >= block.end
  const said = unit.start === start && unit.end === end ? unit.display : onOneLine(text.slice(start, end))
  const led = /[:：]$/u.test(text.slice(start, end))
  if (isLast && next?.kind === "code" && (kind === "howTo" || leads(sentencesOf(text, block).at(-1)?.text ?? ""))) {
    const until = cut(next, most.listing)
    return passage(prose(start, end, said), listing(next.start, until, asWritten(next, until, text)), ...goingOn(unit, 2, text))
  }
  if (isLast && led && next?.kind === "list") {
    const items = itemsOf(next.lines)
    let shown = items.findIndex((item) => item.end - start > most.list)
    if (shown === -1) shown = items.length
    if (shown > 0) {
      return passage(prose(start, items[shown - 1]!.end, `${said} ${items.slice(0, shown).map(itemText).join("; ")}`))
    }
  }
  if (isLast && led && next !== undefined && next.kind !== "heading") {
    const until = cut(next, most.list)
    return passage(prose(start, end, said), listing(next.start, until, asWritten(next, until, text)))
  }
  return passage(prose(start, end, said))
}

/** With the line above where that is the term that is explained, an option or a name of code, or the question that a word answers. */
const withTerm = (unit: Unit, found: Passage, text: string): Passage => {
  const { term: own } = unit.blocks[unit.block]!
  const [first, ...rest] = found.parts
  if (own !== undefined && found.start === unit.blocks[unit.block]!.start && first!.end > own.end) {
    const from = own.end + /^\s*/.exec(text.slice(own.end))![0].length
    return passage(
      heading(found.start, own.end, onOneLine(own.text)),
      prose(from, first!.end, onOneLine(text.slice(from, first!.end))),
      ...rest
    )
  }
  const above = unit.blocks[unit.block - 1]
  if (above === undefined || found.start !== unit.blocks[unit.block]!.start) return found
  const { end, kind, lines, start } = above
  if (kind === "code" && end - start <= most.term && lines.every((line) => option.test(line.text))) {
    return passage(listing(start, end, lines.map((line) => line.text).join("\n")), ...found.parts)
  }
  const said = text.slice(start, end)
  const isTerm = term.test(said) || (/[?？]$/u.test(said) && polarity.test(text.slice(found.start, found.end)))
  return kind === "heading" && isTerm ? passage(heading(start, end, onOneLine(said)), ...found.parts) : found
}

/** The steps of a list, with what leads up to them. */
const steps = (unit: Unit, block: Block, text: string): Passage => {
  const before = unit.blocks[unit.block - 1]
  const led = before?.kind === "paragraph" && /[:：]$/u.test(before.lines.at(-1)!.text) ? sentencesOf(text, before).at(-1) : undefined
  const items = itemsOf(block.lines)
  const lines = items.map((item) => `${bullet.exec(item.text)?.[0].trim() ?? "-"} ${itemText(item)}`).join("\n")
  const listed = listing(block.start, block.end, lines)
  return led === undefined ? passage(listed) : passage(prose(led.start, led.end, onOneLine(led.text)), listed)
}

/** A listing with the sentence before it. */
const withIntroduction = (unit: Unit, block: Block, text: string): Passage => {
  const until = cut(block, most.listing)
  const listed = listing(unit.start, until, asWritten(block, until, text))
  const before = unit.blocks[unit.block - 1]
  const intro = before?.kind === "paragraph" ? sentencesOf(text, before).at(-1) : undefined
  const after = goingOn(unit, 1, text)
  if (intro === undefined || intro.end - intro.start > most.intro) return passage(listed, ...after)
  return passage(prose(intro.start, intro.end, onOneLine(text.slice(intro.start, intro.end))), listed, ...after)
}

/** The sentence that a listing interrupted: it goes on in a small letter. */
const goingOn = ({ block, blocks }: Unit, after: number, text: string): ReadonlyArray<Part> => {
  const next = blocks[block + after]
  if (next?.kind !== "paragraph" || blocks[block + after - 1]!.end - blocks[block + after - 1]!.start > most.listing) return []
  const [sentence] = sentencesOf(text, next)
  return /^\p{Ll}/u.test(sentence!.text) ? [prose(sentence!.start, sentence!.end, onOneLine(sentence!.text))] : []
}

/** Where a block ends that may have so many characters: whole lines. */
const cut = ({ lines, start }: Block, characters: number): number => {
  let end = lines[0]!.end
  for (const line of lines) {
    if (line.end - start > characters) break
    end = line.end
  }
  return end
}

/** Its lines, moved to the left together. */
const asWritten = ({ start }: Block, end: number, text: string): string => {
  const written = text.slice(text.lastIndexOf("\n", start) + 1, end).split("\n").map((line) => line.trimEnd())
  const indent = Math.min(...written.filter((line) => line !== "").map((line) => line.length - line.trimStart().length))
  return written.map((line) => line.slice(indent)).join("\n")
}
