import { type Block, leads, maxListingCharacters } from "./Blocks.ts"
import { leaning, polarity } from "./Cues.ts"
import { bullet, endsInColon, endsInQuestionMark, isQuestion, itemsOf } from "./Lines.ts"
import { isUnfinished } from "./Listings.ts"
import type { QuestionKind } from "./QuestionKind.ts"
import { rowsOf } from "./Tables.ts"
import { itemText, onOneLine, sentencesOf, type TextUnit } from "./Units.ts"
import { cjkDensity, isCjk } from "./Words.ts"

/** A unit with what belongs to it: what an answer shows and cites. */
export interface Passage {
  /** UTF-16 span in the text that the unit is of. */
  readonly start: number
  readonly end: number
  /** What is shown, in order. */
  readonly parts: ReadonlyArray<Part>
}

/** A paragraph, a heading or a listing of a passage. */
export interface Part {
  /** UTF-16 span in the text that the unit is of. */
  readonly start: number
  readonly end: number
  /** One line, unless `listing` is set. */
  readonly text: string
  /** Whether the text has lines that are shown as they are: code, or the steps of a list. */
  readonly listing: boolean
  /** Whether it only heads what follows and says nothing alone. */
  readonly heading?: boolean
}

const passage = (...parts: ReadonlyArray<Part>): Passage => ({ start: parts[0]!.start, end: parts.at(-1)!.end, parts })
const prose = (start: number, end: number, text: string): Part => ({ start, end, text, listing: false })
const heading = (start: number, end: number, text: string): Part => ({ start, end, text, listing: false, heading: true })
const listing = (start: number, end: number, text: string): Part => ({ start, end, text, listing: true })

/** Joins two passages of one text, with what stands between them as parts block by block. */
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

/** The parts that show a span of a text: one for each block, and one for each row of a table. */
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

/** Adds a part, or extends the last one where the new one is the next sentence of its paragraph. */
const add = (parts: Array<Part>, next: Part, text: string): void => {
  const before = parts.at(-1)
  const gap = /^\s*/.exec(text.slice(before?.end ?? next.start, next.end))![0]
  if (before !== undefined && goesOn(before, next, gap, text)) {
    parts[parts.length - 1] = prose(before.start, next.end, `${before.text}${gap === "" ? "" : " "}${next.text}`)
  } else parts.push(next)
}

/** Whether `next` is the next sentence of the paragraph of `before`. `gap` is the white space between them. */
const goesOn = (before: Part, next: Part, gap: string, text: string): boolean =>
  !before.listing && !next.listing && !before.heading && !next.heading && next.start <= before.end + gap.length && !/\n\s*\n/.test(gap) &&
  /[.!?。！？]["'”’»」』)\]]*$/u.test(before.text) && !bullet.test(text.slice(before.end + gap.length, next.end))

/** Characters of a paragraph that are shown around the sentence that answers, by the kind of question. */
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
/** Characters at most of what belongs to a unit. */
const most = {
  /** A listing. */
  listing: maxListingCharacters,
  /** A list of steps, or what stands below a lead-in. */
  list: 800,
  /** A list that is shown whole, in one line, for one of its items. */
  shortList: 450,
  /** The sentence before a listing. */
  intro: 320,
  /** The options above what explains them. */
  term: 160
}
/** Sentences shown before one that leans on them. */
const maxLeantOn = 2
/** Sentences shown before one that leans on them where the question is about a person, whose name may stand further back. */
const maxLeantOnForPerson = 4

/** A line that starts with an option. */
const option = /^--?[\w?[]/
/** A line that is no more than an option or a name that only code has. */
const term = /^(?:--?[a-zA-Z][\w-]*(?:[ =[<].{0,40})?|[\w$]+(?:[.:/_-]+[\w$]+)+(?:\(.*\))?|[\w$]+\(.*\))$/

/**
 * The smallest passage that says all that the unit says: a sentence with the one it leans on, a lead-in with what it leads to. `text` is
 * the text that the unit is of. `isNamedAbove` says that only the heading right above the unit names what it is about.
 */
export const passageOf = (unit: TextUnit, text: string, kind: QuestionKind, isNamedAbove = false): Passage => {
  const block = unit.blocks[unit.block]!
  if (unit.kind === "code") return withIntroduction(unit, block, text)
  const isSteps = kind === "howTo" && block.end - block.start <= most.list && /^\(?\d/.test(block.lines[0]!.text)
  if ((unit.kind === "item" || unit.kind === "list") && isSteps) {
    return steps(unit, block, text)
  }
  if (unit.kind === "sentence" && block.kind === "paragraph") {
    const { end, start } = sentencesAround(unit, block, text, kind)
    return withTerm(unit, withWhatFollows(unit, start, end, text, kind), text, isNamedAbove)
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

/** The span of a unit's sentence with those it leans on, and with those after and before it for which there is room. */
const sentencesAround = (
  unit: TextUnit,
  block: Block,
  text: string,
  kind: QuestionKind
): { readonly start: number; readonly end: number } => {
  const sentences = sentencesOf(text, block)
  const at = sentences.findIndex(({ end }) => end > unit.start)
  if (at === -1) return unit
  let first = at
  let last = at
  const length = (): number => sentences[last]!.end - sentences[first]!.start
  const asks = (index: number): boolean => isQuestion.test(sentences[index]!.text)
  while (
    first > 0 && at - first < (kind === "person" ? maxLeantOnForPerson : maxLeantOn) && leaning.test(sentences[first]!.text) &&
    !asks(first - 1)
  ) first--
  // What explains a term is shown with it.
  const characters = block.term === undefined ? room[kind] : Math.max(room[kind], room.definition)
  const limit = Math.max(isCjk(unit.words[0] ?? "") ? characters / cjkDensity : characters, length())
  while (last + 1 < sentences.length && !asks(last + 1) && sentences[last + 1]!.end - sentences[first]!.start <= limit) last++
  if (last === sentences.length - 1 || kind === "howTo" || kind === "why") {
    while (first > 0 && !asks(first - 1) && sentences[last]!.end - sentences[first - 1]!.start <= limit) first--
  }
  // A unit starts after the document's own number of a note.
  return { start: first === at ? unit.start : sentences[first]!.start, end: sentences[last]!.end }
}

const leadsToCode = (sentence: string): boolean => leads(sentence) || isUnfinished(sentence)

/** A span with the listing, the list or other block that it leads up to. */
const withWhatFollows = (unit: TextUnit, start: number, end: number, text: string, kind: QuestionKind): Passage => {
  const block = unit.blocks[unit.block]!
  const next = unit.blocks[unit.block + 1]
  const isLast = end >= block.end
  const said = unit.start === start && unit.end === end ? unit.display : onOneLine(text.slice(start, end))
  const led = endsInColon.test(text.slice(start, end))
  if (isLast && next?.kind === "code" && (kind === "howTo" || leadsToCode(sentencesOf(text, block).at(-1)?.text ?? ""))) {
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

/**
 * Adds what stands above the first sentence: the term of its own block, the option or name of code that it explains, the question that it
 * answers with a word, or the heading that names what it defines.
 */
const withTerm = (unit: TextUnit, found: Passage, text: string, isNamedAbove: boolean): Passage => {
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
  const isTerm = isNamedAbove || term.test(said) || (endsInQuestionMark.test(said) && polarity.test(text.slice(found.start, found.end)))
  return kind === "heading" && isTerm ? passage(heading(start, end, onOneLine(said)), ...found.parts) : found
}

/** The steps of a list, with the sentence that leads up to them. */
const steps = (unit: TextUnit, block: Block, text: string): Passage => {
  const before = unit.blocks[unit.block - 1]
  const led = before?.kind === "paragraph" && endsInColon.test(before.lines.at(-1)!.text) ? sentencesOf(text, before).at(-1) : undefined
  const items = itemsOf(block.lines)
  const lines = items.map((item) => `${bullet.exec(item.text)?.[0].trim() ?? "-"} ${itemText(item)}`).join("\n")
  const listed = listing(block.start, block.end, lines)
  return led === undefined ? passage(listed) : passage(prose(led.start, led.end, onOneLine(led.text)), listed)
}

/** A listing with the sentence before it. */
const withIntroduction = (unit: TextUnit, block: Block, text: string): Passage => {
  const until = cut(block, most.listing)
  const listed = listing(unit.start, until, asWritten(block, until, text))
  const before = unit.blocks[unit.block - 1]
  const intro = before?.kind === "paragraph" ? sentencesOf(text, before).at(-1) : undefined
  const after = goingOn(unit, 1, text)
  if (intro === undefined || intro.end - intro.start > most.intro) return passage(listed, ...after)
  return passage(prose(intro.start, intro.end, onOneLine(text.slice(intro.start, intro.end))), listed, ...after)
}

/** The rest of a sentence that a listing interrupted, which goes on with a small letter; empty where there is none. */
const goingOn = ({ block, blocks }: TextUnit, after: number, text: string): ReadonlyArray<Part> => {
  const next = blocks[block + after]
  if (next?.kind !== "paragraph" || blocks[block + after - 1]!.end - blocks[block + after - 1]!.start > most.listing) return []
  const [sentence] = sentencesOf(text, next)
  return /^\p{Ll}/u.test(sentence!.text) ? [prose(sentence!.start, sentence!.end, onOneLine(sentence!.text))] : []
}

/** The offset at which a block ends when it is cut to whole lines of at most `characters` in all; its first line always stays. */
const cut = ({ lines, start }: Block, characters: number): number => {
  let end = lines[0]!.end
  for (const line of lines) {
    if (line.end - start > characters) break
    end = line.end
  }
  return end
}

/** The lines of a block up to `end`, with their common indent removed. */
const asWritten = ({ start }: Block, end: number, text: string): string => {
  const written = text.slice(text.lastIndexOf("\n", start) + 1, end).split("\n").map((line) => line.trimEnd())
  const indent = Math.min(...written.filter((line) => line !== "").map((line) => line.length - line.trimStart().length))
  return written.map((line) => line.slice(indent)).join("\n")
}
