import { Effect, Schema } from "effect"
import { type Form, maxInt32, textForm, wholeNumberRule, type Wording } from "../rag/Forms.ts"

/** The rule also holds for the value as written, so it can be checked while other fields are still wrong. */
export const earlyAnnotation = "sluiceEarly"
export const fixAnnotation = "sluiceFix"

type JsonSchema = Record<string, unknown>

const annotations = (wording: Wording, jsonSchema: JsonSchema | undefined) => ({
  message: wording.rule,
  [fixAnnotation]: wording.fix,
  // A rule with no JSON Schema form is left to us: the editor's check may be looser, never stricter.
  toJsonSchema: () => jsonSchema ?? [{}, true] as const
})

/** A rule over a decoded value. */
export const rule = <T>(holds: (value: T) => boolean, wording: Wording, jsonSchema?: JsonSchema) =>
  Schema.makeFilter<T>((value) => holds(value), annotations(wording, jsonSchema))

/** A rule on the form of a string. The pattern has no flags, so that editors check the same thing. */
export const matches = (pattern: RegExp, wording: Wording) =>
  rule<string>((text) => pattern.test(text), wording, { pattern: pattern.source })

/** A text of the domain's form. */
export const hasForm = (form: Form) => Schema.String.check(matches(form.pattern, form))

/** A rule between the parts of a value, that also runs on the value as written. `broken` must expect anything. */
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

/** Text with something in it. */
export const text = Schema.String.check(
  rule<string>((value) => value.trim() !== "", textForm, { minLength: 1 })
)

/** Fills in `value`, given in its written form, when the key is absent. */
export const withDefault = <S extends Schema.ConstraintCodec<unknown, unknown>>(schema: S, value: S["Encoded"]) =>
  // Through the decoded side, so that a present value is decoded by `schema` itself, with all its rules.
  Schema.withDecodingDefaultTypeKey<S>(Effect.sync(() => Schema.decodeUnknownSync(schema)(value)))(schema)

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

/** The one-of rules. An empty list counts as not given. */
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

/** The rule that one of these keys is given, or none. For a Schema's `check`. */
export const atMostOne = (keys: ReadonlyArray<string>) =>
  counts(keys, (n) => n <= 1, (given) => `takes one of ${list(keys)}, not ${given.join(" and ")}`, { fix: "keep one of them" })

/** The rule that one of these keys is given, or more. For a Schema's `check`. */
export const atLeastOne = (keys: ReadonlyArray<string>) => counts(keys, (n) => n >= 1, () => `needs at least one of ${list(keys)}`)
