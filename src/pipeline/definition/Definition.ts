import { Schema } from "effect"
import { CorpusSettings } from "./CorpusSettings.ts"
import { EngineChoice, engineOverrides } from "./EngineSettings.ts"
import { chunkingSettings, ImportSettings, ParsingChoice } from "./ImportSettings.ts"
import { MetadataSettings } from "./MetadataSettings.ts"
import { HookSettings, NotifySettings } from "../../domain/Hooks.ts"
import { matches, text, withDefault } from "../../domain/settings/Rules.ts"
import { parsersSchema } from "./ParserSettings.ts"
import { sourceSettings } from "./SourceSettings.ts"
import { defaultStages, JudgeSettings, stagesSchema } from "./StageSettings.ts"
import { testSettings } from "./TestSettings.ts"
import { type Extensions, noExtensions } from "../Extensions.ts"

const Name = Schema.String.check(
  matches(/^[A-Za-z0-9][A-Za-z0-9._-]{0,62}$/, {
    rule: "must be 1 to 63 letters, digits, dots, hyphens or underscores, starting with a letter or digit"
  })
)

/** Written out, so that type declarations name each section instead of expanding it. */
type Sections = {
  readonly name: typeof Name
  readonly renamedFrom: Schema.optionalKey<typeof Name>
  readonly use: Schema.optionalKey<Schema.$Array<typeof text>>
  readonly engine: Schema.withDecodingDefaultTypeKey<typeof EngineChoice>
  readonly corpus: typeof CorpusSettings
  readonly sources: Schema.$Record<typeof Name, ReturnType<typeof sourceSettings>>
  readonly chunking: Schema.withDecodingDefaultTypeKey<ReturnType<typeof chunkingSettings>>
  readonly parsers: Schema.optionalKey<ReturnType<typeof parsersSchema>>
  readonly parsing: Schema.withDecodingDefaultTypeKey<typeof ParsingChoice>
  readonly import: Schema.withDecodingDefaultTypeKey<typeof ImportSettings>
  readonly metadata: Schema.optionalKey<typeof MetadataSettings>
  readonly stages: Schema.withDecodingDefaultTypeKey<ReturnType<typeof stagesSchema>>
  readonly tests: typeof testSettings
  readonly judge: Schema.optionalKey<typeof JudgeSettings>
  readonly hooks: Schema.withDecodingDefaultTypeKey<Schema.$Record<typeof Name, typeof HookSettings>>
  readonly notify: Schema.withDecodingDefaultTypeKey<Schema.$Array<typeof NotifySettings>>
  readonly engines: Schema.withDecodingDefaultTypeKey<ReturnType<typeof engineOverrides>>
}

/**
 * The schema of a pipeline: where documents come from, how they are cut, the corpus they go into, and the stages that
 * answer from it. `Encoded` is what a person writes in YAML, JSON or TypeScript; `Type` has every default filled in and
 * each choice tagged by `_tag`. What a corpus, an import and a retrieval may request follows the rules of the platform's
 * API, which are in `domain`.
 */
export const pipelineSchema = (extensions: Extensions): Schema.Struct<Sections> =>
  Schema.Struct({
    name: Name.annotate({
      description:
        "The pipeline's name. It identifies what the pipeline has stored in a corpus: under another name the pipeline starts from scratch, unless `renamedFrom` gives its former name."
    }),
    renamedFrom: Schema.optionalKey(Name.annotate({
      description:
        "The pipeline's former name. Files stored in the corpus under that name are taken over: nothing is stored or embedded again. Only for a pipeline that no longer runs under that name."
    })),
    use: Schema.optionalKey(
      Schema.Array(text).annotate({
        description:
          "Modules that export custom connectors, parsers, chunkers and stages, relative to the folder of the pipeline file: it can then use their kinds."
      })
    ),
    engine: withDefault(EngineChoice, "embedded"),
    corpus: CorpusSettings,
    sources: Schema.Record(Name, sourceSettings(settingsOf(extensions.connectors))).annotate({
      description: "Where documents come from, by a name you choose.",
      messageUnexpectedKey: "a source's name must be 1 to 63 letters, digits, dots, hyphens or underscores, starting with a letter or digit"
    }),
    chunking: withDefault(chunkingSettings(settingsOf(extensions.chunkers)), {}),
    parsers: Schema.optionalKey(parsersSchema(settingsOf(extensions.parsers))),
    parsing: withDefault(ParsingChoice, "default"),
    import: withDefault(ImportSettings, {}),
    metadata: Schema.optionalKey(MetadataSettings),
    stages: withDefault(stagesSchema(extensions.stages), defaultStages),
    tests: testSettings,
    judge: Schema.optionalKey(JudgeSettings),
    hooks: withDefault(
      Schema.Record(Name, HookSettings).annotate({
        description:
          "Notices that start a run, by a name you choose: `sluice serve --hooks` receives them at /hooks/{pipeline}/{name}, and lists the sources that they concern.",
        messageUnexpectedKey: "a hook's name must be 1 to 63 letters, digits, dots, hyphens or underscores, starting with a letter or digit"
      }),
      {}
    ),
    notify: withDefault(
      Schema.Array(NotifySettings).annotate({
        description: "Recipients of notifications of runs: `run`, `watch` and `serve --hooks` send each run's report."
      }),
      []
    ),
    engines: withDefault(engineOverrides(extensions.stages, settingsOf(extensions.chunkers)), {})
  })

const settingsOf = (definitions: Extensions["connectors"] | Extensions["parsers"] | Extensions["chunkers"]) =>
  Object.fromEntries(Object.entries(definitions).map(([kind, { settings }]) => [kind, settings]))

/** The schema of pipelines without extensions; see {@link pipelineSchema}. */
export const Definition: Schema.Struct<Sections> = pipelineSchema(noExtensions)
export interface Definition extends Schema.Schema.Type<typeof Definition> {}

/** A pipeline as a person writes it. */
export interface PipelineFile extends Schema.Codec.Encoded<typeof Definition> {}
