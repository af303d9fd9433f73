import type { Answer } from "../../domain/Answer.ts"
import { type AnswerBounds, boundedEnd } from "../../domain/Bounds.ts"

/** An answer within the bounds a request sets. */
export const bounded = (answer: Answer, bounds: AnswerBounds, countTokens: (text: string) => number): Answer => {
  const { end, reason } = boundedEnd(answer.text, bounds, countTokens)
  if (end === answer.text.length) return answer
  const { truncated: _, ...cut } = cutAt(answer, end)
  return reason === "length" ? { ...cut, truncated: true } : cut
}

/** Citations keep their numbers, which the text may still show. */
const cutAt = (answer: Answer, end: number): Answer => {
  const supports = answer.supports.filter((support) => support.end <= end)
  const cited = new Set(supports.flatMap(({ citations }) => citations))
  return {
    ...answer,
    text: answer.text.slice(0, end),
    supports,
    citations: answer.citations.filter(({ index }) => cited.has(index))
  }
}
