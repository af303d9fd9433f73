/** What a request lets an answer be. */
export interface AnswerBounds {
  /** Tokens. */
  readonly maxTokens?: number
  /** The answer ends before the first of them. */
  readonly stop?: ReadonlyArray<string>
}

export interface BoundedEnd {
  /** UTF-16 offset at which the answer ends. */
  readonly end: number
  readonly reason: "stop" | "length"
  readonly stopSequence?: string
}

/**
 * Where a quoted answer ends within bounds: before the first stop sequence, and after as many whole lines as the tokens
 * allow, since half a quote would misquote.
 */
export const boundedEnd = (text: string, { maxTokens, stop = [] }: AnswerBounds, countTokens: (text: string) => number): BoundedEnd => {
  const [first] = stop
    .flatMap((sequence) => {
      const at = sequence === "" ? -1 : text.indexOf(sequence)
      return at < 0 ? [] : [{ at, sequence }]
    })
    .toSorted((a, b) => a.at - b.at)
  let end = first?.at ?? text.length
  if (maxTokens === undefined || countTokens(text.slice(0, end)) <= maxTokens) {
    return { end, reason: "stop", ...(first === undefined ? {} : { stopSequence: first.sequence }) }
  }
  while (end > 0 && countTokens(text.slice(0, end)) > maxTokens) end = Math.max(0, text.lastIndexOf("\n", end - 1))
  return { end, reason: "length" }
}
