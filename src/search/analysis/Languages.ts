import { stemmer as stemArmenian } from "@orama/stemmers/armenian"
import { stemmer as stemBulgarianLetters } from "@orama/stemmers/bulgarian"
import { stemmer as stemDanish } from "@orama/stemmers/danish"
import { stemmer as stemDutch } from "@orama/stemmers/dutch"
import { stemmer as stemFinnish } from "@orama/stemmers/finnish"
import { stemmer as stemFrench } from "@orama/stemmers/french"
import { stemmer as stemGerman } from "@orama/stemmers/german"
import { stemmer as stemGreek } from "@orama/stemmers/greek"
import { stemmer as stemHungarian } from "@orama/stemmers/hungarian"
import { stemmer as stemHindi } from "@orama/stemmers/indian"
import { stemmer as stemIndonesian } from "@orama/stemmers/indonesian"
import { stemmer as stemItalian } from "@orama/stemmers/italian"
import { stemmer as stemNorwegian } from "@orama/stemmers/norwegian"
import { stemmer as stemPortuguese } from "@orama/stemmers/portuguese"
import { stemmer as stemRomanian } from "@orama/stemmers/romanian"
import { stemmer as stemRussian } from "@orama/stemmers/russian"
import { stemmer as stemSpanish } from "@orama/stemmers/spanish"
import { stemmer as stemSwedish } from "@orama/stemmers/swedish"
import { stemmer as stemTamil } from "@orama/stemmers/tamil"
import { stemmer as stemTurkish } from "@orama/stemmers/turkish"
import { stemmer as stemUkrainian } from "@orama/stemmers/ukrainian"
import { stopwords as armenian } from "@orama/stopwords/armenian"
import { stopwords as bulgarian } from "@orama/stopwords/bulgarian"
import { stopwords as danish } from "@orama/stopwords/danish"
import { stopwords as dutch } from "@orama/stopwords/dutch"
import { stopwords as finnish } from "@orama/stopwords/finnish"
import { stopwords as french } from "@orama/stopwords/french"
import { stopwords as german } from "@orama/stopwords/german"
import { stopwords as greek } from "@orama/stopwords/greek"
import { stopwords as indonesian } from "@orama/stopwords/indonesian"
import { stopwords as italian } from "@orama/stopwords/italian"
import { stopwords as norwegian } from "@orama/stopwords/norwegian"
import { stopwords as portuguese } from "@orama/stopwords/portuguese"
import { stopwords as russian } from "@orama/stopwords/russian"
import { stopwords as swedish } from "@orama/stopwords/swedish"
import { stopwords as tamil } from "@orama/stopwords/tamil"
import { stemCzech } from "./Czech.ts"
import { porter } from "./Porter.ts"
import { arabic, czech, english, hindi, hungarian, romanian, spanish, turkish, ukrainian } from "./StopWords.ts"

export type Script = "latin" | "cyrillic" | "greek" | "arabic" | "armenian" | "devanagari" | "tamil"

/** How the words of one language become terms: `lower`, then `normalize`, then stop words, then `stem`. */
export interface Language {
  readonly script: Script
  readonly stopWords: ReadonlySet<string>
  readonly lower: (word: string) => string
  /** What the language's Lucene analyzer does between lower case and stop words: possessives, elisions, spelling. */
  readonly normalize: (word: string) => string
  readonly stem: (word: string) => string
}

const same = (word: string): string => word
const lower = (word: string): string => word.toLowerCase()

const language = (
  script: Script,
  stopWords: Iterable<string>,
  stem: (word: string) => string,
  normalize: (word: string) => string = same
): Language => ({ script, stopWords: new Set(stopWords), lower, normalize, stem: orItself(stem) })

/** A word that a stemmer fails on, or leaves nothing of, is a term as it is: words are lost to nobody's fault. */
const orItself = (stem: (word: string) => string) => (word: string): string => {
  try {
    return stem(word) || word
  } catch {
    return word
  }
}

/** The stemmer changes letters in place, as Lucene's does in its array, which a string does not let it. */
const stemBulgarian = (word: string): string => {
  const letters = word.split("")
  const substring = (from: number, to: number): string => letters.slice(from, to).join("")
  // All that it does with the word: `length`, letters by their place, and `substring`.
  return stemBulgarianLetters(Object.assign(letters, { substring }) as unknown as string)
}

/** Letters with marks to their base, and the Latin letters that have no decomposition. */
const fold = (word: string): string =>
  /[^\x00-\x7f]/.test(word) ? word.normalize("NFD").replace(/\p{M}/gu, "").replace(/[ßæœøđðłþı]/g, (c) => folded[c] ?? c) : word

const folded: Readonly<Record<string, string>> = {
  ß: "ss",
  æ: "ae",
  œ: "oe",
  ø: "o",
  đ: "d",
  ð: "d",
  ł: "l",
  þ: "th",
  ı: "i"
}

/** Lucene's EnglishPossessiveFilter; and no accents, which English words have from elsewhere and lose in typing. */
const englishSpelling = (word: string): string => fold(word.endsWith("'s") ? word.slice(0, -2) : word)

const elision = (articles: RegExp) => (word: string): string => word.replace(articles, "")
const frenchElision = elision(/^(?:[ldmtnscj]|qu|jusqu|quoiqu|lorsqu|puisqu)'/)
const italianElision = elision(/^(?:[cldmtsvn]|all|dall|dell|nell|sull|coll|pell|gl|agl|dagl|degl|negl|sugl|un)'/)

/** Lucene's GermanNormalizationFilter: ß is ss, and ae, oe, ue (but for "que", "aue") stand for the umlauts. */
const germanSpelling = (word: string): string =>
  word
    .replaceAll("ß", "ss")
    .replace(/[äöü]/g, (c) => c === "ä" ? "a" : c === "ö" ? "o" : "u")
    .replace(/([ao])e/g, "$1")
    .replace(/(^|[^aeiouyq])ue/g, "$1u")

/** Plurals that Snowball's stemmer does not bring together with their words: nações, animais, papéis, imagens, flores. */
const portugueseSpelling = (word: string): string => {
  if (word.length < 5) return word
  const singular = word.replace(/[õã]es$/, "ão").replace(/ns$/, "m").replace(/(?<=[rslz])es$/, "")
  return singular.replace(/[aá]is$/, "al").replace(/[eé]is$/, "el").replace(/[oó]is$/, "ol")
}

/** Lucene's GreekLowerCaseFilter: no accents, final sigma as sigma. */
const greekSpelling = (word: string): string => fold(word).replaceAll("ς", "σ")

/** Lucene's ArabicNormalizationFilter: no vowel signs or tatweel, one alef, yeh for dotless yeh, heh for teh marbuta. */
const arabicSpelling = (word: string): string =>
  word
    .replace(/[\u0640\u064b-\u0652]/g, "")
    .replace(/[\u0622\u0623\u0625]/g, "\u0627")
    .replaceAll("\u0649", "\u064a")
    .replaceAll("\u0629", "\u0647")

/**
 * Lucene's PersianNormalizationFilter, after its Arabic one: the yeh, kaf and heh of Persian and Urdu are those of Arabic,
 * so that words are found by whatever keyboard wrote them.
 */
const persianSpelling = (word: string): string =>
  arabicSpelling(word)
    .replace(/[\u06cc\u06d2]/g, "\u064a")
    .replaceAll("\u06a9", "\u0643")
    .replace(/[\u06c0-\u06c2\u06be]/g, "\u0647")
    .replace(/\u0654/g, "")

/** What a word of no language we stem is as a term: lower case, and what its script leaves to the writer. */
export const plainTerm = (word: string): string => {
  const plain = word.toLowerCase()
  if (/\p{Script=Arabic}/u.test(plain)) return persianSpelling(plain)
  // Points stand for vowels in prayers and dictionaries only.
  return /\p{Script=Hebrew}/u.test(plain) ? plain.replace(/\p{M}/gu, "") : plain
}

const arabicPrefixes = [
  "\u0627\u0644",
  "\u0648\u0627\u0644",
  "\u0628\u0627\u0644",
  "\u0643\u0627\u0644",
  "\u0641\u0627\u0644",
  "\u0644\u0644",
  "\u0648"
]
const arabicSuffixes = [
  "\u0647\u0627",
  "\u0627\u0646",
  "\u0627\u062a",
  "\u0648\u0646",
  "\u064a\u0646",
  "\u064a\u0647",
  "\u064a\u0629",
  "\u0647",
  "\u0629",
  "\u064a"
]

/** Lucene's ArabicStemmer, the light one (Larkey's): an article or "and" in front, endings at the back, no roots. */
const stemArabic = (word: string): string => {
  const prefix = arabicPrefixes.find((prefix) => word.startsWith(prefix) && word.length >= (prefix.length === 1 ? 4 : prefix.length + 2))
  let stem = word.slice(prefix?.length ?? 0)
  for (const suffix of arabicSuffixes) {
    if (stem.endsWith(suffix) && stem.length >= suffix.length + 2) stem = stem.slice(0, -suffix.length)
  }
  return stem
}

/**
 * Lucene's HindiNormalizationFilter as far as it comes before the stemmer, which knows the vowels as they are written:
 * one sign of nasals, no nukta.
 */
const hindiSpelling = (word: string): string =>
  word
    .normalize("NFD")
    .replaceAll("\u093c", "")
    .replaceAll("\u0928\u094d", "\u0902")
    .replaceAll("\u0901", "\u0902")
    .replace(/[\u0945\u0946]/g, "\u0947")
    .replace(/[\u0949\u094a]/g, "\u094b")
    .replace(/[\u090d\u090e]/g, "\u090f")
    .replace(/[\u0911\u0912]/g, "\u0913")
    .replaceAll("\u0972", "\u0905")

/** The rest of it: short vowels for long, no virama. */
const shortVowels = (word: string): string =>
  word.replaceAll("\u094d", "").replace(/[\u0906\u0908\u090a\u0910\u0914\u0940\u0942\u0948\u094c]/g, (vowel) => short[vowel] ?? vowel)

const short: Readonly<Record<string, string>> = {
  आ: "अ",
  ई: "इ",
  ऊ: "उ",
  ऐ: "ए",
  औ: "ओ",
  "\u0940": "\u093f",
  "\u0942": "\u0941",
  "\u0948": "\u0947",
  "\u094c": "\u094b"
}

/** Commas, not cedillas, under s and t; within a word the vowel is written â since 1993. */
const romanianSpelling = (word: string): string => word.replaceAll("ş", "ș").replaceAll("ţ", "ț").replace(/(?<=\p{L})î(?=\p{L})/gu, "â")

/** Lucene's ApostropheFilter: in Turkish, what follows an apostrophe is a suffix of a name. */
const untilApostrophe = (word: string): string => {
  const at = word.indexOf("'")
  return at > 0 ? word.slice(0, at) : word
}

const turkishLower = (word: string): string => word.replaceAll("I", "ı").replaceAll("İ", "i").toLowerCase()

const then = (first: (word: string) => string, second: (word: string) => string) => (word: string): string => second(first(word))

/**
 * Every language with a stemmer, by ISO 639-1. English is Lucene's EnglishAnalyzer, with accents folded; the
 * others have Snowball's stemmers, Czech a light one. Accents are folded after stemming where people leave them out when they type
 * (French, Spanish, Portuguese, Italian, Romanian), and kept where they make another letter (Nordic, Hungarian,
 * Turkish).
 */
export const languages = {
  en: language("latin", english, porter, englishSpelling),
  de: language("latin", german.map(germanSpelling), stemGerman, germanSpelling),
  fr: language("latin", french, then(stemFrench, fold), frenchElision),
  es: language("latin", spanish, then(stemSpanish, fold)),
  pt: language("latin", portuguese, then(stemPortuguese, fold), portugueseSpelling),
  it: language("latin", italian, then(stemItalian, fold), italianElision),
  nl: language("latin", dutch, stemDutch),
  sv: language("latin", swedish, stemSwedish),
  da: language("latin", danish, stemDanish),
  no: language("latin", norwegian, stemNorwegian),
  fi: language("latin", finnish, stemFinnish),
  hu: language("latin", hungarian, stemHungarian),
  cs: language("latin", czech, stemCzech),
  ro: language("latin", romanian.map(romanianSpelling), then(stemRomanian, fold), romanianSpelling),
  tr: { ...language("latin", turkish, stemTurkish, untilApostrophe), lower: turkishLower },
  id: language("latin", indonesian, stemIndonesian),
  ru: language("cyrillic", russian, stemRussian, (word) => word.replaceAll("ё", "е")),
  uk: language("cyrillic", ukrainian, stemUkrainian),
  bg: language("cyrillic", bulgarian, stemBulgarian),
  el: language("greek", greek, stemGreek, greekSpelling),
  ar: language("arabic", arabic.map(arabicSpelling), stemArabic, arabicSpelling),
  hy: language("armenian", armenian, stemArmenian),
  hi: language("devanagari", hindi.map(hindiSpelling), then(stemHindi, shortVowels), hindiSpelling),
  ta: language("tamil", tamil, stemTamil)
} satisfies Readonly<Record<string, Language>>

export type LanguageId = keyof typeof languages
