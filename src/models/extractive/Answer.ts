/**
 * Answers with passages of the contexts, without a model. The contexts are cut into blocks (`Blocks.ts`) and those into units
 * (`Units.ts`), the smallest pieces that an answer may quote. Each unit is read with what stands around it (`Observed.ts`), and ranked by
 * the weighted sum of its signs (`Signs.ts`, `Order.ts`). The grounds for the best one (`Grounds.ts`) give the probability that it answers
 * (`Confidence.ts`). If that is enough, passages are selected (`Select.ts`), for a question that compares things also for each of them
 * (`Found.ts`); else the answer is a refusal.
 */
import { type Answer, type Citation, refusedAnswer, type Support } from "../../domain/Answer.ts"
import { chunkAt, chunkOver } from "../../domain/Stretches.ts"
import type { GroundedRequest } from "../../ports/Generator.ts"
import { citationOf } from "../Citations.ts"
import { rounded, type Shares, shares } from "./Confidence.ts"
import { type Examined, readingOf } from "./Examine.ts"
import { type Found, found } from "./Found.ts"
import { type Compared, type Nearing, nearing } from "./Nearness.ts"
import { passageOf } from "./Passage.ts"
import { type Chosen, type Quoted, type Reading, reading } from "./Select.ts"

export interface ExtractiveOptions {
  /** Passages of an answer at most, 1 to 4. Default 3. */
  readonly maxSentences?: number
  /** The probability of being right from which an answer is given, 0..1. Default 0.2, as measured by `bench/answers.ts`. */
  readonly minConfidence?: number
}

const defaultPassages = 3
const maxPassages = 4
/** Passages shown where there is no answer. */
const maxNearest = 3

/** Constants that were chosen by measurement, with `bench/answers.ts --vary`. */
export interface Constants extends Reading, Shares, Nearing {
  /** The probability of being right from which an answer is given, 0..1. */
  readonly minConfidence: number
}

export const constants: Constants = { ...reading, ...shares, ...nearing, minConfidence: 0.2 }

/** Answers with passages of the contexts, or refuses. Deterministic and synchronous; takes a few milliseconds for ten contexts. */
export const answerExtractively = (
  request: GroundedRequest,
  model: string,
  options: ExtractiveOptions = {},
  by: Constants = constants,
  { nearness, read = readingOf(request.contexts) }: Partial<Compared> = {}
): Answer => {
  const limit = Math.min(maxPassages, options.maxSentences ?? defaultPassages)
  const least = options.minConfidence ?? by.minConfidence
  const answers = ({ chosen, confidence }: Found): boolean => chosen.length > 0 && confidence >= least
  const whole = found(request, read, limit, by, nearness)
  const last = answers(whole) ? undefined : lastQuestion(request.question)
  const alone = last === undefined ? undefined : found({ ...request, question: last }, read, limit, by, nearness)
  const best = alone !== undefined && answers(alone) && alone.examined.question.terms.length > 1 ? alone : whole
  const { chosen, confidence, examined } = best
  if (!answers(best)) {
    const nearest = nearestOf(examined)
    return {
      ...refusedAnswer({ text: "", grounded: false, citations: [], supports: [], model }),
      confidence,
      ...(nearest.length === 0 ? {} : { nearest })
    }
  }
  return { ...written(chosen, model), confidence }
}

/** The last of several questions: in a conversation it may have nothing to do with those before it. */
const lastQuestion = (question: string): string | undefined => /[?？]([^?？]+[?？])\s*$/.exec(question)?.[1]

/** The answer's text, with its citations numbered in the order of their marks. */
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
    const confidence = rounded(Math.min(1, evidence.covered))
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

/** The citation of a passage, under the headings that its best unit stands under. */
const cited = (index: number, { passage: { end, start }, stretch, unit }: Quoted): Citation => {
  const { context, offset } = chunkOver(stretch, start, end)
  const { headings } = chunkAt(stretch.chunks, unit.start).context
  return citationOf(index, { ...context, headings }, start - offset, end - offset, unit.heading)
}

/** The best passages of different contexts, for the reader to judge where there is no answer. */
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

/** Whether two citations are of the same bytes of a file, which overlapping chunks repeat. */
const samePlace = (a: Citation, b: Citation): boolean =>
  a.file === b.file && a.quote === b.quote &&
  (a.byteStart === undefined || b.byteStart === undefined ? a.chunkId === b.chunkId : a.byteStart === b.byteStart)
