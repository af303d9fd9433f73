import { type Answer, type Citation, type Support, unsupportedText } from "../../domain/Answer.ts"
import type { GroundedRequest } from "../../ports/Generator.ts"
import { citationOf } from "../Citations.ts"
import { type Evidence, evidenceFor } from "./Evidence.ts"
import { type Question, questionOf } from "./Question.ts"
import { select } from "./Select.ts"
import { unitsOf } from "./Units.ts"

export interface ExtractiveOptions {
  /** Sentences of an answer, 1 to 4. Default 3. */
  readonly maxSentences?: number
  /** Least {@link supportFor} of an answer, 0..1. Default 0.48, measured by `bench/answers.ts`. */
  readonly minSupport?: number
}

const defaults = { maxSentences: 3, minSupport: 0.48 }
/** What is left of the support when no number or date is where one was asked for. */
const untyped = 0.8
/** Contexts read, and UTF-16 units of each: an answer is not sought beyond them. */
const bounds = { contexts: 50, characters: 50_000 }

/** Answers in sentences of the contexts. Deterministic and synchronous; a few milliseconds for ten contexts. */
export const answerExtractively = (request: GroundedRequest, model: string, options: ExtractiveOptions = {}): Answer => {
  const contexts = request.contexts.slice(0, bounds.contexts).map((context) => ({
    ...context,
    text: context.text.slice(0, bounds.characters).replace(/[\ud800-\udbff]$/, "")
  }))
  const question = questionOf(request.question)
  const units = contexts.flatMap(unitsOf)
  const { evidence, weights } = evidenceFor(question, contexts, units)
  const chosen = select(evidence, weights, Math.min(4, options.maxSentences ?? defaults.maxSentences))
  const support = supportFor(question, evidence)
  if (question.terms.length === 0 || chosen.length === 0 || support < (options.minSupport ?? defaults.minSupport)) {
    return { text: unsupportedText, grounded: false, citations: [], supports: [], model }
  }

  const citations: Array<Citation> = []
  const supports: Array<Support> = []
  let text = ""
  for (const { evidence, sources } of chosen) {
    const marks: Array<number> = []
    for (const { unit } of sources) {
      const citation = citationOf(citations.length + 1, contexts[unit.context]!, unit.start, unit.end)
      const known = citations.find((other) => samePlace(other, citation))
      if (known === undefined) citations.push(citation)
      const mark = known?.index ?? citation.index
      if (!marks.includes(mark)) marks.push(mark)
    }
    if (text !== "") text += "\n"
    const start = text.length
    text += evidence.unit.display
    supports.push({ start, end: text.length, citations: marks, confidence: round(Math.min(1, evidence.covered)) })
    text += ` ${marks.map((mark) => `[${mark}]`).join("")}`
  }
  return { text, grounded: true, citations, supports, model }
}

/**
 * How far the corpus supports an answer, 0..1: the best unit's weighted share of the question's terms, less when it
 * holds no answer of the type asked for.
 */
const supportFor = (question: Question, evidence: ReadonlyArray<Evidence>): number => {
  let most = 0
  for (const { covered, typed } of evidence) {
    // A name is not always written with a capital ("the finance team"), so its absence says little.
    const support = typed || question.type === "person" ? covered : untyped * covered
    if (support > most) most = support
  }
  return most
}

/** Overlapping chunks repeat the same bytes of the same file. */
const samePlace = (a: Citation, b: Citation): boolean =>
  a.file === b.file && a.quote === b.quote &&
  (a.byteStart === undefined || b.byteStart === undefined ? a.chunkId === b.chunkId : a.byteStart === b.byteStart)

const round = (value: number): number => Math.round(value * 1000) / 1000
