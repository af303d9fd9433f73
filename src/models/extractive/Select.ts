import type { Context } from "../../domain/Retrieval.ts"
import { type Place, type Stretch, stretchesOf } from "../../domain/Stretches.ts"
import { type Block, blocksOf } from "./Blocks.ts"
import type { Evidence } from "./Evidence.ts"
import { joined, type Passage, passageOf } from "./Passage.ts"
import type { Question } from "./Question.ts"
import { isCjk, normalize } from "./Words.ts"

/** What is quoted of a stretch. Offsets, blocks and `context` of its unit are those of the stretch, not of one context. */
export interface Quoted {
  readonly evidence: Evidence
  readonly stretch: Stretch
  /** The unit with what belongs to it, and with what stands beside it and is nearly as good. */
  readonly passage: Passage
}

/** One passage of the answer and everywhere it is written. */
export interface Chosen extends Quoted {
  /** What says the same, best first, starting with the chosen one. */
  readonly sources: ReadonlyArray<Quoted>
}

const maxSources = 3

/** What an answer may cost its reader. The tables of these figures are in `docs/answers.md`; losses are of a unit's score to the best one's. */
export interface Reading {
  /** The least chance of holding the answer that a character more must bring. */
  readonly leastChance: number
  /** Characters that a further passage costs besides its own: it is of another place. */
  readonly passage: number
  /** The most that a unit may lose: beyond, little chances are no longer true. */
  readonly loss: number
  /** The most where a passage is whole as it is, ends in the listing it leads up to, is a field or a row, and would go on. */
  readonly wholeLoss: number
  /** Characters between what is joined, and in all of it. */
  readonly between: number
  readonly characters: number
  /** A further passage has this share of what the best one has of the question, … */
  readonly share: number
  /** … or is another part of what is asked for: it adds this share of the question's weight and loses at most so much, … */
  readonly gain: number
  readonly partLoss: number
  /** … or so much where it adds two whole terms. */
  readonly partsLoss: number
}

export const reading: Reading = {
  leastChance: 0.00006,
  passage: 400,
  loss: 3.5,
  wholeLoss: 1.5,
  between: 500,
  characters: 1600,
  share: 0.6,
  gain: 0.2,
  partLoss: 3,
  partsLoss: 6
}

/** A Chinese or Japanese text says as much in a third of the characters. */
const cjkCharacters = 3
/** Units that are looked at. */
const mostUnits = 40
/** Word overlap (Jaccard) from which two quotes say the same, and from which they speak of the same. */
const sameness = 0.8
const likeness = 0.45
/** Characters from which a text that stands in another is there again, and not by chance. */
const leastRepeated = 30

/** A passage that is shown, and the best unit of it. */
interface Shown {
  readonly evidence: Evidence
  readonly passage: Passage
}

/**
 * The best unit, then what contradicts it, then what is most likely to hold the answer for the characters it takes, as a
 * longer stretch of what is shown or as a further passage, then units that cover terms the chosen ones lack; at most `limit`
 * passages. `found` is best first. Of two that contradict each other the newer is first.
 */
export const select = (
  question: Question,
  found: ReadonlyArray<Evidence>,
  weights: ReadonlyArray<number>,
  contexts: ReadonlyArray<Context>,
  limit: number,
  by: Reading = reading
): ReadonlyArray<Chosen> => {
  const { places, stretches } = stretchesOf(contexts)
  const ranked = inStretches(found, contexts, places)
  const passageFor = ({ unit }: Evidence): Passage => passageOf(unit, stretches[unit.context]!.text, question.kind)
  const first = ranked[0]
  if (first === undefined) return []
  const candidates = ranked
    .slice(0, mostUnits)
    .filter(({ score }) => first.score - score <= by.partsLoss)
    .map((evidence): Shown => ({ evidence, passage: passageFor(evidence) }))
  const chanceOf = chances(ranked)
  const normals = new Map<Passage, string>()
  const normalOf = ({ evidence: { unit }, passage }: Shown): string => {
    const known = normals.get(passage) ?? normalize(stretches[unit.context]!.text.slice(passage.start, passage.end))
    normals.set(passage, known)
    return known
  }
  /** Of two files that hold the same text, one is read. */
  const repeats = (known: Shown, candidate: Shown): boolean =>
    known.evidence.unit.context !== candidate.evidence.unit.context && candidate.passage.end - candidate.passage.start >= leastRepeated &&
    normalOf(known).includes(normalOf(candidate))
  const perCharacter = isCjk(first.unit.words[0] ?? "") ? cjkCharacters : 1
  const shown: Array<Shown> = [candidates[0]!]
  const other = limit > 1
    ? candidates.find(({ evidence }) => evidence.score >= first.score - by.partLoss && contradicts(question, first, evidence))
    : undefined
  if (other !== undefined) shown.push(other)

  /** What showing a candidate is worth a character: as a part of what is shown, or as a passage of its own. */
  const worthOf = ({ evidence, passage }: Shown): Worth | undefined => {
    const { context } = evidence.unit
    const loss = first.score - evidence.score
    if (loss > by.loss) return undefined
    if (shown.some((known) => holds(known, evidence.unit) || same(known.evidence, evidence) || repeats(known, { evidence, passage }))) {
      return undefined
    }
    let best: Worth | undefined
    const consider = (at: number, start: number, end: number, before?: Passage): void => {
      const added = before === undefined ? end - start + by.passage / perCharacter : end - start - (before.end - before.start)
      const chance = chanceOf(context, start, end) - (before === undefined ? 0 : chanceOf(context, before.start, before.end))
      const worth = chance / (perCharacter * added)
      if (worth >= by.leastChance && worth > (best?.worth ?? 0)) best = { at, worth, evidence, passage }
    }
    shown.forEach((known, at) => {
      const start = Math.min(known.passage.start, passage.start)
      const end = Math.max(known.passage.end, passage.end)
      const between = Math.max(known.passage.start, passage.start) - Math.min(known.passage.end, passage.end)
      if (known.evidence.unit.context !== context || between > by.between) return
      if (isWhole(known) && loss > by.wholeLoss) return
      if (perCharacter * (end - start) > by.characters) return
      if (shown.some((rest) => rest !== known && meets(rest, context, start, end))) return
      consider(at, start, end, known.passage)
    })
    if (
      shown.length < limit && isLikely(first, evidence, by) && !shown.some((known) => meets(known, context, passage.start, passage.end))
    ) {
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
      : { ...known, passage: joined(known.passage, passage, stretches[evidence.unit.context]!.text, evidence.unit.blocks) }
  }

  const total = weights.reduce((sum, weight) => sum + weight, 0)
  for (const { evidence, passage } of candidates) {
    if (shown.length >= limit) break
    const covered = toldBy(shown)
    const loss = first.score - evidence.score
    const gain = weights.reduce((sum, weight, term) => sum + weight * Math.max(0, evidence.matches[term]! - covered[term]!), 0)
    const added = evidence.matches.filter((match, term) => match >= 0.8 && covered[term]! < 0.5).length
    if (gain < by.gain * total || loss > (added > 1 ? by.partsLoss : by.partLoss)) continue
    if (shown.some((known) => same(known.evidence, evidence) || repeats(known, { evidence, passage }))) continue
    if (shown.some((known) => meets(known, evidence.unit.context, passage.start, passage.end))) continue
    shown.push({ evidence, passage })
  }

  /** All that is shown where another file has all of it, else as much as belongs to what that says. */
  const again = ({ unit }: Evidence, { end, parts, start }: Passage, source: Evidence): Passage => {
    const quote = stretches[unit.context]!.text.slice(start, end)
    const at = stretches[source.unit.context]!.text.indexOf(quote)
    return at === -1 ? passageFor(source) : { start: at, end: at + quote.length, parts }
  }
  const timeOf = ({ unit }: Evidence): string => changed(stretches[unit.context]!)
  const newerFirst = other !== undefined && timeOf(other.evidence) > timeOf(first)
  const inOrder = newerFirst ? [shown[1]!, shown[0]!, ...shown.slice(2)] : shown
  const quoted = (evidence: Evidence, passage: Passage): Quoted => ({ evidence, passage, stretch: stretches[evidence.unit.context]! })
  return inOrder.map(({ evidence, passage }) => ({
    ...quoted(evidence, passage),
    sources: sourcesOf(evidence, ranked).map((source) => quoted(source, source === evidence ? passage : again(evidence, passage, source)))
  }))
}

/** Units of contexts as units of the stretches that these are of, so that what goes on in the next one is read on. */
const inStretches = (
  found: ReadonlyArray<Evidence>,
  contexts: ReadonlyArray<Context>,
  places: ReadonlyArray<Place>
): ReadonlyArray<Evidence> => {
  const own = new Map(found.map(({ unit }) => [unit.context, unit.blocks]))
  const blocks = new Map<number, Array<Block>>()
  const before = new Map<number, number>()
  for (const context of [...contexts.keys()].sort((a, b) => places[a]!.offset - places[b]!.offset)) {
    const { offset, stretch } = places[context]!
    const known = blocks.get(stretch) ?? []
    before.set(context, known.length)
    known.push(...(own.get(context) ?? blocksOf(contexts[context]!.text)).map((block) => moved(block, offset)))
    blocks.set(stretch, known)
  }
  return found.map((evidence) => {
    const { unit } = evidence
    const { offset, stretch } = places[unit.context]!
    return {
      ...evidence,
      unit: {
        ...unit,
        context: stretch,
        blocks: blocks.get(stretch)!,
        block: unit.block + before.get(unit.context)!,
        start: unit.start + offset,
        end: unit.end + offset
      }
    }
  })
}

const moved = (block: Block, by: number): Block =>
  by === 0 ? block : {
    ...block,
    start: block.start + by,
    end: block.end + by,
    lines: block.lines.map((line) => ({ ...line, start: line.start + by, end: line.end + by })),
    ...(block.term === undefined ? {} : { term: { ...block.term, end: block.term.end + by } })
  }

/** Which passage is made longer, or added, by a unit's, and the chance that each character of it adds. */
interface Worth extends Shown {
  readonly at: number
  readonly worth: number
}

const isWhole = ({ evidence, passage }: Shown): boolean =>
  passage.parts.at(-1)!.listing || evidence.unit.kind === "key" || evidence.unit.kind === "row"

/** What is about another name is not another answer; nor is what has no number, date or name where one is asked for. */
const isLikely = (first: Evidence, { signs, typed }: Evidence, { share }: Reading): boolean =>
  (typed || !first.typed) && signs.told >= share * first.signs.told && signs.names >= first.signs.names

const meets = ({ evidence, passage }: Shown, context: number, start: number, end: number): boolean =>
  evidence.unit.context === context && passage.start < end && start < passage.end

const holds = ({ evidence, passage }: Shown, { context, end, start }: Evidence["unit"]): boolean =>
  evidence.unit.context === context && passage.start <= start && end <= passage.end

/** How much of each term is told by what is shown. */
const toldBy = (shown: ReadonlyArray<Shown>): ReadonlyArray<number> =>
  shown[0]!.evidence.told.map((_, term) => Math.max(...shown.map(({ evidence }) => evidence.told[term]!)))

/** The chance that a span of a stretch holds the answer: the weights are fitted so that scores are logarithms of it. */
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

/** One of each stretch at most. */
const sourcesOf = (evidence: Evidence, ranked: ReadonlyArray<Evidence>): ReadonlyArray<Evidence> => {
  const sources = [evidence]
  for (const other of ranked) {
    if (sources.length === maxSources) break
    if (sources.every(({ unit }) => unit.context !== other.unit.context) && same(evidence, other)) sources.push(other)
  }
  return sources
}

/** When the file was last changed, as a text that orders by time; none is the oldest. */
const changed = ({ chunks }: Stretch): string => chunks[0]!.context.metadata?.["modifiedTime"]?.toString() ?? ""

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
