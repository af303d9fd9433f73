import { allFunctionWords } from "../../FunctionWords.ts"
import type { Box, PlacedGlyph } from "./Glyphs.ts"

/** A character of a line of a PDF; blanks are left out. */
export interface Glyph {
  readonly text: string
  /** What precedes it: nothing, a blank in the file, or a blank that PDFium inferred from a gap. */
  readonly before: "nothing" | "blank" | "gap"
  /** Distance from the end of the glyph before it, in heights of the line. */
  readonly gap: number
}

interface Line {
  /** The line as in the text of the page. */
  readonly text: string
  readonly glyphs: ReadonlyArray<Glyph>
}

/** The lines of a page, each glyph with its distance from the one before. */
export const linesOf = (glyphs: ReadonlyArray<PlacedGlyph>): ReadonlyArray<Line> => {
  const lines: Array<{ text: string; readonly glyphs: Array<Glyph> }> = [{ text: "", glyphs: [] }]
  let before: Glyph["before"] = "nothing"
  let last: Box | undefined
  for (const { box, generated, text } of glyphs) {
    if (text === "\n") {
      lines.push({ text: "", glyphs: [] })
      before = "nothing"
      last = undefined
      continue
    }
    const line = lines.at(-1)!
    line.text += text
    if (text.trim() === "") {
      if (before !== "blank") before = generated ? "gap" : "blank"
      continue
    }
    line.glyphs.push({ text, before: last === undefined ? "nothing" : before, gap: last === undefined ? 0 : gapBetween(last, box) })
    before = "nothing"
    last = box
  }
  return lines.filter(({ glyphs }) => glyphs.length > 0).map(({ glyphs, text }) => ({ text: text.trim(), glyphs }))
}

/** The gap between two glyphs in heights of the line, whichever way it runs. */
const gapBetween = (a: Box, b: Box): number => {
  const [across, down] = [Math.max(b.left - a.right, a.left - b.right), Math.max(b.bottom - a.top, a.bottom - b.top)]
  const isUpright = across >= down
  const height = isUpright ? b.top - b.bottom : b.right - b.left
  return Math.max(0, isUpright ? across : down) / Math.max(0.01, height)
}

/** Scripts whose words are separated by blanks. */
const spaced = /\p{Script=Latin}|\p{Script=Cyrillic}|\p{Script=Greek}|\p{Script=Armenian}|\p{Script=Georgian}/u

const letters = (word: string): number => word.match(/\p{L}/gu)?.length ?? 0

/** A line looks broken if at least this share of its words has one or two letters. */
const broken = 0.4
/** Fewest words of a line that is judged. */
const fewest = 4

const wordsIn = (line: string): ReadonlyArray<string> => line.split(/\s+/).filter((word) => spaced.test(word))

const single = (words: ReadonlyArray<string>): number => words.filter((word) => letters(word) === 1).length / Math.max(1, words.length)

const short = (words: ReadonlyArray<string>): number => words.filter((word) => letters(word) <= 2).length / Math.max(1, words.length)

/** Whether a line looks as if its words had been taken apart. */
export const looksBroken = (line: string): boolean => {
  const words = wordsIn(line)
  return words.length >= fewest && short(words) >= broken
}

/** A gap of at least this many heights of a line separates words, whatever the letters do. */
const always = 1
/** Largest gap between two letters of a word, in heights of the line. */
const mostWithin = 0.35

/** Share of single-letter words that no language reaches. */
const mostlySingle = 0.6

/** Gaps inside words differ by less than this, in heights of the line. */
const leastStep = 0.1

/** How many letters stand in words of three letters or more that are known, from grammar or from whole lines of the page. */
const knownLetters = (words: ReadonlyArray<string>, vocabulary: ReadonlySet<string>): number =>
  words.reduce((sum, word) => {
    const plain = bare(word)
    return plain.length >= 3 && (allFunctionWords.has(plain) || vocabulary.has(plain)) ? sum + plain.length : sum
  }, 0)

const bare = (word: string): string => word.toLowerCase().replace(/^[^\p{L}\p{N}]+|[^\p{L}\p{N}]+$/gu, "")

/** The words of lines whose words are whole. */
export const vocabularyOf = (lines: ReadonlyArray<string>): ReadonlySet<string> =>
  new Set(lines.filter((line) => !looksBroken(line)).flatMap((line) => wordsIn(line).map(bare)))

/**
 * A line with letterspaced words made whole; `undefined` where no better reading is found. Blanks in the file are trusted. Without any, the
 * gaps between words are those that are clearly wider than the others. The result must have more letters in known words, or, where most
 * words were single letters, no fewer.
 */
export const respaced = (glyphs: ReadonlyArray<Glyph>, vocabulary: ReadonlySet<string>): string | undefined => {
  const before = written(glyphs, () => true)
  if (!looksBroken(before)) return undefined
  const blanks = glyphs.filter((glyph) => glyph.before === "blank").map(({ gap }) => gap)
  const gaps = glyphs.filter((glyph) => glyph.before === "gap").map(({ gap }) => gap)
  const least = blanks.length * 25 >= glyphs.length ? Math.min(always, 1.5 * median(blanks)) : leastGap(gaps)
  if (least === undefined) return undefined
  const after = written(glyphs, (gap) => gap > least)
  const [was, is] = [wordsIn(before), wordsIn(after)]
  if (is.length >= was.length || short(is) >= broken || is.some((word) => word.length > 40)) return undefined
  const gained = knownLetters(is, vocabulary) - knownLetters(was, vocabulary)
  return gained > 0 || (gained === 0 && single(was) >= mostlySingle) ? after : undefined
}

const written = (glyphs: ReadonlyArray<Glyph>, parts: (gap: number) => boolean): string =>
  glyphs.map(({ before, gap, text }) => (before === "blank" || (before === "gap" && parts(gap)) ? ` ${text}` : text)).join("").trim()

/** The gap from which on words are separate: the middle of the widest step from one gap of a line to the next wider one. */
const leastGap = (gaps: ReadonlyArray<number>): number | undefined => {
  const within = gaps.filter((gap) => gap < always).toSorted((a, b) => a - b)
  let step = leastStep
  let least = (within[0] ?? always) <= mostWithin ? always : undefined
  for (const [i, gap] of within.entries()) {
    const next = within[i + 1] ?? gap
    if (next - gap > step && gap <= mostWithin) {
      step = next - gap
      least = (gap + next) / 2
    }
  }
  return least
}

/** A function that replaces a line by one of the same letters that has the blanks of `text`; by itself where `text` has none. */
export const spacedAs = (text: string): (line: string) => string => {
  let run = ""
  const places: Array<number> = []
  for (const { 0: character, index } of text.matchAll(/[\p{L}\p{M}\p{N}]/gu)) {
    const plain = folded(character)
    run += plain
    for (let i = 0; i < plain.length; i++) places.push(index)
  }
  return (line) => {
    const [first, last] = [line.search(letter), line.search(lastLetter)]
    const wanted = folded(line.replace(/[^\p{L}\p{M}\p{N}]/gu, ""))
    const at = first < 0 ? -1 : run.indexOf(wanted)
    if (at < 0) return line
    const spaced = text.slice(places[at], places[at + wanted.length - 1]! + 1).replace(/\s+/g, " ")
    return looksBroken(spaced) ? line : line.slice(0, first) + spaced + line.slice(last + 1).replace(/\s+(?=\p{P})/gu, "")
  }
}

const letter = /[\p{L}\p{M}\p{N}]/u
const lastLetter = /[\p{L}\p{M}\p{N}](?=[^\p{L}\p{M}\p{N}]*$)/u
const folded = (text: string): string => text.normalize("NFKC").toLowerCase()

const median = (values: ReadonlyArray<number>): number => values.toSorted((a, b) => a - b)[values.length >> 1] ?? 0
