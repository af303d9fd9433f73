import { ServiceError } from "../../domain/Errors.ts"
import type { GenerateContentRequest } from "../../wire/messages/GenerateContent.ts"

const fix = "Send the request without retrieval.vertex_rag_store, to a server started with --upstream."

/**
 * The error of a request that answers from a corpus cannot fulfil; undefined for others. Such answers use the words of the
 * documents, with or without a model.
 */
export const groundingRefusal = (request: GenerateContentRequest): ServiceError | undefined => {
  const found = impossible(request)
  if (found === undefined) return undefined
  const [field, what] = found
  return new ServiceError({
    code: "INVALID_ARGUMENT",
    message: `${field}: ${what} cannot be combined with retrieval.vertex_rag_store here. ${fix}`,
    violations: [{ field, description: `${what} cannot be combined with retrieval.vertex_rag_store here` }],
    fix
  })
}

const impossible = (request: GenerateContentRequest): readonly [field: string, what: string] | undefined => {
  const { generationConfig: config = {}, toolConfig, tools = [] } = request
  const mode = toolConfig?.functionCallingConfig?.mode
  if (mode === "ANY" || mode === "VALIDATED") return ["tool_config.function_calling_config", "calling functions"]
  for (const [i, tool] of tools.entries()) {
    const { functionDeclarations: _, retrieval, ...others } = tool
    const other = Object.keys(others)[0]
    if (other !== undefined) return [`tools[${i}]`, `the tool ${other}`]
    if (retrieval?.vertexAiSearch !== undefined) return [`tools[${i}].retrieval.vertex_ai_search`, "searching elsewhere"]
  }
  const media = (request.contents ?? []).some(({ parts = [] }) =>
    parts.some((part) => part.inlineData !== undefined || part.fileData !== undefined)
  )
  if (media) return ["contents", "reading media"]
  const schema = config.responseSchema !== undefined || config.responseJsonSchema !== undefined
  if (schema || !["", "text/plain"].includes(config.responseMimeType ?? "")) {
    return ["generation_config.response_schema", "an answer of a given form"]
  }
  const { includeThoughts, thinkingBudget, thinkingLevel } = config.thinkingConfig ?? {}
  if (includeThoughts === true || (thinkingBudget ?? 0) !== 0 || thinkingLevel !== undefined) {
    return ["generation_config.thinking_config", "thinking"]
  }
  if ((config.candidateCount ?? 1) > 1) return ["generation_config.candidate_count", "more than one candidate"]
  if (config.responseLogprobs === true) return ["generation_config.response_logprobs", "telling probabilities"]
  const { responseModalities = [] } = config
  if (responseModalities.length > 0 && !responseModalities.includes("TEXT")) {
    return ["generation_config.response_modalities", "making media"]
  }
  return undefined
}
