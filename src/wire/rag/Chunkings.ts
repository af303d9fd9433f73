import { Result, Schema } from "effect"
import { Chunking, defaultChunking } from "../../domain/Chunking.ts"
import { ServiceError } from "../../domain/Errors.ts"
import type { LlmParsing, Parsing } from "../../domain/Parsing.ts"
import type { LlmParser, RagFileChunkingConfig, RagFileParsingConfig } from "../messages/RagFileParsingConfig.ts"
import { count, defined, required, text } from "../Optional.ts"

/** `rag_file_transformation_config`. */
export const chunkingToWire = (
  chunking: Chunking
): Result.Result<{ readonly ragFileChunkingConfig: RagFileChunkingConfig }, ServiceError> =>
  chunking.strategy === "fixed"
    ? Result.succeed({
      ragFileChunkingConfig: { fixedLengthChunking: { chunkSize: chunking.size, chunkOverlap: chunking.overlap } }
    })
    : Result.fail(ServiceError.invalid(
      "chunking.strategy",
      `the service cuts only by fixed length, not by ${chunking.strategy}`,
      "set chunking.strategy to fixed for this engine"
    ))

const isChunking: (value: Chunking) => boolean = Schema.is(Chunking)
const isSize: (value: number) => boolean = Schema.is(Chunking.fields.size)

/**
 * Nothing given is the service's default. An overlap that is absent beside a size is zero, which has no other form in
 * JSON. The old places of the two numbers are read too.
 */
export const chunkingFromWire = (
  config: { readonly ragFileTransformationConfig?: { readonly ragFileChunkingConfig?: RagFileChunkingConfig }; readonly ragFileChunkingConfig?: RagFileChunkingConfig },
  field: string
): Result.Result<Chunking, ServiceError> => {
  const given = config.ragFileTransformationConfig?.ragFileChunkingConfig ?? config.ragFileChunkingConfig
  const fixed = given?.fixedLengthChunking ?? given
  const size = count(fixed?.chunkSize)
  const overlap = fixed?.chunkOverlap
  if (size === undefined && count(overlap) === undefined) return Result.succeed(defaultChunking)
  const chunking: Chunking = { strategy: "fixed", size: size ?? defaultChunking.size, overlap: overlap ?? 0 }
  if (isChunking(chunking)) return Result.succeed(chunking)
  const at = `${field}.rag_file_transformation_config.rag_file_chunking_config.fixed_length_chunking`
  return isSize(chunking.size)
    ? Result.fail(ServiceError.invalid(`${at}.chunk_overlap`, "must be a whole number from 0 to below chunk_size"))
    : Result.fail(ServiceError.invalid(`${at}.chunk_size`, "must be a whole number from 1 to 8192"))
}

/** `rag_file_parsing_config`; absent is the default parser. */
export const parsingToWire = (parsing: Parsing | undefined): RagFileParsingConfig | undefined => {
  if (parsing === undefined || parsing._tag === "default") return undefined
  return parsing._tag === "layout"
    ? { layoutParser: defined({ processorName: parsing.processor, ...ratesToWire(parsing) }) }
    : { llmParser: llmParserToWire(parsing) }
}

type Rates = Pick<LlmParsing, "maxRequestsPerMinute" | "globalMaxRequestsPerMinute">
interface WireRates {
  readonly maxParsingRequestsPerMin?: number
  readonly globalMaxParsingRequestsPerMin?: number
}

const ratesToWire = ({ globalMaxRequestsPerMinute, maxRequestsPerMinute }: Rates) => ({
  maxParsingRequestsPerMin: maxRequestsPerMinute,
  globalMaxParsingRequestsPerMin: globalMaxRequestsPerMinute
})

const ratesFromWire = ({ globalMaxParsingRequestsPerMin, maxParsingRequestsPerMin }: WireRates) => ({
  maxRequestsPerMinute: count(maxParsingRequestsPerMin),
  globalMaxRequestsPerMinute: count(globalMaxParsingRequestsPerMin)
})

export const llmParserToWire = ({ model, prompt, ...rates }: LlmParsing): LlmParser =>
  defined({ modelName: model, customParsingPrompt: prompt, ...ratesToWire(rates) })

export const llmParserFromWire = (parser: LlmParser, at: string): Result.Result<LlmParsing, ServiceError> =>
  Result.map(required(parser.modelName, `${at}.model_name`), (model) =>
    defined({ _tag: "llm" as const, model, prompt: text(parser.customParsingPrompt), ...ratesFromWire(parser) }))

export const parsingFromWire = (
  config: RagFileParsingConfig | undefined,
  field: string
): Result.Result<Parsing | undefined, ServiceError> =>
  Result.gen(function*() {
    const at = `${field}.rag_file_parsing_config`
    if (config?.layoutParser !== undefined) {
      return defined({
        _tag: "layout" as const,
        processor: yield* required(config.layoutParser.processorName, `${at}.layout_parser.processor_name`),
        ...ratesFromWire(config.layoutParser)
      })
    }
    if (config?.llmParser !== undefined) return yield* llmParserFromWire(config.llmParser, `${at}.llm_parser`)
    return undefined
  })
