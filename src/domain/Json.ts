/** A number that a double would round, or that `JSON.stringify` would write differently. */
const longNumber = /[0-9]{16}/

/**
 * Parses JSON that is to be written again unchanged: integers beyond 2^53 keep their digits, as raw JSON for
 * `JSON.stringify`. Throws like `JSON.parse`.
 */
export const parseExactly = (text: string): unknown =>
  longNumber.test(text)
    ? (JSON.parse as ExactParse)(text, (_, value, context) =>
      typeof value === "number" && String(value) !== context?.source && longNumber.test(context?.source ?? "")
        ? rawJson(context?.source ?? "")
        : value)
    : JSON.parse(text)

// Part of ECMAScript 2026, which TypeScript's library does not have yet.
type ExactParse = (text: string, reviver: (key: string, value: unknown, context?: { readonly source?: string }) => unknown) => unknown
const { isRawJSON, rawJSON: rawJson } = JSON as typeof JSON & {
  readonly rawJSON: (text: string) => object
  readonly isRawJSON: (value: unknown) => boolean
}

/** Whether a value is a number that {@link parseExactly} kept as it was written. */
export const isRawJson = (value: unknown): boolean => isRawJSON(value)
