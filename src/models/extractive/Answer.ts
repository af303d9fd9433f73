/**
 * Answers with passages of the contexts, without a model. The contexts are cut into blocks (`Blocks.ts`) and those into units
 * (`Units.ts`), the smallest pieces that an answer may quote. Each unit is read with what stands around it (`Observed.ts`), and ranked by
 * the weighted sum of its signs (`Signs.ts`). The grounds for the best one (`Grounds.ts`) give the probability that it answers
 * (`Confidence.ts`). If that is enough, passages are selected (`Select.ts`); else the answer is a refusal.
 */
import { type Answer, type Citation, refusedAnswer, type Support } from "../../domain/Answer.ts"
import { chunkAt, chunkOver } from "../../domain/Stretches.ts"
import type { GroundedRequest } from "../../ports/Generator.ts"
import { citationOf } from "../Citations.ts"
import { confidenceOf, type Shares, shares } from "./Confidence.ts"
import { contrast, outright } from "./Cues.ts"
import { type Evidence, evidenceFor } from "./Evidence.ts"
import { type Grounds, groundsOf } from "./Grounds.ts"
import { enough } from "./Matching.ts"
import { passageOf } from "./Passage.ts"
import { asksOption, type Question, questionOf } from "./Question.ts"
import { type Chosen, type Quoted, type Ranked, type Reading, reading, select } from "./Select.ts"
import { blocksIn, type Unit, unitsOf } from "./Units.ts"
import { isCjk } from "./Words.ts"

export interface ExtractiveOptions {
  /** Passages of an answer at most, 1 to 4. Default 3. */
  readonly maxSentences?: number
  /** The probability of being right from which an answer is given, 0..1. Default 0.3, as measured by `bench/answers.ts`. */
  readonly minConfidence?: number
}

const defaultPassages = 3
const maxPassages = 4
/** Contexts that are read; further ones are ignored. */
const maxContexts = 50
/** UTF-16 units that are read of each context; the rest is ignored. */
const maxContextCharacters = 50_000
/** What a unit without the number, date or option that the question is about loses of its score, where others that have one are near. */
const demotion = 4
/** Passages shown where there is no answer. */
const maxNearest = 3

/** What the contexts have for a question, before it is decided whether that is an answer. */
export interface Examined extends Ranked {
  /** The grounds for the best unit; undefined where there is no unit, or the question has no terms. */
  readonly grounds: Grounds | undefined
}

/** Reads the contexts for a question, and ranks their units. */
export const examine = (request: GroundedRequest): Examined => {
  const contexts = request.contexts.slice(0, maxContexts).map((context) => ({
    ...context,
    text: context.text.slice(0, maxContextCharacters).replace(/[\ud800-\udbff]$/, "")
  }))
  const question = questionOf(request.question, request.synonyms)
  const blocks = blocksIn(contexts)
  const units = contexts.flatMap((context, at) => unitsOf(context, at, blocks[at]!)).filter((unit) => mayAnswer(question, unit))
  const { evidence, weights } = evidenceFor(question, contexts, units)
  const ranked = inOrder(question, evidence)
  return {
    question,
    contexts,
    evidence: definingFirst(question, ranked),
    weights,
    grounds: question.terms.length === 0 ? undefined : groundsOf(question, ranked, weights, contexts)
  }
}

/** Whether a unit says anything that could answer a question. */
const mayAnswer = (question: Question, { block, blocks, kind, words }: Unit): boolean => {
  if (question.things.length > 0 && blocks[block]!.kind === "heading") return false
  // A number, a date or a name stands in a sentence, an item or a field: a whole list or listing hides it.
  if ((question.type !== "other" || question.things.length > 0) && (kind === "list" || kind === "code")) return false
  if (question.terms.length === 0 || (question.kind === "yesNo" && kind === "sentence")) return true
  // To repeat the question, as "PEP: 8" does, is no answer.
  return words.some((word) => isCjk(word) || !(question.words.has(word) || (kind !== "sentence" && question.grammar.has(word))))
}

/**
 * Orders units by score, best first. Where the question is about a number, a date, an option or a name of code, a unit without one
 * comes first only if no unit with one is nearly as good; and of names of code, one that mentions it only if no entry of it is.
 */
export const inOrder = (question: Question, evidence: ReadonlyArray<Evidence>): ReadonlyArray<Evidence> => {
  const demands = asksOption(question) || question.type === "number" || question.type === "date"
  const named = demoted(demoted(tellingFirst(question, evidence), ({ named }) => named !== "nowhere"), ({ named }) => named === "entry")
  return byScore(demoted(named, ({ typed }) => !demands || typed))
}

const byScore = (evidence: ReadonlyArray<Evidence>): ReadonlyArray<Evidence> =>
  evidence.toSorted((a, b) => b.score - a.score || a.unit.context - b.unit.context || a.unit.start - b.unit.start)

/** Of a question what something is, its definition comes first where it is nearly as good, and of several one that calls itself so. */
const definingFirst = (question: Question, evidence: ReadonlyArray<Evidence>): ReadonlyArray<Evidence> => {
  if (question.kind !== "definition") return evidence
  const defines = ({ signs }: Evidence): boolean => signs.definition === 1
  return byScore(promoted(promoted(evidence, defines), (one) => defines(one) && outright.test(one.unit.display)))
}

/** Of a question that compares things, what is about all of them comes first where it is nearly as good, and of that what says how they differ. */
const tellingFirst = (question: Question, evidence: ReadonlyArray<Evidence>): ReadonlyArray<Evidence> =>
  question.things.length === 0
    ? evidence
    : demoted(
      demoted(evidence, (one) => hasThings(question, one)),
      (one) => tellsApart(question, one) && contrast.test(one.unit.display)
    )

/** Whether a unit is about all of the things that a question compares. */
const hasThings = ({ compared }: Question, { withHeadings }: Evidence): boolean =>
  compared.every((terms) => terms.every((term) => withHeadings[term]! >= enough.having))

/** What does not fit scores less, where something that does is nearly as good. */
const demoted = (evidence: ReadonlyArray<Evidence>, fits: (one: Evidence) => boolean): ReadonlyArray<Evidence> =>
  lossOf(evidence, fits) > demotion ? evidence : evidence.map((one) => (fits(one) ? one : { ...one, score: one.score - demotion }))

/** What fits scores more, so that the best of it comes first, where it is nearly as good. What else may be shown stays as it is. */
const promoted = (evidence: ReadonlyArray<Evidence>, fits: (one: Evidence) => boolean): ReadonlyArray<Evidence> => {
  const loss = lossOf(evidence, fits)
  return loss > demotion ? evidence : evidence.map((one) => (fits(one) ? { ...one, score: one.score + loss + 0.001 } : one))
}

/** How much less than the best what fits scores at best. */
const lossOf = (evidence: ReadonlyArray<Evidence>, fits: (one: Evidence) => boolean): number => {
  const bestOf = (some: ReadonlyArray<Evidence>): number => some.reduce((best, { score }) => Math.max(best, score), -Infinity)
  return bestOf(evidence) - bestOf(evidence.filter(fits))
}

/** Constants that were chosen by measurement, with `bench/answers.ts --vary`. */
export interface Constants extends Reading, Shares {
  /** The probability of being right from which an answer is given, 0..1. */
  readonly minConfidence: number
}

export const constants: Constants = { ...reading, ...shares, minConfidence: 0.3 }

/** Answers with passages of the contexts, or refuses. Deterministic and synchronous; takes a few milliseconds for ten contexts. */
export const answerExtractively = (
  request: GroundedRequest,
  model: string,
  options: ExtractiveOptions = {},
  by: Constants = constants
): Answer => {
  const limit = Math.min(maxPassages, options.maxSentences ?? defaultPassages)
  const { chosen, confidence, examined } = found(request, limit, by)
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

/** What may be shown, with the probability that it answers. */
interface Found {
  readonly examined: Examined
  readonly chosen: ReadonlyArray<Chosen>
  readonly confidence: number
}

const found = (request: GroundedRequest, limit: number, by: Constants): Found => {
  const examined = examine(request)
  const whole = { examined, chosen: select(examined, limit, by), confidence: certaintyOf(examined, by) }
  return examined.question.things.length === 0 ? whole : compared(request, whole, limit, by)
}

const certaintyOf = ({ grounds }: Examined, by: Constants): number => (grounds === undefined ? 0 : round(confidenceOf(grounds, by)))

/**
 * What says how things differ, and then what each of them is; where each is defined, only what has a word of contrast is shown before.
 * Where nothing says how, the answer is as likely as that of the thing of which least is known.
 */
const compared = (request: GroundedRequest, whole: Found, limit: number, by: Constants): Found => {
  const { evidence: [best], question } = whole.examined
  const each = definitions(request, question.things, by)
  const isTold = best !== undefined && tellsApart(question, best)
  const areDefined = each.every(({ isDefined }) => isDefined)
  const told = isTold && (!areDefined || contrast.test(best.unit.display)) ? whole.chosen.slice(0, 1) : []
  const chosen = [...told, ...each.flatMap(({ chosen, isDefined }) => (isDefined || told.length === 0 ? chosen : []))]
    .filter((one, at, all) => !all.slice(0, at).some((other) => overlaps(one, other)))
  const confidence = isTold ? whole.confidence : Math.min(...each.map(({ confidence }) => confidence))
  return { ...whole, chosen: chosen.slice(0, limit), confidence }
}

/** What says what each of the things is, and whether that is a definition. What one file defines of all is taken before others. */
const definitions = (request: GroundedRequest, things: ReadonlyArray<string>, by: Constants) => {
  const each = things.map((thing) => examine({ ...request, question: `What is ${thing}?` }))
  const defines = ({ signs, unit }: Evidence): boolean => signs.definition === 1 && unit.kind !== "list" && unit.kind !== "code"
  const fileOf = ({ unit }: Evidence): string => request.contexts[unit.context]!.file
  const files = each.map(({ evidence }) => new Set(evidence.filter(defines).map(fileOf)))
  const definesAll = (file: string): boolean => files.every((of) => of.has(file))
  return each.map((examined) => {
    const evidence = byScore(demoted(demoted(examined.evidence, defines), (one) => defines(one) && definesAll(fileOf(one))))
    return {
      chosen: select({ ...examined, evidence }, 1, by),
      confidence: certaintyOf(examined, by),
      isDefined: evidence[0] !== undefined && defines(evidence[0])
    }
  })
}

/** Whether a unit says how the things differ that a question compares: a sentence or a row about all of them, or words of contrast. */
const tellsApart = (question: Question, one: Evidence): boolean =>
  hasThings(question, one) && (one.unit.kind === "sentence" || one.unit.kind === "row" || contrast.test(one.unit.display))

const overlaps = (a: Quoted, b: Quoted): boolean =>
  a.unit.stretch === b.unit.stretch && a.passage.start < b.passage.end && b.passage.start < a.passage.end

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

const round = (value: number): number => Math.round(value * 1000) / 1000
