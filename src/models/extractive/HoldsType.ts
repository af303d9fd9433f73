/** Whether a quote contains an answer of the type that the question's form demands. */
import {
  absoluteDate,
  actor,
  asksRelease,
  asksWhenAsRule,
  asksWhenOfEvent,
  condition,
  frequency,
  fullName,
  lasting,
  money,
  relativeDate,
  release,
  spelledNumber
} from "./Cues.ts"
import type { Question } from "./Question.ts"
import { foldedWords, isCjk, normalize, rawWords, stem } from "./Words.ts"

const maxDatedHeadingCharacters = 60

/** Whether a heading is a date, as in a change log: what stands under it happened on that day. */
export const isDated = (heading: string): boolean => heading.length <= maxDatedHeadingCharacters && absoluteDate.test(heading)

/** Whether "when" may ask for circumstances, as in "When is a permit needed?". */
const asksCondition = ({ text, type }: Question): boolean => type === "date" && asksWhenAsRule.test(text)

/**
 * Whether a quote contains an answer of the question's type that the question itself does not contain. A price `inTable` may stand there
 * without its currency; a length of time is none.
 */
export const holdsType = (question: Question, quote: string, inTable = false): boolean => {
  const { measure } = question
  switch (question.type) {
    case "number":
      return measure === undefined
        ? bringsWord(question, spelledNumbers, quote) || bringsWord(question, frequencies, quote) || bringsNumber(question, quote)
        : measure.test(quote) || (inTable && measure === money && bringsNumber(question, quote.replace(lengths, "")))
    case "date":
      // Where the question is when a version was released, another version is not a date.
      return absoluteDate.test(quote) || (release.test(quote) && !asksRelease.test(question.text)) ||
        (relativeDate.test(quote) && !asksWhenOfEvent.test(question.text)) ||
        (asksCondition(question) && condition.test(quote))
    case "person":
      return holdsPerson(question, quote)
    case "other":
      return true
  }
}

const lengths = new RegExp(`[\\d.,]*(?:${lasting.source})`, `${lasting.flags}g`)
const spelledNumbers = new RegExp(spelledNumber, `${spelledNumber.flags}g`)
const frequencies = new RegExp(frequency, `${frequency.flags}g`)

/** Whether a quote has words of a form that are not all the question's own: "monthly" does not answer "How much is the monthly fee?". */
const bringsWord = (question: Question, form: RegExp, quote: string): boolean =>
  [...quote.matchAll(form)].some(([found]) => !foldedWords(found).every((word) => question.words.has(word)))

const bringsNumber = (question: Question, quote: string): boolean =>
  foldedWords(quote).some((word) => /\p{N}/u.test(word) && !question.words.has(word))

const holdsPerson = (question: Question, quote: string): boolean => {
  const isNew = (words: string): boolean => foldedWords(words).every((word) => !question.words.has(word))
  if ([...quote.matchAll(fullName)].some(([name]) => isNew(name))) return true
  // The author of a work is named in a field such as "Author: …". A role, such as "the committee", is no author.
  if (question.terms.some(({ also }) => also !== undefined)) return /^\S+:\s/u.test(quote) && !/^\S+:\s+\P{L}/u.test(quote)
  return [...quote.matchAll(actor)].some(([name]) => isNew(name)) || hasCapitalBesideTerm(question, quote)
}

/**
 * Whether a capitalised word that may be a name stands beside a term of the question. Elsewhere it may be anything, and the first word
 * of a sentence has a capital anyway. A CJK word counts everywhere.
 */
const hasCapitalBesideTerm = (question: Question, quote: string): boolean => {
  const keys = new Set(question.terms.map(({ key }) => key))
  return rawWords(quote).some(({ at, word }, index, words) =>
    isCjk(word) ||
    (/^\p{Lu}\p{Ll}/u.test(word) && !question.words.has(stem(normalize(word))) &&
      !/(?:^|[.!?:;]\s*)["'“(\s]*$/u.test(quote.slice(0, at)) &&
      words.slice(Math.max(0, index - 3), index + 4).some((other) => keys.has(stem(normalize(other.word)))))
  )
}
