/** How much of a question's terms a text has: by the word itself, by its relatives, and by what documents write in its place. */
import type { Context } from "../../domain/Retrieval.ts"
import { hasOption } from "../../text/CommandOptions.ts"
import { importanceOf, type Question, type Term } from "./Question.ts"
import { general, placesOf } from "./Synonyms.ts"
import type { TextUnit } from "./Units.ts"
import { commonPrefix, editDistance, foldedWords, normalize, partsOfNames, stem, wordsOfNormal } from "./Words.ts"

/** How much of each term of a question a text has, in the terms' order, each 0..1. */
export type Matches = ReadonlyArray<number>

/** What a match has to reach to count. */
export const enough = {
  /** The text has the term: the word, another form of it, a misspelling, or a synonym of a word that the documents do not have. */
  having: 0.8,
  /** The text touches on the term, by any relative of the word or by what stands near. */
  touching: 0.5,
  /** The text has the term to the letter, or in the form in which documents write it. */
  literal: 0.9
}

/** Matches of what stands for a term's word, which itself is a match of 1. */
const credit = {
  /** A synonym where the documents have the word too, and where they do not; and one of the pipeline's own. */
  synonymBeside: 0.7,
  synonymInstead: 0.9,
  ownSynonym: 0.95,
  /** A noun or a written form instead of the word, as a street and a number instead of "address". */
  form: 0.9,
  /** The words of a phrase side by side. */
  phrase: 0.95,
  /** A word without the particle that it has in the question: what is turned on is not turned off. */
  withoutParticle: 0.8,
  /** A version that goes on from the one in question: 3.14.0 for 3.14. */
  longerVersion: 0.9,
  /** A range that the number lies in: "grades 13 to 15" for grade 14. */
  range: 0.9,
  /** Another form of the word: they share most of their letters from the start on. */
  inflection: 0.8,
  /** A compound that contains the word, or is part of it. */
  compound: 0.6,
  /** A probable misspelling of a word that the documents do not have. */
  misspelling: 0.8,
  /** All pairs of characters of a CJK word, scattered. */
  cjkPairs: 0.8
}

/** Share of two words' letters that forms of one word have in common from the start on. */
const inflectionShare = 0.7
/** Letters of a word that is compared by anything but itself: shorter ones have too many words like them. */
const minWordCharacters = 4
/** Letters of a word that may be misspelt: one letter less or another makes most shorter words another one. */
const minMisspeltCharacters = 5

/** What a text shows to be matched. */
type Readable = Pick<TextUnit, "display" | "normal" | "words" | "wordSet">

/** How much of the term at an index of `question.terms` a text has. */
export type Matcher = (term: number, text: Readable) => number

/** The matcher for a question and the documents that are to answer it: their vocabulary decides what counts as a misspelling. */
export const matcherOf = (question: Question, contexts: ReadonlyArray<Context>, units: ReadonlyArray<TextUnit>): Matcher => {
  const vocabulary = new Set<string>()
  for (const unit of units) for (const word of unit.wordSet) vocabulary.add(word)
  for (const context of contexts) for (const word of foldedWords(context.headings.join("\n"))) vocabulary.add(word)
  const relatives = question.terms.map((term) =>
    term.cjk || term.option ? new Map<string, number>() : relativesOf(term, vocabulary, question)
  )
  const phrases = question.terms.map((term) => term.cjk ? [] : phrasesOf(term, vocabulary, question))
  const numbers = question.terms.map(({ key }) => (/^\d{1,4}$/.test(key) ? Number(key) : undefined))
  return (at, { display, normal, words, wordSet }) => {
    const term = question.terms[at]!
    if (term.cjk) return cjkMatch(term.key, normal)
    if (term.option) return hasOption(display, term.key) ? 1 : 0
    const hasWord = wordSet.has(term.key)
    if (hasWord && (term.phrasal === undefined || hasPhrase(words, term.phrasal))) {
      return term.of === undefined || isBeside(words, term.key, term.of) ? 1 : 0
    }
    let best = (term.also !== undefined && wordSet.has(term.also)) || term.form?.test(display) ? credit.form : 0
    if (hasWord && best < credit.withoutParticle) best = credit.withoutParticle
    const number = numbers[at]
    if (number !== undefined && best < credit.range && (term.of === undefined || wordSet.has(term.of)) && hasRangeOf(number, display)) {
      best = credit.range
    }
    for (const [word, match] of relatives[at]!) if (match > best && wordSet.has(word)) best = match
    for (const [phrase, match] of phrases[at]!) {
      if (match > best && wordSet.has(phrase[0]!) && hasPhrase(words, phrase)) best = match
    }
    return best
  }
}

const hasPhrase = (words: ReadonlyArray<string>, phrase: ReadonlyArray<string>): boolean =>
  words.some((_, place) => placesOf(phrase, words, place) !== undefined)

/** The matches of any text, such as a heading; remembered by text. */
export const textMatcherOf = (question: Question, matcher: Matcher): (text: string) => Matches => {
  const known = new Map<string, Matches>()
  return (text) => {
    const found = known.get(text)
    if (found !== undefined) return found
    const normal = normalize(text)
    const words = wordsOfNormal(normal)
    const readable = { display: text, normal, words, wordSet: new Set([...words, ...partsOfNames(text)]) }
    const matches = question.terms.map((_, term) => matcher(term, readable))
    known.set(text, matches)
    return matches
  }
}

/** The best match of each term among several texts. */
export const bestOf = (rows: ReadonlyArray<Matches>): Matches =>
  (rows[0] ?? []).map((_, term) => Math.max(...rows.map((row) => row[term]!)))

/** Each term's match, or its match in `other` times `factor` where that is more. */
export const orElse = (matches: Matches, other: Matches, factor = 1): Matches =>
  matches.map((match, term) => Math.max(match, factor * other[term]!))

/** Each term's importance, doubled as it goes from being in every unit to being in none. `own` has the matches of each unit. */
export const weightsOf = (question: Question, own: ReadonlyArray<Matches>): ReadonlyArray<number> =>
  question.terms.map(({ role }, term) => {
    const frequency = own.filter((matches) => matches[term]! >= enough.having).length
    const rarity = Math.log((own.length + 1) / (frequency + 1)) / Math.log(own.length + 1.001)
    return (1 + rarity) * importanceOf[role]
  })

/** Two numbers with a dash or a word between them, which are no part of a date, a version or a number of a telephone. */
const ranges = /(?<![\d.,/-])(\d{1,4}) ?(?:[-–—]|to|bis|à) ?(\d{1,4})(?![\d/-]|[.,]\d)/gu

const hasRangeOf = (number: number, text: string): boolean =>
  [...text.matchAll(ranges)].some(([, from, to]) => Number(from) < number && number < Number(to))

/** Whether a number stands within two words of its name: "8 May" has May 8, and so has "May 7 and 8". */
const isBeside = (words: ReadonlyArray<string>, number: string, name: string): boolean =>
  words.some((word, at) => word === number && words.slice(Math.max(0, at - 2), at + 3).includes(name))

/** The phrases that stand for a term, each as stems: its own where it has several words, and synonyms of it. */
const phrasesOf = (
  term: Term,
  vocabulary: ReadonlySet<string>,
  question: Question
): ReadonlyArray<readonly [ReadonlyArray<string>, number]> => [
  ...(term.key.includes(" ") ? [[term.key.split(" "), credit.phrase] as const] : []),
  // RFC 8878 is RFC8878.
  ...(/^[a-z]{2,}\d{2,}$/.test(term.key) ? [[term.key.split(/(?<=[a-z])(?=\d)/), credit.phrase] as const] : []),
  ...synonymsOf(term, vocabulary, question).flatMap(({ match, others: { phrases } }) => phrases.map((phrase) => [phrase, match] as const))
]

/** What stands for a term's word and for the phrases that it is a part of, with what each counts. */
const synonymsOf = ({ key, within }: Term, vocabulary: ReadonlySet<string>, { own }: Question) =>
  [key, ...within].flatMap((key) => [
    { match: synonymCredit(key, vocabulary), others: general().othersOf(key) },
    { match: credit.ownSynonym, others: own.othersOf(key) }
  ])

const synonymCredit = (key: string, vocabulary: ReadonlySet<string>): number =>
  vocabulary.has(key) ? credit.synonymBeside : credit.synonymInstead

/** Numbers as words and as figures. */
const figures: ReadonlyMap<string, string> = new Map(
  "one two three four five six seven eight nine ten eleven twelve".split(" ")
    .flatMap((word, at): ReadonlyArray<[string, string]> => [[stem(word), `${at + 1}`], [`${at + 1}`, stem(word)]])
)

/**
 * The words of the vocabulary that stand for a term, with their matches. A synonym that is another term stands for itself: in "paid for
 * annual leave if I quit", leave is not to quit.
 */
const relativesOf = (term: Term, vocabulary: ReadonlySet<string>, question: Question): ReadonlyMap<string, number> => {
  const { key } = term
  const found = new Map<string, number>()
  for (const { match, others } of synonymsOf(term, vocabulary, question)) {
    for (const word of others.words) {
      if (vocabulary.has(word) && question.terms.every(({ key }) => key !== word)) found.set(word, Math.max(match, found.get(word) ?? 0))
    }
  }
  const figure = figures.get(key)
  if (figure !== undefined && vocabulary.has(figure)) found.set(figure, 1)
  if (key.includes(" ")) return found
  if (/^\d[\d.]*$/.test(key)) {
    // 3.14 has 3.14.0, and 15.3.2020 has 2020.
    for (const word of vocabulary) {
      if (word === `v${key}`) found.set(word, 1)
      else if (word.startsWith(`${key}.`) || word.startsWith(`v${key}.`)) found.set(word, credit.longerVersion)
      else if (key.length === 4 && word.endsWith(`.${key}`)) found.set(word, 1)
    }
    return found
  }
  if (key.length < minWordCharacters || /\p{N}/u.test(key)) return found
  const isUnknown = !vocabulary.has(key)
  for (const word of vocabulary) {
    if (word === key || word.length < minWordCharacters) continue
    if (commonPrefix(word, key) >= minWordCharacters && startAlike(word, key)) found.set(word, credit.inflection)
    else if (found.has(word)) continue
    else if (key.length >= 5 && word.length >= 5 && (word.includes(key) || key.includes(word))) found.set(word, credit.compound)
    else if (isUnknown && key.length >= minMisspeltCharacters && word[0] === key[0]) {
      const limit = key.length >= 8 ? 2 : 1
      if (editDistance(word, key, limit) <= limit) found.set(word, credit.misspelling)
    }
  }
  return found
}

/** Whether two words may be forms of one word: most of their letters are the same from the start on. */
const startAlike = (a: string, b: string): boolean => commonPrefix(a, b) >= inflectionShare * Math.max(a.length, b.length)

/** A CJK word itself, or the share of its character pairs where it is long enough to have several. */
const cjkMatch = (key: string, normal: string): number => {
  if (normal.includes(key)) return 1
  if (key.length < 3) return 0
  let pairs = 0
  for (let at = 0; at + 2 <= key.length; at++) if (normal.includes(key.slice(at, at + 2))) pairs++
  return (credit.cjkPairs * pairs) / (key.length - 1)
}

/** The share of a heading's words that are terms of the question or forms of them; remembered by heading. */
export const precisionFor = (question: Question): (heading: string) => number => {
  const known = new Map<string, number>()
  const keys = question.terms.filter(({ cjk }) => !cjk).map(({ key }) => key)
  return (heading) => {
    const found = known.get(heading)
    if (found !== undefined) return found
    const words = foldedWords(heading).filter((word) => word.length > 2)
    const has = words.filter((word) =>
      keys.some((key) => key === word || (Math.min(key.length, word.length) >= minWordCharacters && startAlike(key, word)))
    )
    const share = words.length === 0 ? 0 : has.length / words.length
    known.set(heading, share)
    return share
  }
}
