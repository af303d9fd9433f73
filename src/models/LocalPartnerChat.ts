import { Effect, Layer, Stream } from "effect"
import { renamed } from "../domain/ChatRefusal.ts"
import type { Conversation, MessageRequest } from "../domain/partner/PartnerChat.ts"
import { refusedCount, refusedMessage } from "../domain/partner/PartnerChatRules.ts"
import { assembled } from "../domain/partner/PartnerEvents.ts"
import { countedTokens } from "../domain/partner/PartnerTokens.ts"
import { ChatModel } from "../ports/ChatModel.ts"
import { PartnerChat } from "../ports/PartnerChat.ts"
import { chatRequest, requestField } from "./partner/ChatRequest.ts"
import { messageEvents } from "./partner/MessageEvents.ts"
import { stoppingAt } from "./partner/StoppingAt.ts"

/**
 * Serves Claude's conversations with another model: the requests, rules, events and stop reasons are Claude's, whatever model answers.
 * Token counts are the model's where it reports them; otherwise they are counted here, each picture at the most that one costs.
 */
export const make = (chat: ChatModel["Service"], countTokens: (text: string) => number): PartnerChat["Service"] => {
  const tokensOf = (request: Conversation): number => countedTokens(request, countTokens)

  const stream = (request: MessageRequest) =>
    Stream.unwrap(Effect.gen(function*() {
      const refused = refusedMessage(request, countTokens)
      if (refused !== undefined) return yield* refused
      const { toolChoice } = request
      return messageEvents(
        stoppingAt(chat.stream(yield* Effect.fromResult(chatRequest(request, chat.cites === true))), request.stopSequences ?? []).pipe(
          Stream.mapError((error) => renamed(error, requestField(request)))
        ),
        {
          model: request.model,
          inputTokens: tokensOf(request),
          oneCall: toolChoice !== undefined && toolChoice.type !== "none" && toolChoice.disableParallelToolUse === true,
          countTokens
        }
      )
    })).pipe(Stream.withSpan("PartnerChat.stream", { attributes: { model: request.model, messages: request.messages.length } }))

  return PartnerChat.of({
    stream,
    message: (request) => Effect.flatMap(Stream.runCollect(stream(request)), (events) => Effect.fromResult(assembled(events))),
    countTokens: (request) => Effect.suspend(() => refusedCount(request, countTokens) ?? Effect.succeed(tokensOf(request)))
  })
}

export const layer = (countTokens: (text: string) => number): Layer.Layer<PartnerChat, never, ChatModel> =>
  Layer.effect(PartnerChat, Effect.map(ChatModel, (chat) => make(chat, countTokens)))
