import { Effect } from "effect"
import { ServiceError } from "../domain/Errors.ts"
import { TextEmbedder } from "../ports/TextEmbedder.ts"
import { embeddingsFromWire, embeddingsToWire } from "../wire/openai/Embeddings.ts"
import { completionErrorToWire } from "../wire/openai/OpenAiAnswers.ts"
import { json, refusing, take } from "./Call.ts"
import type { ChatRoute, ChatRoutes } from "./CorpusChats.ts"
import { usualDimensions } from "./handlers/Embeddings.ts"

/** Most tokens of one text, and of all texts of a request, as at OpenAI. */
const most = { text: 8_192, request: 300_000 }

/** OpenAI's embeddings, made by the server's embedder whatever model is requested. */
export const openAiEmbeddings = Effect.fnUntraced(function*(countTokens: (text: string) => number) {
  const embedder = yield* TextEmbedder

  const route: ChatRoute = Effect.fnUntraced(function*(body: Uint8Array) {
    const asked = yield* take(embeddingsFromWire(body))
    const { model, texts } = asked
    let tokens = 0
    for (const [at, text] of texts.entries()) {
      const count = countTokens(text)
      if (count > most.text) {
        return yield* ServiceError.invalid(`input.${at}`, `has ${count} tokens; ${most.text} are allowed in a text`)
      }
      tokens += count
      if (tokens > most.request) {
        return yield* ServiceError.invalid("input", `has more than ${most.request} tokens`, "send the texts in several requests")
      }
    }
    const dimensions = asked.dimensions ?? usualDimensions(embedder, model)
    const vectors = yield* Effect.mapError(
      embedder.embed(texts, "document", dimensions),
      // The embedder names the field as the platform's own API has it.
      (error) => {
        const [first] = error.violations ?? []
        return error.code === "INVALID_ARGUMENT" && first?.field === "parameters.outputDimensionality"
          ? ServiceError.invalid("dimensions", first.description)
          : error
      }
    )
    return json(embeddingsToWire(asked, vectors, tokens))
  }, refusing(completionErrorToWire))

  const routes: ChatRoutes = (method, path) => method === "POST" && path === "/v1/embeddings" ? route : undefined
  return routes
})
