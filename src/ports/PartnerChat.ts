import { Context as Ctx, type Effect, type Stream } from "effect"
import type { ServiceError } from "../domain/Errors.ts"
import type { Conversation, MessageEvent, MessageRequest, PartnerMessage } from "../domain/partner/PartnerChat.ts"

/** Claude, as the platform serves it: the rules of a request are in `domain/partner/PartnerChatRules.ts`. */
export class PartnerChat extends Ctx.Service<PartnerChat, {
  readonly message: (request: MessageRequest) => Effect.Effect<PartnerMessage, ServiceError>
  /**
   * The answer as it is made. Ending the stream early stops the model. One that breaks off before `message_stop`, and an
   * error inside it, are failures.
   */
  readonly stream: (request: MessageRequest) => Stream.Stream<MessageEvent, ServiceError>
  /** Tokens that the request would be charged for, before it is answered. */
  readonly countTokens: (request: Conversation) => Effect.Effect<number, ServiceError>
}>()("sluice/ports/PartnerChat") {}
