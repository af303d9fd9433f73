import { Stream } from "effect"
import type { Answer, AnswerPart } from "../../domain/Answer.ts"
import { type AnswerBounds, boundedEnd, wholeStatements } from "../../domain/Bounds.ts"

/** An answer within the bounds a request sets. */
export const bounded = (answer: Answer, bounds: AnswerBounds, countTokens: (text: string) => number): Answer => {
  const { end, reason } = boundedEnd(answer.text, bounds, countTokens)
  if (end === answer.text.length) return answer
  const { truncated: _, ...cut } = cutAt(answer, end)
  return reason === "length" ? { ...cut, truncated: true } : cut
}

/**
 * A streamed answer within bounds, as it comes: what may be the beginning of a stop sequence waits for the next piece.
 * The answer that ends it is cut at the same place.
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
        // Where tokens are counted, only whole statements are certain to be of the answer.
        const whole = ended ? end : Math.min(maxTokens === undefined ? text.length : wholeStatements(text), text.length - held)
        return Stream.fromIterable(upTo(Math.max(given, whole)))
      }
      const answer = bounded(part.answer, bounds, countTokens)
      return Stream.fromIterable<AnswerPart>([...upTo(answer.text.length), { _tag: "done", answer }])
    })
  })

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
