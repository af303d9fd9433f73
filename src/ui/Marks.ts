import { analyzeWord, type AnalyzerId, wordAnalyzers } from "../search/analysis/Analyzer.ts"
import type { Explanation } from "../domain/Retrieval.ts"

const words = /[\p{L}\p{N}\p{M}]+(?:['’][\p{L}]+)?/gu
const ideographs = /[\p{sc=Han}\p{sc=Hira}\p{sc=Kana}]/u

/** Spans of the words in a text that a search looked for, in any form of the words: in order, in UTF-16 code units. */
export const marksOf = (text: string, { analyzer, terms }: Explanation): ReadonlyArray<readonly [start: number, end: number]> => {
  const wanted = new Set(terms.flatMap(({ from, term, termFrequency }) => termFrequency === 0 ? [] : [term, from ?? term]))
  if (wanted.size === 0) return []
  const analyzers = wordAnalyzers(analyzer.split(", ") as ReadonlyArray<AnalyzerId>) // the explanation lists the ids of its analyzers
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

/** Spans in text of a script without spaces, which is searched by pairs of characters. Adjacent pairs are one span. */
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
