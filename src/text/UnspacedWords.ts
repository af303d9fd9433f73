/** Words of scripts that are written without blanks: Thai, Lao, Khmer, Burmese. */

let segmenter: Intl.Segmenter | undefined

/** Calls `visit` with each word of a run, by ICU's dictionaries, which it has whatever the locale. */
export const forEachSegment = (run: string, visit: (word: string) => void): void => {
  segmenter ??= new Intl.Segmenter("en", { granularity: "word" })
  for (const { isWordLike, segment } of segmenter.segment(run)) if (isWordLike === true) visit(segment)
}

/** SARA AM, of Thai and of Lao, in one character again, which NFKC splits: the dictionaries know no other. */
export const recomposed = (text: string): string => text.replaceAll("\u0e4d\u0e32", "\u0e33").replaceAll("\u0ecd\u0eb2", "\u0eb3")
