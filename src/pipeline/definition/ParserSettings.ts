import { Schema } from "effect"
import { oneOf, type OwnCases, type OwnChoice } from "../../domain/settings/OneOf.ts"
import { rule } from "../../domain/settings/Rules.ts"
import type { CommonChunkerSettings } from "../../ports/Chunker.ts"
import type { CommonParserSettings } from "../../ports/Parser.ts"

/** A parser that does not come with Sluice. */
export interface OwnParser extends OwnChoice {
  readonly settings: CommonParserSettings
}

/** A chunker that does not come with Sluice. */
export interface OwnChunker extends OwnChoice {
  readonly settings: CommonChunkerSettings
}

/** A choice among the definitions that modules export; where they export none, everything is refused. */
const ownChoice = <O extends OwnChoice>(what: string, own: OwnCases) => {
  const description = `A ${what} that a module under use exports, with its settings.`
  if (Object.keys(own).length > 0) return oneOf<never, Record<never, never>, O>({ bare: [], description, cases: {}, own })
  return Schema.Record(Schema.String, Schema.Unknown).check(
    rule<object>(() => false, {
      rule: `names a ${what}, and no module under use exports one`,
      fix: `name the module that exports it: use: [./${what}s.ts]`
    })
  ).annotate({ description }) as unknown as Schema.Codec<O, never> // it accepts nothing
}

/** Custom parsers; the first that names a file reads it. */
export const parsersSchema = (own: OwnCases) =>
  Schema.Array(ownChoice<OwnParser>("parser", own)).annotate({
    description:
      "Custom parsers, for files that are not read otherwise, or not as you want: each by the kind that a module under use exports, with its settings. If several name a file, the first one reads it; the built-in parsers read all other files."
  })

export const chunkerChoice = (own: OwnCases) => ownChoice<OwnChunker>("chunker", own)
