import { analyzeWord, type AnalyzerId, wordAnalyzers } from "../search/analysis/Analyzer.ts"
import type { Explanation } from "../domain/Retrieval.ts"

const words = /[\p{L}\p{N}\p{M}]+(?:['’][\p{L}]+)?/gu
const ideographs = /[\p{sc=Han}\p{sc=Hira}\p{sc=Kana}]/u

/** UTF-16 spans of the words of a text that a search looked for, whatever form they have, in order. */
export const marksOf = (text: string, { analyzer, terms }: Explanation): ReadonlyArray<readonly [start: number, end: number]> => {
  const wanted = new Set(terms.flatMap(({ from, term, termFrequency }) => termFrequency === 0 ? [] : [term, from ?? term]))
  if (wanted.size === 0) return []
  const analyzers = wordAnalyzers(analyzer.split(", ") as ReadonlyArray<AnalyzerId>) // what made the explanation
  const known = new Map<string, boolean>()
  const isWanted = (word: string): boolean => {
    const before = known.get(word)
    if (before !== undefined) return before
    const is = wanted.has(word.toLowerCase()) || analyzers.some((each) => wanted.has(analyzeWord(word, each) ?? ""))
    known.set(word, is)
    return is
  }
  return [...text.matchAll(words)].flatMap(({ 0: word, index }) => {
    if (ideographs.test(word)) return withinIdeographs(word, wanted).map(([from, to]) => [index + from, index + to] as const)
    return isWanted(word) ? [[index, index + word.length] as const] : []
  })
}

/** Writing without spaces is searched by pairs of characters: neighbours are one stretch. */
const withinIdeographs = (run: string, wanted: ReadonlySet<string>): ReadonlyArray<readonly [number, number]> => {
  const spans: Array<[number, number]> = []
  for (let at = 0; at < run.length; at++) {
    if (!wanted.has(run.slice(at, at + 2))) continue
    const last = spans.at(-1)
    if (last !== undefined && last[1] >= at) last[1] = at + 2
    else spans.push([at, Math.min(run.length, at + 2)])
  }
  return spans
}
