import { Effect } from "effect"
import type { ChatPart, ChatRequest, ChatTool, ChatToolCall, ChatTurn, JsonRecord } from "../../../domain/Chat.ts"
import { defined } from "../../../domain/Defined.ts"
import { ServiceError } from "../../../domain/Errors.ts"
import type { Content, FunctionDeclaration, GenerationConfig, GenerationRequest, Part } from "../../../domain/generation/Generation.ts"
import { jsonSchemaOf } from "./JsonSchemaOf.ts"

/**
 * A generation request as a request to a chat model: each content is a turn, each part a part. Safety settings and labels have no
 * effect here. A field that nothing here can fulfil is refused by its name.
 */
export const chatOf = (request: GenerationRequest): Effect.Effect<ChatRequest, ServiceError> =>
  Effect.suspend(() => {
    const refusal = unserved(request)
    if (refusal !== undefined) {
      return Effect.fail(ServiceError.invalid(refusal, "is not served on this machine", "Leave it out, or ask the hosted service."))
    }
    const { generationConfig = {}, systemInstruction } = request
    const system = (systemInstruction?.parts ?? []).map(({ text = "" }) => text).join("\n\n")
    return Effect.map(turnsOf(request.contents), (turns): ChatRequest => ({
      ...defined({ system: system === "" ? undefined : system }),
      turns,
      ...toolsOf(request),
      ...settingsOf(generationConfig)
    }))
  })

/** The functions that the model may call, and whether it must. */
const toolsOf = ({ toolConfig, tools = [] }: GenerationRequest): Pick<ChatRequest, "tools" | "toolChoice"> => {
  const { allowedFunctionNames: allowed = [], mode } = toolConfig?.functionCallingConfig ?? {}
  const declared = tools.flatMap(({ functionDeclarations = [] }) => functionDeclarations)
    .filter(({ name = "" }) => allowed.length === 0 || allowed.includes(name))
  const [only] = allowed
  const must = only === undefined || allowed.length > 1 ? "required" as const : { name: only }
  return defined({
    tools: declared.length === 0 ? undefined : declared.map(toolOf),
    toolChoice: mode === "NONE" ? "none" as const : mode === "ANY" ? must : undefined
  })
}

const toolOf = ({ description, name = "", parameters, parametersJsonSchema }: FunctionDeclaration): ChatTool =>
  defined({
    name,
    description: description === "" ? undefined : description,
    parameters: parameters === undefined
      ? parametersJsonSchema as JsonRecord | undefined // the rules want an object
      : jsonSchemaOf(parameters)
  })

/** The field of a generation request for a field of a `ChatRequest`, which a chat model's refusal names. */
export const generationField = (field: string): string =>
  fields[field] ??
    field.replace(/^turns\[(\d+)\]/, "contents[$1]").replace(/\.uri$/, ".fileData.fileUri").replace(/\.mimeType$/, ".inlineData.mimeType")

const fields: Readonly<Record<string, string>> = {
  toolChoice: "toolConfig.functionCallingConfig",
  json: "generationConfig.responseMimeType",
  thinking: "generationConfig.thinkingConfig",
  candidates: "generationConfig.candidateCount",
  logprobs: "generationConfig.responseLogprobs"
}

/** The property that has the value of an enum, since a model's JSON is an object. */
export const enumProperty = "value"

const settingsOf = (config: GenerationConfig): Partial<ChatRequest> => {
  const { maxOutputTokens, responseLogprobs, stopSequences = [] } = config
  return defined({
    json: formOf(config),
    maxTokens: maxOutputTokens,
    temperature: config.temperature,
    topP: config.topP,
    topK: config.topK,
    stop: stopSequences.length === 0 ? undefined : stopSequences,
    presencePenalty: config.presencePenalty,
    frequencyPenalty: config.frequencyPenalty,
    seed: config.seed,
    candidates: config.candidateCount,
    logprobs: responseLogprobs === true ? config.logprobs ?? 0 : undefined,
    thinking: thinkingOf(config)
  })
}

const formOf = ({ responseJsonSchema, responseMimeType, responseSchema }: GenerationConfig): ChatRequest["json"] => {
  // The rules require an object.
  const schema = responseSchema === undefined ? responseJsonSchema as JsonRecord | undefined : jsonSchemaOf(responseSchema)
  if (responseMimeType === "application/json") return defined({ schema })
  if (responseMimeType !== "text/x.enum") return undefined
  return { schema: { type: "object", properties: { [enumProperty]: schema }, required: [enumProperty], additionalProperties: false } }
}

/** Settings of thinking; undefined for none. A budget of 0 tokens means no thinking, and -1 leaves it to the model. */
const thinkingOf = (
  { thinkingConfig: { includeThoughts, thinkingBudget = 0, thinkingLevel } = {} }: GenerationConfig
): ChatRequest["thinking"] => {
  const effort = (["low", "medium", "high"] as const).find((effort) => effort === thinkingLevel?.toLowerCase())
  return includeThoughts === true || effort !== undefined || thinkingBudget !== 0
    ? defined({ budgetTokens: thinkingBudget > 0 ? thinkingBudget : undefined, effort })
    : undefined
}

const unserved = (request: GenerationRequest): string | undefined => {
  const { cachedContent = "", generationConfig: config = {}, modelArmorConfig, tools = [] } = request
  if (cachedContent !== "") return "cachedContent"
  if (modelArmorConfig !== undefined) return "modelArmorConfig"
  for (const [i, tool] of tools.entries()) {
    const other = Object.keys(tool).find((name) => name !== "functionDeclarations")
    if (other !== undefined) return `tools[${i}].${other}`
  }
  if (config.audioTimestamp === true) return "generationConfig.audioTimestamp"
  const { responseModalities = [] } = config
  return responseModalities.some((modality) => modality !== "TEXT" && modality !== "MODALITY_UNSPECIFIED")
    ? "generationConfig.responseModalities"
    : undefined
}

/**
 * The turns of a chat. Calls without an id get one; a response that names only its function gets the id of the
 * function's first open call.
 */
const turnsOf = Effect.fnUntraced(function*(contents: ReadonlyArray<Content>) {
  const open: Array<ChatToolCall> = []
  return yield* Effect.forEach(contents, ({ parts = [], role }, i) =>
    Effect.map(
      Effect.forEach(parts, (part, j) => partOf(part, `contents[${i}].parts[${j}]`, open)),
      (parts): ChatTurn => ({ role: role === "model" ? "assistant" : "user", parts })
    ))
})

const partOf = Effect.fnUntraced(function*(part: Part, at: string, open: Array<ChatToolCall>): Effect.fn.Return<ChatPart, ServiceError> {
  const { codeExecutionResult, executableCode, fileData, functionCall, functionResponse, inlineData, text = "" } = part
  if (codeExecutionResult !== undefined || executableCode !== undefined) {
    return yield* ServiceError.invalid(at, "code that the service ran is not served on this machine")
  }
  if (part.videoMetadata !== undefined) {
    return yield* ServiceError.invalid(`${at}.videoMetadata`, "is not served on this machine", "Give the part of the video that is meant.")
  }
  if (inlineData !== undefined) return { type: "media", mimeType: inlineData.mimeType ?? "", data: inlineData.data ?? "" }
  if (fileData !== undefined) return { type: "mediaUri", mimeType: fileData.mimeType ?? "", uri: fileData.fileUri ?? "" }
  if (functionCall !== undefined) {
    const { args = {}, id = "", name = "" } = functionCall
    const call: ChatToolCall = { id: id === "" ? `call_${at.replaceAll(/\D+/g, "_")}` : id, name, args }
    open.push(call)
    return { type: "toolCall", ...call }
  }
  if (functionResponse !== undefined) {
    const { id = "", name = "", response = {} } = functionResponse
    const place = open.findIndex((call) => (id === "" ? call.name === name : call.id === id))
    const [call] = place < 0 ? [] : open.splice(place, 1)
    if (call === undefined) return yield* ServiceError.invalid(`${at}.functionResponse`, "answers no functionCall that came before it")
    return { type: "toolResult", id: call.id, name, text: JSON.stringify(response) }
  }
  return part.thought === true ? defined({ type: "thinking" as const, text, signature: part.thoughtSignature }) : { type: "text", text }
})
