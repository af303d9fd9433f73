import type { Context } from "../../domain/Retrieval.ts"
import type { GroundedRequest } from "../../ports/Generator.ts"
import { evidenceFor } from "./Evidence.ts"
import { type Grounds, groundsOf } from "./Grounds.ts"
import { definingFirst, inOrder } from "./Order.ts"
import { type Question, questionOf } from "./Question.ts"
import type { Ranked } from "./Select.ts"
import { blocksIn, type Unit, unitsOf } from "./Units.ts"
import { isCjk } from "./Words.ts"

/** Contexts that are read; further ones are ignored. */
const maxContexts = 50
/** UTF-16 units that are read of each context; the rest is ignored. */
const maxContextCharacters = 50_000

/** What the contexts have for a question, before it is decided whether that is an answer. */
export interface Examined extends Ranked {
  /** The grounds for the best unit; undefined where there is no unit, or the question has no terms. */
  readonly grounds: Grounds | undefined
}

/** Contexts as they are read for any question. */
export interface ReadContexts {
  readonly contexts: ReadonlyArray<Context>
  readonly units: ReadonlyArray<Unit>
}

export const readingOf = (all: ReadonlyArray<Context>): ReadContexts => {
  const contexts = all.slice(0, maxContexts).map((context) => ({
    ...context,
    text: context.text.slice(0, maxContextCharacters).replace(/[\ud800-\udbff]$/, "")
  }))
  const blocks = blocksIn(contexts)
  return { contexts, units: contexts.flatMap((context, at) => unitsOf(context, at, blocks[at]!)) }
}

/**
 * Ranks the units of the contexts that may answer the question; `read` are the contexts, where they were read before. `more` is added to the
 * scores by which units are ordered. Whether the best one answers is judged without it: something is near to any question.
 */
export const examine = (
  request: GroundedRequest,
  read: ReadContexts = readingOf(request.contexts),
  more?: (unit: Unit) => number
): Examined => {
  const { contexts, units } = read
  const question = questionOf(request.question, request.synonyms)
  const { evidence, weights } = evidenceFor(question, contexts, units.filter((unit) => mayAnswer(question, unit)))
  const ranked = inOrder(question, evidence)
  const nearer = more === undefined
    ? ranked
    : inOrder(question, evidence.map((one) => ({ ...one, score: one.score + more(one.unit) })))
  return {
    question,
    contexts,
    evidence: definingFirst(question, nearer),
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
