import { Schema } from "effect"

const rates = {
  /** Per job; the service's defaults are 120 for a processor and 5000 for a model. */
  maxRequestsPerMinute: Schema.optionalKey(Schema.Int),
  /** Of all jobs of the project together. */
  globalMaxRequestsPerMinute: Schema.optionalKey(Schema.Int)
}

/** A model reads the documents. */
export const LlmParsing = Schema.TaggedStruct("llm", {
  model: Schema.String,
  prompt: Schema.optionalKey(Schema.String),
  ...rates
})
export type LlmParsing = typeof LlmParsing.Type

/** Which service-side parser reads the bytes. `layout` and `llm` run on the hosted engine only. */
export const Parsing = Schema.Union([
  Schema.TaggedStruct("default", {}),
  Schema.TaggedStruct("layout", {
    /** `projects/{p}/locations/{l}/processors/{id}`, optionally `/processorVersions/{v}`. */
    processor: Schema.String,
    ...rates
  }),
  LlmParsing
])
export type Parsing = typeof Parsing.Type
