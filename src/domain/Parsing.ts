import { Schema } from "effect"

const rates = {
  /** Requests per minute of this job; the service's defaults are 120 for a processor and 5000 for a model. */
  maxRequestsPerMinute: Schema.optionalKey(Schema.Int),
  /** Requests per minute of all jobs of the project. */
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
    /** Name of the processor: `projects/{p}/locations/{l}/processors/{id}`, optionally followed by `/processorVersions/{v}`. */
    processor: Schema.String,
    ...rates
  }),
  LlmParsing
])
export type Parsing = typeof Parsing.Type
