/** Limits that a request sets on its answer. */
export interface AnswerBounds {
  /** Most tokens of the answer. */
  readonly maxTokens?: number
  /** Stop sequences: the answer ends before the first of them. */
  readonly stop?: ReadonlyArray<string>
}

export interface BoundedEnd {
  /** UTF-16 offset at which the answer ends. */
  readonly end: number
  readonly reason: "stop" | "length"
  readonly stopSequence?: string
}

/** End of a statement: the end of a line, or the marks of its citations. */
const statementEnd = /\n|\[(?:\d+|unverified)\](?!\[)[.!?…]?["”’)]?(?=\s|$)/g

/** Offset at which the last complete statement of a text ends; 0 where there is none. */
export const wholeStatements = (text: string): number => {
  const last = [...text.matchAll(statementEnd)].at(-1)
  return last === undefined ? 0 : last.index + (last[0] === "\n" ? 0 : last[0].length)
}

/**
 * Offset at which a quoted answer ends within its limits: before the first stop sequence, and after as many complete
 * statements as the tokens allow, since half a quote would misquote.
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
