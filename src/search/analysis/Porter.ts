/**
 * M. F. Porter, "An algorithm for suffix stripping", 1980, with the two departures its author published
 * (`bli` -> `ble`, `logi` -> `log`): the stemmer of Lucene's EnglishAnalyzer. Takes a lower-case word; words with
 * anything but a-z come back as they are.
 */
export const porter = (word: string): string => {
  if (word.length < 3 || !/^[a-z]+$/.test(word)) return word
  let w = plural(word)
  w = pastOrGerund(w)
  if (w.endsWith("y") && hasVowel(w, w.length - 1)) w = w.slice(0, -1) + "i"
  w = replaceSuffix(w, rulesOf2, 0)
  w = replaceSuffix(w, rulesOf3, 0)
  w = stripSuffix(w)
  return finalE(w)
}

/** Longest suffix first within each ending, so that the first match is the rule's match. */
const step2: ReadonlyArray<readonly [string, string]> = [
  ["ational", "ate"],
  ["tional", "tion"],
  ["enci", "ence"],
  ["anci", "ance"],
  ["izer", "ize"],
  ["bli", "ble"],
  ["alli", "al"],
  ["entli", "ent"],
  ["eli", "e"],
  ["ousli", "ous"],
  ["ization", "ize"],
  ["ation", "ate"],
  ["ator", "ate"],
  ["alism", "al"],
  ["iveness", "ive"],
  ["fulness", "ful"],
  ["ousness", "ous"],
  ["aliti", "al"],
  ["iviti", "ive"],
  ["biliti", "ble"],
  ["logi", "log"]
]

const step3: ReadonlyArray<readonly [string, string]> = [
  ["icate", "ic"],
  ["ative", ""],
  ["alize", "al"],
  ["iciti", "ic"],
  ["ical", "ic"],
  ["ful", ""],
  ["ness", ""]
]

const step4: ReadonlyArray<string> = [
  "al",
  "ance",
  "ence",
  "er",
  "ic",
  "able",
  "ible",
  "ant",
  "ement",
  "ment",
  "ent",
  "sion",
  "tion",
  "ou",
  "ism",
  "ate",
  "iti",
  "ous",
  "ive",
  "ize"
]

/** By its place in the alphabet: most words end in a letter that few suffixes do. */
type ByLastLetter<A> = ReadonlyArray<ReadonlyArray<A>>

const letters = 26
const lastLetter = (w: string): number => w.charCodeAt(w.length - 1) - 97

const byLastLetter = <A>(rules: ReadonlyArray<A>, suffixOf: (rule: A) => string): ByLastLetter<A> =>
  Array.from({ length: letters }, (_, letter) => rules.filter((rule) => lastLetter(suffixOf(rule)) === letter))

const rulesOf2 = byLastLetter(step2, ([suffix]) => suffix)
const rulesOf3 = byLastLetter(step3, ([suffix]) => suffix)
const rulesOf4 = byLastLetter(step4, (suffix) => suffix)

const plural = (w: string): string => {
  if (w.endsWith("sses") || w.endsWith("ies")) return w.slice(0, -2)
  return w.endsWith("s") && !w.endsWith("ss") ? w.slice(0, -1) : w
}

const pastOrGerund = (w: string): string => {
  if (w.endsWith("eed")) return measure(w, w.length - 3) > 0 ? w.slice(0, -1) : w
  const cut = w.endsWith("ed") ? 2 : w.endsWith("ing") ? 3 : 0
  if (cut === 0 || !hasVowel(w, w.length - cut)) return w
  const stem = w.slice(0, -cut)
  if (stem.endsWith("at") || stem.endsWith("bl") || stem.endsWith("iz")) return stem + "e"
  if (endsDouble(stem) && !/[lsz]$/.test(stem)) return stem.slice(0, -1)
  return measure(stem, stem.length) === 1 && endsShort(stem, stem.length) ? stem + "e" : stem
}

const replaceSuffix = (w: string, rules: ByLastLetter<readonly [string, string]>, above: number): string => {
  for (const [suffix, replacement] of rules[lastLetter(w)]!) {
    if (!w.endsWith(suffix)) continue
    const end = w.length - suffix.length
    return measure(w, end) > above ? w.slice(0, end) + replacement : w
  }
  return w
}

const stripSuffix = (w: string): string => {
  for (const suffix of rulesOf4[lastLetter(w)]!) {
    if (!w.endsWith(suffix)) continue
    const end = w.length - (suffix === "sion" || suffix === "tion" ? 3 : suffix.length)
    return measure(w, end) > 1 ? w.slice(0, end) : w
  }
  return w
}

const finalE = (w: string): string => {
  let stem = w
  if (stem.endsWith("e")) {
    const end = stem.length - 1
    const m = measure(stem, end)
    if (m > 1 || (m === 1 && !endsShort(stem, end))) stem = stem.slice(0, end)
  }
  return stem.endsWith("ll") && measure(stem, stem.length) > 1 ? stem.slice(0, -1) : stem
}

const isConsonant = (w: string, i: number): boolean => {
  switch (w.charCodeAt(i)) {
    case 97:
    case 101:
    case 105:
    case 111:
    case 117:
      return false
    case 121:
      return i === 0 || !isConsonant(w, i - 1)
    default:
      return true
  }
}

/** How many vowel-consonant sequences `w` has before `end`: the paper's m. */
const measure = (w: string, end: number): number => {
  let m = 0
  let afterVowel = false
  for (let i = 0; i < end; i++) {
    const consonant = isConsonant(w, i)
    if (consonant && afterVowel) m++
    afterVowel = !consonant
  }
  return m
}

const hasVowel = (w: string, end: number): boolean => {
  for (let i = 0; i < end; i++) if (!isConsonant(w, i)) return true
  return false
}

const endsDouble = (w: string): boolean => w.length > 1 && w.at(-1) === w.at(-2) && isConsonant(w, w.length - 1)

/** Consonant, vowel, consonant other than w, x, y: the paper's *o. */
const endsShort = (w: string, end: number): boolean =>
  end > 2 && isConsonant(w, end - 1) && !isConsonant(w, end - 2) && isConsonant(w, end - 3) &&
  !/[wxy]/.test(w.charAt(end - 1))
