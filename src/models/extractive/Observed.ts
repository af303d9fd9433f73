/** Reads units with what stands around them: all that their signs are computed from. */
import type { Context } from "../../domain/Retrieval.ts"
import { numberedName, numberedNames } from "../../text/NumberedNames.ts"
import { explainsOption } from "../../text/CommandOptions.ts"
import { leaning } from "./Cues.ts"
import { type Named, namedBy } from "./CodeNames.ts"
import { explains, fieldNameShare, isCellAsked, isNamedBy } from "./Definitions.ts"
import { holdsType, isDated } from "./HoldsType.ts"
import { endsInQuestionMark } from "./Lines.ts"
import { bestOf, matcherOf, type Matches, orElse, precisionFor, textMatcherOf, weightsOf } from "./Matching.ts"
import { asksOption, type Question } from "./Question.ts"
import type { Unit } from "./Units.ts"

/** What a match counts that is not in the quote but near it. */
export const near = {
  /** In the text above, or in the heading within the context. */
  above: 0.7,
  /** In the heading within the context, where that is all that the question is about. */
  named: 1,
  /** In the sentence before, where the quote leans on it. */
  before: 0.8,
  /** In the headings of the chunk, or the name or title of the document. */
  titles: 0.7,
  /** In the titles, for a field: what a document's head says is about the document. */
  titlesOfField: 0.95,
  /** In the first heading within the context. */
  opening: 0.5,
  /** In the unit before or after. */
  neighbour: 0.5,
  /** Anywhere in the context. */
  context: 0.35
}

/** The share of a title's words that the question must have to be about that document by name. */
const minTitleShare = 0.6
/** What a match for "who wrote" counts in a document that the question does not name: only of a named one is it the author. */
const authorElsewhere = 0.3

/** Characters from a unit's start to the end of its passage. */
const ahead = {
  /** Where the question is how to do something. */
  instruction: 600,
  /** Where the question is of another kind. */
  statement: 450,
  /** To the end of a listing that the unit leads up to. */
  listing: 1200
}

/** How much of the question's terms a unit and each part of its surroundings have. */
export interface Surroundings {
  /** The quote itself. */
  readonly quote: Matches
  /** The quote, else what stands above it: heading, lead-in, title, file name and the first heading within the context, each for less. */
  readonly withHeadings: Matches
  /** The text above it: a heading or question, a lead-in, the names of columns. */
  readonly above: Matches
  /** The heading within the context. */
  readonly heading: Matches
  /** The headings of the chunk, and the name and title of the document. */
  readonly titles: Matches
  /** The best of its paragraph, list or table. */
  readonly block: Matches
  /** The best of its context, with the titles. */
  readonly context: Matches
  /** The quote with what follows it closely in its block, and a listing that it leads up to. */
  readonly passage: Matches
  /** The sentence before, where this one leans on it ("It …"); else undefined. */
  readonly before: Matches | undefined
}

/** What retrieval says of a context. */
interface Retrieved {
  /** 1 over its place by score. */
  readonly rank: number
  /** Its score over the highest. */
  readonly score: number
  /** Its cosine similarity over the highest; 0 where it is unknown. */
  readonly cosine: number
  /** The share of all contexts' scores that the contexts of its file have. */
  readonly fileShare: number
  /** Whether it is of the file whose context comes first. */
  readonly isFirstFile: boolean
}

/** One unit as it is read for a question. */
export interface Observed {
  readonly question: Question
  /** The weights of the question's terms. */
  readonly weights: ReadonlyArray<number>
  readonly unit: Unit
  readonly context: Context
  readonly surroundings: Surroundings
  readonly retrieved: Retrieved
  /** The heading that the unit answers: a question of a list of questions, else the nearest one within the context, else the chunk's. */
  readonly headingText: string
  readonly titleText: string
  /** Whether the question names the document by its number, as "PEP 8" does `pep-0008.rst`. */
  readonly isNumbered: boolean
  /** Whether the quote has the number, the date, the name or the explanation of an option that the question is about. */
  readonly typed: boolean
  /** Whether the names of code that the question has are near the quote. */
  readonly named: Named
  /** Whether the question is about a cell of this row. */
  readonly asksCell: boolean
  /** The weighted share of the question's terms that the quote has with all its surroundings, those of other units included. */
  readonly covered: number
  /** The weighted share of the question's terms in these matches. */
  readonly shareOf: (matches: Matches) => number
  /** The share of a heading's words that are the question's. */
  readonly precisionOf: (heading: string) => number
}

/** Reads every unit of the contexts for a question. `weights` are those of the question's terms, in order. */
export const observe = (
  question: Question,
  contexts: ReadonlyArray<Context>,
  units: ReadonlyArray<Unit>
): { readonly observed: ReadonlyArray<Observed>; readonly weights: ReadonlyArray<number> } => {
  const matcher = matcherOf(question, contexts, units)
  const matchesOf = textMatcherOf(question, matcher)
  const precisionOf = precisionFor(question)
  const isNumbered = numberedBy(question, contexts)
  const isAsked = contexts.map((context, at) => isNumbered[at]! || precisionOf(titleOf(context)) >= minTitleShare)
  const quotes = units.map((unit): Matches =>
    question.terms.map(({ also }, term) => {
      const match = matcher(term, unit)
      return also === undefined || match === 1 || isAsked[unit.context]! ? match : authorElsewhere * match
    })
  )
  const weights = weightsOf(question, quotes)
  const total = weights.reduce((sum, weight) => sum + weight, 0)
  const shareOf = (matches: Matches): number =>
    total === 0 ? 0 : matches.reduce((sum, match, term) => sum + match * weights[term]!, 0) / total
  const surroundings = surroundingsOf(question, contexts, units, quotes, matchesOf)
  const retrieved = retrievedOf(contexts)
  const headings = units.map((unit) => headingOf(unit, contexts[unit.context]!))
  const typed = typedBy(question, units, headings, (at) => shareOf(surroundings[at]!.titles))
  const named = namedBy(question.text, units, contexts.map((context) => [...context.headings, context.sourceDisplayName, titleOf(context)]))
  const observed = units.map((unit, at): Observed => {
    const context = contexts[unit.context]!
    const { context: inContext, withHeadings } = surroundings[at]!
    const neighbours = [at - 1, at + 1].filter((other) => units[other]?.context === unit.context)
    const around = neighbours.reduce((matches, other) => orElse(matches, quotes[other]!, near.neighbour), withHeadings)
    return {
      question,
      weights,
      unit,
      context,
      surroundings: surroundings[at]!,
      retrieved: retrieved[unit.context]!,
      headingText: headings[at]!,
      titleText: titleOf(context),
      isNumbered: isNumbered[unit.context]!,
      typed: typed[at]!,
      named: named[at]!,
      asksCell: isCellAsked(question, unit),
      covered: shareOf(orElse(around, inContext, near.context)),
      shareOf,
      precisionOf
    }
  })
  return { observed, weights }
}

const surroundingsOf = (
  question: Question,
  contexts: ReadonlyArray<Context>,
  units: ReadonlyArray<Unit>,
  quotes: ReadonlyArray<Matches>,
  matchesOf: (text: string) => Matches
): ReadonlyArray<Surroundings> => {
  const byContext = contexts.map((_, context) => units.flatMap((unit, at) => (unit.context === context ? [at] : [])))
  const titles = contexts.map((context) => matchesOf([...context.headings, nameOf(context), titleOf(context)].join("\n")))
  const inContext = byContext.map((ats, context) => bestOf([...ats.map((at) => quotes[at]!), titles[context]!]))
  const openings = byContext.map(([first]) =>
    matchesOf(first === undefined ? "" : units[first]!.blocks.find(({ kind }) => kind === "heading")?.lines[0]?.text ?? "")
  )
  const keyOf = ({ block, context }: Unit): string => `${context}.${block}`
  const blocks = new Map<string, Matches>()
  units.forEach((unit, at) => {
    const known = blocks.get(keyOf(unit))
    blocks.set(keyOf(unit), known === undefined ? quotes[at]! : orElse(known, quotes[at]!))
  })
  const headings = new Set(units.flatMap(({ heading }) => heading ?? []))
  const naming = new Set([...headings].filter((heading) => isNamedBy(question, heading)))
  const isInstruction = question.kind === "howTo"
  return units.map((unit, at) => {
    const quote = quotes[at]!
    const above = matchesOf(unit.above)
    const heading = matchesOf(unit.heading ?? "")
    const fromTitles = unit.kind === "key" ? near.titlesOfField : near.titles
    const withAbove = orElse(quote, orElse(above, heading), naming.has(unit.heading ?? "") ? near.named : near.above)
    return {
      quote,
      above,
      heading,
      titles: titles[unit.context]!,
      withHeadings: orElse(orElse(withAbove, titles[unit.context]!, fromTitles), openings[unit.context]!, near.opening),
      block: blocks.get(keyOf(unit))!,
      context: inContext[unit.context]!,
      passage: passageFrom(units, quotes, at, isInstruction ? ahead.instruction : ahead.statement),
      // The sentence before says what "it" is.
      before: leaning.test(unit.display) && units[at - 1]?.context === unit.context ? quotes[at - 1] : undefined
    }
  })
}

/** The matches of a unit and of those after it in its block that end within `reach` characters, or in a listing that it leads up to. */
const passageFrom = (units: ReadonlyArray<Unit>, quotes: ReadonlyArray<Matches>, at: number, reach: number): Matches => {
  const unit = units[at]!
  let matches = quotes[at]!
  for (let next = at + 1; next < units.length; next++) {
    const { block, context, end, kind } = units[next]!
    const isLed = kind === "code" && block === unit.block + 1
    if (context !== unit.context || (block !== unit.block && !isLed) || end - unit.start > (isLed ? ahead.listing : reach)) break
    matches = orElse(matches, quotes[next]!)
  }
  return matches
}

const retrievedOf = (contexts: ReadonlyArray<Context>): ReadonlyArray<Retrieved> => {
  const scores = contexts.map(({ score }) => score)
  const highest = Math.max(1e-9, ...scores)
  const cosines = contexts.map(({ distance }) => (distance === undefined ? 0 : 1 - distance))
  const mostSimilar = Math.max(1e-9, ...cosines)
  const total = Math.max(1e-9, scores.reduce((sum, score) => sum + score, 0))
  const byFile = new Map<string, number>()
  for (const { file, score } of contexts) byFile.set(file, (byFile.get(file) ?? 0) + score / total)
  return contexts.map(({ file, score }, at) => ({
    rank: 1 / (1 + scores.filter((other) => other > score).length),
    score: score / highest,
    cosine: cosines[at]! / mostSimilar,
    fileShare: byFile.get(file)!,
    isFirstFile: file === contexts[0]!.file
  }))
}

/** Whether each unit has what the question's type demands. `titleShare` is the share of the question in the titles of a unit's context. */
const typedBy = (
  question: Question,
  units: ReadonlyArray<Unit>,
  headings: ReadonlyArray<string>,
  titleShare: (at: number) => number
): ReadonlyArray<boolean> => {
  const option = asksOption(question) ? question.terms.find(({ option }) => option)?.key : undefined
  if (option === undefined) {
    return units.map((unit, at) =>
      (question.type === "date" && isDated(headings[at]!)) ||
      // The date of one field is not that of another.
      (holdsType(question, unit.display, unit.kind === "key" || unit.kind === "row") &&
        (unit.kind !== "key" || question.type !== "date" || fieldNameShare(question, unit.display) > 0))
    )
  }
  // Many commands have a -v: the question is about that of the command it names.
  const named = units.map((unit, at) => explains(unit, option) || explainsOption(headings[at]!, option) ? titleShare(at) : -1)
  const best = Math.max(0, ...named)
  return named.map((share) => share >= best)
}

const numberedBy = (question: Question, contexts: ReadonlyArray<Context>): ReadonlyArray<boolean> => {
  const numbered = numberedNames(question.text)
  return contexts.map(({ sourceDisplayName }) => numbered.has(numberedName(sourceDisplayName) ?? ""))
}

/** In a list of questions, the question above heads its answer. */
const headingOf = ({ above, heading }: Unit, { headings }: Context): string =>
  endsInQuestionMark.test(above) ? above : heading ?? headings.at(-1) ?? ""

/** The file's name without its ending and the zeros that make names sort: `rule-0008.md` calls itself "rule 8". */
const nameOf = ({ sourceDisplayName }: Context): string => sourceDisplayName.replace(/\.\w+$/, "").replace(/(?<!\d)0+(?=\d)/g, "")

const titleOf = ({ metadata }: Context): string => metadata?.["title"]?.toString() ?? ""
