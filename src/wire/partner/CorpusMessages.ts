import { Result, Schema } from "effect"
import type { Answer, Citation } from "../../domain/Answer.ts"
import type { JsonRecord } from "../../domain/Chat.ts"
import type { MessageEvent, PartnerMessage } from "../../domain/partner/PartnerChat.ts"
import {
  addressOf,
  chatOf,
  type ChatIdentity,
  type ChatProtocol,
  Content,
  conversationOf,
  isGiven,
  Messages,
  refusing,
  sampling,
  textOf,
  usageOf
} from "../CorpusChats.ts"
import { bodyReader, optional } from "../JsonBody.ts"
import { answerToWire, eventToWire, failureEventToWire } from "./PartnerAnswers.ts"
import { partnerErrorToWire } from "./PartnerErrors.ts"

const MessageRequest = Schema.Struct({
  model: Schema.NonEmptyString,
  messages: Messages,
  system: optional(Content),
  ...sampling,
  max_tokens: Schema.Int,
  tools: optional(Schema.Array(Schema.Unknown))
})

const readMessage = bodyReader(MessageRequest)

/**
 * Anthropic's messages. Citations are `search_result_location`. A whole answer has a text block for each cited stretch; a
 * stream has one block, whose citations come at its end.
 */
export const messages: ChatProtocol = {
  read: (bytes) =>
    Result.gen(function*() {
      const body = yield* readMessage(bytes)
      yield* refusing({ tools: isGiven(body.tools) })
      const system = yield* textOf(body.system, "system", "user")
      return chatOf(body, yield* conversationOf(body.messages, "messages", system), body.max_tokens)
    }),
  whole: (identity, answer) => answerToWire(messageOf(identity, answer)),
  stream: (identity) => {
    const send = (events: ReadonlyArray<MessageEvent>): string => events.map(eventToWire).join("")
    return {
      begin: (inputTokens) =>
        send([
          { type: "message_start", message: { ...messageOf(identity), usage: { inputTokens, outputTokens: 0 } } },
          { type: "content_block_start", index: 0, contentBlock: { type: "text", text: "" } }
        ]),
      text: (text) => send([{ type: "content_block_delta", index: 0, delta: { type: "text_delta", text } }]),
      end: (answer) =>
        send([
          ...answer.citations.map((citation): MessageEvent => ({
            type: "content_block_delta",
            index: 0,
            delta: { type: "citations_delta", citation: searchResult(citation) }
          })),
          { type: "content_block_stop", index: 0 },
          {
            type: "message_delta",
            delta: { stopReason: answer.truncated === true ? "max_tokens" : "end_turn", stopSequence: null },
            usage: { inputTokens: usageOf(answer).promptTokens, outputTokens: usageOf(answer).answerTokens }
          },
          { type: "message_stop" }
        ])
    }
  },
  error: partnerErrorToWire,
  broken: failureEventToWire
}

const searchResult = (citation: Citation): JsonRecord => ({
  type: "search_result_location",
  cited_text: citation.quote,
  source: addressOf(citation),
  title: citation.sourceDisplayName,
  search_result_index: citation.index - 1,
  start_block_index: 0,
  end_block_index: 1
})

const messageOf = ({ id, model }: ChatIdentity, answer?: Answer): PartnerMessage => ({
  id: `msg_${id}`,
  model,
  content: answer === undefined ? [] : blocksOf(answer),
  stopReason: answer === undefined ? null : answer.truncated === true ? "max_tokens" : "end_turn",
  stopSequence: null,
  usage: { inputTokens: usageOf(answer).promptTokens, outputTokens: usageOf(answer).answerTokens }
})

/** The text of an answer as blocks in order, each cited stretch in a separate block. */
const blocksOf = (answer: Answer): PartnerMessage["content"] => {
  const { citations, supports, text } = answer
  const blocks: Array<PartnerMessage["content"][number]> = []
  let at = 0
  const plain = (end: number): void => {
    if (end > at) blocks.push({ type: "text", text: text.slice(at, end) })
  }
  for (const { citations: indexes, end, start } of supports.toSorted((a, b) => a.start - b.start)) {
    if (start < at || end <= start) continue
    plain(start)
    const found = citations.filter(({ index }) => indexes.includes(index))
    blocks.push({ type: "text", text: text.slice(start, end), citations: found.map(searchResult) })
    at = end
  }
  plain(text.length)
  return blocks
}
