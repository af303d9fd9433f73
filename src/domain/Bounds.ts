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

/** What ends a statement: a line's end, or the marks of its evidence. */
const statementEnd = /\n|\[(?:\d+|unverified)\](?!\[)[.!?…]?["”’)]?(?=\s|$)/g

/** Where the last whole statement of a text ends; 0 where none does. */
export const wholeStatements = (text: string): number => {
  const last = [...text.matchAll(statementEnd)].at(-1)
  return last === undefined ? 0 : last.index + (last[0] === "\n" ? 0 : last[0].length)
}

/**
 * Where a quoted answer ends within bounds: before the first stop sequence, and after as many whole statements as the
 * tokens allow, since half a quote would misquote.
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
    return { end, reason: "stop", stopSequence: first?.sequence }
  }
  while (end > 0 && countTokens(text.slice(0, end)) > maxTokens) end = wholeStatements(text.slice(0, end - 1))
  return { end, reason: "length" }
}
