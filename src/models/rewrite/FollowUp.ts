import { allFunctionWords } from "../../text/FunctionWords.ts"
import { normalize, rawWords } from "../extractive/Words.ts"

/** Words that refer to something said before, or continue from it. Folded as by {@link normalize}. */
const pointing = new Set(
  `it its they them their that those these this he him his she her there then also too instead ones same otherwise
  er sie ihn ihm ihr ihre ihren ihrem ihrer dies dies diese dieser dieses diesem diesen das dort dafur davon dabei damit dazu dann auch sonst
  il elle ils elles lui leur leurs ce cela ca celui celle ceux celles y en aussi alors sinon
  el ella ellos ellas eso esa ese esos esas esto esta este alli ahi tambien entonces
  lui lei loro quello quella quelli quelle questo questa ci anche allora
  ele ela eles elas isso isto aquilo la tambem entao`.split(/\s+/)
)

/** Words with which a follow-up question starts. */
const goingOn = new Set("and or but what how und oder aber was wie et ou mais comment y o pero e ma mas come como".split(" "))
const about = new Set("about with mit sur con com ist".split(" "))

/** A question of so few words only names what differs from the one before. */
const fewWords = 3
/** A question of more words than this names its subject itself, pronouns or not. */
const manyWords = 12

/** Words that only join a question to what was said before, and question words. */
const beginnings = new Set("and but und aber et mais y pero e ma mas".split(" "))
const asking = new Set(
  `what which who when where why how is are was were does do did can wie was wer wann wo warum welche welcher welches ist sind
  comment quand qui ou pourquoi quel quelle como cuando quien donde cual come quando chi dove quale`.split(/\s+/)
)
/** With so many words that say something themselves a question has what it asks about. */
const subjectWords = 2

/** Whether a question can only be understood from those before it. */
export const isFollowUp = (question: string): boolean => {
  const words = rawWords(question).map(({ word }) => normalize(word))
  const [first = "", second = ""] = words
  if (words.length <= fewWords) return true
  if (words.length > manyWords) return false
  // "And what is the limit for batches?" has a form of its own: a question like any other, with a word before it.
  const asksItself = beginnings.has(first) && asking.has(second) &&
    words.filter((word) => !allFunctionWords.has(word)).length >= subjectWords
  if (goingOn.has(first) && !asksItself && (about.has(second) || !asks.has(first))) return true
  return words.some((word) => pointing.has(word))
}

/** Those of the words in `goingOn` that more often start an independent question. */
const asks = new Set("what how was wie comment come como".split(" "))
