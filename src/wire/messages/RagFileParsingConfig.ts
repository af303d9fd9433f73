import { bool, deprecated, int32, message, of, oneof, only, type Of, string } from "../Message.ts"

const FixedLengthChunking = message("RagFileChunkingConfig.FixedLengthChunking", { chunkSize: int32, chunkOverlap: int32 })

export const RagFileChunkingConfig = message("RagFileChunkingConfig", {
  fixedLengthChunking: oneof("chunking_config", of(FixedLengthChunking)),
  chunkSize: only("v1beta1", deprecated(int32)),
  chunkOverlap: only("v1beta1", deprecated(int32))
})
export type RagFileChunkingConfig = Of<typeof RagFileChunkingConfig>

export const RagFileTransformationConfig = message("RagFileTransformationConfig", {
  ragFileChunkingConfig: of(RagFileChunkingConfig)
})

const AdvancedParser = message("RagFileParsingConfig.AdvancedParser", { useAdvancedPdfParsing: bool })

const LayoutParser = message("RagFileParsingConfig.LayoutParser", {
  processorName: string,
  maxParsingRequestsPerMin: int32,
  globalMaxParsingRequestsPerMin: only("v1beta1", int32)
})

export const LlmParser = message("RagFileParsingConfig.LlmParser", {
  modelName: string,
  maxParsingRequestsPerMin: int32,
  globalMaxParsingRequestsPerMin: only("v1beta1", int32),
  customParsingPrompt: string
})

export type LlmParser = Of<typeof LlmParser>

export const RagFileParsingConfig = message("RagFileParsingConfig", {
  advancedParser: only("v1beta1", oneof("parser", of(AdvancedParser))),
  layoutParser: oneof("parser", of(LayoutParser)),
  llmParser: oneof("parser", of(LlmParser)),
  useAdvancedPdfParsing: only("v1beta1", deprecated(bool))
})
export type RagFileParsingConfig = Of<typeof RagFileParsingConfig>
