/** Letters by how often Russian has them, most first: a text in the wrong Cyrillic charset has them in another order. */
const russian = "оеаинтсрвлкмдпуяыьгзбчйхжшюцщэфъё"

/** The middle of that order: letters before it make up nine tenths of a text. */
const common = 16

export interface Plausibility {
  /** Characters beyond ASCII. */
  readonly characters: number
  /** How many of them stand where a language would have them, 0 to 1. */
  readonly share: number
}

const scripts = ["Latin", "Cyrillic", "Greek", "Hebrew", "Arabic", "Thai", "Hangul"] as const
const tests = scripts.map((script) => new RegExp(`\\p{Script=${script}}`, "u"))
const ideographic = /[\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Han}ー々〆]/u
const halfWidth = /[\uff61-\uff9f]/
const rare = /[\ufffd\u0080-\u009f\ue000-\uf8ff]|\p{Cn}/u
/** Quotes, dashes and signs that texts of any language have. */
const ordinary = /[\u00a0«»„“”‘’‚–—…•·§°€£©®№´¡¿、。，《》【】「」『』（）・！？：；〜〇％＋－／]/u
const boxes = /[\u2500-\u259f]/

const scriptOf = (character: string): number => {
  const found = tests.findIndex((test) => test.test(character))
  return found >= 0 ? found : ideographic.test(character) ? scripts.length : -1
}

/**
 * How much a decoded text reads like a language: words of one script, small letters after capitals and not before
 * them, the letters of Russian as often as Russian has them. Wrong charsets give words of mixed scripts, capitals
 * inside words, signs between letters.
 */
export const plausibility = (text: string): Plausibility => {
  let characters = 0
  let good = 0
  for (const [word] of text.matchAll(/[^\u0000-\u0026\u0028-\u002c\u002e-\u0040\u005b-\u0060\u007b-\u007f]+/g)) {
    const all = Array.from(word)
    const special = all.filter((character) => character > "\u007f")
    if (special.length === 0) continue
    characters += special.length
    good += special.length * quality(all, special)
    if (characters > 20_000) break
  }
  return { characters, share: characters === 0 ? 1 : good / characters }
}

/** 0 to 1 of one word, which is a run without blanks and ASCII signs. */
const quality = (all: ReadonlyArray<string>, special: ReadonlyArray<string>): number => {
  const word = all.join("")
  if (special.some((character) => rare.test(character))) return 0
  if (special.every((character) => ordinary.test(character) || boxes.test(character))) {
    return boxes.test(word) && /\p{L}/u.test(word) ? 0.1 : 0.75
  }
  if (halfWidth.test(word)) return 0.3
  // Quotes and dashes stand at the ends of words.
  if (/\p{L}[„“”‚«»†‡‹›…•§°€£©®]\p{L}/u.test(word) && !ideographic.test(word)) return 0.1
  const letters = all.filter((character) => /\p{L}/u.test(character))
  const kinds = new Set(letters.map(scriptOf))
  const signs = special.filter((character) => !/[\p{L}\p{M}]/u.test(character) && !ordinary.test(character)).length
  if (kinds.size > 1 || kinds.has(-1) || signs > 0) return kinds.size > 1 && kinds.has(scripts.length) && signs === 0 ? 0.6 : 0.15
  // A capital after a small letter is rare in any language that has both.
  if (/\p{Ll}\p{Lu}/u.test(word)) return 0
  if (kinds.has(0)) {
    // Words of Latin letters have some without a mark, and few kinds of marks.
    if (special.length > letters.length * 0.67 && letters.length > 2) return 0.2
    // A marked capital is a word by itself in few languages, a small letter (à, é, ó) in many.
    if (letters.length === 1 && /\p{Lu}/u.test(word)) return 0.5
    return /[ÀÁÂÃÄÅÆÇÈÉÊËÌÍÎÏÐÑÒÓÔÕÖ×ØÙÚÛÜÝÞ](?=\p{Ll})/u.test(word.slice(1)) ? 0.2 : 0.95
  }
  if (kinds.has(1)) {
    const order = letters.map((letter) => russian.indexOf(letter.toLowerCase()))
    const frequent = order.filter((place) => place >= 0 && place < common).length
    const vowels = letters.filter((letter) => /[аеёиоуыэюяіїє]/iu.test(letter)).length
    const voiced = letters.length < 4 || (vowels > letters.length * 0.15 && vowels < letters.length * 0.75)
    return (voiced ? 0.6 : 0.3) + 0.4 * frequent / letters.length
  }
  if (kinds.has(scripts.length)) {
    const kana = letters.filter((letter) => /[\u3040-\u30ff]/u.test(letter)).length
    // The commonest ideographs lie at the start of their lists; rare ones are what wrong charsets give.
    const usual = letters.filter((letter) => /[\u3040-\u30ff一-龥]/u.test(letter)).length
    return 0.55 + 0.15 * usual / letters.length + (kana > 0 ? 0.25 : 0)
  }
  return 0.9
}
