import { optionsOf } from "../../text/CommandOptions.ts"
import {
  afterProperty,
  agents,
  asksMeaning,
  asksWhenOfEvent,
  beforeCounted,
  beforeDeed,
  beforeDefined,
  beforeMeasure,
  beforeProperty,
  cjkAsking,
  comparing,
  courtesy,
  genericWords,
  initialsOf,
  lasting,
  lastingVerb,
  measuredForms,
  measures,
  money,
  quantityForms,
  senderLines,
  unnamed,
  writtenForms
} from "./Cues.ts"
import { comparedIn } from "../../text/Comparison.ts"
import { separatedIn } from "../../text/SeparableVerbs.ts"
import { type AnswerType, isTask, kindOf, type QuestionKind, typeOf } from "./QuestionKind.ts"
import { isCjkStopWord, stopWordsOf } from "./StopWords.ts"
import type { Synonyms } from "../../domain/Synonyms.ts"
import { general, type PhraseAt, type Thesaurus, thesaurusOf } from "./Synonyms.ts"
import { foldedWords, isCjk, normalize, rawWords, stem } from "./Words.ts"

/**
 * What a term is to its question: a `name` (names, numbers and options), without which a text is about something else; a `generic`
 * word, which only says what sort of text is wanted; or `plain`, any other.
 */
export type TermRole = "name" | "plain" | "generic"

/** What a term of each role counts before its rarity does. */
export const importanceOf: Readonly<Record<TermRole, number>> = { name: 1.5, plain: 1, generic: 0.5 }

/** A word or phrase of a question that a text should contain. */
export interface Term {
  /** A stem, the stems of a phrase joined by spaces ("turn off"), a normalised CJK word, or an option with its dashes. */
  readonly key: string
  readonly cjk: boolean
  readonly role: TermRole
  /** The name that a short number belongs to: the 8 of "PEP 8" is not any 8. Longer numbers, such as years, need no name. */
  readonly of?: string
  /** The stem of a word that documents have instead: who wrote a document is its author. */
  readonly also?: string
  /** The form in which documents write what the term names: an address is given as street and number, without the word. */
  readonly form?: RegExp
  /** Keys of the phrases that have synonyms and that the word is a part of: "turn off" for the turn of "turn it off". */
  readonly within: ReadonlyArray<string>
  /** The stems of the word with its particle: "turn off" for the turn of "turn it off", "time off" for time. */
  readonly phrasal?: ReadonlyArray<string>
  /** Whether the key is an option of a command, to the letter: `-x` is not `-X`, and `--no-home` is not `--home`. */
  readonly option: boolean
}

/** A question, taken apart. */
export interface Question {
  readonly text: string
  readonly terms: ReadonlyArray<Term>
  /** Every folded word, stop words too: an answer's number or name must not be one of them. */
  readonly words: ReadonlySet<string>
  /** The folded function words of the question's language, which alone answer nothing. */
  readonly grammar: ReadonlySet<string>
  readonly type: AnswerType
  readonly kind: QuestionKind
  /**
   * Indexes of the terms that name what is counted ("lifts"), the property in question ("entrance fee") or the deed ("designed"), where
   * the question's form shows it; else empty.
   */
  readonly asked: ReadonlyArray<number>
  /**
   * Indexes of the terms that are names by their form, without which a document is about something else: Redis, HMAC. Empty for German,
   * which capitalises all nouns.
   */
  readonly names: ReadonlyArray<number>
  /** Words and phrases that mean the same in the corpus. */
  readonly own: Thesaurus
  /** What a number must be to answer: a length where the question is how long something lasts, an amount of money where it is what it costs. */
  readonly measure: RegExp | undefined
  /** Index of the term that says what happened, where the question is when it did. */
  readonly happened: number | undefined
  /** The things that the question compares; empty where it compares none. */
  readonly things: ReadonlyArray<Thing>
}

/** One of the things that a question compares. */
export interface Thing {
  /** As the question has it. */
  readonly name: string
  /** Indexes of the terms that name it. */
  readonly terms: ReadonlyArray<number>
}

/** Whether a question is about an option of a command: what it does or how it is used. */
export const asksOption = ({ terms, type }: Question): boolean => type === "other" && terms.some(({ option }) => option)

const cjkWords = new Intl.Segmenter("zh", { granularity: "word" })

/** UTF-16 units of a question that are read; the rest of a longer text is ignored. */
const maxQuestionCharacters = 2000

export const questionOf = (asked: string, synonyms: Synonyms = none): Question => {
  const own = thesaurusOf(synonyms)
  const text = asked.slice(0, maxQuestionCharacters).replace(courtesy, "")
  const raw = rawWords(text.replace(asksMeaning, "$1").replace(beforeDefined, blank).replace(lastingVerb, blank))
  const type = isTask(text) ? "other" : typeOf(text)
  const stop = stopWordsOf(raw.map(({ word }) => word))
  const byKey = termsOf(text, raw, type, stop, own)
  const askedKeys = new Set(askedOf(text, raw, stop))
  const things = comparedIn(text)
  const terms = [...byKey.values()].filter(({ key, role }) => things.length === 0 || !(role === "generic" || comparing.has(key)))
  const plain = terms.flatMap(({ cjk, role }, term) => (!cjk && role === "plain" ? [term] : []))
  const isGerman = stop.has("und") && !stop.has("and")
  return {
    text,
    own,
    terms,
    words: new Set(foldedWords(text)),
    grammar: new Set([...stop].map(stem)),
    type,
    kind: kindOf(questionIn(text), type),
    asked: terms.flatMap(({ key }, term) => (askedKeys.has(key) ? [term] : [])),
    names: isGerman ? [] : terms.flatMap(({ key, role }, term) => (role === "name" && !/^\d+$/.test(key) ? [term] : [])),
    measure: type === "number"
      ? terms.find(({ form, key }) => form === lasting || (form === money && writtenForms.has(key)))?.form
      : undefined,
    happened: asksWhenOfEvent.test(text) ? plain.at(-1) : undefined,
    things: things.map((name) => {
      const words = new Set(foldedWords(name))
      const normal = normalize(name)
      return { name, terms: terms.flatMap(({ cjk, key }, term) => ((cjk ? normal.includes(key) : words.has(key)) ? [term] : [])) }
    })
  }
}

/** What is left out keeps its room, as words are told by their offsets. */
const blank = (left: string): string => " ".repeat(left.length)

/** The question, where sentences before it tell what has happened: "My badge is lost. What should I do?" */
const questionIn = (text: string): string => /[.!?]\s+(\p{L}[^.!?]*\?)\s*$/u.exec(text)?.[1] ?? text

const none: Synonyms = []

const formsByType: { readonly [Type in AnswerType]?: ReadonlyMap<string, RegExp> } = { person: senderLines, number: quantityForms }

type RawWords = ReturnType<typeof rawWords>

/** The terms by their keys, in the order of the question's words. */
const termsOf = (
  text: string,
  raw: RawWords,
  type: AnswerType,
  stop: ReadonlySet<string>,
  own: Thesaurus
): ReadonlyMap<string, Term> => {
  const terms = new Map<string, Term>()
  const stemmed = raw.map(({ word }) => stem(normalize(word)))
  const isStop = raw.map(({ word }) => stop.has(normalize(word).replace(/['’]s$/, "")))
  const allPhrases = phrasesIn(stemmed, isStop, [own, general()])
  const inCompound = new Set<number>()
  const options = optionsOf(text)
  const separated = separatedIn(text)
  /** The capitalised word just before, to which a short number may belong. */
  let name: { readonly key: string; readonly end: number } | undefined
  raw.forEach(({ word, at }, index) => {
    const normal = normalize(word)
    if (isContracted(text, at, normal)) return
    const option = options.find(({ end, start }) => start < at && at < end)
    if (option !== undefined) {
      terms.set(option.text, { key: option.text, cjk: false, role: "name", option: true, within: [] })
      return
    }
    if (isCjk(normal)) {
      for (const { segment } of cjkWords.segment(normal)) {
        if (!isCjkStopWord(segment) && !cjkAsking.test(segment)) {
          terms.set(segment, { key: segment, cjk: true, role: "plain", option: false, within: [] })
        }
      }
      return
    }
    if (inCompound.has(index) || (separated !== undefined && index === raw.length - 1)) return
    const compound = compoundAt(text, raw, index, stop)
    if (compound !== undefined) { for (const place of compound.places) inCompound.add(place) }
    else if (isStop[index] === true) return
    const key = compound?.key ?? stem(word === separated?.said ? normalize(separated.verb) : normal)
    const phrases = allPhrases.filter(({ places }) => places.includes(index))
    const phrasal = phrases.find(({ places }) => places[0] === index && places.every((place) => place === index || isStop[place] === true))
    const capital = index > 0 && /^\p{Lu}/u.test(word) && !/[.?!]\s*$/.test(text.slice(0, at))
    const measured = isMeasure(text, at, normal)
    const isGeneric = genericWords.has(normal) || measured
    const role = isGeneric ? "generic" : capital || /\p{N}/u.test(word) ? "name" : "plain"
    const of = /^\p{N}{1,3}$/u.test(word) && name !== undefined && /^[\s-]$/.test(text.slice(name.end, at)) ? { of: name.key } : {}
    const also = type === "person" ? agents.get(key) : undefined
    const form = measured
      ? measuredForms.get(key)
      : formsByType[type]?.get(key) ?? writtenForms.get(key) ?? initialsOf(word)
    terms.set(key, {
      key,
      cjk: false,
      option: false,
      within: phrases.map(({ key }) => key),
      ...(phrasal === undefined ? {} : { phrasal: phrasal.key.split(" ") }),
      role: moreImportant(role, terms.get(key)?.role),
      ...of,
      ...(also === undefined ? {} : { also }),
      ...(form === undefined ? {} : { form })
    })
    name = capital ? { key, end: at + word.length } : undefined
  })
  return terms
}

/** The phrases of a question that have synonyms. */
const phrasesIn = (
  words: ReadonlyArray<string>,
  isStop: ReadonlyArray<boolean>,
  thesauri: ReadonlyArray<Thesaurus>
): ReadonlyArray<PhraseAt> =>
  words.flatMap((_, at) => {
    // "Turn it off" and "I turn sync off", but not "leave out" in "award leave paid out".
    const mayPart = isStop[at - 1] !== false || isStop[at + 1] !== false
    return thesauri.flatMap((thesaurus) => thesaurus.phrasesAt(words, at))
      .filter(({ places }) => mayPart || places.at(-1)! - at === places.length - 1)
  })

/** A compound of which half is a function word, such as on-call or opt-out, which is none of its halves; as `Thesaurus.phrasesAt` returns it. */
const compoundAt = (text: string, raw: RawWords, index: number, stop: ReadonlySet<string>): PhraseAt | undefined => {
  const halves = raw.slice(index, index + 2)
  const [left, right] = halves
  if (left === undefined || right === undefined || text.slice(left.at + left.word.length, right.at) !== "-") return undefined
  const words = halves.map(({ word }) => normalize(word))
  const isCompound = words.every((word) => /^\p{L}+$/u.test(word) && !isCjk(word)) && words.filter((word) => stop.has(word)).length === 1
  return isCompound ? { key: words.map(stem).join(" "), places: [index, index + 1] } : undefined
}

const moreImportant = (role: TermRole, other: TermRole | undefined): TermRole =>
  other !== undefined && importanceOf[other] > importanceOf[role] ? other : role

/** Whether a word is what an apostrophe leaves of a verb and of "not": neither half of "can't" or "isn't" is a term. */
const isContracted = (text: string, at: number, normal: string): boolean =>
  (/['’]/.test(text[at - 1] ?? "") && /^(?:t|re|ve|ll|d|m)$/.test(normal)) ||
  (normal.endsWith("n") && /^['’]t\b/.test(text.slice(at + normal.length)))

const isMeasure = (text: string, at: number, normal: string): boolean =>
  measures.has(normal) && beforeMeasure.test(text.slice(Math.max(0, at - 8), at))

/** The keys of what the question asks to be counted, stated or named: "entrance" and "fee". */
const askedOf = (text: string, raw: RawWords, stop: ReadonlySet<string>): ReadonlyArray<string> => {
  const isTerm = (index: number): boolean => raw[index] !== undefined && !isCjk(raw[index].word) && !stop.has(normalize(raw[index].word))
  const endOf = (index: number): number => raw[index]!.at + raw[index]!.word.length
  for (const [index, { at, word }] of raw.entries()) {
    if (!isTerm(index)) continue
    const before = text.slice(0, at)
    const isDeed = beforeDeed.test(before) && !/^\p{Lu}/u.test(word)
    const isProperty = beforeProperty.test(before)
    if (!isDeed && !isProperty && !beforeCounted.test(before)) continue
    let last = index
    const goesOn = (): boolean => isTerm(last + 1) && text.slice(endOf(last), raw[last + 1]!.at).trim() === ""
    if (!isDeed) { while (goesOn()) last++ }
    if (isProperty && !afterProperty.test(text.slice(endOf(last)))) return []
    // "How much faster" counts nothing.
    if (!isDeed && !isProperty && /\bmuch\s*$/i.test(before) && word.endsWith("er")) return []
    const keys = raw.slice(index, last + 1).map(({ word }) => stem(normalize(word)))
    return unnamed.has(keys[0]!) || unnamed.has(keys.at(-1)!) ? [] : keys
  }
  return []
}
