/** A conversation with a model, in a form independent of the APIs, each of which is translated into it. */
export interface ChatRequest {
  /** The system instruction, its paragraphs joined by empty lines. */
  readonly system?: string
  /** Messages, oldest first. One from the assistant at the end is the start of the wanted answer. */
  readonly turns: ReadonlyArray<ChatTurn>
  /** Documents to answer from and to cite, which are in no turn. Only a model that `cites` takes them. */
  readonly documents?: ReadonlyArray<CitableDocument>
  readonly tools?: ReadonlyArray<ChatTool>
  /** Which tool the model calls. Default `auto`. A name: that tool must be called. */
  readonly toolChoice?: "auto" | "none" | "required" | { readonly name: string }
  /** Requests JSON that follows this JSON Schema, or any JSON where no schema is given. Absent: plain text. */
  readonly json?: { readonly schema?: JsonRecord }
  /** Most tokens of the answer. */
  readonly maxTokens?: number
  readonly temperature?: number
  readonly topP?: number
  readonly topK?: number
  readonly stop?: ReadonlyArray<string>
  readonly presencePenalty?: number
  readonly frequencyPenalty?: number
  readonly seed?: number
  /** Number of answers. Default 1. */
  readonly candidates?: number
  /** Number of most likely alternatives returned per token; 0 returns only the chosen tokens. Absent: no probabilities. */
  readonly logprobs?: number
  /** Lets the model think first, with at most this many tokens. */
  readonly thinking?: { readonly budgetTokens?: number; readonly effort?: Effort }
}

export interface CitableDocument {
  /** Its place among the caller's documents, from 0. */
  readonly index: number
  readonly title?: string
  readonly text: string
  /** Where each of its blocks ends, in Unicode characters, for a document that consists of blocks: citations name blocks of it. */
  readonly blockEnds?: ReadonlyArray<number>
  /** The source of a search result, whose `index` is its place among those. */
  readonly source?: string
}

/** A place in a {@link CitableDocument}; `start` and `end` count its Unicode characters. */
export interface DocumentCitation extends Omit<CitableDocument, "text"> {
  readonly quote: string
  readonly start: number
  readonly end: number
}

/** How much effort a model puts into an answer; not every model supports the upper two. */
export type Effort = "low" | "medium" | "high" | "xhigh" | "max"

/** One message of a conversation with a model, in parts of text and media. */
export interface ChatTurn {
  readonly role: "user" | "assistant"
  readonly parts: ReadonlyArray<ChatPart>
}

export type ChatPart =
  | { readonly type: "text"; readonly text: string }
  /** Media; `data` is base64. */
  | { readonly type: "media"; readonly mimeType: string; readonly data: string }
  | { readonly type: "mediaUri"; readonly mimeType?: string; readonly uri: string }
  | { readonly type: "thinking"; readonly text: string; readonly signature?: string }
  | ({ readonly type: "toolCall" } & ChatToolCall)
  | { readonly type: "toolResult"; readonly id: string; readonly name?: string; readonly text: string; readonly isError?: boolean }

export interface ChatToolCall {
  readonly id: string
  readonly name: string
  readonly args: JsonRecord
}

export interface ChatTool {
  readonly name: string
  readonly description?: string
  /** JSON Schema of the arguments, an object. */
  readonly parameters?: JsonRecord
  /** Whether arguments must match `parameters`. */
  readonly strict?: boolean
}

export type JsonRecord = { readonly [key: string]: unknown }

/**
 * A piece of a model's answer as it arrives. `candidate` counts from 0. Every candidate ends once; usage comes last, if
 * at all. `detail` is the model's own name of a reason to end.
 */
export type ChatEvent =
  | {
    readonly type: "text"
    readonly candidate: number
    readonly text: string
    readonly logprobs?: ReadonlyArray<TokenLogprob>
    /** Where the text comes from, which then is a statement of its own. Absent: it goes on from the text before. */
    readonly citations?: ReadonlyArray<DocumentCitation>
  }
  | { readonly type: "thinking"; readonly candidate: number; readonly text: string; readonly signature?: string }
  /** A complete call: the pieces of its arguments have been joined. */
  | { readonly type: "toolCall"; readonly candidate: number; readonly call: ChatToolCall }
  | {
    readonly type: "end"
    readonly candidate: number
    readonly reason: ChatEndReason
    readonly stopSequence?: string
    readonly detail?: string
  }
  | { readonly type: "usage"; readonly usage: ChatUsage }

export type ChatEndReason = "stop" | "length" | "toolCalls" | "contentFilter"

/** Why an answer ended, as chat completions name it. */
export const finishReasons: Readonly<Record<ChatEndReason, string>> = {
  stop: "stop",
  length: "length",
  toolCalls: "tool_calls",
  contentFilter: "content_filter"
}

/** Why a chat completion ended, by its `finish_reason`. */
export const completionEnds: Readonly<Record<string, ChatEndReason>> = {
  stop: "stop",
  length: "length",
  tool_calls: "toolCalls",
  function_call: "toolCalls",
  content_filter: "contentFilter"
}

/** Why Claude's answer ended, by its `stop_reason`; any other is a stop. */
export const messageEnds: Readonly<Record<string, ChatEndReason>> = {
  max_tokens: "length",
  tool_use: "toolCalls",
  refusal: "contentFilter"
}

/** Why Gemini's answer ended, by its `finishReason`. All but the first few withhold the answer. */
export const candidateEnd = (reason: string): { readonly reason: ChatEndReason; readonly detail?: string } => {
  if (reason === "STOP" || reason === "FINISH_REASON_UNSPECIFIED") return { reason: "stop" }
  return reason === "MAX_TOKENS" ? { reason: "length" } : { reason: "contentFilter", detail: reason }
}

export interface TokenLogprob {
  readonly token: string
  readonly logprob: number
  /** The most likely tokens at this place, possibly including the chosen one. */
  readonly top: ReadonlyArray<{ readonly token: string; readonly logprob: number }>
}

/** Tokens used by a call. */
export interface ChatUsage {
  readonly inputTokens: number
  /** Tokens of the answer, thoughts included. */
  readonly outputTokens: number
  readonly thinkingTokens?: number
}
