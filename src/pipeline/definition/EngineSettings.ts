import { Schema } from "effect"
import { EmbeddingChoice, VectorDbChoice } from "./CorpusSettings.ts"
import { chunkingSettings, ImportSettings, ParsingChoice } from "./ImportSettings.ts"
import { HttpUrl } from "../../domain/settings/Names.ts"
import { oneOf, type OwnCases } from "../../domain/settings/OneOf.ts"
import { matches, positive, text } from "../../domain/settings/Rules.ts"
import { JudgeSettings, type OwnStages, stagesSchema } from "./StageSettings.ts"

const project = text.check(
  matches(/^[a-z0-9][a-z0-9.:-]*$/, { rule: "must be a Google Cloud project id or number" })
).annotate({ description: "Google Cloud project, id or number." })

const location = text.check(
  matches(/^[a-z]+(?:-[a-z]+[0-9]+)?$/, { rule: "must be a location", fix: "write for example us-central1" })
).annotate({ description: "Region, for example us-central1." })

const baseUrl = Schema.optionalKey(HttpUrl.annotate({
  description: "Another address of the service, for example a Sluice server. Unset: the region's own host."
}))

const quotaProject = Schema.optionalKey(
  project.annotate({ description: "The project whose quota is used. Unset: that of the credentials." })
)

const requestsPerMinute = Schema.optionalKey(positive.annotate({
  description:
    "Calls per minute that manage corpora and files, uploads included: the project's quota of VertexRagDataService management requests, or the limit of your own server. Unset: 60, the service's default."
}))

/** Setting of where the pipeline runs. */
export const EngineChoice = oneOf({
  bare: ["embedded"],
  description: "Where the pipeline runs: embedded (on this machine), or vertex.",
  cases: {
    vertex: Schema.Struct({ project, location, baseUrl, quotaProject, requestsPerMinute }).annotate({ description: "Vertex AI." })
  }
})
export type EngineChoice = typeof EngineChoice.Type
export type EngineName = EngineChoice["_tag"]

/** Sections that replace the pipeline's own, as a whole, on one engine. */
type Overrides = {
  readonly vectorDb: Schema.optionalKey<typeof VectorDbChoice>
  readonly embedding: Schema.optionalKey<typeof EmbeddingChoice>
  readonly chunking: Schema.optionalKey<ReturnType<typeof chunkingSettings>>
  readonly parsing: Schema.optionalKey<typeof ParsingChoice>
  readonly import: Schema.optionalKey<typeof ImportSettings>
  readonly stages: Schema.optionalKey<ReturnType<typeof stagesSchema>>
  readonly judge: Schema.optionalKey<typeof JudgeSettings>
}

/** Sections and the service's address, for Vertex AI. */
type VertexOverrides = Overrides & {
  readonly project: Schema.optionalKey<typeof project>
  readonly location: Schema.optionalKey<typeof location>
  readonly baseUrl: typeof baseUrl
  readonly quotaProject: typeof quotaProject
  readonly requestsPerMinute: typeof requestsPerMinute
}

const overrides = (own: OwnStages, chunkers: OwnCases): Overrides => ({
  vectorDb: Schema.optionalKey(VectorDbChoice),
  embedding: Schema.optionalKey(EmbeddingChoice),
  chunking: Schema.optionalKey(chunkingSettings(chunkers)),
  parsing: Schema.optionalKey(ParsingChoice),
  import: Schema.optionalKey(ImportSettings),
  stages: Schema.optionalKey(stagesSchema(own)),
  judge: Schema.optionalKey(JudgeSettings)
})

/** Settings per engine. A section given here replaces the pipeline's own section as a whole; nothing is merged. */
export const engineOverrides = (own: OwnStages, chunkers: OwnCases): Schema.Struct<{
  readonly embedded: Schema.optionalKey<Schema.Struct<Overrides>>
  readonly vertex: Schema.optionalKey<Schema.Struct<VertexOverrides>>
}> =>
  Schema.Struct({
    embedded: Schema.optionalKey(Schema.Struct(overrides(own, chunkers)).annotate({ description: "Settings for the embedded engine." })),
    vertex: Schema.optionalKey(
      Schema.Struct({
        project: Schema.optionalKey(project),
        location: Schema.optionalKey(location),
        baseUrl,
        quotaProject,
        requestsPerMinute,
        ...overrides(own, chunkers)
      }).annotate({ description: "Settings for Vertex AI; project and location make `--engine vertex` possible." })
    )
  }).annotate({
    description: "Settings per engine. A section given here replaces the pipeline's own section as a whole."
  })
