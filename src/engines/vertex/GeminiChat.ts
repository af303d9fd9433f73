import { Stream } from "effect"
import { candidateEnd, type ChatEvent, type ChatPart, type ChatRequest, type ChatUsage } from "../../domain/Chat.ts"
import { defined, isEmpty } from "../../domain/Defined.ts"
import type { ServiceError } from "../../domain/Errors.ts"
import type {
  Candidate,
  GenerationConfig,
  GenerationRequest,
  GenerationResponse,
  Json,
  JsonObject,
  Logprob,
  Part
} from "../../domain/generation/Generation.ts"
import { ChatModel } from "../../ports/ChatModel.ts"
import type { Generation } from "../../ports/Generation.ts"

/** A model of the service as a chat model. Several candidates are not streamed: they come once all are complete. */
export const make = (generation: Generation["Service"], model: string): ChatModel["Service"] =>
  ChatModel.of({
    model,
    stream: (request) => {
      const config = generationOf(request)
      const responses = (request.candidates ?? 1) > 1
        ? Stream.fromEffect(generation.generate(model, config))
        : generation.stream(model, config)
      return eventsOf(responses).pipe(Stream.withSpan("ChatModel.stream", { attributes: { model, turns: request.turns.length } }))
    }
  })

const generationOf = (request: ChatRequest): GenerationRequest => {
  const { system, toolChoice, tools = [], turns } = request
  const calls = turns.flatMap(({ parts }) => parts.flatMap((part) => (part.type === "toolCall" ? [part] : [])))
  const names = new Map(calls.map(({ id, name }) => [id, name]))
  const config = configOf(request)
  return defined({
    contents: turns.map(({ parts, role }) => ({
      role: role === "assistant" ? "model" : "user",
      parts: parts.map((part) => partOf(part, names))
    })),
    systemInstruction: system === undefined ? undefined : { parts: [{ text: system }] },
    tools: tools.length === 0 ? undefined : [{
      functionDeclarations: tools.map(({ description, name, parameters }) =>
        defined({ name, description, parametersJsonSchema: parameters as Json | undefined })
      ) // a JSON Schema is JSON
    }],
    toolConfig: toolChoice === undefined ? undefined : { functionCallingConfig: callingOf(toolChoice) },
    generationConfig: isEmpty(config) ? undefined : config
  })
}

const callingOf = (choice: NonNullable<ChatRequest["toolChoice"]>) =>
  typeof choice === "object"
    ? { mode: "ANY", allowedFunctionNames: [choice.name] }
    : { mode: { auto: "AUTO", none: "NONE", required: "ANY" }[choice] }

const partOf = (part: ChatPart, names: ReadonlyMap<string, string>): Part => {
  switch (part.type) {
    case "text":
      return { text: part.text }
    case "thinking":
      return defined({ text: part.text, thought: true, thoughtSignature: part.signature })
    case "media":
      return { inlineData: { mimeType: part.mimeType, data: part.data } }
    case "mediaUri":
      return { fileData: defined({ fileUri: part.uri, mimeType: part.mimeType }) }
    case "toolCall":
      return { functionCall: { id: part.id, name: part.name, args: part.args as JsonObject } } // arguments are JSON
    case "toolResult":
      return {
        functionResponse: {
          id: part.id,
          name: part.name ?? names.get(part.id) ?? "",
          response: part.isError === true ? { error: part.text } : { output: part.text }
        }
      }
  }
}

/** Token budget for thinking, by effort. */
const budgets = { low: 1_024, medium: 8_192, high: 24_576, xhigh: 24_576, max: 24_576 } as const

const configOf = (request: ChatRequest): GenerationConfig => {
  const { json, logprobs, thinking } = request
  const budget = thinking?.budgetTokens ?? (thinking?.effort === undefined ? undefined : budgets[thinking.effort])
  return defined({
    maxOutputTokens: request.maxTokens,
    temperature: request.temperature,
    topP: request.topP,
    topK: request.topK,
    stopSequences: request.stop,
    presencePenalty: request.presencePenalty,
    frequencyPenalty: request.frequencyPenalty,
    seed: request.seed,
    candidateCount: request.candidates,
    responseMimeType: json === undefined ? undefined : "application/json",
    responseJsonSchema: json?.schema as Json | undefined, // likewise
    responseLogprobs: logprobs === undefined ? undefined : true,
    logprobs: logprobs === 0 ? undefined : logprobs,
    thinkingConfig: thinking === undefined ? undefined : defined({ includeThoughts: true, thinkingBudget: budget })
  })
}

const eventsOf = (responses: Stream.Stream<GenerationResponse, ServiceError>): Stream.Stream<ChatEvent, ServiceError> =>
  Stream.suspend(() => {
    /** Number of tool calls of each candidate. */
    const calls = new Map<number, number>()
    let usage: ChatUsage | undefined
    return responses.pipe(
      Stream.map(({ candidates = [], promptFeedback, usageMetadata }): ReadonlyArray<ChatEvent> => {
        if (usageMetadata !== undefined) {
          const { candidatesTokenCount = 0, promptTokenCount = 0, thoughtsTokenCount = 0 } = usageMetadata
          usage = defined({
            inputTokens: promptTokenCount,
            outputTokens: candidatesTokenCount + thoughtsTokenCount,
            thinkingTokens: thoughtsTokenCount === 0 ? undefined : thoughtsTokenCount
          })
        }
        const blocked = promptFeedback?.blockReason
        return [
          ...candidates.flatMap((candidate) => candidateEvents(candidate, calls)),
          ...(blocked === undefined ? [] : [{ type: "end", candidate: 0, reason: "contentFilter", detail: blocked } as const])
        ]
      }),
      Stream.flattenIterable,
      Stream.concat(Stream.suspend(() => (usage === undefined ? Stream.empty : Stream.succeed<ChatEvent>({ type: "usage", usage }))))
    )
  })

const candidateEvents = (
  { content, finishReason, index: candidate = 0, logprobsResult }: Candidate,
  calls: Map<number, number>
): ReadonlyArray<ChatEvent> => {
  const events: Array<ChatEvent> = []
  const { chosenCandidates: chosen = [], topCandidates: top = [] } = logprobsResult ?? {}
  const logprobs = chosen.map((token, at) => ({ ...logprobOf(token), top: (top[at]?.candidates ?? []).map(logprobOf) }))
  for (const { functionCall, text = "", thought, thoughtSignature } of content?.parts ?? []) {
    if (functionCall !== undefined) {
      const count = calls.get(candidate) ?? 0
      calls.set(candidate, count + 1)
      const { args = {}, id = "", name = "" } = functionCall
      events.push({ type: "toolCall", candidate, call: { id: id === "" ? `call_${candidate}_${count}` : id, name, args } })
    } else if (thought === true) {
      events.push(defined({ type: "thinking" as const, candidate, text, signature: thoughtSignature }))
    } else if (text !== "") {
      const first = !events.some(({ type }) => type === "text")
      events.push({ type: "text", candidate, text, logprobs: first && logprobs.length > 0 ? logprobs : undefined })
    }
  }
  if (finishReason !== undefined) {
    const end = candidateEnd(finishReason)
    events.push({ type: "end", candidate, ...end, reason: end.reason === "stop" && calls.has(candidate) ? "toolCalls" : end.reason })
  }
  return events
}

const logprobOf = ({ logProbability = 0, token = "" }: Logprob) => ({ token, logprob: logProbability })
