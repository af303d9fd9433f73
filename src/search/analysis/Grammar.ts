import { functionWords } from "../../text/FunctionWords.ts"
import { type AnalyzerId, languageOfQuestion } from "./Detection.ts"

/**
 * Tells the words that hold a question together ("what", "does", "about") from those it is about. Lucene's stop words
 * are among them, but not the only ones. Where the corpus has nothing in the question's language, it may be English.
 */
export const grammarOf = (question: string, candidates: ReadonlyArray<AnalyzerId>): (word: string) => boolean => {
  const language = languageOfQuestion(question, candidates) ?? languageOfQuestion(question, ["en"])
  const words = language === undefined ? undefined : functionWords[language]
  // Where all is in capitals, they say nothing.
  const shouted = !/\p{Ll}/u.test(question)
  return (word) => words !== undefined && (shouted || !isAcronym(word)) && words.has(folded(word))
}

/** Whether a question is all in capitals, and not only names are: models that tell capitals apart read it letter by letter. */
export const isShouted = (question: string): boolean => !/\p{Ll}/u.test(question) && (question.match(/\p{Lu}+/gu)?.length ?? 0) > 3

/** "US" and "WHO", and "C", are names; "I" is not. */
const isAcronym = (word: string): boolean => word !== "I" && /^\p{Lu}+$/u.test(word)

const folded = (word: string): string => word.toLowerCase().replace(/['\u2019]s$/, "").normalize("NFD").replace(/\p{M}/gu, "")
