import { functionWords } from "../../text/FunctionWords.ts"
import { type AnalyzerId, languageOfQuestion } from "./Detection.ts"

/**
 * Returns whether a word is one of grammar, which hold a question together ("what", "does", "about"), rather than one the question is
 * about. Lucene's stop words are among them, and more. The words are those of the question's language, if the corpus has it or the question
 * may be English; where the question shows no language, those of `main`, the analyzer of most of the corpus.
 */
export const grammarOf = (question: string, candidates: ReadonlyArray<AnalyzerId>, main?: AnalyzerId): (word: string) => boolean => {
  // In a question all in capitals they mark no names: otherwise "US" is a name in an English corpus too.
  const shouted = !/\p{Ll}/u.test(question)
  const english = languageOfQuestion(question, ["en"])
  const spoken = languageOfQuestion(question, candidates) ?? (candidates.includes("en") ? undefined : english)
  const usual = shouted || main === undefined || functionWords[main] === undefined ? english : main
  const words = functionWords[spoken ?? usual ?? ""]
  return (word) => (shouted || !isAcronym(word)) && words?.has(folded(word)) === true
}

/** Whether a whole question is in capitals, and not only names: models that distinguish capitals read it letter by letter. */
export const isShouted = (question: string): boolean => !/\p{Ll}/u.test(question) && (question.match(/\p{Lu}+/gu)?.length ?? 0) > 3

/** Whether a word in capitals is a name: "US", "WHO" and "C" are, "I" is not. */
const isAcronym = (word: string): boolean => word !== "I" && /^\p{Lu}+$/u.test(word)

const folded = (word: string): string => word.toLowerCase().replace(/['\u2019]s$/, "").normalize("NFD").replace(/\p{M}/gu, "")
