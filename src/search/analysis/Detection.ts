import { languages, type LanguageId } from "./Languages.ts"
import { moreEnglish, others } from "./StopWords.ts"
import { type Run, scanRuns } from "./WordBreak.ts"

/** How a text is analyzed: by language, or as Chinese, Japanese and Korean, program code, or any other words. */
export type AnalyzerId = LanguageId | "cjk" | "code" | "simple"

export const isLanguage = (id: string): id is LanguageId => Object.hasOwn(languages, id)

/** How much of a text is looked at, in UTF-16 units, or bytes where it is bytes. */
export const sampleLength = 2_000

/**
 * The analyzer for a text, from its scripts and function words: no model, the same answer everywhere. `hint` is an
 * ISO 639-1 code, of the language that the document declares or that its other parts are in: another one needs twice
 * its evidence. A text with too few function words to tell goes by the hint, else by its script, Latin without
 * accents counting as English.
 */
export const detect = (text: string, hint?: string): AnalyzerId => {
  const sample = text.slice(0, sampleLength)
  return decide(surveyOf(sample), sample, hint)
}

/** {@link detect} for whoever surveys the words anyway. */
export const decide = ({ ideographs, letters, unspaced, votes, words }: Survey, sample: string, hint?: string): AnalyzerId => {
  if (ideographs > 0 && ideographs * 2 >= letters) return "cjk"
  // Foreign names stand between blanks, what is around them does not, and would not be heard.
  if (unspaced * 3 >= letters && unspaced > 0) return "simple"
  if (looksLikeCode(sample)) return "code"
  const expected = fromHint(hint)
  const best = highest(votes)
  const enough = Math.max(leastVotes, words * leastShare, expected === undefined ? 0 : 2 * votes[ids.indexOf(expected)]!)
  if (votes[best]! >= enough) return ids[best]!
  return expected ?? byScript(sample, votes)
}

/** Votes that make a language: a few words at least, and a share of all, so that names in a list make none. */
const leastVotes = 1.5
const leastShare = 0.05

/** Which of `candidates` a question is written in, by its function words; undefined where they say nothing. */
export const languageOfQuestion = (
  question: string,
  candidates: ReadonlyArray<AnalyzerId>
): LanguageId | undefined => {
  const { votes } = surveyOf(question.toLowerCase())
  const allowed = votes.map((vote, index) => candidates.includes(ids[index]!) ? vote : 0)
  const best = highest(allowed)
  const id = ids[best]!
  return allowed[best]! > 0 && isLanguage(id) ? id : undefined
}

/** Whether `word`, in lower case, is one that holds sentences of `language` together. */
export const isFunctionWord = (word: string, language: LanguageId): boolean => votersOf(word)?.includes(ids.indexOf(language)) ?? false

/** The voters: languages first, then those known only to be told apart. */
const ids: ReadonlyArray<AnalyzerId> = [
  ...Object.keys(languages).filter(isLanguage),
  ...others.map((): AnalyzerId => "simple")
]

/** Word to the voters that have it. Single letters are left out: formulas and initials are full of them. */
const allFunctionWords = (): ReadonlyMap<string, ReadonlyArray<number>> => {
  const map = new Map<string, Array<number>>()
  const lists = Object.entries(languages).map(([id, { stopWords }]) => id === "en" ? [...stopWords, ...moreEnglish] : stopWords)
  ;[...lists, ...others].forEach((words, index) => {
    for (const word of new Set(words)) if (word.length > 1) map.set(word, [...map.get(word) ?? [], index])
  })
  return map
}

let functionWords: ReadonlyMap<string, ReadonlyArray<number>> | undefined

/** Made at its first use: a run that analyzes nothing must not wait for it. */
const votersOf = (word: string): ReadonlyArray<number> | undefined => (functionWords ??= allFunctionWords()).get(word)

/** The voters that have a word; undefined for words that are no function words, as most are. Capitals do not vote. */
export const speakersOf = (word: string): ReadonlyArray<number> | undefined =>
  word.length <= longestFunctionWord ? votersOf(word) : undefined

const longestFunctionWord = 12

/** What the words of a sample say of its language. */
export class Survey {
  /** UTF-16 units in words, and in ideographs. */
  letters = 0
  ideographs = 0
  /** UTF-16 units in scripts without blanks that need a dictionary. */
  unspaced = 0
  words = 0
  /** By index of {@link ids}; a word that several languages share is shared out. */
  readonly votes = new Float64Array(ids.length)

  clear(): void {
    this.letters = 0
    this.ideographs = 0
    this.unspaced = 0
    this.words = 0
    this.votes.fill(0)
  }

  /** Counts a word of so many letters. */
  word(length: number, speakers: ReadonlyArray<number> | undefined): void {
    this.letters += length
    this.words++
    if (speakers === undefined) return
    const share = 1 / speakers.length
    for (const index of speakers) this.votes[index]! += share
  }

  /** Counts a run that is no word. */
  other(run: Run, length: number): void {
    if (run === "ideographs") this.ideographs += length
    else {
      this.letters += length
      if (run === "unspaced") this.unspaced += length
    }
  }
}

const surveyOf = (sample: string): Survey => {
  const survey = new Survey()
  scanRuns(sample, (run, start, end) => {
    if (run === "word") survey.word(end - start, speakersOf(sample.slice(start, end)))
    else survey.other(run, end - start)
  })
  return survey
}

const highest = (votes: Float64Array): number => votes.reduce((top, vote, index) => vote > votes[top]! ? index : top, 0)

const fromHint = (hint: string | undefined): AnalyzerId | undefined => {
  // Both written forms of Norwegian have one stemmer.
  const id = hint?.toLowerCase().slice(0, 2).replace(/n[bn]/, "no")
  return id !== undefined && isLanguage(id) ? id : undefined
}

const scripts: ReadonlyArray<readonly [RegExp, AnalyzerId]> = [
  [/\p{Script=Cyrillic}/gu, "ru"],
  [/\p{Script=Greek}/gu, "el"],
  [/\p{Script=Arabic}/gu, "ar"],
  [/\p{Script=Devanagari}/gu, "hi"],
  [/\p{Script=Armenian}/gu, "hy"],
  [/\p{Script=Tamil}/gu, "ta"]
]

/** Letters that only one of the languages with a stemmer writes, or hardly any other. */
const ownLetters: ReadonlyArray<readonly [RegExp, LanguageId]> = [
  [/[ığİş]/g, "tr"],
  [/[ășțţ]/g, "ro"],
  [/[őű]/g, "hu"],
  [/ß/g, "de"],
  [/[ñ¿¡]/g, "es"],
  [/[ãõ]/g, "pt"],
  [/œ|ê|l'/g, "fr"]
]

const countOf = (sample: string, pattern: RegExp): number => sample.match(pattern)?.length ?? 0

/** Where words say too little: the script most letters are in; of Latin, a language that its letters and a word agree on. */
const byScript = (sample: string, votes: Float64Array): AnalyzerId => {
  const latin = countOf(sample, /\p{Script=Latin}/gu)
  const [most, id] = scripts.reduce<readonly [number, AnalyzerId]>(
    (best, [pattern, id]) => {
      const count = countOf(sample, pattern)
      return count > best[0] ? [count, id] : best
    },
    [0, "en"]
  )
  if (most > latin) return id
  if (latin === 0) return /\p{L}/u.test(sample) ? "simple" : "en"
  if (!/[[\p{Script=Latin}]--[\x00-\x7f]]/v.test(sample)) return "en"
  const byLetters = ownLetters.find(([pattern, language]) => countOf(sample, pattern) >= (votes[ids.indexOf(language)]! >= 0.5 ? 1 : 3))
  if (byLetters !== undefined) return byLetters[1]
  // A few words are enough where no other language has nearly as many.
  const best = highest(votes)
  const next = votes.reduce((most, vote, index) => index === best ? most : Math.max(most, vote), 0)
  return votes[best]! >= 1 && next * 1.5 <= votes[best]! ? ids[best]! : "simple"
}

const statement =
  /[=(].*;\s*$|[{}]\s*$|=>|^\s*(?:import |from \S+ import|export |def |class \w+|func |fn |const |let |var |return\b|#include|#define|public |private |package |using |@\w+|\/\/|\/\*|\* @|elif |else:|try:|if \(|for \(|while \()|^\s*[\w.[\]]+ ?[-+*/|]?= ?\S|\w\(.*\)[:;]?\s*$/

/** 1 for what program code is full of. */
const codeMarks = Uint8Array.from({ length: 128 }, (_, unit) => "()={};_".includes(String.fromCharCode(unit)) ? 1 : 0)

/** Whether at least half of the lines, of three or more, read as statements. */
const looksLikeCode = (sample: string): boolean => {
  let marks = 0
  for (let i = 0; i < sample.length; i++) {
    const unit = sample.charCodeAt(i)
    if (unit < 128) marks += codeMarks[unit]!
  }
  if (marks * 50 < sample.length) return false
  const lines = sample.split("\n").filter((line) => line.trim() !== "")
  return lines.length > 2 && lines.filter((line) => statement.test(line)).length * 2 >= lines.length
}
