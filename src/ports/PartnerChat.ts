import { Context as Ctx, type Effect, type Stream } from "effect"
import type { ServiceError } from "../domain/Errors.ts"
import type { Conversation, MessageEvent, MessageRequest, PartnerMessage } from "../domain/partner/PartnerChat.ts"

/** Claude, as the platform serves it. The rules for requests are in `domain/partner/PartnerChatRules.ts`. */
export class PartnerChat extends Ctx.Service<PartnerChat, {
  readonly message: (request: MessageRequest) => Effect.Effect<PartnerMessage, ServiceError>
  /**
   * Streams the answer as it is generated. Ending the stream early stops the model. A stream that breaks off before
   * `message_stop`, and an error inside it, are failures.
   */
  readonly stream: (request: MessageRequest) => Stream.Stream<MessageEvent, ServiceError>
  /** Counts the tokens that the request would be charged for, without answering it. */
  readonly countTokens: (request: Conversation) => Effect.Effect<number, ServiceError>
}>()("sluice/ports/PartnerChat") {}
