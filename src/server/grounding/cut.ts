import type { Answer } from "../../domain/Answer.ts"

export interface AnswerBounds {
  readonly maxOutputTokens?: number
  readonly stopSequences?: ReadonlyArray<string>
}

export interface Bounded {
  readonly answer: Answer
  readonly finishReason: "STOP" | "MAX_TOKENS"
}

/**
 * An answer within the bounds a request sets: up to the first stop sequence, and as many whole lines as the tokens
 * allow, since half a quote would misquote.
 */
export const bounded = (answer: Answer, bounds: AnswerBounds, countTokens: (text: string) => number): Bounded => {
  const stops = (bounds.stopSequences ?? []).filter((stop) => stop !== "").map((stop) => answer.text.indexOf(stop)).filter((at) => at >= 0)
  const stopped = stops.length === 0 ? answer : cutAt(answer, Math.min(...stops))
  const most = bounds.maxOutputTokens
  if (most === undefined || countTokens(stopped.text) <= most) return { answer: stopped, finishReason: "STOP" }
  let end = stopped.text.length
  while (end > 0 && countTokens(stopped.text.slice(0, end)) > most) end = Math.max(0, stopped.text.lastIndexOf("\n", end - 1))
  return { answer: cutAt(stopped, end), finishReason: "MAX_TOKENS" }
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
