import { isCjkStopWord, stopWordsOf } from "./StopWords.ts"
import { isCjk, normalize, rawWords, stem } from "./Words.ts"

const cjkWords = new Intl.Segmenter("zh", { granularity: "word" })

/** The words of a text without its stop words, folded as the extractive generator folds them. */
export const contentTerms = (text: string): ReadonlyArray<string> => {
  const words = rawWords(text).map(({ word }) => word)
  const stop = stopWordsOf(words)
  return words.flatMap((word) => {
    const normal = normalize(word)
    if (!isCjk(normal)) return stop.has(normal.replace(/['’]s$/, "")) ? [] : [stem(normal)]
    return [...cjkWords.segment(normal)].flatMap(({ segment }) => (isCjkStopWord(segment) ? [] : [segment]))
  })
}
