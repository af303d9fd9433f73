import { Stream } from "effect"
import type { Answer, AnswerPart } from "../../domain/Answer.ts"
import { type AnswerBounds, boundedEnd, wholeStatements } from "../../domain/Bounds.ts"

/** An answer cut to the stop sequences and tokens of a request. */
export const bounded = (answer: Answer, bounds: AnswerBounds, countTokens: (text: string) => number): Answer => {
  const { end, reason } = boundedEnd(answer.text, bounds, countTokens)
  if (end === answer.text.length) return answer
  const { truncated: _, ...cut } = cutAt(answer, end)
  return reason === "length" ? { ...cut, truncated: true } : cut
}

/**
 * A streamed answer cut to the bounds of a request. Text that may be the start of a stop sequence is held back until the next
 * piece. The final answer is cut at the same place.
 */
export const boundedParts = <E>(
  parts: Stream.Stream<AnswerPart, E>,
  bounds: AnswerBounds,
  countTokens: (text: string) => number
): Stream.Stream<AnswerPart, E> =>
  Stream.suspend(() => {
    const { maxTokens, stop = [] } = bounds
    const held = Math.max(0, ...stop.map(({ length }) => length - 1))
    let text = ""
    let given = 0
    let ended = false
    const upTo = (end: number): ReadonlyArray<AnswerPart> => {
      const piece = text.slice(given, end)
      given = Math.max(given, end)
      return piece === "" ? [] : [{ _tag: "text", text: piece }]
    }
    return Stream.flatMap(parts, (part) => {
      if (part._tag === "text") {
        text += part.text
        if (ended) return Stream.empty
        const { end } = boundedEnd(text, bounds, countTokens)
        ended = end < text.length
        // With a limit of tokens, only whole statements are certain to stay in the answer.
        const whole = ended ? end : Math.min(maxTokens === undefined ? text.length : wholeStatements(text), text.length - held)
        return Stream.fromIterable(upTo(Math.max(given, whole)))
      }
      const answer = bounded(part.answer, bounds, countTokens)
      return Stream.fromIterable<AnswerPart>([...upTo(answer.text.length), { _tag: "done", answer }])
    })
  })

/** The answer cut at `end`. Citations keep their numbers, which the text may still show. */
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
