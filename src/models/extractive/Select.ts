import type { Context } from "../../domain/Retrieval.ts"
import type { Evidence } from "./Evidence.ts"
import { passageOf } from "./Passage.ts"
import type { Question } from "./Question.ts"

/** One passage of the answer and everywhere it is written. */
export interface Chosen {
  readonly evidence: Evidence
  /** Units that say the same, best first, starting with the chosen one. */
  readonly sources: ReadonlyArray<Evidence>
}

const maxSources = 3
/** A further passage adds this share of the question's weight and scores at most so much less than the best one, … */
const minGain = 0.2
const maxLoss = 3
/** … or so much where it adds two whole terms: the question has two parts, … */
const maxLossOfPart = 6
/** … or is nearly as likely to hold the answer: it scores at most so much less, and has this share of what the best one has of the question. */
const maxDoubt = 1.5
const minShare = 0.6
/** Word overlap (Jaccard) from which two quotes say the same, and from which they speak of the same. */
const sameness = 0.8
const likeness = 0.45

/**
 * The best unit, then what contradicts it, then, best first, units that cover terms the chosen ones lack or are nearly as
 * good; at most `limit`. `ranked` is best first. Of two that contradict each other the newer is first.
 */
export const select = (
  question: Question,
  ranked: ReadonlyArray<Evidence>,
  weights: ReadonlyArray<number>,
  contexts: ReadonlyArray<Context>,
  limit: number
): ReadonlyArray<Chosen> => {
  const first = ranked[0]
  if (first === undefined) return []
  const total = weights.reduce((sum, weight) => sum + weight, 0)
  const covered = [...first.told]
  const shown = [spanOf(first, contexts, question)]
  const chosen: Array<Evidence> = []
  const other = limit > 1
    ? ranked.slice(1).find((candidate) => candidate.score >= first.score - maxLoss && contradicts(question, first, candidate))
    : undefined
  if (other !== undefined) shown.push(spanOf(other, contexts, question))
  const more = limit - (other === undefined ? 1 : 2)
  for (const candidate of ranked.slice(1)) {
    if (chosen.length >= more || candidate.score < first.score - maxLossOfPart) break
    if (candidate === other || [first, ...chosen].some((known) => same(known, candidate))) continue
    const gain = weights.reduce((sum, weight, term) => sum + weight * Math.max(0, candidate.matches[term]! - covered[term]!), 0)
    const added = candidate.matches.filter((match, term) => match >= 0.8 && covered[term]! < 0.5).length
    const adds = gain >= minGain * total && candidate.score >= first.score - (added > 1 ? maxLossOfPart : maxLoss)
    const likely = candidate.score >= first.score - maxDoubt && candidate.signs.told >= minShare * first.signs.told
    if (!adds && !likely) continue
    const span = spanOf(candidate, contexts, question)
    if (shown.some((known) => known.context === span.context && known.start < span.end && span.start < known.end)) continue
    chosen.push(candidate)
    shown.push(span)
    candidate.told.forEach((match, term) => {
      covered[term] = Math.max(covered[term]!, match)
    })
  }
  const leads = other === undefined
    ? [first]
    : timeOf(other, contexts) > timeOf(first, contexts)
    ? [other, first]
    : [first, other]
  return [...leads, ...chosen].map((evidence) => ({
    evidence,
    sources: sourcesOf(evidence, ranked)
  }))
}

/** One of each context at most. */
const sourcesOf = (evidence: Evidence, ranked: ReadonlyArray<Evidence>): ReadonlyArray<Evidence> => {
  const sources = [evidence]
  for (const other of ranked) {
    if (sources.length === maxSources) break
    if (sources.every(({ unit }) => unit.context !== other.unit.context) && same(evidence, other)) sources.push(other)
  }
  return sources
}

const spanOf = ({ unit }: Evidence, contexts: ReadonlyArray<Context>, { kind }: Question) => {
  const { end, start } = passageOf(unit, contexts[unit.context]!.text, kind)
  return { context: unit.context, start, end }
}

/** When the file was last changed, as a text that orders by time; none is the oldest. */
const timeOf = ({ unit }: Evidence, contexts: ReadonlyArray<Context>): string =>
  contexts[unit.context]!.metadata?.["modifiedTime"]?.toString() ?? ""

/** Another number or date in nearly the same words, in another file, where one is asked for. */
const contradicts = (question: Question, a: Evidence, b: Evidence): boolean =>
  (question.type === "number" || question.type === "date") && a.typed && b.typed && a.unit.context !== b.unit.context &&
  a.unit.kind === "sentence" && b.unit.kind === "sentence" && overlap(a, b) >= likeness && numbersOf(a) !== "" && numbersOf(b) !== "" &&
  numbersOf(a) !== numbersOf(b)

/** Nearly the same words, and the very same numbers: "25 days" and "30 days" are two statements. */
export const same = (a: Evidence, b: Evidence): boolean =>
  a.unit.normal === b.unit.normal || (overlap(a, b) >= sameness && numbersOf(a) === numbersOf(b))

const overlap = (a: Evidence, b: Evidence): number => {
  const small = a.unit.wordSet.size < b.unit.wordSet.size ? a.unit.wordSet : b.unit.wordSet
  const large = small === a.unit.wordSet ? b.unit.wordSet : a.unit.wordSet
  let shared = 0
  for (const word of small) if (large.has(word)) shared++
  return shared / (small.size + large.size - shared)
}

const numbersOf = (evidence: Evidence): string => (evidence.unit.normal.match(/\p{N}+/gu) ?? []).join(" ")
