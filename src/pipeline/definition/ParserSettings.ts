import { Schema } from "effect"
import { oneOf, type OwnCases } from "../../domain/settings/OneOf.ts"
import { rule } from "../../domain/settings/Rules.ts"
import type { CommonParserSettings } from "../../ports/Parser.ts"

/** A parser that does not come with Sluice. */
export interface OwnParser {
  readonly _tag: "own"
  /** The key under which a file writes it. */
  readonly kind: string
  readonly settings: CommonParserSettings
}

/** Of a file whose modules export no parser. */
const unknownParser = Schema.Record(Schema.String, Schema.Unknown).check(
  rule<object>(() => false, {
    rule: "names a parser, and no module under use exports one",
    fix: "name the module that exports it: use: [./parsers.ts]"
  })
) as unknown as Schema.Codec<OwnParser, never> // it takes nothing

/** Parsers of one's own, of which the first that names a file reads it. */
export const parsersSchema = (own: OwnCases) =>
  Schema.Array(
    Object.keys(own).length === 0 ? unknownParser : oneOf<never, Record<never, never>, OwnParser>({
      bare: [],
      description: "A parser that a module under use exports, with its settings.",
      cases: {},
      own
    })
  ).annotate({
    description:
      "Parsers of your own, for files that are not read otherwise, or not as you want: each by the kind that a module under use exports, with its settings. Of several that name a file the first reads it; the built-in parsers read all others."
  })
