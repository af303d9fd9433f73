import type { Effort, JsonRecord } from "../Chat.ts"

/** Version of the API, which every request has to name. Newer clients send a date. */
export const anthropicVersion = "vertex-2023-10-16"

/** Most tokens of an answer, apart from thoughts, where nothing else is said: a request has to set a limit. */
export const usualTokens = 4_096

/** A request to a partner's model, Claude. Kinds of block and event, roles and reasons are the API's own words. */
export interface MessageRequest extends Conversation {
  /** Most tokens of the answer. */
  readonly maxTokens: number
  readonly stopSequences?: ReadonlyArray<string>
  readonly temperature?: number
  readonly topP?: number
  readonly topK?: number
  /** Metadata; `userId` is an opaque id of the end user. */
  readonly metadata?: { readonly userId?: string | null }
}

/** The part of a request whose tokens are counted. */
export interface Conversation {
  /** Model with its date: `claude-3-5-haiku@20241022`. */
  readonly model: string
  /** Messages, oldest first, from user and assistant in turn. One from the assistant at the end is continued by the answer. */
  readonly messages: ReadonlyArray<MessageTurn>
  readonly system?: string | ReadonlyArray<TextBlock>
  readonly tools?: ReadonlyArray<PartnerTool>
  readonly toolChoice?: PartnerToolChoice
  readonly thinking?: PartnerThinking
  readonly outputConfig?: OutputConfig
  /** Caches the longest prefix possible, without a mark on a block. */
  readonly cacheControl?: CacheControl | null
  /** Features on trial that the request uses, by name. */
  readonly anthropicBeta?: ReadonlyArray<string>
  /** What to remove from a long conversation, in the API's form. */
  readonly contextManagement?: { readonly edits?: ReadonlyArray<JsonRecord> } | null
}

/**
 * Thinking of the model. `adaptive`: the model decides whether and how long to think. `display`: whether its thoughts are
 * shown or only sealed.
 */
export type PartnerThinking =
  | { readonly type: "enabled"; readonly budgetTokens: number; readonly display?: "summarized" | "omitted" | null }
  | { readonly type: "adaptive"; readonly display?: "summarized" | "omitted" | null }
  | { readonly type: "disabled" }

export interface OutputConfig {
  readonly effort?: Effort | null
  /** Requests JSON that follows a JSON Schema. */
  readonly format?: { readonly type: "json_schema"; readonly schema: JsonRecord } | null
}

export interface MessageTurn {
  readonly role: "user" | "assistant"
  readonly content: string | ReadonlyArray<ContentBlock>
}

export type ContentBlock =
  | TextBlock
  | ImageBlock
  | DocumentBlock
  | SearchResultBlock
  | ToolUseBlock
  | ToolResultBlock
  | ThinkingBlock
  | RedactedThinkingBlock

/** Marks the end of a prefix to cache for the next request. */
export interface CacheControl {
  readonly type: "ephemeral"
  readonly ttl?: "5m" | "1h"
}

interface Cacheable {
  readonly cacheControl?: CacheControl | null
}

interface Citable {
  /** Whether the answer says which part of it each statement comes from. */
  readonly citations?: { readonly enabled?: boolean } | null
}

export interface TextBlock extends Cacheable {
  readonly type: "text"
  readonly text: string
  /** Places in the given documents it comes from, as reported by the model. */
  readonly citations?: ReadonlyArray<JsonRecord> | null
}

export interface ImageBlock extends Cacheable {
  readonly type: "image"
  /** The image; `data` is base64. */
  readonly source: { readonly type: "base64"; readonly mediaType: string; readonly data: string }
}

export interface DocumentBlock extends Cacheable, Citable {
  readonly type: "document"
  readonly source:
    /** A PDF. */
    | { readonly type: "base64"; readonly mediaType: string; readonly data: string }
    | { readonly type: "text"; readonly mediaType: string; readonly data: string }
    | { readonly type: "content"; readonly content: string | ReadonlyArray<TextBlock | ImageBlock> }
  readonly title?: string | null
  readonly context?: string | null
}

/** A result of the caller's own search. */
export interface SearchResultBlock extends Cacheable, Citable {
  readonly type: "search_result"
  /** Where it is from, such as an address. */
  readonly source: string
  readonly title: string
  readonly content: ReadonlyArray<TextBlock>
}

export interface ToolUseBlock extends Cacheable {
  readonly type: "tool_use"
  readonly id: string
  readonly name: string
  readonly input: JsonRecord
  /** The caller, as reported by the API. */
  readonly caller?: JsonRecord
}

export interface ToolResultBlock extends Cacheable {
  readonly type: "tool_result"
  readonly toolUseId: string
  readonly content?: string | ReadonlyArray<TextBlock | ImageBlock | DocumentBlock | SearchResultBlock>
  readonly isError?: boolean
}

export interface ThinkingBlock {
  readonly type: "thinking"
  readonly thinking: string
  /** Proves that the model thought this; sent back unchanged. */
  readonly signature: string
}

export interface RedactedThinkingBlock {
  readonly type: "redacted_thinking"
  readonly data: string
}

export interface PartnerTool extends Cacheable {
  readonly name: string
  readonly description?: string
  /** JSON Schema of the input, an object. Absent only for a tool that the model knows already. */
  readonly inputSchema?: JsonRecord
  /** Type of the tool. Default `custom`; anything else is a tool that the model knows already. */
  readonly type?: string | null
  /** Whether arguments must match `inputSchema`. */
  readonly strict?: boolean | null
  /** Whether to stream arguments as they are written, before they are known to be JSON. */
  readonly eagerInputStreaming?: boolean | null
  /** Examples of arguments. */
  readonly inputExamples?: ReadonlyArray<JsonRecord>
}

/** Which tool the model uses. `disableParallelToolUse`: at most one call per answer. */
export type PartnerToolChoice =
  | { readonly type: "auto" | "any"; readonly disableParallelToolUse?: boolean }
  | { readonly type: "tool"; readonly name: string; readonly disableParallelToolUse?: boolean }
  | { readonly type: "none" }

/** A model's answer. */
export interface PartnerMessage {
  readonly id: string
  /** Model, with dashes: `claude-3-5-haiku-20241022`. */
  readonly model: string
  readonly content: ReadonlyArray<AnswerBlock>
  /** Reason it ended: `end_turn`, `max_tokens`, `stop_sequence`, `tool_use`, or a later addition. Null only at the start of a stream. */
  readonly stopReason: string | null
  /** The stop sequence that occurred. */
  readonly stopSequence: string | null
  readonly usage: MessageUsage
}

export type AnswerBlock = TextBlock | ToolUseBlock | ThinkingBlock | RedactedThinkingBlock | UnknownBlock

/** A block of a kind that was added later, as it was sent. */
export interface UnknownBlock {
  readonly type: "unknown"
  readonly block: JsonRecord
}

/** Token counts. Tokens of the cache are not included in `inputTokens`. */
export interface MessageUsage {
  readonly inputTokens: number
  readonly outputTokens: number
  readonly cacheCreationInputTokens?: number | null
  readonly cacheReadInputTokens?: number | null
}

/**
 * An event of a streamed answer: `message_start`, then for each block a start, deltas and a stop, then `message_delta`
 * with the reason it ended, and `message_stop`. Pings can come anywhere.
 */
export type MessageEvent =
  | { readonly type: "message_start"; readonly message: PartnerMessage }
  | { readonly type: "content_block_start"; readonly index: number; readonly contentBlock: AnswerBlock }
  | { readonly type: "content_block_delta"; readonly index: number; readonly delta: BlockDelta }
  | { readonly type: "content_block_stop"; readonly index: number }
  | {
    readonly type: "message_delta"
    readonly delta: { readonly stopReason?: string | null; readonly stopSequence?: string | null }
    /** Usage of the whole answer so far. */
    readonly usage: Partial<Nullable<MessageUsage>>
  }
  | { readonly type: "message_stop" }
  | { readonly type: "ping" }

type Nullable<A> = { readonly [K in keyof A]: A[K] | null }

export type BlockDelta =
  | { readonly type: "text_delta"; readonly text: string }
  /** A piece of the JSON of a call's arguments. */
  | { readonly type: "input_json_delta"; readonly partialJson: string }
  | { readonly type: "thinking_delta"; readonly thinking: string }
  | { readonly type: "signature_delta"; readonly signature: string }
  | { readonly type: "citations_delta"; readonly citation: JsonRecord }

/** The blocks of a content, which may be written as plain text. */
export const blocksOf = <A>(content: string | ReadonlyArray<A> | undefined): ReadonlyArray<A | TextBlock> =>
  content === undefined ? [] : typeof content === "string" ? [{ type: "text", text: content }] : content

/** A block, and its place in the request: `messages.0.content.1`. */
export interface PlacedBlock {
  readonly block: ContentBlock
  readonly at: string
}

/** All blocks; those within results and documents come after the block that contains them. */
export const placedBlocks = ({ messages }: Pick<Conversation, "messages">): ReadonlyArray<PlacedBlock> =>
  messages.flatMap(({ content }, i) => placedIn(blocksOf(content), `messages.${i}.content`))

const placedIn = (blocks: ReadonlyArray<ContentBlock>, content: string): ReadonlyArray<PlacedBlock> =>
  blocks.flatMap((block, j) => {
    const at = `${content}.${j}`
    const inner = block.type === "tool_result" || block.type === "search_result" ?
      placedIn(blocksOf(block.content), `${at}.content`)
      : block.type === "document" && block.source.type === "content" ?
      placedIn(blocksOf(block.source.content), `${at}.source.content`)
      : []
    return [{ block, at }, ...inner]
  })

/** The text that an event adds to the model's output: words, thoughts, arguments. */
export const writtenIn = (event: MessageEvent): string => {
  if (event.type !== "content_block_delta") return ""
  const { delta } = event
  switch (delta.type) {
    case "text_delta":
      return delta.text
    case "thinking_delta":
      return delta.thinking
    case "input_json_delta":
      return delta.partialJson
    default:
      return ""
  }
}

/** The answer's words in an event. */
export const textOf = (event: MessageEvent): string =>
  event.type === "content_block_delta" && event.delta.type === "text_delta" ? event.delta.text : ""
