import { Context as Ctx, type Stream } from "effect"
import type { ChatEvent, ChatRequest } from "../domain/Chat.ts"
import type { ServiceError } from "../domain/Errors.ts"

/**
 * A model that carries on a conversation: what the embedded engine generates and chats with. A request that it cannot
 * honour in full fails with `INVALID_ARGUMENT` before the first event, with a violation that names the field.
 */
export class ChatModel extends Ctx.Service<ChatModel, {
  readonly model: string
  /** Whether it takes `documents`, and cites them. */
  readonly cites?: boolean
  readonly stream: (request: ChatRequest) => Stream.Stream<ChatEvent, ServiceError>
}>()("sluice/ports/ChatModel") {}
