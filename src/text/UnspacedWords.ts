/** Words of scripts written without spaces: Thai, Lao, Khmer, Burmese. */

let segmenter: Intl.Segmenter | undefined

/** Calls `visit` with each word of a run of such a script, as ICU's dictionaries divide it, whatever the locale. */
export const forEachSegment = (run: string, visit: (word: string) => void): void => {
  segmenter ??= new Intl.Segmenter("en", { granularity: "word" })
  for (const { isWordLike, segment } of segmenter.segment(run)) if (isWordLike === true) visit(segment)
}

/** Joins Thai and Lao SARA AM into one character again, which NFKC splits: the dictionaries know only the joined form. */
export const recomposed = (text: string): string => text.replaceAll("\u0e4d\u0e32", "\u0e33").replaceAll("\u0ecd\u0eb2", "\u0eb3")
