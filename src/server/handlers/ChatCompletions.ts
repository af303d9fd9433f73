import { randomUUID } from "node:crypto"
import { Clock, Effect, Stream } from "effect"
import { renamed } from "../../domain/ChatRefusal.ts"
import type { ServiceError } from "../../domain/Errors.ts"
import { ChatModel } from "../../ports/ChatModel.ts"
import { completionChunks, completionErrorToWire, type CompletionIdentity, completionToWire } from "../../wire/openai/OpenAiAnswers.ts"
import { completionFromWire } from "../../wire/openai/OpenAiRequests.ts"
import { breakingWith, type Handlers, json, type RawAnswer, refusing, take } from "../Call.ts"
import { awaitFirst } from "../http/AwaitFirst.ts"

/** OpenAI's chat completions, answered by the server's model. Responses name that model. */
export const chatCompletionsHandlers: Effect.Effect<Pick<Handlers, "chatCompletions">, never, ChatModel> = Effect.gen(function*() {
  const model = yield* ChatModel

  const answer = Effect.fnUntraced(function*(bytes: Uint8Array): Effect.fn.Return<RawAnswer, ServiceError> {
    const { chat, fieldOf, stream, usage } = yield* take(completionFromWire(bytes))
    const identity: CompletionIdentity = {
      id: `chatcmpl-${randomUUID()}`,
      created: Math.floor((yield* Clock.currentTimeMillis) / 1000),
      model: model.model
    }
    const events = model.stream(chat).pipe(Stream.mapError((error) => renamed(error, fieldOf)))
    if (!stream) return json(completionToWire(identity, yield* Stream.runCollect(events)))
    const chunks = completionChunks({ identity, usage })
    return {
      contentType: "text/event-stream; charset=utf-8",
      body: (yield* awaitFirst(events)).pipe(
        Stream.flatMap((event) => Stream.fromIterable(chunks(event))),
        Stream.map(event),
        Stream.concat(Stream.succeed("data: [DONE]\n\n")),
        (texts) => breakingWith(texts, (error) => event(completionErrorToWire(error).body)),
        Stream.encodeText
      )
    }
  })

  return {
    chatCompletions: ({ body }) => refusing(completionErrorToWire)(answer(body))
  }
})

const event = (data: object): string => `data: ${JSON.stringify(data)}\n\n`
