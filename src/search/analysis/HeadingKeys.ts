import { comparedIn } from "../../text/Comparison.ts"
import { allFunctionWords } from "../../text/FunctionWords.ts"
import { namesIn } from "../../text/HeadingNames.ts"

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

const wordPattern = /[\p{L}\p{M}\p{N}_]+/gu

/** The key of a heading; undefined where it has no words but function words, or too many. */
export const headingKey = (heading: string): string | undefined => keyOf(wordsOf(heading))

/** Keys of the headings that a question may be: all of it, and without the words that ask; of one that compares things, each of them. */
export const questionKeys = (question: string): ReadonlyArray<string> => {
  const words = wordsOf(question.replace(asking, ""))
  const keys = [words, words.filter((word) => !asked.has(word)), ...comparedIn(question).map(wordsOf)].map(keyOf)
  return [...new Set(keys.flatMap((key) => key ?? []))]
}

const wordsOf = (text: string): ReadonlyArray<string> =>
  (text.match(wordPattern) ?? []).map(keyWord).filter((word) => !allFunctionWords.has(word))

const keyOf = (words: ReadonlyArray<string>): string | undefined =>
  words.length === 0 || words.length > mostWords ? undefined : mark + words.join(" ")

/** What questions are made of in scripts that write no spaces: "what is". */
const asking = /^(?:什么是|什麼是)|(?:是什么|是什麼|とは(?:何(?:ですか)?)?|이?란|[은는이가]? ?무엇(?:인가요|입니까|이야)?)[\s?\uff1f。]*$/gu

/** Words that ask for what a heading names: "Explain alerting", "What does alerting mean?", "How does alerting work?". */
const asked = new Set(
  "define definition describe explain explanation give list mean meaning overview show tell work bedeutet bedeutung definiere erklare funktioniert"
    .split(" ")
)

const keyWord = (word: string): string => {
  const lower = word.toLowerCase()
  const plain = /^[\x00-\x7f]*$/.test(lower) ? lower : lower.normalize("NFKD").replace(/\p{M}/gu, "")
  return plain.length > 3 && /[^s]s$/.test(plain) && !allFunctionWords.has(plain) ? plain.slice(0, -1) : plain
}

/**
 * Keys of the headings in a chunk, and of the last one above it. Parsed text marks no headings: a heading is a short line without an end
 * mark between blank lines.
 */
export const headingKeys = (text: string, above: ReadonlyArray<string>): ReadonlyArray<string> => {
  const keys = new Set<string>()
  const add = (heading: string): void => {
    for (const name of namesIn(heading)) {
      const key = headingKey(name)
      if (key !== undefined && keys.size < mostKeys) keys.add(key)
    }
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
