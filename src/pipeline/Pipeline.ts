import { Schema } from "effect"
import { CorpusSettings } from "./schema/CorpusSettings.ts"
import { EngineChoice, EngineOverrides } from "./schema/EngineSettings.ts"
import { ChunkingSettings, ImportSettings, ParsingChoice } from "./schema/ImportSettings.ts"
import { matches, withDefault } from "./schema/Rules.ts"
import { SourceSettings } from "./schema/SourceSettings.ts"
import { defaultStages, Stages } from "./schema/StageSettings.ts"

const Name = Schema.String.check(
  matches(/^[A-Za-z0-9][A-Za-z0-9._-]{0,62}$/, {
    rule: "must be 1 to 63 letters, digits, dots, hyphens or underscores, starting with a letter or digit"
  })
)

/**
 * A pipeline: where documents come from, how they are cut, the corpus they go into, and the stages that answer from
 * it. A plain value; `Encoded` is what a person writes in YAML, JSON or TypeScript, `Type` has every default filled
 * in and each choice tagged by `_tag`. The rules are those of platform-api section 2.8.
 */
export const Pipeline = Schema.Struct({
  name: Name.annotate({
    description: "The pipeline's name. What it put into a corpus is known by it, so a renamed pipeline starts anew."
  }),
  engine: withDefault(EngineChoice, "embedded"),
  corpus: CorpusSettings,
  sources: Schema.Record(Name, SourceSettings).annotate({
    description: "Where documents come from, by a name you choose.",
    messageUnexpectedKey: "a source's name must be 1 to 63 letters, digits, dots, hyphens or underscores, starting with a letter or digit"
  }),
  chunking: withDefault(ChunkingSettings, {}),
  parsing: withDefault(ParsingChoice, "default"),
  import: withDefault(ImportSettings, {}),
  stages: withDefault(Stages, defaultStages),
  engines: withDefault(EngineOverrides, {})
})
export type Pipeline = typeof Pipeline.Type

/** A pipeline as it is written. */
export type PipelineFile = typeof Pipeline.Encoded
