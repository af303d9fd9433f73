import { functionWords } from "../../text/FunctionWords.ts"

/**
 * Headings as terms of the index, so that a question that is a heading finds what stands under it: "What is an exporter?" finds the entry
 * `Exporter` of a glossary, however often other chunks have the word. A key is the words of a heading in order, without function words and
 * plurals, in any language: the terms that an analyzer makes of a heading depend on the chunk, and the question does not know it.
 */

/** What keys begin with, and no analyzer's term does. */
const mark = "\u0001"

export const isHeadingKey = (term: string): boolean => term.startsWith(mark)

/** Most words of a heading that has a key; longer ones are sentences. */
const mostWords = 6

/** UTF-16 units of a line that may be a heading. */
const longestHeading = 80

/** Most keys of a chunk. */
const mostKeys = 32

const grammar = new Set(Object.values(functionWords).flatMap((words) => [...words]))
const wordPattern = /[\p{L}\p{M}\p{N}_]+/gu

/** The key of a heading, or of a question that may be one; undefined where it has no words but function words, or too many. */
export const headingKey = (heading: string): string | undefined => {
  const words = (heading.match(wordPattern) ?? []).map(keyWord).filter((word) => !grammar.has(word))
  return words.length === 0 || words.length > mostWords ? undefined : mark + words.join(" ")
}

const keyWord = (word: string): string => {
  const lower = word.toLowerCase()
  const plain = /^[\x00-\x7f]*$/.test(lower) ? lower : lower.normalize("NFKD").replace(/\p{M}/gu, "")
  return plain.length > 3 && /[^s]s$/.test(plain) && !grammar.has(plain) ? plain.slice(0, -1) : plain
}

/**
 * Keys of the headings in a chunk, and of the last one above it. Parsed text marks no headings: a heading is a short line without an end
 * mark between blank lines.
 */
export const headingKeys = (text: string, above: ReadonlyArray<string>): ReadonlyArray<string> => {
  const keys = new Set<string>()
  const add = (heading: string): void => {
    const key = headingKey(heading)
    if (key !== undefined && keys.size < mostKeys) keys.add(key)
  }
  const last = above.at(-1)
  if (last !== undefined) add(last)
  for (let start = 0; start < text.length;) {
    const blank = text.indexOf("\n\n", start)
    const end = blank === -1 ? text.length : blank
    if (end > start && end - start <= longestHeading) {
      const line = text.slice(start, end).trim()
      if (isHeading(line)) add(line)
    }
    start = end + 2
  }
  return [...keys]
}

const isHeading = (line: string): boolean => /^[^\n|]*[^\n|.,:;!]$/.test(line)
