/** The signs by which a unit is judged: each with what it is and how it is computed. Its weight has the same name in `Coefficients.ts`. */
import { Record } from "effect"
import { unitWeights } from "./Coefficients.ts"
import { asideHeading, instruction, negation, openingHeading, reason } from "./Cues.ts"
import { definition, fieldNameShare } from "./Definitions.ts"
import { endsInColon } from "./Lines.ts"
import { enough, type Matches, orElse } from "./Matching.ts"
import { adjacency, closeness, isSynopsis, shapePenalty, startsWithTerm, typedNearness } from "./Measures.ts"
import { near, type Observed } from "./Observed.ts"

/** What the term that a unit has least of counts where only the titles have it. */
const titleOfLeast = 0.7
/** What the text above counts for the `heading` sign. */
const aboveHeading = 0.8
/** New words from which `novelty` is 1. */
const fullNovelty = 8
/** Words from which `length` is 1. */
const fullLength = 40
/** Bytes into a document at which `early` is a half. */
const halfEarlyBytes = 2000
/** The offset in its file that is assumed for a context, in bytes, where it is unknown. */
const unknownByteStart = 4000

const flag = (is: boolean): number => (is ? 1 : 0)

/** Whether a question wants an explanation, which neither a field nor, as a rule, a listing is. */
const wantsExplanation = ({ question: { kind } }: Observed): boolean =>
  kind === "howTo" || kind === "why" || kind === "yesNo" || kind === "definition"

const quoteShare = ({ shareOf, surroundings }: Observed): number => shareOf(surroundings.quote)
const headedShare = ({ shareOf, surroundings }: Observed): number => shareOf(surroundings.withHeadings)

/** The matches of the quote with what stands above it, else of the rest of its paragraph, list or table. */
const withBlock = ({ surroundings: { block, withHeadings } }: Observed): Matches => orElse(withHeadings, block)

/** The kind of the block that stands `below` blocks below the unit's. */
const kindBelow = ({ unit: { block, blocks } }: Observed, below: number): string | undefined => blocks[block + below]?.kind

const isHowTo = ({ question }: Observed): boolean => question.kind === "howTo"
const isListing = ({ unit }: Observed): boolean => unit.kind === "code"
const isField = ({ unit }: Observed): boolean => unit.kind === "key"
const hasType = ({ question, typed }: Observed): boolean => typed && question.type !== "other"

/** Each is 0..1, but `shape`, which may be more. */
export const signs = {
  /** Weighted share of the question's terms that the quote has. */
  quote: quoteShare,
  /** Weighted share of the question's terms that the quote has with what stands above it. */
  withHeadings: headedShare,
  /** Weighted share of the question's terms that the quote has with what stands above it and the rest of its paragraph, list or table. */
  withBlock: (of) => of.shareOf(withBlock(of)),
  /** Weighted share of the question's terms that the whole context has, with its titles. */
  context: ({ shareOf, surroundings }) => shareOf(surroundings.context),
  /** Weighted share of the question's terms that the nearest heading has, or the text above for less. */
  heading: ({ shareOf, surroundings: { above, heading } }) => shareOf(orElse(heading, above, aboveHeading)),
  /** Weighted share of the question's terms that the chunk's headings and the document's name and title have. */
  titles: ({ shareOf, surroundings }) => shareOf(surroundings.titles),
  /** Weighted share of the question's names and numbers that the quote has with what stands above it; 1 where there are none. */
  names: ({ question: { terms }, surroundings: { titles, withHeadings }, weights }) => {
    const named = terms.map(({ role }, term) => (role === "name" ? weights[term]! : 0))
    const total = named.reduce((sum, weight) => sum + weight, 0)
    const inTitles = (term: number): number => flag(titles[term]! >= enough.having)
    return total === 0 ? 1 : withHeadings.reduce((sum, match, term) => sum + Math.max(match, inTitles(term)) * named[term]!, 0) / total
  },
  /** Share of neighbouring question terms that stand near each other in the quote too, in order. */
  adjacency: ({ question, surroundings, unit }) => adjacency(question.terms, unit, surroundings.quote),
  /** The quote has the number, the date or the name that the question is about. */
  typed: (of) => flag(hasType(of)),
  /** The unit is the first under its heading, or of its chunk. */
  first: ({ unit }) => flag(unit.position === 0),
  /** 1 over the place of the context by retrieval's score. */
  rank: ({ retrieved }) => retrieved.rank,
  /** Retrieval's score of the context, over the highest. */
  score: ({ retrieved }) => retrieved.score,
  /** Cosine similarity of the context, over the highest; 0 where it is unknown. */
  cosine: ({ retrieved }) => retrieved.cosine,
  /** Penalty for fragments, stubs, code, menus and walls of text. */
  shape: ({ context, unit }) => shapePenalty(unit, context.text),
  /** The unit is a listing. */
  listing: (of) => flag(isListing(of)),
  /** The question is how to do something, and the unit is a listing other than a synopsis, or leads up to one. */
  listingAsked: (of) =>
    flag(
      isHowTo(of) &&
        (isListing(of) ? !isSynopsis(of.unit.display) : kindBelow(of, 1) === "code" && endsInColon.test(of.unit.display))
    ),
  /** The question is how to do something, and the unit is a list or an item of one. */
  steps: (of) => flag(isHowTo(of) && (of.unit.kind === "item" || of.unit.kind === "list")),
  /** The question is how to do something, and the quote says what to do. */
  instruction: (of) => flag(isHowTo(of) && instruction.test(of.unit.display)),
  /** The question is why, and the quote gives a reason. */
  reason: ({ question, unit }) => flag(question.kind === "why" && reason.test(unit.display)),
  /** How far the quote starts with what the question is about and says what it is; 1 for a cell or an option that it is about. */
  definition: ({ asksCell, question, unit }) => {
    const mayDefine = question.kind === "definition" || question.kind === "other" || question.terms.some(({ option }) => option)
    return asksCell ? 1 : mayDefine ? definition(question, unit) : 0
  },
  /** Share of the words of a field's name that the question has; 1 for a cell that it is about. */
  fieldName: (of) => isField(of) ? fieldNameShare(of.question, of.unit.display) : flag(of.asksCell),
  /** The unit is a field, or a row of a table no cell of which the question is about. */
  field: (of) => flag(isField(of) || (of.unit.kind === "row" && !of.asksCell)),
  /** The unit is a field or a row with the number, the date or the name that the question is about. */
  fieldTyped: (of) => flag(hasType(of) && (isField(of) || of.unit.kind === "row")),
  /** The unit is a field, and the question wants an explanation. */
  fieldOdd: (of) => flag(isField(of) && wantsExplanation(of)),
  /** The unit is a listing, and the question wants an explanation that is not how to, or a number, a date or a person. */
  listingOdd: (of) => flag(isListing(of) && (wantsExplanation(of) ? !isHowTo(of) : of.question.kind !== "other")),
  /** Number of words that the question does not have, over 8. */
  novelty: ({ question, unit }) => Math.min(1, unit.words.filter((word) => !question.words.has(word)).length / fullNovelty),
  /** The question names the file by its number. */
  numbered: ({ isNumbered }) => flag(isNumbered),
  /** Share of the words of the heading that the unit answers that are the question's. */
  headingWords: ({ headingText, precisionOf }) => precisionOf(headingText),
  /** Share of the words of the chunk's own heading that are the question's. */
  contextHeadingWords: ({ context, precisionOf }) => precisionOf(context.headings.at(-1) ?? ""),
  /** Share of the words of the heading that are the question's, for the first unit under a heading or of a chunk; 0 for others. */
  leadWords: ({ headingText, precisionOf, unit }) => unit.position === 0 || unit.start === 0 ? precisionOf(headingText) : 0,
  /** Share of the words of the document's title that are the question's. */
  titleWords: ({ precisionOf, titleText }) => precisionOf(titleText),
  /** How near the context is to the start of its document: 1 there, 1/2 at 2000 bytes, 1/3 at 4000. */
  early: ({ context }) => 1 / (1 + (context.byteStart ?? unknownByteStart) / halfEarlyBytes),
  /** Number of question terms in the quote over the words of its shortest stretch with all of them, times their share of all terms. */
  window: ({ question, surroundings, unit }) => closeness(question.terms, unit, surroundings.quote),
  /** How much the quote, with what stands above it and its block, has of the term that weighs most. */
  rarest: ({ surroundings: { block, withHeadings }, weights }) => {
    const heaviest = weights.indexOf(Math.max(...weights))
    return Math.max(withHeadings[heaviest] ?? 0, block[heaviest] ?? 0)
  },
  /** How much the quote, with what stands above it, its block and the titles, has of the term that they have least of. */
  least: (of) => Math.min(1, ...orElse(withBlock(of), of.surroundings.titles, titleOfLeast)),
  /** The quote starts with a term of the question. */
  startsWithTerm: ({ question, unit }) => flag(startsWithTerm(question.terms, unit)),
  /** Share of all contexts' scores that the contexts of the unit's file have. */
  fileShare: ({ retrieved }) => retrieved.fileShare,
  /** The unit stands under a heading such as "Summary". */
  underOpening: ({ headingText }) => flag(openingHeading.test(headingText)),
  /** The unit stands under a heading such as "Rejected ideas". */
  underAside: ({ context, unit }) => flag([...context.headings, unit.heading ?? ""].some((heading) => asideHeading.test(heading))),
  /** Number of words of the quote, over 40. */
  length: ({ unit }) => Math.min(1, unit.words.length / fullLength),
  /** The square of `quote`. */
  quoteSquared: (of) => quoteShare(of) * quoteShare(of),
  /** `withHeadings`, where the quote has the number, the date or the name that the question is about; else 0. */
  typedWithHeadings: (of) => hasType(of) ? headedShare(of) : 0,
  /** How near a term of the question the quote has a number or a date that the question is about. */
  typedNear: ({ question, surroundings, unit }) =>
    question.type === "number" || question.type === "date" ? typedNearness(question, unit, surroundings.quote) : 0,
  /** Weighted share of the question's terms that the quote has with what stands above it and what the passage goes on to say. */
  withPassage: ({ shareOf, surroundings: { passage, withHeadings } }) => shareOf(orElse(withHeadings, passage)),
  /** `quote`, where the question is how to do something; else 0. */
  quoteHowTo: (of) => isHowTo(of) ? quoteShare(of) : 0,
  /** `quote`, where the question is why; else 0. */
  quoteWhy: (of) => of.question.kind === "why" ? quoteShare(of) : 0,
  /** `quote`, where the question is what something is; else 0. */
  quoteDefinition: (of) => of.question.kind === "definition" ? quoteShare(of) : 0,
  /** `withHeadings`, where the question is whether something is so; else 0. */
  yesNoWithHeadings: (of) => of.question.kind === "yesNo" ? headedShare(of) : 0,
  /** The quote says what is not so, and the question is not whether something is. */
  negative: ({ question, unit }) => flag(question.kind !== "yesNo" && negation.test(unit.display)),
  /** Weighted share of the question's terms that the quote has with what stands above it and the sentence before that it leans on. */
  withSentenceBefore: ({ shareOf, surroundings: { before, withHeadings } }) =>
    shareOf(before === undefined ? withHeadings : orElse(withHeadings, before, near.before)),
  /** The square of `withHeadings`. */
  withHeadingsSquared: (of) => headedShare(of) * headedShare(of),
  /** How much the quote, with what stands above it, has of the first term of a question how to do something, most often its verb. */
  firstTerm: (of) => isHowTo(of) ? of.surroundings.withHeadings[0] ?? 0 : 0,
  /** The question is how to do something, and a listing is one or two blocks below. */
  listingNear: (of) => flag(isHowTo(of) && (kindBelow(of, 1) === "code" || kindBelow(of, 2) === "code")),
  /** The unit is of the file whose context retrieval put first. */
  firstFile: ({ retrieved }) => flag(retrieved.isFirstFile)
} satisfies { readonly [Sign in keyof typeof unitWeights]: (of: Observed) => number }

/** The value of each sign for one unit. */
export type Signs = { readonly [Sign in keyof typeof signs]: number }

export const signsOf = (observed: Observed): Signs => Record.map(signs, (measure: (of: Observed) => number) => measure(observed))

/** Object.keys has no type for the names of its object. */
const names = Object.keys(unitWeights) as ReadonlyArray<keyof Signs>

/** The weighted sum of the signs. The weights are fitted so that it is, but for a constant, the logarithm of a chance to be right. */
export const scoreOf = (values: Signs): number => {
  let sum = 0
  for (const sign of names) sum += unitWeights[sign] * values[sign]
  return sum
}
