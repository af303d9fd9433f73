/** The order of units: by score, unless what the question asks for shows that another one answers. */
import { contrast, outright } from "./Cues.ts"
import type { Evidence } from "./Evidence.ts"
import { enough } from "./Matching.ts"
import { asksOption, type Question } from "./Question.ts"

/** How much less a score may be that is nearly as good as the best. */
const nearlyAsGood = 4

/**
 * Orders units by score, best first. Where the question is about a number, a date, an option or a name of code, a unit without one
 * comes first only if no unit with one is nearly as good; and of names of code, one that mentions it only if no entry of it is.
 */
export const inOrder = (question: Question, evidence: ReadonlyArray<Evidence>): ReadonlyArray<Evidence> => {
  const demands = asksOption(question) || question.type === "number" || question.type === "date"
  const named = demoted(demoted(tellingFirst(question, evidence), ({ named }) => named !== "nowhere"), ({ named }) => named === "entry")
  return byScore(demoted(named, ({ typed }) => !demands || typed))
}

export const byScore = (evidence: ReadonlyArray<Evidence>): ReadonlyArray<Evidence> =>
  evidence.toSorted((a, b) => b.score - a.score || a.unit.context - b.unit.context || a.unit.start - b.unit.start)

/** Of a question what something is, its definition comes first where it is nearly as good, and of several one that calls itself so. */
export const definingFirst = (question: Question, evidence: ReadonlyArray<Evidence>): ReadonlyArray<Evidence> => {
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
      (one) => hasThings(question, one) && contrast.test(one.unit.display)
    )

/** Whether a unit is about all of the things that a question compares. */
const hasThings = ({ things }: Question, { withHeadings }: Evidence): boolean =>
  things.every(({ terms }) => terms.every((term) => withHeadings[term]! >= enough.having))

/** What does not fit scores less, where something that does is nearly as good. */
export const demoted = (evidence: ReadonlyArray<Evidence>, fits: (one: Evidence) => boolean): ReadonlyArray<Evidence> =>
  lossOf(evidence, fits) > nearlyAsGood ? evidence : evidence.map((one) => (fits(one) ? one : { ...one, score: one.score - nearlyAsGood }))

/** What fits scores more, so that the best of it comes first, where it is nearly as good. What else may be shown stays as it is. */
const promoted = (evidence: ReadonlyArray<Evidence>, fits: (one: Evidence) => boolean): ReadonlyArray<Evidence> => {
  const loss = lossOf(evidence, fits)
  return loss > nearlyAsGood ? evidence : evidence.map((one) => (fits(one) ? { ...one, score: one.score + loss + 0.001 } : one))
}

/** How much less than the best what fits scores at best. */
const lossOf = (evidence: ReadonlyArray<Evidence>, fits: (one: Evidence) => boolean): number => {
  const bestOf = (some: ReadonlyArray<Evidence>): number => some.reduce((best, { score }) => Math.max(best, score), -Infinity)
  return bestOf(evidence) - bestOf(evidence.filter(fits))
}

/** Whether a unit says how the things differ that a question compares: a sentence or a row about all of them, or words of contrast. */
export const tellsApart = (question: Question, one: Evidence): boolean =>
  hasThings(question, one) && (one.unit.kind === "sentence" || one.unit.kind === "row" || contrast.test(one.unit.display))
