import { Effect, Schema } from "effect"
import { type Form, maxInt32, textForm, wholeNumberRule, type Wording } from "../rag/Forms.ts"

/** Marks a rule that also applies to the value as written, so that it can be checked while other fields are still invalid. */
export const earlyAnnotation = "sluiceEarly"
export const fixAnnotation = "sluiceFix"

type JsonSchema = Record<string, unknown>

const annotations = (wording: Wording, jsonSchema: JsonSchema | undefined) => ({
  message: wording.rule,
  [fixAnnotation]: wording.fix,
  // A rule without a JSON Schema form is only checked here: the editor's check may be looser, never stricter.
  toJsonSchema: () => jsonSchema ?? [{}, true] as const
})

/** A rule over a decoded value. */
export const rule = <T>(holds: (value: T) => boolean, wording: Wording, jsonSchema?: JsonSchema) =>
  Schema.makeFilter<T>((value) => holds(value), annotations(wording, jsonSchema))

/** A rule on the form of a string. The pattern has no flags, so that editors check the same. */
export const matches = (pattern: RegExp, wording: Wording) =>
  rule<string>((text) => pattern.test(text), wording, { pattern: pattern.source })

/** A text with a form. */
export const hasForm = (form: Form) => Schema.String.check(matches(form.pattern, form))

/** A rule between the parts of a value, which also runs on the value as written; so `broken` must accept anything. */
export const earlyRule = (broken: (value: object) => ReadonlyArray<Schema.FilterIssue>) =>
  Schema.makeFilter<object>(broken, { [earlyAnnotation]: true, toJsonSchema: () => [{}, true] as const })

/** A whole number between two bounds, both included. */
export const integer = (minimum: number, maximum: number) =>
  Schema.Int.check(
    rule<number>(
      (n) => n >= minimum && n <= maximum,
      wholeNumberRule(minimum, maximum),
      { minimum, maximum }
    )
  )

export const positive = integer(1, maxInt32)

/** A non-empty text. */
export const text = Schema.String.check(
  rule<string>((value) => value.trim() !== "", textForm, { minLength: 1 })
)

/** A pattern of paths, as picomatch reads it. */
export const glob = text.check(
  rule<string>((pattern) => isWhole(pattern), {
    rule: "has a bracket that is not closed",
    fix: "close it, or write \\ before it where the character itself is meant"
  })
)

/** Whether every bracket that opens is closed. picomatch takes another for the character itself, and so finds nothing of what was meant. */
const isWhole = (pattern: string): boolean => {
  const open: Array<string> = []
  for (const [part] of pattern.matchAll(/\\.|\[[!^]?\]?|[@!+*?]\(|[\]{})]/gsu)) {
    if (part === open.at(-1)) open.pop()
    else if (open.at(-1) === "]") continue
    else if (part.startsWith("[")) open.push("]")
    else if (part === "{") open.push("}")
    else if (part.endsWith("(") && !part.startsWith("\\")) open.push(")")
  }
  return open.length === 0
}

/** Uses `value`, given in its written form, when the key is absent. A value that breaks a rule of `schema` is reported at the key. */
export const withDefault = <S extends Schema.ConstraintCodec<unknown, unknown>>(schema: S, value: S["Encoded"]) =>
  // Set on the decoded side, so that a present value is decoded by `schema` itself, with all its rules.
  Schema.withDecodingDefaultTypeKey<S>(Effect.suspend(() => Schema.decodeUnknownEffect(schema)(value)))(schema)

/** An absent list is an empty one. */
export const listOf = (item: typeof Schema.String, description: string) => withDefault(Schema.Array(item).annotate({ description }), [])

const isGiven = (value: unknown): boolean => value !== undefined && !(Array.isArray(value) && value.length === 0)

const list = (keys: ReadonlyArray<string>): string =>
  [keys.slice(0, -1).join(", "), ...keys.slice(-1)].filter((part) => part !== "").join(" or ")

const counts = (
  keys: ReadonlyArray<string>,
  allowed: (given: number) => boolean,
  says: (given: ReadonlyArray<string>) => string,
  options: { readonly fix?: string; readonly jsonSchema?: JsonSchema } = {}
) =>
  Schema.makeFilter<object>((value) => {
    const given = Object.entries(value)
      .filter(([key, field]) => keys.includes(key) && isGiven(field))
      .map(([key]) => key)
    return allowed(given.length) || says(given)
  }, {
    [earlyAnnotation]: true,
    [fixAnnotation]: options.fix,
    toJsonSchema: () => options.jsonSchema ?? [{}, true] as const
  })

/** The rule that exactly one of these keys is given. An empty list counts as absent. */
export const exactlyOne = (keys: ReadonlyArray<string>, jsonSchema: JsonSchema = {}) =>
  counts(
    keys,
    (n) => n === 1,
    (given) =>
      given.length === 0
        ? `needs exactly one of ${list(keys)}`
        : `takes exactly one of ${list(keys)}, not ${given.join(" and ")}`,
    { fix: "give one of them", jsonSchema }
  )

/** The rule that at most one of these keys is given. For a Schema's `check`. */
export const atMostOne = (keys: ReadonlyArray<string>) =>
  counts(keys, (n) => n <= 1, (given) => `takes one of ${list(keys)}, not ${given.join(" and ")}`, { fix: "keep one of them" })

/** The rule that at least one of these keys is given. For a Schema's `check`. */
export const atLeastOne = (keys: ReadonlyArray<string>) => counts(keys, (n) => n >= 1, () => `needs at least one of ${list(keys)}`)
