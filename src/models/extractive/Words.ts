/**
 * Words and their folded forms, for comparing a question with text in any language. Deliberately lighter than an index's analyzer: it
 * sees a few dozen sentences, and would rather match two forms of one word than be precise.
 */

const cjk = "\\p{Script=Han}\\p{Script=Hiragana}\\p{Script=Katakana}\\p{Script=Hangul}\\u30fc\\u3005"
/** One word: a number with points or commas such as a version or 5,000, a run of CJK characters, or a run of letters and digits, with a possessive s. */
const wordPattern = new RegExp(
  `(?<![\\p{L}\\p{N}])(?:\\d+(?:\\.\\d+)+|\\d{1,3}(?:,\\d{3})+)(?![\\p{L}\\p{N}])|[${cjk}]+|(?:(?![${cjk}])[\\p{L}\\p{M}\\p{N}])+(?:['’](?=s\\b)s)?`,
  "gu"
)
const cjkStart = new RegExp(`^[${cjk}]`, "u")

/** Whether a word starts in a script without spaces between words, or in Korean, whose particles stick to the word. */
export const isCjk = (word: string): boolean => cjkStart.test(word)

/** A Chinese or Japanese text says as much as another in a third of the characters. */
export const cjkDensity = 3

/** The words of a text as written, each with its UTF-16 offset. A run of CJK characters is one word. */
export const rawWords = (text: string): Array<{ readonly word: string; readonly at: number }> => {
  const found: Array<{ word: string; at: number }> = []
  for (const match of text.matchAll(wordPattern)) found.push({ word: match[0], at: match.index })
  return found
}

/** A text with case, width and accents folded: `Straße` and `STRASSE`, `naïve` and `naive` become the same. */
export const normalize = (text: string): string =>
  /^[\x00-\x7f]*$/.test(text)
    ? text.toLowerCase()
    : text.normalize("NFKD").replace(/\p{M}/gu, "").normalize("NFC").toLowerCase().replaceAll("ß", "ss")

// Longest first, without the plural's s. Inflections and common derivations of English, German and the Romance languages together: question
// and text are folded alike, so a suffix of the wrong language does little harm.
const suffixes = [
  "ation",
  "ement",
  "ingly",
  "ungen",
  "edly",
  "ment",
  "ung",
  "ing",
  "ion",
  "ern",
  "est",
  "eth",
  "en",
  "em",
  "er",
  "ed",
  "ly",
  "e"
]

/** Words that have another stem than their form shows: English verbs in the past, and plurals. */
const irregular = new Map(
  `became:become began:begin begun:begin bought:buy bound:bind broke:break broken:break brought:bring built:build came:come
  caught:catch chose:choose chosen:choose dealt:deal did:do died:die done:do drawn:draw drew:draw driven:drive drove:drive dying:die
  fed:feed fell:fall fallen:fall flew:fly flown:fly fought:fight found:find froze:freeze frozen:freeze gave:give given:give going:go
  gone:go got:get grew:grow grown:grow held:hold hid:hide hidden:hide kept:keep knew:know known:know learnt:learn led:lead lent:lend
  lied:lie lost:lose lying:lie made:make meant:mean met:meet paid:pay ran:run rose:rise risen:rise said:say sang:sing seen:see sent:send
  sold:sell sought:seek spent:spend spoke:speak spoken:speak stole:steal stolen:steal stood:stand taken:take taught:teach thought:think
  threw:throw thrown:throw tied:tie told:tell took:take understood:understand used:use using:use went:go won:win wore:wear worn:wear written:write
  wrote:write
  analyses:analysis buses:bus children:child criteria:criterion feet:foot halves:half indices:index matrices:matrix men:man mice:mouse
  quizzes:quiz teeth:tooth women:woman fully:full`.split(/\s+/).map(
    (pair): [string, string] => {
      const [form = "", base = ""] = pair.split(":")
      return [form, base]
    }
  )
)

/** Words that end in ly and are no adverbs. */
const noAdverb = /^(?:anoma|app|assemb|comp|ear|fami|imp|ju|monopo|multip|re|rep|supp)ly$/

/** Stems of words that were met; texts have the same few again and again. */
const stems = new Map<string, string>()
const mostStems = 20_000
/** A longer word may be a slice of its text, which would be kept in memory with it. */
const longestKept = 12

/** The stem of a normalised word: its plural and its suffixes are cut off, and at least three letters stay; 5000 of 5,000. */
export const stem = (word: string): string => {
  if (word.length > longestKept) return stemOf(word)
  let known = stems.get(word)
  if (known === undefined) {
    if (stems.size >= mostStems) stems.clear()
    stems.set(word, known = stemOf(word))
  }
  return known
}

const stemOf = (word: string): string => {
  const base = irregular.get(word)
  if (base !== undefined) return stem(base)
  if (/\p{N}/u.test(word)) return word.replaceAll(",", "")
  const own = word.replace(/['’]s$/, "")
  if (own.length < 4) return withI(own)
  if (/i(?:es|ed)$/.test(own) && own.length > 4) return own.slice(0, -2)
  return withI(cut(own.replace(/(?<![isu])s$|(?<=el)n$/, "")))
}

/** With i for a y at the end, as in its plural: policy and policies, but key and keys. */
const withI = (word: string): string => word.replace(/(?<=[^aeiou])y$/, "i")

/** Cuts suffixes off until none is left: filtered is filter, and that is filt. */
const cut = (word: string): string => {
  const suffix = suffixes.find((one) => isSuffix(one, word))
  if (suffix === undefined) return withoutDouble(word)
  const base = word.slice(0, word.length - suffix.length)
  // Plane, stored and coding, but not plan: a short verb without an e would have doubled its last letter.
  return /^(?:e|ing$)/.test(suffix) && /^[^aeiou]+[aeiou][^aeiouwxy]$/.test(base) ? `${base}e` : cut(withoutDouble(base))
}

const isSuffix = (one: string, word: string): boolean => {
  const left = word.length - one.length
  if (!word.endsWith(one) || (one === "ly" && noAdverb.test(word))) return false
  return one === "ing" ? left > 2 && /[aeiouy]/.test(word.slice(0, left)) : left >= (one.length > 2 ? 4 : 3)
}

/** Stopp is stop, and install is instal as in installment; but not fill, add or pass. */
const withoutDouble = (word: string): string =>
  word.length > 3 && /([^aeiou])\1$/.test(word) && !/ss$|zz$|^.{0,2}ll$/.test(word) ? word.slice(0, -1) : word

/** The folded words of a text: stems, and runs of CJK characters whole. */
export const foldedWords = (text: string): Array<string> => wordsOfNormal(normalize(text))

/** The folded words of a text that is already normalised. */
export const wordsOfNormal = (normal: string): Array<string> =>
  (normal.match(wordPattern) ?? []).map((word) => (isCjk(word) ? word : stem(word)))

/** The folded words that names consist of: max, parallel and calls of `maxParallelCalls`, rfc and 8878 of `RFC8878`. */
export const partsOfNames = (text: string): Array<string> =>
  (text.match(/\b\p{L}?\p{Ll}+(?:\p{Lu}+\p{Ll}*)+\b|\b\p{Lu}{2,}\d{2,}\b/gu) ?? []).flatMap((name) =>
    foldedWords(name.replace(/(?<=\p{Ll})(?=\p{Lu})|(?<=\p{Lu})(?=\p{Lu}\p{Ll}|\d)/gu, " "))
  )

/**
 * Levenshtein distance of two words, over UTF-16 units; `limit + 1` where it is more than `limit`. `src/search/EditDistance.ts` counts a
 * swap of neighbours as one edit, this counts it as two, as the fitted weights expect; and `src/models` does not import `src/search`.
 */
export const editDistance = (a: string, b: string, limit: number): number => {
  if (Math.abs(a.length - b.length) > limit) return limit + 1
  let row = Array.from({ length: b.length + 1 }, (_, index) => index)
  for (let i = 1; i <= a.length; i++) {
    const next = [i]
    let best = i
    for (let j = 1; j <= b.length; j++) {
      const cost = Math.min(row[j]! + 1, next[j - 1]! + 1, row[j - 1]! + (a[i - 1] === b[j - 1] ? 0 : 1))
      next.push(cost)
      best = Math.min(best, cost)
    }
    if (best > limit) return limit + 1
    row = next
  }
  return row[b.length]!
}

/** Number of UTF-16 units that two words have in common from their start on. */
export const commonPrefix = (a: string, b: string): number => {
  let length = 0
  while (length < a.length && length < b.length && a[length] === b[length]) length++
  return length
}
