import { allFunctionWords } from "../../text/FunctionWords.ts"
import { normalize, rawWords, stem } from "../extractive/Words.ts"

/** What a follow-up starts with that only joins it to what was said before: "And", "What about", "Und wie ist es mit". */
const joining =
  /^\s*(?:(?:and|but|or|so|und|aber|oder|et|mais|ou|y|pero|e|ma|mas)\b[\s,]*)?(?:(?:(?:what|how) about|(?:was|wie) ist (?:es )?mit|qu['’]en est-il de|qué hay de)\b)?\s*/iu

const wordSet = (words: string): ReadonlySet<string> => new Set(words.split(/\s+/))

/** Prepositions that lead a part of a question which a follow-up may exchange: "in Sweden", "after five years". Folded, as all sets here. */
const prepositions = wordSet(
  `in at on for from to with without after before above below over under during between since until by per about into within
  im am bei fur von vom zu zum zur mit ohne nach vor uber unter wahrend seit bis ab aus
  en au aux pour de du des avec sans apres avant sous sur pendant depuis par chez
  para por con sin despues antes sobre bajo durante desde hasta nel nella senza dopo prima sotto dal dalla em sem depois ate`
)
/** Prepositions whose object a follow-up without one may exchange: "for Rill" and "the gateway". Others say when or where. */
const ofSubjects = wordSet("for of about with fur von mit pour de avec para con per")
/** Words that go on with the part that a preposition leads: "for the death of a parent". */
const continuing = wordSet(
  "of the a an my our your their der die das des dem den ein eine einer einem du de la le les l el los las il lo un une una"
)
/** Words that make a follow-up a question of its own, however short. */
const asking = wordSet(
  `what which who whom whose when where why how is are was were does do did can could may must should will would has have had
  wer wann wo warum wie welche welcher welches ist sind kann darf muss soll wird hat haben qui quand pourquoi comment quel quelle est sont
  peut doit quien cuando donde como cual puede debe chi quando dove perche quale sono puo deve`
)

/** Words of a follow-up above which it is no part of another question. */
const longestPart = 6

interface Word {
  readonly word: string
  readonly normal: string
  readonly start: number
  readonly end: number
}

/** First and last word of a part of a question. */
type Part = readonly [first: number, last: number]

const wordsOf = (text: string): ReadonlyArray<Word> =>
  rawWords(text).map(({ at, word }) => ({ word, normal: normalize(word), start: at, end: at + word.length }))

const isPreposition = ({ normal }: Word): boolean => prepositions.has(normal)
/** Whether a word says something itself. */
const isContent = ({ normal }: Word): boolean => !allFunctionWords.has(normal) && !prepositions.has(normal) && !asking.has(normal)
const hasDigit = ({ word }: Word): boolean => /\p{N}/u.test(word)
const isCapitalised = ({ word }: Word): boolean => /^\p{Lu}/u.test(word)

/**
 * Completes a follow-up that only names what differs from the question before it, by putting it in the place of what it differs from: "How
 * long is probation in Sweden?" and "And in Japan?" make "How long is probation in Japan?". Undefined where no part of the question
 * corresponds to the follow-up by its form.
 */
export const completed = (question: string, followUp: string): string | undefined => {
  const part = followUp.replace(joining, "").replace(/[\s?.!]+$/, "")
  const added = wordsOf(part)
  const [first] = added
  if (first === undefined || added.length > longestPart || added.some(({ normal }) => asking.has(normal))) return undefined
  const words = wordsOf(question)
  const place = isPreposition(first)
    ? ledBy(words, first) ?? sharing(words, added)
    : sharing(words, added) ?? ofSameForm(words, added) ?? lastSubject(question, words)
  return place === undefined ? undefined : question.slice(0, words[place[0]]!.start) + part + question.slice(words[place[1]]!.end)
}

/** The last part that the same preposition leads. */
const ledBy = (words: ReadonlyArray<Word>, { normal }: Word): Part | undefined => {
  const from = words.findLastIndex((word) => word.normal === normal)
  return from === -1 ? undefined : [from, endOfPart(words, from)]
}

/** The last word of the part that a preposition leads. */
const endOfPart = (words: ReadonlyArray<Word>, from: number): number => {
  let to = from
  while (words[to + 1] !== undefined && (isContent(words[to + 1]!) || continuing.has(words[to + 1]!.normal))) to++
  while (to > from && !isContent(words[to]!)) to--
  return to
}

/** The words around one that both have: "confidential data" for "secret data", "on day 20" for "after day 90". */
const sharing = (words: ReadonlyArray<Word>, added: ReadonlyArray<Word>): Part | undefined => {
  const stems = new Set(added.filter(isContent).map(({ normal }) => stem(normal)))
  const shared = words.findLastIndex((word) => isContent(word) && stems.has(stem(word.normal)))
  if (shared === -1) return undefined
  let from = shared
  while (from > 0 && isContent(words[from - 1]!)) from--
  let to = shared
  while (words[to + 1] !== undefined && isContent(words[to + 1]!)) to++
  const [before, first] = [words[from - 1], added[0]!]
  if (isPreposition(first)) return before !== undefined && isPreposition(before) ? [from - 1, to] : undefined
  return before !== undefined && continuing.has(before.normal) && continuing.has(first.normal) ? [from - 1, to] : [from, to]
}

/** The last name where the follow-up has one, or the last word with a number: "L3" for "L5". German capitalises all nouns. */
const ofSameForm = (words: ReadonlyArray<Word>, added: ReadonlyArray<Word>): Part | undefined => {
  const isGerman = [...words, ...added].some(({ normal }) => /^(?:der|die|das|und|ist|wie|wann|wo)$/.test(normal))
  const fits = [hasDigit, ...isGerman ? [] : [isCapitalised]].find((form) => added.some((word) => isContent(word) && form(word)))
  if (fits === undefined) return undefined
  const to = words.findLastIndex((word, at) => at > 0 && fits(word))
  if (to === -1) return undefined
  let from = to
  while (from > 1 && fits(words[from - 1]!)) from--
  return [from, to]
}

/** What the question is about by its last preposition, where it ends with that. */
const lastSubject = (question: string, words: ReadonlyArray<Word>): Part | undefined => {
  const at = words.findLastIndex(isPreposition)
  if (at === -1 || !ofSubjects.has(words[at]!.normal)) return undefined
  const to = endOfPart(words, at)
  return to > at && question.slice(words[to]!.end).trim().length <= 1 ? [at + 1, to] : undefined
}
