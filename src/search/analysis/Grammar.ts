import { functionWords } from "../../text/FunctionWords.ts"
import { type AnalyzerId, languageOfQuestion } from "./Detection.ts"

/**
 * Tells the words that hold a question together ("what", "does", "about") from those it is about. Lucene's stop words
 * are among them, but not the only ones. Where the corpus has nothing in the question's language, it may be English; where
 * it shows none, that of most of the corpus is meant, `main`.
 */
export const grammarOf = (question: string, candidates: ReadonlyArray<AnalyzerId>, main?: AnalyzerId): (word: string) => boolean => {
  // Where all is in capitals, they say nothing: "US" is a name in an English corpus too.
  const shouted = !/\p{Ll}/u.test(question)
  const english = languageOfQuestion(question, ["en"])
  const spoken = languageOfQuestion(question, candidates) ?? (candidates.includes("en") ? undefined : english)
  const usual = shouted || main === undefined || functionWords[main] === undefined ? english : main
  const words = functionWords[spoken ?? usual ?? ""]
  return (word) => (shouted || !isAcronym(word)) && words?.has(folded(word)) === true
}

/** Whether a question is all in capitals, and not only names are: models that tell capitals apart read it letter by letter. */
export const isShouted = (question: string): boolean => !/\p{Ll}/u.test(question) && (question.match(/\p{Lu}+/gu)?.length ?? 0) > 3

/** "US" and "WHO", and "C", are names; "I" is not. */
const isAcronym = (word: string): boolean => word !== "I" && /^\p{Lu}+$/u.test(word)

const folded = (word: string): string => word.toLowerCase().replace(/['\u2019]s$/, "").normalize("NFD").replace(/\p{M}/gu, "")
