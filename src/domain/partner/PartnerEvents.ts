import { Result } from "effect"
import { defined } from "../Defined.ts"
import type { JsonRecord } from "../Chat.ts"
import { ServiceError } from "../Errors.ts"
import { type AnswerBlock, type BlockDelta, type MessageEvent, type MessageUsage, type PartnerMessage, writtenIn } from "./PartnerChat.ts"
import { tokensOfLength } from "./PartnerTokens.ts"

/** Assembles the message of a complete stream of events. A call that `max_tokens` cut short is left out. */
export const assembled = (events: Iterable<MessageEvent>): Result.Result<PartnerMessage, ServiceError> =>
  Result.gen(function*() {
    let message: PartnerMessage | undefined
    const blocks = new Map<number, AnswerBlock>()
    const jsons = new Map<number, string>()
    for (const event of events) {
      if (event.type === "message_start") message = event.message
      if (event.type === "content_block_start") blocks.set(event.index, event.contentBlock)
      if (event.type === "content_block_delta") {
        const { delta, index } = event
        const block = blocks.get(index)
        if (delta.type === "input_json_delta") jsons.set(index, (jsons.get(index) ?? "") + delta.partialJson)
        else if (block !== undefined) blocks.set(index, grown(block, delta))
      }
      if (event.type === "message_delta" && message !== undefined) {
        message = { ...message, ...defined(event.delta), usage: added(message.usage, event.usage) }
      }
    }
    if (message === undefined) return yield* Result.fail(ServiceError.internal("the stream of an answer had no beginning"))
    const content: Array<AnswerBlock> = []
    for (const [index, block] of blocks) {
      const json = jsons.get(index) ?? ""
      const input = block.type === "tool_use" && json !== "" ? argumentsOf(json) : undefined
      if (block.type !== "tool_use" || json === "") content.push(block)
      else if (input !== undefined) content.push({ ...block, input })
      else if (message.stopReason !== "max_tokens") {
        return yield* Result.fail(ServiceError.internal(`the arguments of the call of ${block.name} are not the JSON of an object`))
      }
    }
    return { ...message, content }
  })

/** Counts are of the whole answer; counts that are not reported stay. */
const added = (usage: MessageUsage, started: Extract<MessageEvent, { readonly type: "message_delta" }>["usage"]): MessageUsage => ({
  ...usage,
  ...Object.fromEntries(Object.entries(started).filter(([, count]) => count !== null && count !== undefined))
})

/**
 * Makes a function that returns the usage so far after each event of a stream. The model reports its output only at the
 * end; before that, it is estimated from the text. Undefined before the start.
 */
export const tally = (): (event: MessageEvent) => MessageUsage | undefined => {
  let usage: MessageUsage | undefined
  let written = 0
  let started = false
  return (event) => {
    written += writtenIn(event).length
    if (event.type === "message_start") usage = event.message.usage
    if (event.type === "message_delta" && usage !== undefined) {
      usage = added(usage, event.usage)
      started = true
    }
    return usage === undefined || started ? usage : { ...usage, outputTokens: Math.max(usage.outputTokens, tokensOfLength(written)) }
  }
}

const grown = (block: AnswerBlock, delta: BlockDelta): AnswerBlock => {
  switch (delta.type) {
    case "text_delta":
      return block.type === "text" ? { ...block, text: block.text + delta.text } : block
    case "citations_delta":
      return block.type === "text" ? { ...block, citations: [...(block.citations ?? []), delta.citation] } : block
    case "thinking_delta":
      return block.type === "thinking" ? { ...block, thinking: block.thinking + delta.thinking } : block
    case "signature_delta":
      return block.type === "thinking" ? { ...block, signature: delta.signature } : block
    case "input_json_delta":
      return block
  }
}

const argumentsOf = (json: string): JsonRecord | undefined => {
  try {
    const value: unknown = JSON.parse(json)
    return typeof value === "object" && value !== null && !Array.isArray(value) ? value as JsonRecord : undefined // an object of JSON
  } catch {
    return undefined
  }
}
