import { type ChatEvent, type ChatToolCall, type ChatUsage, finishReasons, type TokenLogprob } from "../../domain/Chat.ts"
import type { ServiceError } from "../../domain/Errors.ts"
import { errorToWire } from "../Errors.ts"

/** Fields that every object of one answer has. */
export interface CompletionIdentity {
  readonly id: string
  /** Time of creation, in seconds since 1970. */
  readonly created: number
  readonly model: string
}

/** A whole answer as a chat completion. */
export const completionToWire = (identity: CompletionIdentity, events: ReadonlyArray<ChatEvent>): object => {
  const candidates = [...new Set(events.flatMap((event) => ("candidate" in event ? [event.candidate] : [])))].toSorted((a, b) => a - b)
  const usage = events.findLast((event) => event.type === "usage")
  return {
    ...identity,
    object: "chat.completion",
    choices: candidates.map((index) => {
      const mine = events.filter((event) => "candidate" in event && event.candidate === index)
      const joined = (type: "text" | "thinking") => mine.map((event) => (event.type === type ? event.text : "")).join("")
      const calls = mine.flatMap((event) => (event.type === "toolCall" ? [event.call] : []))
      const logprobs = mine.flatMap((event) => (event.type === "text" ? event.logprobs ?? [] : []))
      const end = mine.find((event) => event.type === "end")
      const [text, thoughts] = [joined("text"), joined("thinking")]
      return {
        index,
        message: {
          role: "assistant",
          content: text === "" && calls.length > 0 ? null : text,
          refusal: null,
          reasoning_content: thoughts === "" ? undefined : thoughts,
          tool_calls: calls.length === 0 ? undefined : calls.map(callToWire)
        },
        logprobs: logprobs.length === 0 ? null : { content: logprobs.map(logprobToWire) },
        finish_reason: end === undefined ? "stop" : finishReasons[end.reason]
      }
    }),
    ...(usage === undefined ? {} : { usage: usageToWire(usage.usage) })
  }
}

export interface ChunkOptions {
  readonly identity: CompletionIdentity
  /** Whether the usage is reported, in a separate chunk. */
  readonly usage: boolean
}

/** Returns a function from each event of a stream to its chunks; an empty list for events that are not reported. */
export const completionChunks = ({ identity, usage: wanted }: ChunkOptions): (event: ChatEvent) => ReadonlyArray<object> => {
  const started = new Set<number>()
  const calls = new Map<number, number>()
  const chunk = (choices: ReadonlyArray<object>, usage?: object): object => ({
    ...identity,
    object: "chat.completion.chunk",
    choices,
    ...(wanted ? { usage: usage ?? null } : {})
  })
  const choice = (index: number, delta: object, more: object = {}): ReadonlyArray<object> => {
    const role = started.has(index) ? {} : { role: "assistant" }
    started.add(index)
    return [chunk([{ index, delta: { ...role, ...delta }, logprobs: null, finish_reason: null, ...more }])]
  }
  return (event) => {
    switch (event.type) {
      case "text":
        return choice(
          event.candidate,
          { content: event.text },
          event.logprobs === undefined ? {} : { logprobs: { content: event.logprobs.map(logprobToWire) } }
        )
      case "thinking":
        return choice(event.candidate, { reasoning_content: event.text })
      case "toolCall": {
        const index = calls.get(event.candidate) ?? 0
        calls.set(event.candidate, index + 1)
        return choice(event.candidate, { tool_calls: [{ index, ...callToWire(event.call) }] })
      }
      case "end":
        return choice(event.candidate, {}, { finish_reason: finishReasons[event.reason] })
      case "usage":
        return wanted ? [chunk([], usageToWire(event.usage))] : []
    }
  }
}

/** An error in the platform's format, with the fields that OpenAI's clients read. */
export const completionErrorToWire = (error: ServiceError): { readonly status: number; readonly body: object } => {
  const { body, status } = errorToWire(error)
  return {
    status,
    body: {
      error: {
        ...(typeof body["error"] === "object" ? body["error"] : {}),
        type: status === 429 ? "rate_limit_error" : status < 500 ? "invalid_request_error" : "server_error",
        param: error.violations?.[0]?.field ?? null
      }
    }
  }
}

const callToWire = ({ args, id, name }: ChatToolCall): object => ({
  id,
  type: "function",
  function: { name, arguments: JSON.stringify(args) }
})

const logprobToWire = ({ logprob, token, top }: TokenLogprob): object => {
  const tokenOf = (token: string, logprob: number) => ({ token, logprob, bytes: [...Buffer.from(token)] })
  return { ...tokenOf(token, logprob), top_logprobs: top.map((each) => tokenOf(each.token, each.logprob)) }
}

const usageToWire = ({ inputTokens, outputTokens, thinkingTokens }: ChatUsage): object => ({
  prompt_tokens: inputTokens,
  completion_tokens: outputTokens,
  total_tokens: inputTokens + outputTokens,
  completion_tokens_details: thinkingTokens === undefined ? undefined : { reasoning_tokens: thinkingTokens }
})
