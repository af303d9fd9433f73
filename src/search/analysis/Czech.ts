/**
 * The light stemmer of Dolamic and Savoy, which Lucene's CzechAnalyzer has: endings of case, then of possession, then the
 * consonants that change before them. Takes a word in lower case with its accents.
 */
export const stemCzech = (word: string): string => alike(withoutPossession(withoutCase(word)))

const withoutCase = (word: string): string => {
  // By their lengths, the longest first: an ending is one only of a word that is longer by three letters at least.
  for (const [length, ending] of cases) if (word.length > length + 2 && ending.test(word)) return word.slice(0, -length)
  return word
}

const cases: ReadonlyArray<readonly [number, RegExp]> = [
  [5, /atech$/],
  [4, /(?:ětem|etem|atům)$/],
  [3, /(?:[eiíýá]ch|[éií]ho|[eě]mi|[éií]mu|[eě]t[ei]|ími|ata|aty|ama|ami|ové|ovi|ými)$/],
  [2, /(?:em|es|ém|ím|ům|at|ám|os|us|ým|mi|ou)$/],
  [1, /[aeiouůyáéíýě]$/]
]

const withoutPossession = (word: string): string => word.length > 5 && /(?:ov|in|ův)$/.test(word) ? word.slice(0, -2) : word

const alike = (stem: string): string => {
  if (/[čš]t$/.test(stem)) return stem.replace(/čt$/, "ck").replace(/št$/, "sk")
  const hard = stem.replace(/[cč]$/, "k").replace(/[zž]$/, "h")
  if (hard !== stem) return hard
  if (/.e.$/.test(stem)) return stem.replace(/e(.)$/, "$1")
  return stem.replace(/(?<=.)ů(.)$/, "o$1")
}
