import { randomUUID } from "node:crypto"
import { Clock, DateTime, Effect, Stream } from "effect"
import { isEmpty } from "../../domain/Defined.ts"
import type { Answer } from "../../domain/Answer.ts"
import { type AnswerBounds, boundedEnd } from "../../domain/Bounds.ts"
import { renamed } from "../../domain/ChatRefusal.ts"
import { ServiceError } from "../../domain/Errors.ts"
import { refusedGeneration } from "../../domain/generation/GenerationRules.ts"
import { Corpora } from "../../ports/Corpora.ts"
import { Generation } from "../../ports/Generation.ts"
import { Generator, type GroundedRequest } from "../../ports/Generator.ts"
import { QueryRewriter } from "../../ports/QueryRewriter.ts"
import { Retrieval } from "../../ports/Retrieval.ts"
import { countFromWire, generationFromWire, generationResponseToWire, tokenCountToWire } from "../../wire/generation/Generations.ts"
import {
  answerEndToWire,
  answerPieceToWire,
  answerToWire,
  contentText,
  exchangesFromWire,
  type GroundedQuestion,
  groundedQuestionFromWire
} from "../../wire/rag/Grounding.ts"
import type { GenerateContentRequest } from "../../wire/messages/GenerateContent.ts"
import { defined } from "../../wire/Optional.ts"
import { snake } from "../../wire/tolerant/Normalize.ts"
import { type Handlers, take } from "../Call.ts"
import type { ClientNames } from "../ClientNames.ts"
import { groundingRefusal } from "../grounding/GroundingRefusal.ts"
import { bounded, boundedParts } from "../grounding/Cut.ts"
import { awaitFirst } from "../http/AwaitFirst.ts"
import { CachedContents } from "../CachedContents.ts"
import type { Quotas } from "../quotas/Quotas.ts"
import { withCachedContent } from "./CachedContents.ts"
import { inEngine } from "./Retrieval.ts"

type Methods = Pick<Handlers, "generateContent" | "streamGenerateContent" | "countTokens">

/**
 * Content generation. With a `vertex_rag_store`, contexts are retrieved from it, and the answer is made from them alone; a
 * question that refers to earlier turns is first rewritten to stand alone. Without a store, the server's model answers.
 */
export const generationHandlers = (
  countTokens: (text: string) => number,
  quotas?: Quotas
): Effect.Effect<Methods, never, CachedContents | Corpora | Generation | Generator | QueryRewriter | Retrieval> =>
  Effect.gen(function*() {
    const generation = yield* Generation
    const generator = yield* Generator
    const { rewrite, searched } = yield* QueryRewriter
    const { retrieve } = yield* Retrieval
    const corpora = yield* Corpora
    const cached = yield* CachedContents

    /** The question of a request that is to be answered from a corpus, with where to look; undefined for other requests. */
    const groundedIn = Effect.fnUntraced(function*(model: string, request: GenerateContentRequest, names: ClientNames, stream: boolean) {
      const refused = refusedGeneration({ model, stream }, generationFromWire(request))
      if (refused !== undefined) return yield* asWritten(refused)
      const refusal = request.tools?.some(({ retrieval }) => retrieval !== undefined) === true ? groundingRefusal(request) : undefined
      if (refusal !== undefined) return yield* refusal
      if (request.tools?.some(({ retrieval }) => retrieval !== undefined) !== true) return undefined
      const { selection, ...grounded } = yield* take(groundedQuestionFromWire(names.location, request))
      if (selection === undefined) return undefined
      const earlier = exchangesFromWire(request).slice(-earlierExchanges)
      const question = yield* rewrite(grounded.question, earlier)
      return { ...grounded, question, query: searched?.(question, earlier) ?? question, selection }
    })

    /** The evidence for an answer, and what its pieces have in common: id, time, and whether they name their sources. */
    const evidenceFor = Effect.fnUntraced(
      function*(grounded: GroundedQuestion & { readonly query: string }, request: GenerateContentRequest, names: ClientNames) {
        const { instruction, query, question, selection } = grounded
        const contexts = yield* retrieve({ ...(yield* inEngine(corpora, selection, names)), query })
        const bounds = boundsOf(request)
        const enough = isEmpty(bounds) ? undefined : (text: string) => boundedEnd(text, bounds, countTokens).end < text.length
        const evidence: GroundedRequest = defined({ question, contexts, instruction, enough, sampling: samplingOf(request) })
        const attributed = request.tools?.some(({ retrieval }) => retrieval?.disableAttribution === true) !== true
        return { evidence, identity: { responseId: randomUUID(), createTime: DateTime.formatIso(yield* DateTime.now), attributed } }
      }
    )

    /** Counts a request for log probabilities against its quota, unless the request is refused. */
    const metered = Effect.fnUntraced(
      function*<A>(request: GenerateContentRequest, names: ClientNames, answer: Effect.Effect<A, ServiceError>) {
        if (request.generationConfig?.responseLogprobs !== true || quotas === undefined) return yield* answer
        const at = yield* Clock.currentTimeMillis
        const over = quotas.takeLogprobs(names.location, at)
        if (over !== undefined) return yield* over.error
        return yield* Effect.tapError(answer, ({ refused }) =>
          Effect.sync(() => {
            if (refused) quotas.giveBackLogprobs(names.location, at)
          }))
      }
    )

    const answerWithin = (evidence: GroundedRequest, request: GenerateContentRequest) =>
      Effect.map(generator.answer(evidence), (answer) => counted(bounded(answer, boundsOf(request), countTokens), request, countTokens))

    return {
      generateContent: Effect.fnUntraced(function*({ body: written, names, params }) {
        const { request: body, withUsage } = yield* withCachedContent(cached, params.model, written)
        const grounded = yield* groundedIn(params.model, body, names, false)
        if (grounded === undefined) {
          const request = yield* ungrounded(body)
          const answer = metered(body, names, generation.generate(params.model, request))
          return withUsage(generationResponseToWire(yield* Effect.catch(answer, asWritten)))
        }
        const { evidence, identity } = yield* evidenceFor(grounded, body, names)
        return withUsage(answerToWire(yield* answerWithin(evidence, body), { ...identity, question: grounded.question }))
      }),
      streamGenerateContent: Effect.fnUntraced(function*({ body: written, names, params }) {
        const { request: body, withUsage } = yield* withCachedContent(cached, params.model, written)
        const grounded = yield* groundedIn(params.model, body, names, true)
        if (grounded === undefined) {
          const pieces = metered(body, names, awaitFirst(generation.stream(params.model, yield* ungrounded(body))))
          return Stream.map(yield* Effect.catch(pieces, asWritten), (piece) => withUsage(generationResponseToWire(piece)))
        }
        const { evidence, identity } = yield* evidenceFor(grounded, body, names)
        const { attributed: _, ...named } = identity
        const piece = (text: string, model: string) => answerPieceToWire(text, { model, ...named })
        const end = (answer: Answer) => answerEndToWire(counted(answer, body, countTokens), { ...identity, question: grounded.question })
        const parts = yield* awaitFirst(boundedParts(generator.stream(evidence), boundsOf(body), countTokens))
        return Stream.map(parts, (part) => withUsage(part._tag === "text" ? piece(part.text, generator.model) : end(part.answer)))
      }),
      countTokens: ({ body, params }) =>
        take(countFromWire(body)).pipe(
          Effect.flatMap((request) => generation.countTokens(params.endpoint, request)),
          Effect.map(tokenCountToWire),
          Effect.catch(asWritten)
        )
    }
  })

/** Earlier exchanges of a conversation that its last question may refer to. */
const earlierExchanges = 6

/** Renames the fields in violations to those of the protos. */
const asWritten = (error: ServiceError): Effect.Effect<never, ServiceError> => Effect.fail(renamed(error, snake))

/** A request to the server's model. Fields that no port supports are refused, not dropped. */
const ungrounded = (request: GenerateContentRequest) => {
  const { imageConfig, modelConfig, routingConfig, speechConfig } = request.generationConfig ?? {}
  const [field] = Object.keys(defined({ imageConfig, modelConfig, routingConfig, speechConfig }))
  return field === undefined
    ? Effect.succeed(generationFromWire(request))
    : Effect.fail(ServiceError.invalid(`generation_config.${snake(field)}`, "is not served on this machine"))
}

const samplingOf = ({ generationConfig = {} }: GenerateContentRequest): NonNullable<GroundedRequest["sampling"]> => {
  const { frequencyPenalty, presencePenalty, seed, temperature, topK, topP } = generationConfig
  return defined({ frequencyPenalty, presencePenalty, seed, temperature, topK, topP })
}

const boundsOf = ({ generationConfig: { maxOutputTokens, stopSequences = [] } = {} }: GenerateContentRequest): AnswerBounds =>
  defined({ maxTokens: maxOutputTokens, stop: stopSequences.length === 0 ? undefined : stopSequences })

/** The answer with counted tokens of the request's text and of the answer, where the model reported none. */
const counted = (
  answer: Answer,
  { contents = [], systemInstruction }: GenerateContentRequest,
  countTokens: (text: string) => number
): Answer => {
  if (answer.usage !== undefined) return answer
  const promptTokens = [...contents, ...(systemInstruction === undefined ? [] : [systemInstruction])]
    .reduce((sum, content) => sum + countTokens(contentText(content)), 0)
  const answerTokens = countTokens(answer.text)
  return { ...answer, usage: { promptTokens, answerTokens, totalTokens: promptTokens + answerTokens } }
}
