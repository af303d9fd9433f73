import { type Answer, type Citation, refusedAnswer, type Support } from "../../domain/Answer.ts"
import type { Context } from "../../domain/Retrieval.ts"
import { chunkAt, chunkOver } from "../../domain/Stretches.ts"
import type { GroundedRequest } from "../../ports/Generator.ts"
import { citationOf } from "../Citations.ts"
import type { Grounds } from "./Coefficients.ts"
import { confidenceOf, groundsOf, type Shares, shares } from "./Confidence.ts"
import { type Evidence, evidenceFor } from "./Evidence.ts"
import { passageOf } from "./Passage.ts"
import { asksOption, type Question, questionOf } from "./Question.ts"
import { type Chosen, type Quoted, type Reading, reading, select } from "./Select.ts"
import { blocksIn, unitsOf } from "./Units.ts"
import { isCjk } from "./Words.ts"

export interface ExtractiveOptions {
  /** Passages of an answer, 1 to 4. Default 3. */
  readonly maxSentences?: number
  /** Least probability of an answer being right, 0..1. Default 0.3; its figures are those of `bench/answers.ts`. */
  readonly minConfidence?: number
}

const mostPassages = 3
/** Contexts read, and UTF-16 units of each: an answer is not sought beyond them. */
const bounds = { contexts: 50, characters: 50_000 }
/** What a unit without the number, date or option that is asked for loses to those that have one. */
const mostDemoted = 4
/** Passages shown where there is no answer. */
const maxNearest = 3

/** What the contexts have to say to a question, before it is decided whether that is an answer. */
export interface Examined {
  readonly question: Question
  readonly contexts: ReadonlyArray<Context>
  readonly evidence: ReadonlyArray<Evidence>
  readonly weights: ReadonlyArray<number>
  /** Of the best unit; undefined where there is none. */
  readonly grounds: Grounds | undefined
}

export const examine = (request: GroundedRequest): Examined => {
  const contexts = request.contexts.slice(0, bounds.contexts).map((context) => ({
    ...context,
    text: context.text.slice(0, bounds.characters).replace(/[\ud800-\udbff]$/, "")
  }))
  const question = questionOf(request.question)
  const blocks = blocksIn(contexts)
  // A number, a date or a name stands in a sentence, an item or a field: a whole list hides it.
  const units = contexts.flatMap((context, at) => unitsOf(context, at, blocks[at]!)).filter(({ kind, words }) =>
    // Nor does it answer to repeat the question: "PEP: 8".
    (question.type === "other" || (kind !== "list" && kind !== "code")) &&
    (question.terms.length === 0 ||
      (question.kind === "yesNo" && kind === "sentence") ||
      words.some((word) => isCjk(word) || !(question.words.has(word) || (kind !== "sentence" && question.grammar.has(word)))))
  )
  const { evidence, weights } = evidenceFor(question, contexts, units)
  const ranked = inOrder(question, evidence)
  return {
    question,
    contexts,
    evidence: ranked,
    weights,
    grounds: question.terms.length === 0 ? undefined : groundsOf(question, ranked, weights, contexts)
  }
}

/** Best first. Where a number, a date or an option is asked for, what has none answers only if nothing that has one is nearly as good. */
export const inOrder = (question: Question, evidence: ReadonlyArray<Evidence>): ReadonlyArray<Evidence> => {
  const best = Math.max(...evidence.map(({ score, typed }) => (typed ? score : -Infinity)))
  const demoted = asksOption(question) || question.type === "number" || question.type === "date"
    ? Math.max(...evidence.map(({ score }) => score)) - best <= mostDemoted
    : false
  return evidence
    .map((one) => (demoted && !one.typed ? { ...one, score: one.score - mostDemoted } : one))
    .sort((a, b) => b.score - a.score || a.unit.context - b.unit.context || a.unit.start - b.unit.start)
}

/** What was chosen by measurement; the tables are those of `bench/answers.ts --vary`. */
export interface Constants extends Reading, Shares {
  readonly minConfidence: number
}

export const constants: Constants = { ...reading, ...shares, minConfidence: 0.3 }

/** Answers in passages of the contexts. Deterministic and synchronous; a few milliseconds for ten contexts. */
export const answerExtractively = (
  request: GroundedRequest,
  model: string,
  options: ExtractiveOptions = {},
  by: Constants = constants
): Answer => {
  const examined = examine(request)
  const { contexts, evidence, grounds, question, weights } = examined
  const confidence = grounds === undefined ? 0 : round(confidenceOf(grounds, by))
  const chosen = select(question, evidence, weights, contexts, Math.min(4, options.maxSentences ?? mostPassages), by)
  if (chosen.length === 0 || confidence < (options.minConfidence ?? by.minConfidence)) {
    const nearest = nearestOf(examined)
    return {
      ...refusedAnswer({ text: "", grounded: false, citations: [], supports: [], model }),
      confidence,
      ...(nearest.length === 0 ? {} : { nearest })
    }
  }
  return { ...written(chosen, model), confidence }
}

const written = (chosen: ReadonlyArray<Chosen>, model: string): Answer => {
  const citations: Array<Citation> = []
  const supports: Array<Support> = []
  let text = ""
  for (const { evidence, passage, sources } of chosen) {
    const marks: Array<number> = []
    for (const source of sources) {
      const citation = cited(citations.length + 1, source)
      const known = citations.find((other) => samePlace(other, citation))
      if (known === undefined) citations.push(citation)
      const mark = known?.index ?? citation.index
      if (!marks.includes(mark)) marks.push(mark)
    }
    const marked = marks.map((mark) => `[${mark}]`).join("")
    const confidence = round(Math.min(1, evidence.covered))
    const support = (part: string): void => {
      supports.push({ start: text.length, end: text.length + part.length, citations: marks, confidence })
      text += part
    }
    const isMarked = passage.parts.some(({ heading, listing }) => !listing && !heading)
    for (const part of passage.parts) {
      if (text !== "") text += "\n"
      if (part.listing) text += "```\n"
      support(part.text)
      text += part.listing ? "\n```" : part.heading ? "" : ` ${marked}`
    }
    if (!isMarked) text += `\n${marked}`
  }
  return { text, grounded: true, citations, supports, model }
}

/** Under the headings that its best unit stands under. */
const cited = (index: number, { evidence: { unit }, passage: { end, start }, stretch }: Quoted): Citation => {
  const { context, offset } = chunkOver(stretch, start, end)
  const { headings } = chunkAt(stretch.chunks, unit.start).context
  return citationOf(index, { ...context, headings }, start - offset, end - offset, unit.heading)
}

/** The best passages of different contexts, for a reader to judge. */
const nearestOf = ({ contexts, evidence, question }: Examined): ReadonlyArray<Citation> => {
  const found: Array<Citation> = []
  const seen = new Set<number>()
  for (const { covered, unit } of evidence) {
    if (found.length === maxNearest) break
    if (seen.has(unit.context) || covered === 0) continue
    seen.add(unit.context)
    const { end, start } = passageOf(unit, contexts[unit.context]!.text, question.kind)
    found.push(citationOf(found.length + 1, contexts[unit.context]!, start, end, unit.heading))
  }
  return found
}

/** Overlapping chunks repeat the same bytes of the same file. */
const samePlace = (a: Citation, b: Citation): boolean =>
  a.file === b.file && a.quote === b.quote &&
  (a.byteStart === undefined || b.byteStart === undefined ? a.chunkId === b.chunkId : a.byteStart === b.byteStart)

const round = (value: number): number => Math.round(value * 1000) / 1000
