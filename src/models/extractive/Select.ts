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

/** What an answer may cost its reader. The table of these figures is in `docs/answers.md`. */
export interface Reading {
  /** The least chance of holding the answer that a character more must bring. */
  readonly leastChance: number
  /** Characters that a further passage costs besides its own: it is of another place. */
  readonly passage: number
  /** How much less than the best one a unit may score: beyond, little chances are no longer true. */
  readonly loss: number
}

export const reading: Reading = { leastChance: 0.00006, passage: 200, loss: 3.5 }
/** A Chinese or Japanese text says as much in a third of the characters. */
const cjkCharacters = 3
/** Units that are looked at; characters between what is joined, and in all of it. */
const bounds = { units: 40, between: 500, characters: 1600 }
/** Loss and characters for what is whole as it is: a passage that ends in the listing it leads up to, a field, a row. */
const whole = { loss: 1.5, between: 120 }
/** A further passage has this share of what the best one has of the question, … */
const minShare = 0.6
/** … or is another part of what is asked for: it adds this share of the question's weight and scores at most so much less, … */
const minGain = 0.2
const maxLoss = 3
/** … or so much where it adds two whole terms. */
const maxLossOfPart = 6
/** Word overlap (Jaccard) from which two quotes say the same, and from which they speak of the same. */
const sameness = 0.8
const likeness = 0.45

/** A passage that is shown, and the best unit of it. */
interface Shown {
  readonly evidence: Evidence
  readonly passage: Passage
}

/**
 * The best unit, then what contradicts it, then what is most likely to hold the answer for the characters it takes, as a
 * longer stretch of what is shown or as a further passage, then units that cover terms the chosen ones lack; at most `limit`
 * passages. `ranked` is best first. Of two that contradict each other the newer is first.
 */
export const select = (
  question: Question,
  ranked: ReadonlyArray<Evidence>,
  weights: ReadonlyArray<number>,
  contexts: ReadonlyArray<Context>,
  limit: number,
  { leastChance, loss: mostLoss, passage: ofPassage }: Reading = reading
): ReadonlyArray<Chosen> => {
  const first = ranked[0]
  if (first === undefined) return []
  const candidates = ranked
    .slice(0, bounds.units)
    .filter(({ score }) => first.score - score <= maxLossOfPart)
    .map((evidence): Shown => ({ evidence, passage: passageFor(evidence, contexts, question) }))
  const chanceOf = chances(ranked)
  const perCharacter = isCjk(first.unit.words[0] ?? "") ? cjkCharacters : 1
  const shown: Array<Shown> = [candidates[0]!]
  const other = limit > 1
    ? candidates.find(({ evidence }) => evidence.score >= first.score - maxLoss && contradicts(question, first, evidence))
    : undefined
  if (other !== undefined) shown.push(other)

  /** What showing a candidate is worth a character: as a part of what is shown, or as a passage of its own. */
  const worthOf = ({ evidence, passage }: Shown): Worth | undefined => {
    const { context } = evidence.unit
    const loss = first.score - evidence.score
    if (loss > mostLoss) return undefined
    if (shown.some((known) => holds(known, evidence.unit) || same(known.evidence, evidence))) return undefined
    let best: Worth | undefined
    const consider = (at: number, start: number, end: number, before?: Passage): void => {
      const added = before === undefined ? end - start + ofPassage / perCharacter : end - start - (before.end - before.start)
      const chance = chanceOf(context, start, end) - (before === undefined ? 0 : chanceOf(context, before.start, before.end))
      const worth = chance / (perCharacter * added)
      if (worth >= leastChance && worth > (best?.worth ?? 0)) best = { at, worth, evidence, passage }
    }
    shown.forEach((known, at) => {
      const start = Math.min(known.passage.start, passage.start)
      const end = Math.max(known.passage.end, passage.end)
      const between = Math.max(known.passage.start, passage.start) - Math.min(known.passage.end, passage.end)
      if (known.evidence.unit.context !== context || between > bounds.between) return
      if (isWhole(known) && (loss > whole.loss || between > whole.between)) return
      if (perCharacter * (end - start) > bounds.characters) return
      if (shown.some((rest) => rest !== known && meets(rest, context, start, end))) return
      consider(at, start, end, known.passage)
    })
    if (shown.length < limit && isLikely(first, evidence) && !shown.some((known) => meets(known, context, passage.start, passage.end))) {
      consider(shown.length, passage.start, passage.end)
    }
    return best
  }

  for (;;) {
    let best: Worth | undefined
    for (const candidate of candidates) {
      const worth = worthOf(candidate)
      if (worth !== undefined && worth.worth > (best?.worth ?? 0)) best = worth
    }
    if (best === undefined) break
    const { at, evidence, passage } = best
    const known = shown[at]
    shown[at] = known === undefined
      ? { evidence, passage }
      : { ...known, passage: joined(known.passage, passage, contexts[evidence.unit.context]!.text, evidence.unit.blocks) }
  }

  const total = weights.reduce((sum, weight) => sum + weight, 0)
  for (const { evidence, passage } of candidates) {
    if (shown.length >= limit) break
    const covered = toldBy(shown)
    const loss = first.score - evidence.score
    const gain = weights.reduce((sum, weight, term) => sum + weight * Math.max(0, evidence.matches[term]! - covered[term]!), 0)
    const added = evidence.matches.filter((match, term) => match >= 0.8 && covered[term]! < 0.5).length
    if (gain < minGain * total || loss > (added > 1 ? maxLossOfPart : maxLoss)) continue
    if (shown.some((known) => same(known.evidence, evidence) || meets(known, evidence.unit.context, passage.start, passage.end))) continue
    shown.push({ evidence, passage })
  }

  const newerFirst = other !== undefined && timeOf(other.evidence, contexts) > timeOf(first, contexts)
  const inOrder = newerFirst ? [shown[1]!, shown[0]!, ...shown.slice(2)] : shown
  return inOrder.map(({ evidence, passage }) => ({ evidence, passage, sources: sourcesOf(evidence, ranked) }))
}

/** Which passage is made longer, or added, by a unit's, and the chance that each character of it adds. */
interface Worth extends Shown {
  readonly at: number
  readonly worth: number
}

const isWhole = ({ evidence, passage }: Shown): boolean =>
  passage.parts.at(-1)!.listing || evidence.unit.kind === "key" || evidence.unit.kind === "row"

/** What is about another name is not another answer; nor is what has no number, date or name where one is asked for. */
const isLikely = (first: Evidence, { signs, typed }: Evidence): boolean =>
  (typed || !first.typed) && signs.told >= minShare * first.signs.told && signs.names >= first.signs.names

const meets = ({ evidence, passage }: Shown, context: number, start: number, end: number): boolean =>
  evidence.unit.context === context && passage.start < end && start < passage.end

const holds = ({ evidence, passage }: Shown, { context, end, start }: Evidence["unit"]): boolean =>
  evidence.unit.context === context && passage.start <= start && end <= passage.end

/** How much of each term is told by what is shown. */
const toldBy = (shown: ReadonlyArray<Shown>): ReadonlyArray<number> =>
  shown[0]!.evidence.told.map((_, term) => Math.max(...shown.map(({ evidence }) => evidence.told[term]!)))

/** The chance that a span of a context holds the answer: the weights are fitted so that scores are logarithms of it. */
const chances = (ranked: ReadonlyArray<Evidence>): (context: number, start: number, end: number) => number => {
  const powers = ranked.map(({ score }) => Math.exp(score - ranked[0]!.score))
  const total = powers.reduce((sum, power) => sum + power, 0)
  const byContext = new Map<number, Array<{ readonly start: number; readonly end: number; readonly chance: number }>>()
  ranked.forEach(({ unit: { context, end, start } }, at) => {
    const units = byContext.get(context) ?? []
    units.push({ start, end, chance: powers[at]! / total })
    byContext.set(context, units)
  })
  return (context, start, end) =>
    byContext.get(context)!.reduce((sum, unit) => (unit.start >= start && unit.end <= end ? sum + unit.chance : sum), 0)
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
