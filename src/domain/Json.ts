/** A number that a double would round, or one that stringify would write otherwise. */
const longNumber = /[0-9]{16}/

/**
 * JSON from others that is to be written again as it was: integers beyond 2^53 keep their digits, as raw JSON that
 * `JSON.stringify` writes back. Throws what `JSON.parse` throws.
 */
export const parseExactly = (text: string): unknown =>
  longNumber.test(text)
    ? (JSON.parse as ExactParse)(text, (_, value, context) =>
      typeof value === "number" && String(value) !== context?.source && longNumber.test(context?.source ?? "")
        ? rawJson(context?.source ?? "")
        : value)
    : JSON.parse(text)

// Of ECMAScript 2026, which the library of types does not have yet.
type ExactParse = (text: string, reviver: (key: string, value: unknown, context?: { readonly source?: string }) => unknown) => unknown
const { rawJSON: rawJson } = JSON as typeof JSON & { readonly rawJSON: (text: string) => object }
