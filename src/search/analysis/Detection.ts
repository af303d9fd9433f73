import { languages, type LanguageId, type Script as LanguageScript } from "./Languages.ts"
import { moreEnglish, others } from "./StopWords.ts"
import { type Run, scanRuns } from "./WordBreak.ts"

/** How a text is analyzed: by language, or as Chinese, Japanese and Korean, program code, or any other words. */
export type AnalyzerId = LanguageId | "cjk" | "code" | "simple"

export const isLanguage = (id: string): id is LanguageId => Object.hasOwn(languages, id)

/** How much of a text is looked at, in UTF-16 units, or bytes where it is bytes. */
export const sampleLength = 2_000

/** What else is known of a text's language: see {@link detect}. */
export interface Expected {
  /** ISO 639-1 code of the language that the document declares, or that its other parts are in. */
  readonly hint?: string
  /** What most of its corpus is in. */
  readonly prior?: AnalyzerId
}

/**
 * The analyzer for a text, from its scripts and function words: no model, the same answer everywhere. Against the hint
 * another language needs twice its evidence, against the prior somewhat more than it has. A text with too few function
 * words to tell goes by the hint, else by its letters, else by the prior, else by its script, Latin without accents
 * counting as English. Neither hint nor prior makes a text one of a language that is not written so.
 */
export const detect = (text: string, expected: Expected = {}): AnalyzerId => {
  const sample = text.slice(0, sampleLength)
  return decide(surveyOf(sample), sample, expected).analyzer
}

/** How a text is analyzed, and whether its own words or letters say so. */
export interface Decision {
  readonly analyzer: AnalyzerId
  readonly told: boolean
}

/** {@link detect} for whoever surveys the words anyway. */
export const decide = ({ ideographs, letters, unspaced, votes, words }: Found, sample: string, { hint, prior }: Expected): Decision => {
  if (ideographs > 0 && ideographs * 2 >= letters) return { analyzer: "cjk", told: true }
  // Foreign names stand between blanks, what is around them does not, and would not be heard.
  if (unspaced * 3 >= letters && unspaced > 0) return { analyzer: "simple", told: true }
  if (looksLikeCode(sample)) return { analyzer: "code", told: true }
  const best = highest(votes)
  const leading = ids[best]!
  const enough = isEnough(votes[best]!, words)
  const declared = fromHint(hint)
  // The common case, without another look at the letters.
  if (enough && leading === (declared ?? prior ?? "en") && isLanguage(leading) && languages[leading].script === "latin") {
    return { analyzer: leading, told: true }
  }
  const script = scriptOf(sample)
  const hinted = declared === "simple" ? declared : written(declared, script)
  // A language in another script says nothing of which language these letters are of.
  const usual = script === "latin" && prior !== undefined && isLanguage(prior) && languages[prior].script !== "latin"
    ? undefined
    : written(prior, script)
  const expected = hinted ?? usual
  const against = expected === undefined ? 0 : (hinted === undefined ? priorStrength : hintStrength) * votesFor(votes, expected)
  if (enough && votes[best]! >= against) return { analyzer: spelled(leading, script, sample), told: true }
  return hinted === undefined ? byLetters(sample, script, votes, usual) : { analyzer: hinted, told: false }
}

/**
 * Whether words alone tell a text's language: its letters are Latin, and {@link decide} says the same whatever the hint
 * and the prior are. (Ideographs, scripts without blanks and code are told without them anyway.)
 */
export const tellsByItself = ({ votes, words }: Found): boolean => {
  const best = highest(votes)
  const most = votes[best]!
  const leading = ids[best]!
  if (!isEnough(most, words) || !isLanguage(leading) || languages[leading].script !== "latin") return false
  for (let index = 0; index < votes.length; index++) if (index !== best && votes[index]! * hintStrength > most) return false
  return true
}

const isEnough = (votes: number, words: number): boolean => votes >= Math.max(leastVotes, words * leastShare)

/** Votes that make a language: a few words at least, and a share of all, so that names in a list make none. */
const leastVotes = 1.5
const leastShare = 0.05

/** How many times its own votes another language needs against what is expected. */
const hintStrength = 2
const priorStrength = 1.25

const votesFor = (votes: Float64Array, analyzer: AnalyzerId): number => {
  let most = 0
  for (let index = 0; index < votes.length; index++) if (ids[index] === analyzer && votes[index]! > most) most = votes[index]!
  return most
}

/**
 * Which of `candidates` a question is written in, by its function words; undefined where they say nothing. Capitals vote
 * where all are: "AT&T" has no English word.
 */
export const languageOfQuestion = (
  question: string,
  candidates: ReadonlyArray<AnalyzerId>
): LanguageId | undefined => {
  const votes = new Map<AnalyzerId, number>()
  const text = (/\p{Ll}/u.test(question) ? question.replace(/(?<!\p{L})\p{Lu}{2,}(?!\p{L})/gu, "") : question).toLowerCase()
  scanRuns(text, (run, start, end) => {
    const speakers = run === "word" ? speakersOf(text.slice(start, end)) : undefined
    if (speakers === undefined) return
    // What other languages have the word says nothing here.
    const own = new Set(speakers.map((index) => ids[index]!).filter((id) => candidates.includes(id)))
    for (const id of own) votes.set(id, (votes.get(id) ?? 0) + 1 / own.size)
  })
  const [first, second] = [...votes].sort(([, a], [, b]) => b - a)
  // A word that two of them share says neither.
  return first !== undefined && first[1] > (second?.[1] ?? 0) && isLanguage(first[0]) ? first[0] : undefined
}

/** Whether `word`, in lower case, is one that holds sentences of `language` together. */
export const isFunctionWord = (word: string, language: LanguageId): boolean => votersOf(word)?.includes(ids.indexOf(language)) ?? false

/** The voters: languages first, then those known only to be told apart. */
const ids: ReadonlyArray<AnalyzerId> = [
  ...Object.keys(languages).filter(isLanguage),
  ...Object.keys(others).map((): AnalyzerId => "simple")
]

/** Word to the voters that have it. Single letters are left out: formulas and initials are full of them. */
const allFunctionWords = (): ReadonlyMap<string, ReadonlyArray<number>> => {
  const map = new Map<string, Array<number>>()
  const lists = Object.entries(languages).map(([id, { stopWords }]) => id === "en" ? [...stopWords, ...moreEnglish] : stopWords)
  ;[...lists, ...Object.values(others)].forEach((words, index) => {
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
export interface Found {
  /** UTF-16 units in words, and in ideographs. */
  readonly letters: number
  readonly ideographs: number
  /** UTF-16 units in scripts without blanks that need a dictionary. */
  readonly unspaced: number
  readonly words: number
  /** By index of {@link ids}; a word that several languages share is shared out. */
  readonly votes: Float64Array
}

/** Collects {@link Found}. */
export class Survey implements Found {
  letters = 0
  ideographs = 0
  unspaced = 0
  words = 0
  readonly votes = new Float64Array(ids.length)

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

const highest = (votes: Float64Array): number => {
  let top = 0
  for (let index = 1; index < votes.length; index++) if (votes[index]! > votes[top]!) top = index
  return top
}

const fromHint = (hint: string | undefined): AnalyzerId | undefined => {
  // Both written forms of Norwegian have one stemmer.
  const id = hint?.toLowerCase().split("-", 1)[0]!.replace(/^n[bn]$/, "no")
  if (id === undefined) return undefined
  return isLanguage(id) ? id : id === "simple" || Object.hasOwn(others, id) ? "simple" : undefined
}

type Script = "latin" | "unknown" | LanguageScript

/** The scripts of the languages with a stemmer, and which language is meant where nothing else tells. */
const scripts: ReadonlyArray<readonly [LanguageScript, RegExp, LanguageId]> = [
  ["cyrillic", /\p{Script=Cyrillic}/gu, "ru"],
  ["greek", /\p{Script=Greek}/gu, "el"],
  ["arabic", /\p{Script=Arabic}/gu, "ar"],
  ["devanagari", /\p{Script=Devanagari}/gu, "hi"],
  ["armenian", /\p{Script=Armenian}/gu, "hy"],
  ["tamil", /\p{Script=Tamil}/gu, "ta"]
]

const countOf = (sample: string, pattern: RegExp): number => sample.match(pattern)?.length ?? 0

/** Whether there are letters beyond the first blocks of Latin. */
export const hasOtherLetters = (text: string): boolean => /[[\p{L}]--[\0-\u036f]]/v.test(text)

/** The script most letters are in; `latin` where there are none. */
const scriptOf = (sample: string): Script => {
  if (!hasOtherLetters(sample)) return "latin"
  let most = countOf(sample, /\p{Script=Latin}/gu)
  let script: Script = most === 0 ? "unknown" : "latin"
  for (const [id, pattern] of scripts) {
    const count = countOf(sample, pattern)
    if (count > most) {
      most = count
      script = id
    }
  }
  return script
}

/** `expected`, where it may be written in `script`: Latin names and quotations stand in texts of every script. */
const written = (expected: AnalyzerId | undefined, script: Script): AnalyzerId | undefined => {
  if (expected === undefined || expected === "code" || expected === "cjk") return undefined
  if (script === "latin") return expected
  return script === (expected === "simple" ? "unknown" : languages[expected].script) ? expected : undefined
}

/** Letters that only one of the languages with a stemmer writes, or hardly any other; or none of them. */
const ownLetters: ReadonlyArray<readonly [RegExp, AnalyzerId]> = [
  [/[ěřů]/g, "cs"],
  // Vietnamese, Polish, Slovak, the Baltic languages, Azerbaijani
  [/[\u1ea0-\u1ef9ơưłąęźżńťďľĺŕāēīūņļķģėįųə]/g, "simple"],
  [/[ığİş]/g, "tr"],
  [/[ășțţ]/g, "ro"],
  [/[őű]/g, "hu"],
  [/ß/g, "de"],
  [/[ñ¿¡]/g, "es"],
  [/[ãõ]/g, "pt"],
  [/œ|ê|l'/g, "fr"]
]

/**
 * What a text in another script than Latin is in by its spelling: neighbours share too many words. `language` where it
 * says nothing.
 */
const spelled = (language: AnalyzerId, script: Script, sample: string): AnalyzerId => {
  switch (script) {
    case "cyrillic":
      // Serbian, Macedonian, Belarusian, Kazakh and others
      if (/[јљњђћџѓќѕўәғқңөұүһ]/.test(sample)) return "simple"
      if (/[їєґ]/.test(sample)) return "uk"
      if (/і/.test(sample)) return /[ыэё]/.test(sample) ? "simple" : "uk"
      if (/[ыэё]/.test(sample)) return "ru"
      return /ъ(?![еёюя])/.test(sample) ? "bg" : language
    case "arabic":
      // Persian and Urdu write their own kaf and yeh throughout.
      return countOf(sample, /[کیےہںٹڈڑگچپژ]/g) > countOf(sample, /[كيىة]/g) ? "simple" : language
    case "devanagari":
      return /ळ/.test(sample) ? "simple" : language
    default:
      return language
  }
}

/** Where words say too little: letters, then what is usual, then the script; of Latin, a language that its letters and a word agree on. */
const byLetters = (sample: string, script: Script, votes: Float64Array, usual: AnalyzerId | undefined): Decision => {
  if (script === "unknown") return { analyzer: "simple", told: true }
  if (script !== "latin") {
    const meant = scripts.find(([id]) => id === script)![2]
    return { analyzer: spelled(usual ?? meant, script, sample), told: script !== "cyrillic" || /[іїєґыэёў]/.test(sample) }
  }
  const plain = !/[[\p{Script=Latin}]--[\x00-\x7f]]/v.test(sample)
  const own = plain ? undefined : ownLetters.find(([pattern, id]) => {
    const votesOfOwn = votesFor(votes, id)
    if (usual !== undefined && votesOfOwn <= votesFor(votes, usual)) return false
    return countOf(sample, pattern) >= (usual === undefined && votesOfOwn >= 0.5 ? 1 : 3)
  })
  if (own !== undefined) return { analyzer: own[1], told: true }
  if (usual !== undefined) return { analyzer: usual, told: false }
  // A few words are enough where no other language has nearly as many.
  const best = highest(votes)
  const next = votes.reduce((most, vote, index) => index === best ? most : Math.max(most, vote), 0)
  if (votes[best]! >= 1 && next * 1.5 <= votes[best]!) return { analyzer: ids[best]!, told: true }
  return { analyzer: plain ? "en" : "simple", told: false }
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
