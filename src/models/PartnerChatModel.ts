import { Effect, Stream } from "effect"
import { type ChatEvent, messageEnds } from "../domain/Chat.ts"
import type { ServiceError } from "../domain/Errors.ts"
import type { MessageEvent, PartnerMessage } from "../domain/partner/PartnerChat.ts"
import { assembled } from "../domain/partner/PartnerEvents.ts"
import { ChatModel } from "../ports/ChatModel.ts"
import type { PartnerChat } from "../ports/PartnerChat.ts"
import { messageRequest } from "./partner/MessageRequest.ts"

/** Makes Claude a chat model like any other, for generating answers and holding conversations. */
export const make = (chat: PartnerChat["Service"], model: string): ChatModel["Service"] =>
  ChatModel.of({
    model,
    stream: (request) =>
      Stream.unwrap(Effect.map(Effect.fromResult(messageRequest(model, request)), (message) => chatEvents(chat.stream(message))))
  })

/** Text as it arrives; tool calls, the end and the usage once all of them are known. */
const chatEvents = (events: Stream.Stream<MessageEvent, ServiceError>): Stream.Stream<ChatEvent, ServiceError> =>
  Stream.suspend(() => {
    const seen: Array<MessageEvent> = []
    return events.pipe(
      Stream.mapEffect((event): Effect.Effect<ReadonlyArray<ChatEvent>, ServiceError> => {
        seen.push(event)
        if (event.type === "message_stop") return Effect.map(Effect.fromResult(assembled(seen)), ending)
        return Effect.succeed(event.type === "content_block_delta" ? wordsOf(event.delta) : [])
      }),
      Stream.flattenIterable
    )
  })

const wordsOf = (delta: Extract<MessageEvent, { readonly type: "content_block_delta" }>["delta"]): ReadonlyArray<ChatEvent> => {
  switch (delta.type) {
    case "text_delta":
      return [{ type: "text", candidate: 0, text: delta.text }]
    case "thinking_delta":
      return [{ type: "thinking", candidate: 0, text: delta.thinking }]
    case "signature_delta":
      return [{ type: "thinking", candidate: 0, text: "", signature: delta.signature }]
    default:
      return []
  }
}

const ending = ({ content, stopReason, stopSequence, usage }: PartnerMessage): ReadonlyArray<ChatEvent> => [
  ...content.flatMap((block): ReadonlyArray<ChatEvent> =>
    block.type === "tool_use" ? [{ type: "toolCall", candidate: 0, call: { id: block.id, name: block.name, args: block.input } }] : []
  ),
  {
    type: "end",
    candidate: 0,
    reason: messageEnds[stopReason ?? ""] ?? "stop",
    stopSequence: stopSequence === null ? undefined : stopSequence
  },
  {
    type: "usage",
    usage: {
      inputTokens: usage.inputTokens + (usage.cacheCreationInputTokens ?? 0) + (usage.cacheReadInputTokens ?? 0),
      outputTokens: usage.outputTokens
    }
  }
]
