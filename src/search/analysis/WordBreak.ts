import { hashed, hashSeed } from "../../text/WordTable.ts"

/**
 * Word boundaries of UAX #29 as Lucene's StandardTokenizer draws them: contractions, dotted words and decimal
 * numbers stay whole (WB6, WB7, WB11, WB12), `_` joins (WB13a), marks and format characters belong to the letter
 * before them (WB4). Scripts written without spaces are handed over as runs, for the caller to cut.
 */
export type Run = "word" | "ideographs" | "unspaced" | "pictograph"

/** Longer words are cut, as StandardTokenizer does. In UTF-16 units. */
export const maxWordLength = 255

/** Calls `visit` with every run of `text`, in order, as UTF-16 offsets. */
export const scanRuns = (text: string, visit: (run: Run, start: number, end: number) => void): void => {
  const length = text.length
  let at = 0
  while (at < length) {
    const kind = classAt(text, at)
    if (kind === letter || kind === digit || kind === joiner) {
      at = scanWord(text, at, visit)
    } else if (kind === ideograph || kind === unspaced) {
      const end = endOfRun(text, at, kind)
      visit(kind === ideograph ? "ideographs" : "unspaced", at, end)
      at = end
    } else {
      const end = at + width(text, at)
      if (kind === pictograph) visit("pictograph", at, end)
      at = end
    }
  }
}

/**
 * {@link scanRuns} for UTF-8, where most words are plain ASCII: these go to `visitWord` as bytes with their hash. What
 * has other characters in it goes to `visitOther` whole, from one ASCII blank or bracket to the next, as nothing joins
 * across those: it is for scanRuns.
 */
export const scanBytes = (
  bytes: Uint8Array,
  visitWord: (start: number, end: number, hash: number) => void,
  visitOther: (start: number, end: number) => void
): void => {
  const length = bytes.length
  let at = 0
  while (at < length) {
    const start = at
    let all = 0
    for (; at < length; at++) {
      const byte = bytes[at]!
      if (byte < 128 && asciiClasses[byte] === other) break
      all |= byte
    }
    if (all > 127 || at - start > maxWordLength) visitOther(start, at)
    else if (at > start) scanPlain(bytes, start, at, visitWord)
    at++
  }
}

const scanPlain = (
  bytes: Uint8Array,
  start: number,
  end: number,
  visit: (start: number, end: number, hash: number) => void
): void => {
  let at = start
  while (at < end) {
    const from = at
    let hash = hashSeed
    let last = other
    let solid = false
    for (; at < end; at++) {
      const kind = asciiClasses[bytes[at]!]!
      if (kind === letter || kind === digit) {
        last = kind
        solid = true
      } else if (kind === joiner) last = joiner
      else if (!joins(kind, last, at + 1 < end ? asciiClasses[bytes[at + 1]!]! : other)) break
      hash = hashed(hash, bytes[at]!)
    }
    if (solid) visit(from, at, hash)
    // What ended the word, or began none.
    at++
  }
}

const scanWord = (
  text: string,
  start: number,
  visit: (run: Run, start: number, end: number) => void
): number => {
  let from = start
  let at = start
  let last = other
  let solid = false
  for (;;) {
    const kind = at < text.length ? classAt(text, at) : other
    if (kind === letter || kind === digit) {
      last = kind
      solid = true
    } else if (kind === joiner) {
      last = joiner
    } else if (kind !== extend && !bridges(text, at, kind, last)) {
      break
    }
    const next = at + width(text, at)
    if (next - from > maxWordLength) {
      if (solid) visit("word", from, at)
      from = at
    }
    at = next
  }
  if (solid && at > from) visit("word", from, at)
  return at
}

/** Whether the punctuation at `at` stands between two letters, or two digits, that it may join. */
const bridges = (text: string, at: number, kind: number, last: number): boolean => {
  if (kind !== midBoth && kind !== midLetter && kind !== midDigit) return false
  return at + 1 < text.length && joins(kind, last, classAt(text, at + 1))
}

/** Whether a character of class `kind` joins what is before and after it. */
const joins = (kind: number, last: number, next: number): boolean =>
  kind >= midBoth && kind <= midDigit && last === next &&
  (next === letter ? kind !== midDigit : next === digit && kind !== midLetter)

const endOfRun = (text: string, start: number, kind: number): number => {
  let at = start
  while (at < text.length) {
    const next = classAt(text, at)
    if (next !== kind && next !== extend) break
    at += width(text, at)
  }
  return at
}

const other = 0
const letter = 1
const digit = 2
/** ExtendNumLet: `_` and its kin. */
const joiner = 3
/** MidNumLet and Single_Quote. */
const midBoth = 4
const midLetter = 5
const midDigit = 6
const extend = 7
/** Han, Hiragana, Katakana, Hangul. */
const ideograph = 8
/** Complex context: Thai, Lao, Khmer, Myanmar and other scripts that need a dictionary. */
const unspaced = 9
const pictograph = 10

/** Later rows win. */
const properties: ReadonlyArray<readonly [kind: number, characters: RegExp]> = [
  [letter, /[\p{Alphabetic}\u02c2-\u02c5\u02d2-\u02d7\u02de\u02df\u055b\u055c\u055e\u05f3]/gu],
  [digit, /[\p{Nd}\u066b]/gu],
  [joiner, /\p{Pc}/gu],
  [midBoth, /[.'\u2018\u2019\u2024\ufe52\uff07\uff0e]/gu],
  [midLetter, /[:\u00b7\u0387\u05f4\u2027\ufe13\ufe55\uff1a]/gu],
  [midDigit, /[,;\u037e\u0589\u060c\u060d\u066c\u07f8\u2044\ufe10\ufe14\ufe50\ufe54\uff0c\uff1b]/gu],
  [extend, /[\p{M}\p{Cf}]/gu],
  [ideograph, /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}\u30fc\uff70]/gu],
  [
    unspaced,
    /[\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}\p{Script=Myanmar}\p{Script=Tai_Le}\p{Script=New_Tai_Lue}\p{Script=Tai_Tham}]/gu
  ],
  [digit, /[\u0e50-\u0e59\u0ed0-\u0ed9\u17e0-\u17e9\u1040-\u1049]/gu]
]

const classify = (characters: string, store: (unit: number, kind: number) => void): void => {
  for (const [kind, pattern] of properties) {
    for (const match of characters.matchAll(pattern)) store(match.index, kind)
  }
}

/** What each ASCII character is to a word. */
export const asciiClasses = new Uint8Array(128)
classify(String.fromCharCode(...asciiClasses.keys()), (unit, kind) => {
  asciiClasses[unit] = kind
})

let planeClasses: Uint8Array | undefined

/** The Basic Multilingual Plane, made at its first use. Surrogates stay `other`. */
const basicPlane = (): Uint8Array => {
  const classes = new Uint8Array(0x10000)
  for (const [from, to] of [[0, 0xd800], [0xe000, 0x10000]] as const) {
    const characters = Array.from({ length: to - from }, (_, i) => String.fromCharCode(from + i)).join("")
    classify(characters, (unit, kind) => {
      classes[from + unit] = kind
    })
  }
  return classes
}

const classAt = (text: string, at: number): number => {
  const unit = text.charCodeAt(at)
  if (unit < 128) return asciiClasses[unit]!
  if (unit >= 0xd800 && unit < 0xdc00) return astralClass(text.codePointAt(at)!)
  planeClasses ??= basicPlane()
  return planeClasses[unit]!
}

const astralClass = (codePoint: number): number => {
  if (codePoint >= 0x20000 && codePoint < 0x40000) return ideograph
  const character = String.fromCodePoint(codePoint)
  if (/\p{Extended_Pictographic}/u.test(character)) return pictograph
  let kind = other
  classify(character, (_, found) => {
    kind = found
  })
  return kind
}

const width = (text: string, at: number): number => text.codePointAt(at)! > 0xffff ? 2 : 1
