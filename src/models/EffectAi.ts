import { Duration, Effect, Result, Stream } from "effect"
import { AiError, EmbeddingModel, LanguageModel, type Prompt, type Response } from "effect/ai"
import type { ChatEndReason, ChatEvent, ChatRequest, ChatTurn, ChatUsage } from "../domain/Chat.ts"
import { ServiceError } from "../domain/Errors.ts"
import type { ChatModel } from "../ports/ChatModel.ts"
import type { Embedder } from "../ports/Embedder.ts"
import type { Generator } from "../ports/Generator.ts"
import { make as makeGrounded } from "./GroundedGenerator.ts"

/**
 * Makes any `LanguageModel` of `effect/ai` a generator, for `generateBy`: it answers from the contexts and nothing else, and every citation
 * is verified word for word. `name` is how answers name the model.
 *
 * Sampling settings belong to the provider and are given where the model is made; a stage that has them fails, and the error names them.
 *
 * `maxContextCharacters`: most UTF-16 units of all contexts in a prompt. Default 100,000.
 */
export const fromLanguageModel = (
  model: LanguageModel.LanguageModel,
  { maxContextCharacters, name = "language-model" }: { readonly name?: string; readonly maxContextCharacters?: number } = {}
): Generator["Service"] => makeGrounded(chatModelOf(model, name), maxContextCharacters)

/**
 * Makes a custom chat model a generator, for `generateBy`: it answers from the contexts and nothing else, and every citation is
 * verified word for word. A `ChatModel` is a name, and a function from a request to the stream of what the model writes; the request has the
 * stage's sampling settings.
 *
 * `maxContextCharacters`: most UTF-16 units of all contexts in a prompt. Default 100,000.
 */
export const fromChatModel = (
  chat: ChatModel["Service"],
  { maxContextCharacters }: { readonly maxContextCharacters?: number } = {}
): Generator["Service"] => makeGrounded(chat, maxContextCharacters)

/** Request fields that `effect/ai` leaves to the provider: a request with one of these cannot be served. */
const unserved = [
  "tools",
  "toolChoice",
  "json",
  "maxTokens",
  "temperature",
  "topP",
  "topK",
  "stop",
  "presencePenalty",
  "frequencyPenalty",
  "seed",
  "candidates",
  "logprobs",
  "thinking"
] as const satisfies ReadonlyArray<keyof ChatRequest>

/** Makes a `LanguageModel` a chat model that converses in text. */
export const chatModelOf = (model: LanguageModel.LanguageModel, name: string): ChatModel["Service"] => ({
  model: name,
  stream: (request) => {
    const field = unserved.find((field) => request[field] !== undefined)
    if (field !== undefined) {
      return Stream.fail(ServiceError.invalid(field, "is not passed on to a model of effect/ai", "set it where the model is made"))
    }
    return Stream.suspend(() => model.streamText({ prompt: promptOf(request) })).pipe(
      Stream.mapError((error) => serviceErrorOf(error, name)),
      Stream.mapEffect((part) =>
        part.type === "error"
          ? Effect.fail(new ServiceError({ code: "UNAVAILABLE", message: `${name} broke off its answer` }))
          : Effect.succeed(eventsOf(part))
      ),
      Stream.flatMap(Stream.fromIterable)
    )
  }
})

const promptOf = ({ system, turns }: ChatRequest): ReadonlyArray<Prompt.MessageEncoded> => [
  ...(system === undefined ? [] : [{ role: "system" as const, content: system }]),
  ...turns.map(({ parts, role }): Prompt.MessageEncoded => ({
    role,
    content: parts.flatMap((part) => part.type === "text" ? [{ type: "text" as const, text: part.text }] : [])
  }))
]

const endReasons: Readonly<Record<string, ChatEndReason>> = {
  length: "length",
  "content-filter": "contentFilter",
  "tool-calls": "toolCalls"
}

const eventsOf = (part: Response.AnyPart): ReadonlyArray<ChatEvent> => {
  if (part.type === "text-delta") return [{ type: "text", candidate: 0, text: part.delta }]
  if (part.type !== "finish") return []
  const { inputTokens, outputTokens } = part.usage
  return [
    { type: "end", candidate: 0, reason: endReasons[part.reason] ?? "stop" },
    ...(inputTokens.total === undefined || outputTokens.total === undefined
      ? []
      : [{ type: "usage" as const, usage: { inputTokens: inputTokens.total, outputTokens: outputTokens.total } }])
  ]
}

const codes: Readonly<Record<string, ServiceError["code"]>> = {
  NetworkError: "UNAVAILABLE",
  TransportError: "UNAVAILABLE",
  RateLimitError: "RESOURCE_EXHAUSTED",
  QuotaExhaustedError: "RESOURCE_EXHAUSTED",
  AuthenticationError: "UNAUTHENTICATED",
  ContentPolicyError: "FAILED_PRECONDITION",
  InvalidRequestError: "INVALID_ARGUMENT",
  InternalProviderError: "UNAVAILABLE"
}

/** The kind of a provider's failure. Its own message may contain what was sent to it, so it is not kept. */
const serviceErrorOf = (error: AiError.AiError, name: string): ServiceError => {
  const { reason } = error
  const retryAfter = "retryAfter" in reason && Duration.isDuration(reason.retryAfter) ? Duration.toMillis(reason.retryAfter) : undefined
  return new ServiceError({
    code: codes[reason._tag] ?? "INTERNAL",
    message: `${name} failed: ${reason._tag}`,
    reason: reason._tag === "QuotaExhaustedError" ? "insufficient_quota" : undefined,
    retryAfter
  })
}

/**
 * Makes any `EmbeddingModel` of `effect/ai` an embedder, for `Embedded.layer({ embedder })`. `id` must name everything that determines the
 * vectors (model, version, dimensions): a corpus stores it, and a different id means that the corpus is embedded again. Vectors are
 * normalised to length 1. Documents and questions are embedded alike.
 */
export const fromEmbeddingModel = (
  model: EmbeddingModel.EmbeddingModel,
  { dimensions, id }: { readonly id: string; readonly dimensions: number }
): Embedder["Service"] => ({
  id,
  dimensions,
  embed: (texts) =>
    model.embedMany(texts).pipe(
      Effect.mapError((error) => serviceErrorOf(error, id)),
      Effect.flatMap(({ embeddings }) => {
        const wrong = embeddings.find(({ vector }) => vector.length !== dimensions)
        if (embeddings.length !== texts.length) {
          return Effect.fail(ServiceError.internal(`${id} gave ${embeddings.length} vectors for ${texts.length} texts`))
        }
        return wrong === undefined
          ? Effect.succeed(embeddings.map(({ vector }) => unit(vector)))
          : Effect.fail(
            new ServiceError({
              code: "FAILED_PRECONDITION",
              message: `${id} gives vectors of ${wrong.vector.length} dimensions, not ${dimensions}`,
              fix: "give the dimensions that the model has"
            })
          )
      })
    )
})

const unit = (vector: ReadonlyArray<number>): Float32Array => {
  const length = Math.hypot(...vector) || 1
  return Float32Array.from(vector, (value) => value / length)
}

/** Makes a Sluice embedder an `EmbeddingModel` of `effect/ai`, for questions, or for documents (the default). */
export const toEmbeddingModel = (
  embedder: Embedder["Service"],
  task: Parameters<Embedder["Service"]["embed"]>[1] = "document"
): Effect.Effect<EmbeddingModel.EmbeddingModel> =>
  EmbeddingModel.make({
    embedMany: ({ inputs }) =>
      Effect.mapBoth(embedder.embed(inputs, task), {
        onSuccess: (vectors) => ({ results: vectors.map((vector) => [...vector]), usage: { inputTokens: undefined } }),
        onFailure: (error) => aiErrorOf(error, "EmbeddingModel", "embedMany")
      })
  })

/**
 * Makes a Sluice chat model a `LanguageModel` of `effect/ai`. Requests with tools, files or structured answers fail, and the error names
 * them.
 */
export const toLanguageModel = (chat: ChatModel["Service"]): Effect.Effect<LanguageModel.LanguageModel> => {
  const stream = (options: LanguageModel.ProviderOptions, method: string) =>
    Stream.unwrap(
      Effect.map(Effect.fromResult(requestOf(options, method)), (request) =>
        chat.stream(request).pipe(Stream.mapError((error) => aiErrorOf(error, "LanguageModel", method))))
    )
  return LanguageModel.make({
    generateText: (options) =>
      Effect.map(Stream.runCollect(stream(options, "generateText")), (events) => [
        { type: "text" as const, text: events.map((event) => event.type === "text" ? event.text : "").join("") },
        finishOf(events)
      ]),
    streamText: (options) => {
      const last: Array<ChatEvent> = []
      const id = "answer"
      return Stream.succeed<Response.StreamPartEncoded>({ type: "text-start", id }).pipe(
        Stream.concat(
          stream(options, "streamText").pipe(
            Stream.map((event): ReadonlyArray<Response.StreamPartEncoded> => {
              if (event.type === "text") return [{ type: "text-delta", id, delta: event.text }]
              last.push(event)
              return []
            }),
            Stream.flatMap(Stream.fromIterable)
          )
        ),
        Stream.concat(Stream.suspend(() => Stream.fromIterable<Response.StreamPartEncoded>([{ type: "text-end", id }, finishOf(last)])))
      )
    }
  })
}

const finishOf = (events: ReadonlyArray<ChatEvent>): Response.FinishPartEncoded => {
  const reason = events.find((event) => event.type === "end")?.reason
  const usage: Partial<ChatUsage> = events.find((event) => event.type === "usage")?.usage ?? {}
  return {
    type: "finish",
    reason: reason === "length" ? "length" : reason === "contentFilter" ? "content-filter" : "stop",
    usage: {
      inputTokens: { uncached: undefined, total: usage.inputTokens, cacheRead: undefined, cacheWrite: undefined },
      outputTokens: { total: usage.outputTokens, text: undefined, reasoning: usage.thinkingTokens }
    },
    response: undefined
  }
}

const requestOf = (
  { prompt, responseFormat, tools }: LanguageModel.ProviderOptions,
  method: string
): Result.Result<ChatRequest, AiError.AiError> => {
  const refused = (parameter: string) =>
    Result.fail(AiError.make({
      module: "sluice",
      method,
      reason: new AiError.InvalidRequestError({ parameter, description: `${parameter} cannot be passed on to this model` })
    }))
  if (tools.length > 0) return refused("toolkit")
  if (responseFormat.type !== "text") return refused("schema")
  const system: Array<string> = []
  const turns: Array<ChatTurn> = []
  for (const message of prompt.content) {
    if (message.role === "system") system.push(message.content)
    else if (message.role === "tool") return refused("prompt")
    else {
      const parts: Array<{ readonly type: "text"; readonly text: string }> = []
      for (const part of message.content) {
        if (part.type !== "text") return refused("prompt")
        parts.push({ type: "text", text: part.text })
      }
      turns.push({ role: message.role, parts })
    }
  }
  return Result.succeed({ turns, system: system.length === 0 ? undefined : system.join("\n\n") })
}

const aiErrorOf = (error: ServiceError, module: string, method: string): AiError.AiError => {
  const description = error.message
  const reason = error.code === "INVALID_ARGUMENT"
    ? new AiError.InvalidRequestError({ description })
    : error.code === "RESOURCE_EXHAUSTED"
    ? new AiError.RateLimitError({ retryAfter: error.retryAfter === undefined ? undefined : Duration.millis(error.retryAfter) })
    : error.retryable
    ? new AiError.InternalProviderError({ description })
    : new AiError.UnknownError({ description })
  return AiError.make({ module, method, reason })
}
