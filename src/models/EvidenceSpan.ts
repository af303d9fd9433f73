import type { Context } from "../domain/Retrieval.ts"
import { evidenceFor } from "./extractive/Evidence.ts"
import { questionOf } from "./extractive/Question.ts"
import { blocksIn, type Unit, unitsOf } from "./extractive/Units.ts"

/** A stretch of a context's text (UTF-16), and how far it supports a statement, 0..1. */
export interface Span {
  readonly start: number
  readonly end: number
  readonly confidence: number
}

/** Least weighted share of a statement's terms in a span that counts as its evidence. */
const minCoverage = 0.4

/** Finds `quote` in a context, exactly except for white space, case and the shape of quotation marks. */
export const findQuote = (context: Context, quote: string): Span | undefined => {
  const wanted = fold(quote.trim()).text
  if (wanted.length < 3) return undefined
  const { text, offsets } = fold(context.text)
  const at = text.indexOf(wanted)
  return at === -1
    ? undefined
    : { start: offsets[at]!, end: offsets[at + wanted.length - 1]! + 1, confidence: 1 }
}

/** A text folded for comparison, and the offset in the original of each of its UTF-16 units. */
const fold = (original: string): { readonly text: string; readonly offsets: ReadonlyArray<number> } => {
  const offsets: Array<number> = []
  let text = ""
  for (let at = 0; at < original.length; at++) {
    const unit = original[at]!
    const lower = unit.toLowerCase()
    const folded = /\s/.test(unit) ? " " : /["'“”„«»‘’]/.test(unit) ? "'" : lower.length === 1 ? lower : unit
    if (folded === " " && text.endsWith(" ")) continue
    text += folded
    offsets.push(at)
  }
  return { text, offsets }
}

/**
 * The sentence of a context that best supports a statement; undefined where none does. Numbers in the statement must occur in the context.
 */
export const findSupport = (context: Context, statement: string): Span | undefined => {
  const question = questionOf(statement)
  const units = unitsOf(context, 0, blocksIn([context])[0]!)
  const numbers = statement.match(/\p{N}+/gu) ?? []
  if (!numbers.every((number) => context.text.includes(number))) return undefined
  const { evidence } = evidenceFor({ ...question, type: "other" }, [context], units)
  let best: Span | undefined
  for (const { unit, covered } of evidence) {
    if (covered >= minCoverage && covered > (best?.confidence ?? 0)) {
      best = { start: unit.start, end: unit.end, confidence: Math.round(Math.min(1, covered) * 1000) / 1000 }
    }
  }
  return best
}

/** Least weighted share of a statement's terms in one sentence, where no mark points to it. */
const minAligned = 0.6

/** Finds the sentence of the contexts that says the same as a statement without a mark. */
export class Alignment {
  readonly #contexts: ReadonlyArray<Context>
  readonly #question: string
  #units: ReadonlyArray<Unit> | undefined

  constructor(contexts: ReadonlyArray<Context>, question: string) {
    this.#contexts = contexts
    this.#question = question
  }

  /** Whether a statement makes a claim that could be verified. */
  hasSubstance(statement: string): boolean {
    return questionOf(statement).terms.length > 0
  }

  /**
   * The sentence that covers the statement best, including its numbers. Only sentences related to the question are considered: a document
   * may contain words that it wants repeated, whatever the question is.
   */
  find(statement: string): (Span & { readonly context: Context }) | undefined {
    const asked = questionOf(statement)
    const units = this.#related()
    if (asked.terms.length === 0 || units.length === 0) return undefined
    const numbers = statement.match(/\p{N}+/gu) ?? []
    const { evidence, weights } = evidenceFor({ ...asked, type: "other" }, this.#contexts, units)
    const total = weights.reduce((sum, weight) => sum + weight, 0)
    let found: (Span & { readonly context: Context }) | undefined
    for (const { matches, unit } of evidence) {
      const share = matches.reduce((sum, match, term) => sum + match * weights[term]!, 0) / total
      const context = this.#contexts[unit.context]
      if (context === undefined || share < minAligned || share <= (found?.confidence ?? 0)) continue
      const text = context.text.slice(unit.start, unit.end)
      if (!numbers.every((number) => text.includes(number))) continue
      found = { context, start: unit.start, end: unit.end, confidence: Math.round(Math.min(1, share) * 1000) / 1000 }
    }
    return found
  }

  /** Sentences with a word of the question in them or above them; all sentences where the question has no such words. */
  #related(): ReadonlyArray<Unit> {
    if (this.#units !== undefined) return this.#units
    const blocks = blocksIn(this.#contexts)
    const units = this.#contexts.flatMap((context, at) => unitsOf(context, at, blocks[at]!))
    const question = questionOf(this.#question)
    return this.#units = question.terms.length === 0
      ? units
      : evidenceFor({ ...question, type: "other" }, this.#contexts, units).evidence.flatMap(({ unit, withHeadings }) =>
        withHeadings.some((match) => match >= 0.8) ? [unit] : []
      )
  }
}
