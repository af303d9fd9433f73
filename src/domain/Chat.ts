/** A conversation with a model, in none of the forms in which the APIs write one: each of them is turned into this. */
export interface ChatRequest {
  /** The system instruction, its paragraphs joined by empty lines. */
  readonly system?: string
  /** Oldest first. One from the assistant at the end is the beginning of the answer that is wanted. */
  readonly turns: ReadonlyArray<ChatTurn>
  readonly tools?: ReadonlyArray<ChatTool>
  /** Default `auto`. A name: that tool must be called. */
  readonly toolChoice?: "auto" | "none" | "required" | { readonly name: string }
  /** JSON that follows a JSON Schema, or any JSON where none is given. Absent: plain text. */
  readonly json?: { readonly schema?: JsonRecord }
  /** Tokens. */
  readonly maxTokens?: number
  readonly temperature?: number
  readonly topP?: number
  readonly topK?: number
  readonly stop?: ReadonlyArray<string>
  readonly presencePenalty?: number
  readonly frequencyPenalty?: number
  readonly seed?: number
  /** Answers wanted. Default 1. */
  readonly candidates?: number
  /** Likeliest alternatives told per token; 0 tells only those chosen. Absent: no probabilities. */
  readonly logprobs?: number
  /** Let it think first, for so many tokens at most. */
  readonly thinking?: { readonly budgetTokens?: number; readonly effort?: Effort }
}

/** How much work a model puts into an answer; not every model knows the upper two. */
export type Effort = "low" | "medium" | "high" | "xhigh" | "max"

/** One message of a conversation with a model, in parts of text and media. */
export interface ChatTurn {
  readonly role: "user" | "assistant"
  readonly parts: ReadonlyArray<ChatPart>
}

export type ChatPart =
  | { readonly type: "text"; readonly text: string }
  /** `data` is base64. */
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
  /** JSON Schema of an object. */
  readonly parameters?: JsonRecord
  /** Hold the arguments to `parameters`. */
  readonly strict?: boolean
}

export type JsonRecord = { readonly [key: string]: unknown }

/**
 * What a model says, as it says it. `candidate` counts from 0. Every candidate ends once; usage comes last, if at all.
 * `detail` is the model's own word for a reason that has others beside it.
 */
export type ChatEvent =
  | { readonly type: "text"; readonly candidate: number; readonly text: string; readonly logprobs?: ReadonlyArray<TokenLogprob> }
  | { readonly type: "thinking"; readonly candidate: number; readonly text: string; readonly signature?: string }
  /** Whole: the pieces in which arguments come are put together first. */
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

export interface TokenLogprob {
  readonly token: string
  readonly logprob: number
  /** The likeliest at this place, this one among them where it is. */
  readonly top: ReadonlyArray<{ readonly token: string; readonly logprob: number }>
}

/** Tokens. */
export interface ChatUsage {
  readonly inputTokens: number
  /** Thoughts included. */
  readonly outputTokens: number
  readonly thinkingTokens?: number
}
