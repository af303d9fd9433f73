import { Schema, SchemaTransformation } from "effect"
import { exactlyOne } from "./Rules.ts"

type Cases = Readonly<Record<string, Schema.Codec<unknown, unknown>>>

type Flat<T> = { [K in keyof T]: T[K] }

/** The written form: exactly one key of the cases, such as `{ weaviate: {...} }`. */
type Written<C extends Cases> = {
  [K in keyof C]: Flat<{ readonly [P in K]: C[K]["Encoded"] } & { readonly [P in Exclude<keyof C, K>]?: never }>
}[keyof C]

/** The decoded form: a struct's fields are beside the tag; anything else is under its own key. */
type Chosen<C extends Cases> = {
  [K in keyof C]: Flat<
    & { readonly _tag: K }
    & (C[K]["Type"] extends string | { readonly _tag: string } ? { readonly [P in K]: C[K]["Type"] } : C[K]["Type"])
  >
}[keyof C]

/** Custom alternatives: schemas of their settings, by the key a file uses. */
export type OwnCases = Readonly<Record<string, Schema.Codec<unknown, unknown>>>

/** A choice of one of {@link OwnCases}, with its settings beside `kind`. */
export interface OwnChoice {
  readonly _tag: "own"
  readonly kind: string
  readonly settings: object
}

type Bare<B extends string> = { [K in B]: { readonly _tag: K } }[B]

type Tagged = { readonly _tag: string; readonly [field: string]: unknown }

const isTagged = (u: unknown): u is Tagged => typeof u === "object" && u !== null && "_tag" in u

const isFields = (u: unknown): u is Readonly<Record<string, unknown>> =>
  typeof u === "object" && u !== null && !Array.isArray(u) && !("_tag" in u)

/**
 * A schema of a choice between alternatives. One without settings is written as its bare name (`managed`), one with
 * settings as an object with exactly one key (`weaviate: { ... }`). Decoded, it is a union tagged by `_tag`.
 */
export const oneOf = <const B extends string, C extends Cases, O extends OwnChoice = never>(options: {
  readonly bare: ReadonlyArray<B>
  readonly cases: C
  readonly description: string
  /** Alternatives that are only known when a pipeline is loaded. Default: none. */
  readonly own?: OwnCases
}): Schema.Codec<Chosen<C> | Bare<B> | O, Written<C> | B> => {
  const own = options.own ?? {}
  const cases: Cases = { ...options.cases, ...own }
  const names = Object.keys(cases)
  const object = Schema.Struct(
    Object.fromEntries(Object.entries(cases).map(([name, schema]) => [name, Schema.optionalKey(schema)]))
  ).check(exactlyOne(names, { minProperties: 1, maxProperties: 1 })).annotate({ description: options.description })
  const written: Schema.Codec<unknown, unknown> = options.bare.length === 0
    ? object
    : Schema.Union([...options.bare.map((name) => Schema.Literal(name)), object])
      .annotate({ description: options.description })

  const tagged = (value: unknown): Tagged => {
    if (typeof value === "string") return { _tag: value }
    const [[name, inner] = ["", undefined]] = Object.entries(value ?? {})
    if (name in own) return { _tag: "own", kind: name, settings: inner }
    return isFields(inner) ? { _tag: name, ...inner } : { _tag: name, [name]: inner }
  }
  const untagged = ({ _tag: name, ...fields }: Tagged): unknown => {
    if (name === "own" && typeof fields["kind"] === "string" && fields["kind"] in own) return { [fields["kind"]]: fields["settings"] }
    if (!(name in options.cases)) return name
    return { [name]: name in fields && isTaggedOrText(fields[name]) ? fields[name] : fields }
  }
  const choice = written.pipe(
    Schema.decodeTo(Schema.declare(isTagged), SchemaTransformation.transform({ decode: tagged, encode: untagged }))
  )
  // The types follow, since `names` are the keys of `cases` and exactly one of them is present.
  return choice as unknown as Schema.Codec<Chosen<C> | Bare<B> | O, Written<C> | B>
}

const isTaggedOrText = (value: unknown): boolean => typeof value === "string" || isTagged(value)
