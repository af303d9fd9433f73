/** Whether a unit is an entry about what the question is about: a definition, a line of a glossary, a field, a cell, an option. */
import { explainsOption } from "../../text/CommandOptions.ts"
import { functionWords } from "../../text/FunctionWords.ts"
import { namesIn } from "../../text/HeadingNames.ts"
import { definitionOf } from "./Cues.ts"
import type { Question, Term } from "./Question.ts"
import type { TextUnit } from "./Units.ts"
import { foldedWords, normalize, stem } from "./Words.ts"

const maxGlossaryTermCharacters = 60
/** A glossary term above lines that are not indented: shorter, and the next line starts with a capital. */
const maxFlushTermCharacters = 40

/** Whether a quote starts with an option, as what explains it does. Of terms that stand one below the other, each starts a line. */
export const explains = ({ block, blocks, cells, display, start }: TextUnit, option: string): boolean => {
  const term = blocks[block]?.term
  return explainsOption(cells?.join(" | ") ?? display, option) ||
    (term !== undefined && start < term.end && explainsOption(term.text, option))
}

/** How far a quote starts with what the question is about and says what that is, 0..1; for an option, whether it explains it. */
export const definition = (question: Question, unit: TextUnit): number => {
  const option = question.terms.find(({ option }) => option)?.key
  if (option !== undefined) return explains(unit, option) || (unit.position === 0 && explainsOption(unit.heading ?? "", option)) ? 1 : 0
  const subject = question.terms.filter(({ role }) => role !== "generic")
  if (subject.length === 0) return 0
  // What stands first under a heading that is just the subject defines it: glossaries and lists of terms are set so.
  const isUnderTerm = unit.kind === "sentence" && unit.position === 0 && unit.heading !== undefined &&
    isNamedBy(question, unit.heading)
  const defined = [glossaryTerm(unit) ?? definitionOf.exec(unit.display)?.[1], abbreviation.exec(unit.display)?.[1]]
  return Math.max(isUnderTerm ? 1 : 0, ...defined.map((name) => (name === undefined ? 0 : sameness(subject, name))))
}

/** Whether a heading, or one of the names in it, is just what the question is about. */
export const isNamedBy = ({ terms }: Question, heading: string): boolean => {
  const subject = terms.filter(({ role }) => role !== "generic")
  return subject.length > 0 && !/\w\(/.test(heading) && namesIn(heading).some((name) => sameness(subject, name) === 1)
}

/** The share of terms that a name has, less where the name has more words than there are terms; an abbreviation in brackets is left out. */
const sameness = (subject: ReadonlyArray<Term>, name: string): number => {
  const words = new Set(foldedWords(name.replace(/\s\([^)]*\)\s*$/, "")).filter((word) => !functional.has(word)))
  const found = subject.filter(({ cjk, key }) => (cjk ? normalize(name).includes(key) : words.has(key))).length
  return (found / subject.length) * Math.min(1, subject.length / Math.max(1, words.size))
}

/** The abbreviation of what a quote starts with: "The archive serial number (short: ASN) is …". */
const abbreviation = /^.{1,80}? \((?:[\p{L}. ]+: )?([^)]{1,20})\)/u

/** Function words, which a name may have besides: "the load of a crane". */
const functional = new Set([...functionWords["en"]!].map(stem))

/** The term that a glossary explains, where the unit starts with the line of it; undefined for other units. */
const glossaryTerm = ({ block, blocks, kind, start }: TextUnit): string | undefined => {
  const [first, second] = blocks[block]!.lines
  return kind === "sentence" && first !== undefined && second !== undefined && first.start === start &&
      first.text.length <= maxGlossaryTermCharacters &&
      (second.indent > first.indent || (first.text.length < maxFlushTermCharacters && /^\p{Lu}/u.test(second.text))) &&
      !/[.,;:!?]$/.test(first.text)
    ? first.text
    : undefined
}

/** The share of the words of a field's name that the question is about. */
export const fieldNameShare = (question: Question, display: string): number => {
  const name = foldedWords((/^[^:]*/.exec(display)?.[0] ?? "").replace(/(?<=\p{Ll})(?=\p{Lu})/gu, " "))
  const asked = new Set(question.terms.flatMap(({ also, key }) => (also === undefined ? [key] : [key, also])))
  return name.length === 0 ? 0 : name.filter((word) => asked.has(word)).length / name.length
}

/** Whether the question is about a cell of a row: it has all words of the row's first cell, and all of the name of a column. */
export const isCellAsked = (question: Question, { cells = [], columns = [] }: TextUnit): boolean => {
  const shareOf = (name = ""): number => {
    const words = foldedWords(name)
    return words.length === 0 ? 0 : words.filter((word) => question.words.has(word)).length / words.length
  }
  if (shareOf(cells[0]) < 1 || cells.length > columns.length) return false
  return columns.some((name, at) => at > 0 && (cells[at] ?? "") !== "" && shareOf(name) === 1)
}
