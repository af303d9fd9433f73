import type { Context } from "../../domain/Retrieval.ts"
import { type Stretch, stretchesOf } from "../../domain/Stretches.ts"
import type { Evidence } from "./Evidence.ts"
import { enough, type Matches } from "./Matching.ts"
import { joined, type Passage, passageOf } from "./Passage.ts"
import { type Placed, placedIn, type StretchUnit } from "./Placed.ts"
import type { Question } from "./Question.ts"
import { numbersOf, overlap, saysSame } from "./Similarity.ts"
import { cjkDensity, isCjk, normalize } from "./Words.ts"

/** What passages are selected from. */
export interface Ranked {
  readonly question: Question
  readonly contexts: ReadonlyArray<Context>
  /** The units of the contexts, best first. */
  readonly evidence: ReadonlyArray<Evidence>
  /** The weights of the question's terms, in order. */
  readonly weights: ReadonlyArray<number>
}

/** What is quoted of a stretch. */
export interface Quoted extends Placed {
  readonly stretch: Stretch
  /** The unit with what belongs to it, and with what stands beside it and is nearly as good. */
  readonly passage: Passage
}

/** One passage of the answer and everywhere it is written. */
export interface Chosen extends Quoted {
  /** What says the same, best first, starting with the passage itself. */
  readonly sources: ReadonlyArray<Quoted>
}

/**
 * What an answer may cost its reader, as measured in `docs/answers.md`. A loss is how far the score of a unit is below that of the best
 * unit.
 */
export interface Reading {
  /** The chance of holding the answer that each further character must add at least. */
  readonly leastChance: number
  /** Characters that a further passage costs besides its own, for being of another place. */
  readonly passage: number
  /** The greatest loss of a unit that is shown for its chance: beyond it, the small chances are no longer true. */
  readonly loss: number
  /** The greatest loss of a unit that extends a passage which is whole already: a field, a row, or one that ends in a listing. */
  readonly wholeLoss: number
  /** Characters at most between two passages that are joined. */
  readonly between: number
  /** Characters at most of a joined passage. */
  readonly characters: number
  /** The share of what the best unit has of the question that a further passage must have. */
  readonly share: number
  /** The share of the question's weight that a passage must add to be shown for another part of the question. */
  readonly gain: number
  /** The greatest loss of a passage for another part of the question, and of one that contradicts the best. */
  readonly partLoss: number
  /** The greatest loss of a passage that adds two whole terms. */
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

const maxSources = 3
/** Units that are considered. */
const mostUnits = 40
/** Word overlap (Jaccard) from which two quotes are about the same. */
const likeness = 0.45
/** Characters from which a text that another file has too is a repetition, and not there by chance. */
const leastRepeated = 30

/** A unit and the passage that shows it. */
interface Shown extends Placed {
  readonly passage: Passage
}

/** How a candidate may be shown: as part of the passage at an index of what is shown, or as a further one. */
interface Offer {
  readonly candidate: Shown
  readonly at: number
  /** The chance of holding the answer that each character adds. */
  readonly worth: number
}

/** The passages that are shown, and the rules by which others join them. */
class Selection {
  readonly #first: Placed
  readonly #limit: number
  readonly #by: Reading
  readonly #stretches: ReadonlyArray<Stretch>
  readonly #chanceOf: ChanceOf
  /** What one character says, in characters of a script that writes letters. */
  readonly #density: number
  readonly #normals = new Map<Passage, string>()
  readonly #shown: Array<Shown>

  constructor(ranked: ReadonlyArray<Placed>, first: Shown, stretches: ReadonlyArray<Stretch>, limit: number, by: Reading) {
    this.#first = first
    this.#limit = limit
    this.#by = by
    this.#stretches = stretches
    this.#chanceOf = chancesOf(ranked)
    this.#density = isCjk(first.unit.words[0] ?? "") ? cjkDensity : 1
    this.#shown = [first]
  }

  get shown(): ReadonlyArray<Shown> {
    return this.#shown
  }

  add(shown: Shown): void {
    this.#shown.push(shown)
  }

  /** Shows, one after another, what is most likely to hold the answer for the characters it takes, while it is likely enough. */
  addLikely(candidates: ReadonlyArray<Shown>): void {
    for (;;) {
      const offer = worthiest(candidates.flatMap((candidate) => this.#offersOf(candidate)), this.#by.leastChance)
      if (offer === undefined) return
      const { at, candidate } = offer
      const known = this.#shown[at]
      this.#shown[at] = known === undefined ? candidate : {
        ...known,
        passage: joined(known.passage, candidate.passage, this.#textOf(candidate), candidate.unit.blocks)
      }
    }
  }

  /** Shows candidates, best first, that have terms of the question which what is shown lacks. */
  addParts(candidates: ReadonlyArray<Shown>, weights: ReadonlyArray<number>): void {
    const total = weights.reduce((sum, weight) => sum + weight, 0)
    for (const candidate of candidates) {
      if (this.#shown.length >= this.#limit) return
      const { matches } = candidate.evidence
      const covered = this.#covered()
      const gain = weights.reduce((sum, weight, term) => sum + weight * Math.max(0, matches[term]! - covered[term]!), 0)
      const added = matches.filter((match, term) => match >= enough.having && covered[term]! < enough.touching).length
      if (gain < this.#by.gain * total || this.#lossOf(candidate) > (added > 1 ? this.#by.partsLoss : this.#by.partLoss)) continue
      const { end, start } = candidate.passage
      if (this.#shown.some((known) => this.#saysAgain(known, candidate) || meets(known, candidate.unit.stretch, start, end))) continue
      this.#shown.push(candidate)
    }
  }

  #offersOf(candidate: Shown): ReadonlyArray<Offer> {
    if (this.#lossOf(candidate) > this.#by.loss) return []
    if (this.#shown.some((known) => holds(known, candidate.unit) || this.#saysAgain(known, candidate))) return []
    const { end, start } = candidate.passage
    const chanceOf = (start: number, end: number): number => this.#chanceOf(candidate.unit.stretch, start, end)
    const offers: Array<Offer> = []
    this.#shown.forEach((known, at) => {
      const span = this.#extended(known, candidate)
      if (span === undefined) return
      const { end: endBefore, start: startBefore } = known.passage
      const added = span.end - span.start - (endBefore - startBefore)
      offers.push({
        candidate,
        at,
        worth: (chanceOf(span.start, span.end) - chanceOf(startBefore, endBefore)) / (this.#density * added)
      })
    })
    if (
      this.#shown.length < this.#limit && isLikely(this.#first, candidate, this.#by) &&
      !this.#shown.some((known) => meets(known, candidate.unit.stretch, start, end))
    ) {
      const added = end - start + this.#by.passage / this.#density
      offers.push({ candidate, at: this.#shown.length, worth: chanceOf(start, end) / (this.#density * added) })
    }
    return offers
  }

  /** The span of a shown passage once it includes the candidate's; undefined where it may not. */
  #extended(known: Shown, candidate: Shown): { readonly start: number; readonly end: number } | undefined {
    const { passage, unit: { stretch } } = candidate
    if (known.unit.stretch !== stretch) return undefined
    const start = Math.min(known.passage.start, passage.start)
    const end = Math.max(known.passage.end, passage.end)
    const between = Math.max(known.passage.start, passage.start) - Math.min(known.passage.end, passage.end)
    if (between > this.#by.between || this.#density * (end - start) > this.#by.characters) return undefined
    if (isWhole(known) && this.#lossOf(candidate) > this.#by.wholeLoss) return undefined
    return this.#shown.some((rest) => rest !== known && meets(rest, stretch, start, end)) ? undefined : { start, end }
  }

  #saysAgain(known: Shown, candidate: Shown): boolean {
    return saysSame(known.unit, candidate.unit) || this.#repeats(known, candidate)
  }

  /** Whether another file's passage that is shown holds all of the candidate's text. */
  #repeats(known: Shown, candidate: Shown): boolean {
    return known.unit.stretch !== candidate.unit.stretch && candidate.passage.end - candidate.passage.start >= leastRepeated &&
      this.#normalOf(known).includes(this.#normalOf(candidate))
  }

  #normalOf(shown: Shown): string {
    const { passage } = shown
    const normal = this.#normals.get(passage) ?? normalize(this.#textOf(shown).slice(passage.start, passage.end))
    this.#normals.set(passage, normal)
    return normal
  }

  #textOf({ unit }: Placed): string {
    return this.#stretches[unit.stretch]!.text
  }

  #lossOf({ evidence }: Placed): number {
    return this.#first.evidence.score - evidence.score
  }

  /** How much of each term what is shown has. */
  #covered(): Matches {
    return this.#first.evidence.withHeadings.map((_, term) => Math.max(...this.#shown.map(({ evidence }) => evidence.withHeadings[term]!)))
  }
}

/**
 * The best unit, then what contradicts it, then what is most likely to hold the answer for the characters it takes, as a longer stretch
 * of what is shown or as a further passage, then units with terms that the chosen ones lack; at most `limit` passages. Of two that
 * contradict each other the newer is first.
 */
export const select = (
  { contexts, evidence, question, weights }: Ranked,
  limit: number,
  by: Reading = reading
): ReadonlyArray<Chosen> => {
  const { places, stretches } = stretchesOf(contexts)
  const ranked = placedIn(evidence, contexts, places)
  const passageFor = ({ evidence: { matches, signs }, unit }: Placed): Passage =>
    passageOf(
      unit,
      stretches[unit.stretch]!.text,
      question.kind,
      signs.definition === 1 && matches.every((match) => match < enough.touching)
    )
  const candidates = ranked
    .slice(0, mostUnits)
    .filter(({ evidence }) => ranked[0]!.evidence.score - evidence.score <= by.partsLoss)
    .map((placed): Shown => ({ ...placed, passage: passageFor(placed) }))
  const first = candidates[0]
  if (first === undefined) return []
  const selection = new Selection(ranked, first, stretches, limit, by)
  const other = limit > 1
    ? candidates.find((candidate) =>
      candidate.evidence.score >= first.evidence.score - by.partLoss && contradicts(question, first, candidate)
    )
    : undefined
  if (other !== undefined) selection.add(other)
  selection.addLikely(candidates)
  selection.addParts(candidates, weights)

  const changedAt = ({ unit }: Placed): string => modifiedTime(stretches[unit.stretch]!)
  const [best, second, ...rest] = selection.shown
  const shown = other !== undefined && changedAt(other) > changedAt(first) ? [second!, best!, ...rest] : selection.shown
  const quoted = ({ evidence, unit }: Placed, passage: Passage): Quoted => ({ evidence, unit, passage, stretch: stretches[unit.stretch]! })
  return shown.map((one) => ({
    ...quoted(one, one.passage),
    sources: [
      quoted(one, one.passage),
      ...othersSaying(one, ranked).map((source) =>
        quoted(source, passageAgain(one, stretches, stretches[source.unit.stretch]!.text) ?? passageFor(source))
      )
    ]
  }))
}

/** The first of the offers that are worth most, and at least `least`; undefined where there is none. */
const worthiest = (offers: ReadonlyArray<Offer>, least: number): Offer | undefined => {
  let best: Offer | undefined
  for (const offer of offers) if (offer.worth >= least && offer.worth > (best?.worth ?? 0)) best = offer
  return best
}

/** Whether a passage is complete, so that only a unit that is nearly as good extends it. */
const isWhole = ({ passage, unit }: Shown): boolean => passage.parts.at(-1)!.listing || unit.kind === "key" || unit.kind === "row"

/**
 * Whether a candidate may be another answer: it is about the names of the question as much as the best unit is, and has a number, a date
 * or a name where one is in question and the best unit has one.
 */
const isLikely = ({ evidence: first }: Placed, { evidence: { signs, typed } }: Placed, { share }: Reading): boolean =>
  (typed || !first.typed) && signs.withHeadings >= share * first.signs.withHeadings && signs.names >= first.signs.names

/** Whether a shown passage overlaps a span of a stretch. */
const meets = ({ passage, unit }: Shown, stretch: number, start: number, end: number): boolean =>
  unit.stretch === stretch && passage.start < end && start < passage.end

/** Whether a shown passage contains a unit. */
const holds = ({ passage, unit }: Shown, { end, start, stretch }: StretchUnit): boolean =>
  unit.stretch === stretch && passage.start <= start && end <= passage.end

/** The chance that a span of a stretch holds the answer. */
type ChanceOf = (stretch: number, start: number, end: number) => number

/** The weights of signs are fitted so that scores are logarithms of chances. */
const chancesOf = (ranked: ReadonlyArray<Placed>): ChanceOf => {
  const powers = ranked.map(({ evidence }) => Math.exp(evidence.score - ranked[0]!.evidence.score))
  const total = powers.reduce((sum, power) => sum + power, 0)
  const byStretch = new Map<number, Array<{ readonly start: number; readonly end: number; readonly chance: number }>>()
  ranked.forEach(({ unit: { end, start, stretch } }, at) => {
    const units = byStretch.get(stretch) ?? []
    units.push({ start, end, chance: powers[at]! / total })
    byStretch.set(stretch, units)
  })
  return (stretch, start, end) =>
    byStretch.get(stretch)!.reduce((sum, unit) => (unit.start >= start && unit.end <= end ? sum + unit.chance : sum), 0)
}

/** The best units of other stretches that say the same, one of each stretch. */
const othersSaying = (shown: Placed, ranked: ReadonlyArray<Placed>): ReadonlyArray<Placed> => {
  const others: Array<Placed> = []
  const seen = new Set([shown.unit.stretch])
  for (const other of ranked) {
    if (others.length + 1 === maxSources) break
    if (seen.has(other.unit.stretch) || !saysSame(shown.unit, other.unit)) continue
    seen.add(other.unit.stretch)
    others.push(other)
  }
  return others
}

/** All of a shown passage, where another text holds all of it; else undefined. */
const passageAgain = (
  { passage: { end, parts, start }, unit }: Shown,
  stretches: ReadonlyArray<Stretch>,
  text: string
): Passage | undefined => {
  const quote = stretches[unit.stretch]!.text.slice(start, end)
  const at = text.indexOf(quote)
  return at === -1 ? undefined : { start: at, end: at + quote.length, parts }
}

/** When the file was last changed, as a text that sorts by time; empty, and so the oldest, where that is unknown. */
const modifiedTime = ({ chunks }: Stretch): string => chunks[0]!.context.metadata?.["modifiedTime"]?.toString() ?? ""

/** Whether two sentences, not of one stretch, have nearly the same words and another number or date, where that is in question. */
const contradicts = ({ type }: Question, a: Placed, b: Placed): boolean =>
  (type === "number" || type === "date") && a.evidence.typed && b.evidence.typed && a.unit.stretch !== b.unit.stretch &&
  a.unit.kind === "sentence" && b.unit.kind === "sentence" && overlap(a.unit, b.unit) >= likeness &&
  numbersOf(a.unit) !== "" && numbersOf(b.unit) !== "" && numbersOf(a.unit) !== numbersOf(b.unit)
