import { Effect, Stream } from "effect"
import type { ChatEvent, ChatRequest } from "../../src/domain/Chat.ts"
import { ServiceError } from "../../src/domain/Errors.ts"
import { ChatModel } from "../../src/ports/ChatModel.ts"

export interface EchoModel {
  readonly model: ChatModel["Service"]
  /** Every text that it was asked, in order. */
  readonly asked: Array<string>
}

/**
 * A model that answers with the text it was asked, once `hold` completes. A text with `refuse` is refused, one with `down` fails
 * as unavailable, and one with `wait` is never answered.
 */
export const echoModel = (hold: (text: string) => Effect.Effect<void> = () => Effect.void): EchoModel => {
  const asked: Array<string> = []
  const model = ChatModel.of({
    model: "echo-1",
    stream: (request) =>
      Stream.unwrap(Effect.gen(function*() {
        const text = textOf(request)
        asked.push(text)
        yield* hold(text)
        if (text.includes("wait")) return yield* Effect.never
        if (text.includes("refuse")) return yield* ServiceError.invalid("turns[0]", "is refused")
        if (text.includes("down")) return yield* new ServiceError({ code: "PERMISSION_DENIED", message: "no such key" })
        return Stream.fromIterable<ChatEvent>([
          { type: "text", candidate: 0, text: "You said: " },
          { type: "text", candidate: 0, text },
          { type: "end", candidate: 0, reason: "stop" },
          { type: "usage", usage: { inputTokens: 3, outputTokens: 5 } }
        ])
      }))
  })
  return { model, asked }
}

const textOf = ({ turns }: ChatRequest): string =>
  turns.flatMap(({ parts }) => parts.map((part) => ("text" in part ? part.text : ""))).join("")

/** One line of a batch file. */
export const batchLine = (id: string, question = `question ${id}`, more: object = {}): string =>
  JSON.stringify({
    custom_id: id,
    method: "POST",
    url: "/v1/chat/completions",
    body: { messages: [{ role: "user", content: question }], max_tokens: 50 },
    ...more
  })
