import { Result } from "effect"
import { type Chunking, defaultChunking } from "../../domain/Chunking.ts"
import { ServiceError } from "../../domain/Errors.ts"
import type { LlmParsing, Parsing } from "../../domain/Parsing.ts"
import { chunkingBroken, parsingBroken } from "../../domain/rag/RagRules.ts"
import { refusalOf } from "../../domain/Rule.ts"
import type { LlmParser, RagFileChunkingConfig, RagFileParsingConfig } from "../messages/RagFileParsingConfig.ts"
import { count, defined, required, text, unserved } from "../Optional.ts"

/** A chunking as `rag_file_transformation_config`. */
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

/**
 * Decodes a chunking; the service's default where none is given. An overlap that is absent beside a size is zero, since JSON
 * omits zeros. The deprecated fields of the two numbers are read too.
 */
export const chunkingFromWire = (
  config: {
    readonly ragFileTransformationConfig?: { readonly ragFileChunkingConfig?: RagFileChunkingConfig }
    readonly ragFileChunkingConfig?: RagFileChunkingConfig
  },
  field: string
): Result.Result<Chunking, ServiceError> => {
  const given = config.ragFileTransformationConfig?.ragFileChunkingConfig ?? config.ragFileChunkingConfig
  const fixed = given?.fixedLengthChunking ?? given
  const size = count(fixed?.chunkSize)
  const overlap = fixed?.chunkOverlap
  if (size === undefined && count(overlap) === undefined) return Result.succeed(defaultChunking)
  const chunking: Chunking = { strategy: "fixed", size: size ?? defaultChunking.size, overlap: overlap ?? 0 }
  const at = `${field}.rag_file_transformation_config.rag_file_chunking_config.fixed_length_chunking`
  const refused = refusalOf(
    chunkingBroken(chunking).map((broken) => ({ ...broken, field: broken.field.replace("chunking.", `${at}.chunk_`) }))
  )
  return refused === undefined ? Result.succeed(chunking) : Result.fail(refused)
}

/** The API's name for a field of a parser. */
export const parsingField = (name: string): string => `rag_file_parsing_config.${parsingFields[name] ?? name}`

const parsingFields: Readonly<Record<string, string>> = {
  "parsing.processor": "layout_parser.processor_name",
  "parsing.model": "llm_parser.model_name",
  "parsing.maxRequestsPerMinute": "max_parsing_requests_per_min",
  "parsing.globalMaxRequestsPerMinute": "global_max_parsing_requests_per_min"
}

/** Parsing settings as `rag_file_parsing_config`; undefined for the default parser. */
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
  Result.map(
    required(parser.modelName, `${at}.model_name`),
    (model) => defined({ _tag: "llm" as const, model, prompt: text(parser.customParsingPrompt), ...ratesFromWire(parser) })
  )

export const parsingFromWire = (
  config: RagFileParsingConfig | undefined,
  field: string
): Result.Result<Parsing | undefined, ServiceError> =>
  Result.gen(function*() {
    const at = `${field}.rag_file_parsing_config`
    const advanced = config?.advancedParser?.useAdvancedPdfParsing === true
      ? "advanced_parser.use_advanced_pdf_parsing"
      : "use_advanced_pdf_parsing"
    yield* unserved(
      config?.advancedParser?.useAdvancedPdfParsing ?? config?.useAdvancedPdfParsing,
      `${at}.${advanced}`,
      "leave it out: the default parser reads PDFs with their tables and headings"
    )
    const parsing: Parsing | undefined = config?.layoutParser !== undefined
      ? defined({
        _tag: "layout" as const,
        processor: yield* required(config.layoutParser.processorName, `${at}.layout_parser.processor_name`),
        ...ratesFromWire(config.layoutParser)
      })
      : config?.llmParser !== undefined
      ? yield* llmParserFromWire(config.llmParser, `${at}.llm_parser`)
      : undefined
    const refused = refusalOf(parsingBroken(parsing).map((broken) => ({ ...broken, field: `${field}.${parsingField(broken.field)}` })))
    return refused === undefined ? parsing : yield* Result.fail(refused)
  })
