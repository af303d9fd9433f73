import type { Context } from "../../domain/Retrieval.ts"
import type { Evidence } from "./Evidence.ts"
import { joined, type Passage, passageOf } from "./Passage.ts"
import type { Question } from "./Question.ts"
import { isCjk } from "./Words.ts"

/** One passage of the answer and everywhere it is written. */
export interface Chosen {
  readonly evidence: Evidence
  /** Of its context: the unit with what belongs to it, and with what stands beside it and is nearly as good. */
  readonly passage: Passage
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
const maxDoubt = 3.5
const minShare = 0.6
/**
 * Passages of one context are one where a unit scores at most so much less, so few characters are between them, and no more
 * in all; less of each where the first of them ends in the listing that it leads up to, and so is whole.
 */
const joining = {
  open: { loss: 3, between: 250, characters: 1200, cjkCharacters: 400 },
  closed: { loss: 1.5, between: 120, characters: 900, cjkCharacters: 300 }
}
/** Word overlap (Jaccard) from which two quotes say the same, and from which they speak of the same. */
const sameness = 0.8
const likeness = 0.45

/**
 * The best unit, then what contradicts it, then, best first, units that cover terms the chosen ones lack or are nearly as
 * good; at most `limit`, each with those beside it that are nearly as good. `ranked` is best first. Of two that contradict
 * each other the newer is first.
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
  const shown = new Map([[first, passageFor(first, contexts, question)]])
  const chosen: Array<Evidence> = []
  const other = limit > 1
    ? ranked.slice(1).find((candidate) => candidate.score >= first.score - maxLoss && contradicts(question, first, candidate))
    : undefined
  if (other !== undefined) shown.set(other, passageFor(other, contexts, question))
  const more = limit - (other === undefined ? 1 : 2)
  /** What is shown of a candidate's context, and of that what meets a span. */
  const shownOf = ({ unit }: Evidence): ReadonlyArray<readonly [Evidence, Passage]> =>
    [...shown].filter(([known]) => known.unit.context === unit.context)
  const meeting = (span: Passage, of: Evidence): number =>
    shownOf(of).filter(([, { end, start }]) => start < span.end && span.start < end).length
  for (const candidate of ranked.slice(1)) {
    const loss = first.score - candidate.score
    if (loss > (chosen.length < more ? maxLossOfPart : joining.open.loss)) break
    if (candidate === other || [first, ...chosen].some((known) => same(known, candidate))) continue
    const gain = weights.reduce((sum, weight, term) => sum + weight * Math.max(0, candidate.matches[term]! - covered[term]!), 0)
    const added = candidate.matches.filter((match, term) => match >= 0.8 && covered[term]! < 0.5).length
    const adds = gain >= minGain * total && loss <= (added > 1 ? maxLossOfPart : maxLoss)
    // What is about another name is not another answer.
    // Nor is what has no number, date or name where one is asked for.
    const likely = loss <= maxDoubt && (candidate.typed || !first.typed) && candidate.signs.told >= minShare * first.signs.told &&
      candidate.signs.names >= first.signs.names
    if (!adds && !likely && loss > joining.open.loss) continue
    const span = passageFor(candidate, contexts, question)
    const beside = shownOf(candidate).find(([{ unit }, passage]) => isBeside(passage, span, unit, loss))
    if (beside !== undefined) {
      const [known, passage] = beside
      const whole = joined(passage, span, contexts[known.unit.context]!.text)
      if (meeting(whole, known) === 1) shown.set(known, whole)
    } else if ((adds || likely) && chosen.length < more && meeting(span, candidate) === 0) {
      chosen.push(candidate)
      shown.set(candidate, span)
      candidate.told.forEach((match, term) => {
        covered[term] = Math.max(covered[term]!, match)
      })
    }
  }
  const leads = other === undefined
    ? [first]
    : timeOf(other, contexts) > timeOf(first, contexts)
    ? [other, first]
    : [first, other]
  return [...leads, ...chosen].map((evidence) => ({
    evidence,
    passage: shown.get(evidence)!,
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

const passageFor = ({ unit }: Evidence, contexts: ReadonlyArray<Context>, { kind }: Question): Passage =>
  passageOf(unit, contexts[unit.context]!.text, kind)

const isBeside = (a: Passage, b: Passage, unit: Evidence["unit"], loss: number): boolean => {
  const most = joining[a.parts.at(-1)!.listing ? "closed" : "open"]
  return loss <= most.loss && Math.max(a.start, b.start) - Math.min(a.end, b.end) <= most.between &&
    Math.max(a.end, b.end) - Math.min(a.start, b.start) <= (isCjk(unit.words[0] ?? "") ? most.cjkCharacters : most.characters)
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
