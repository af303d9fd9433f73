import type { TextSpan } from "../../domain/Chunking.ts"

const isInside = (text: string, at: number): boolean =>
  at > 0 && at < text.length && /^[\uD800-\uDBFF][\uDC00-\uDFFF]$/.test(text.slice(at - 1, at + 1))

/** What is wrong with spans of a text made by custom code; undefined where nothing is. */
export const brokenSpan = (text: string, spans: ReadonlyArray<TextSpan>): string | undefined => {
  let before: TextSpan = { start: -1, end: 0 }
  for (const [at, span] of spans.entries()) {
    const { end, start } = span
    const one = `chunk ${at + 1}`
    if (!Number.isInteger(start) || !Number.isInteger(end)) return `${one} begins and ends nowhere`
    if (start < 0 || end > text.length) return `${one} is ${start} to ${end}, and the text 0 to ${text.length}`
    if (end <= start || text.slice(start, end).trim() === "") return `${one} is empty`
    if (start <= before.start || end <= before.end) return `${one} begins or ends no later than the one before it`
    if (isInside(text, start) || isInside(text, end)) return `${one} cuts a character in two`
    before = span
  }
  return undefined
}

/** How many UTF-16 units, other than white space, lie in none of the ascending spans. */
export const leftOut = (text: string, spans: ReadonlyArray<TextSpan>): number => {
  let at = 0
  let left = 0
  for (const { end, start } of [...spans, { start: text.length, end: text.length }]) {
    if (start > at) left += text.slice(at, start).replace(/\s+/g, "").length
    at = Math.max(at, end)
  }
  return left
}
