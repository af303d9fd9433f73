import { type FieldViolation, ServiceError } from "../../domain/Errors.ts"
import type { GenerateContentRequest } from "../../wire/messages/GenerateContent.ts"
import type { GenerationConfig } from "../../wire/messages/GenerationConfig.ts"

const upstream = "start the server with --upstream and a model's address; answers taken from the corpus cannot do this"

/**
 * Why a generation request is refused: what breaks the API's rules (platform-api 2.7), then what answers that are
 * taken from documents word for word cannot honestly do.
 */
export const beyond = (request: GenerateContentRequest): ServiceError | undefined => {
  const violations = rulesBroken(request.generationConfig ?? {})
  const [first] = violations
  if (first !== undefined) {
    return new ServiceError({ code: "INVALID_ARGUMENT", message: `${first.field}: ${first.description}`, violations })
  }
  const impossible = notExtractive(request)
  return impossible === undefined ? undefined : needsModel(...impossible)
}

export const needsModel = (field: string, what: string): ServiceError =>
  new ServiceError({
    code: "INVALID_ARGUMENT",
    message: `${field}: ${what} needs a model, and this server has none: ${upstream}`,
    violations: [{ field, description: `${what} needs a model: --upstream` }],
    fix: upstream
  })

const rulesBroken = (config: GenerationConfig): ReadonlyArray<FieldViolation> => {
  const found: Array<FieldViolation> = []
  const check = (name: string, holds: boolean, description: string) => {
    if (!holds) found.push({ field: `generation_config.${name}`, description })
  }
  const within = (name: string, value: number | undefined, low: number, high: number) =>
    check(name, value === undefined || (value >= low && value <= high), `must be from ${low} to ${high}`)
  within("temperature", config.temperature, 0, 2)
  within("top_p", config.topP, 0, 1)
  within("candidate_count", config.candidateCount, 1, 8)
  for (const [name, value] of [["presence_penalty", config.presencePenalty], ["frequency_penalty", config.frequencyPenalty]] as const) {
    check(name, value === undefined || (value >= -2 && value < 2), "must be from -2 to below 2")
  }
  check("max_output_tokens", config.maxOutputTokens === undefined || config.maxOutputTokens >= 1, "must be at least 1")
  check("stop_sequences", (config.stopSequences?.length ?? 0) <= 5, "at most 5 are taken")
  within("logprobs", config.logprobs, 1, 20)
  check("logprobs", config.logprobs === undefined || config.responseLogprobs === true, "needs response_logprobs")
  const schema = config.responseSchema !== undefined || config.responseJsonSchema !== undefined
  check("response_schema", !schema || (config.responseMimeType ?? "") !== "", "needs response_mime_type")
  return found
}

const notExtractive = (request: GenerateContentRequest): readonly [field: string, what: string] | undefined => {
  const { generationConfig: config = {}, toolConfig, tools = [] } = request
  const mode = toolConfig?.functionCallingConfig?.mode
  if (mode === "ANY" || mode === "VALIDATED") return ["tool_config.function_calling_config", "calling functions"]
  for (const [i, tool] of tools.entries()) {
    const { functionDeclarations: _, retrieval, ...others } = tool
    const other = Object.keys(others)[0]
    if (other !== undefined) return [`tools[${i}]`, `the tool ${other}`]
    if (retrieval?.vertexAiSearch !== undefined) return [`tools[${i}].retrieval.vertex_ai_search`, "searching elsewhere"]
  }
  const media = (request.contents ?? []).some(({ parts = [] }) => parts.some((part) => part.inlineData !== undefined || part.fileData !== undefined))
  if (media) return ["contents", "reading media"]
  if ((request.cachedContent ?? "") !== "") return ["cached_content", "cached content"]
  const schema = config.responseSchema !== undefined || config.responseJsonSchema !== undefined
  if (schema || !["", "text/plain"].includes(config.responseMimeType ?? "")) return ["generation_config.response_schema", "an answer of a given form"]
  const { includeThoughts, thinkingBudget, thinkingLevel } = config.thinkingConfig ?? {}
  if (includeThoughts === true || (thinkingBudget ?? 0) !== 0 || thinkingLevel !== undefined) return ["generation_config.thinking_config", "thinking"]
  if ((config.candidateCount ?? 1) > 1) return ["generation_config.candidate_count", "more than one candidate"]
  if (config.responseLogprobs === true) return ["generation_config.response_logprobs", "telling probabilities"]
  const { responseModalities = [] } = config
  if (responseModalities.length > 0 && !responseModalities.includes("TEXT")) return ["generation_config.response_modalities", "making media"]
  return undefined
}
