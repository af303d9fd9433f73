import { Context, Effect, Layer, type Redacted, Stream } from "effect"
import { join } from "node:path"
import { ServiceError } from "../domain/Errors.ts"
import type { LocalModel } from "../domain/LocalModel.ts"
import type { SecretVersion } from "../domain/Secret.ts"
import * as ChatRanker from "../models/ChatRanker.ts"
import * as ChatRewriter from "../models/ChatRewriter.ts"
import * as GroundedGenerator from "../models/GroundedGenerator.ts"
import * as LexicalRanker from "../models/LexicalRanker.ts"
import { onlyModel } from "../models/openai/OnlyModel.ts"
import * as OfflineTextEmbedder from "../models/OfflineTextEmbedder.ts"
import { makeTextEmbedder } from "../models/OpenAiEmbedder.ts"
import * as OpenAiChat from "../models/OpenAiChat.ts"
import * as ServiceRanker from "../models/ServiceRanker.ts"
import { GoogleAuth } from "../net/GoogleAuth.ts"
import * as Http from "../net/Http.ts"
import type { RetryOptions } from "../net/Retry.ts"
import { ChatModel } from "../ports/ChatModel.ts"
import type { Embedder } from "../ports/Embedder.ts"
import { TextEmbedder } from "../ports/TextEmbedder.ts"
import { Generator } from "../ports/Generator.ts"
import { type Ranker, Rankers } from "../ports/Ranker.ts"
import { QueryRewriter } from "../ports/QueryRewriter.ts"
import type { Secrets } from "../ports/Secrets.ts"
import { countedChat, countedEmbedder } from "../server/Telemetry.ts"
import * as SecretManager from "../secrets/SecretManager.ts"
import { crossEncoders } from "./LocalModels.ts"

/** The model that a server answers with, whatever model is requested. */
export interface Upstream {
  /** Base address of an OpenAI-compatible service, up to and including the version: `http://127.0.0.1:11434/v1`. */
  readonly url: string
  /** Name of the model. Default: the only model the service lists. */
  readonly model?: string
  /** The model there that embeds texts of `:predict` and `:embedContent`. Default: the embedder of corpora. */
  readonly embeddingModel?: string
  readonly apiKey?: SecretVersion | Redacted.Redacted<string>
  /** Whether the model accepts images: `llm_parser` then sends it pages of PDFs, and pictures, as images. Default false: text only. */
  readonly images?: boolean
  /**
   * Retries of a call to the upstream. Default none: the caller gets the upstream's error at once, with its Retry-After,
   * and decides. Batch jobs retry rows themselves.
   */
  readonly retry?: RetryOptions
}

/** A reranker behind `rank_service`, whatever model is requested. */
export interface Reranker {
  /** Base address of a service with a `/rerank` like Cohere's, up to and including the version: `http://127.0.0.1:8000/v1`. */
  readonly url: string
  readonly model: string
  readonly apiKey?: SecretVersion | Redacted.Redacted<string>
}

/** Where the secrets are that the operator names. */
interface Keeping {
  readonly dataDir: string
  readonly secrets?: Layer.Layer<Secrets>
}

/** High enough that clients' requests are only slowed down by the upstream itself. */
const maxRequestsPerMinute = 60_000

/** Chat, rewriting of questions, and answers from contexts, all by the same model. */
export const layer = (
  { apiKey, embeddingModel, model, retry = { times: 0 }, url }: Upstream,
  keeping: Keeping
): Layer.Layer<ChatModel | Generator | QueryRewriter | TextEmbedder, ServiceError, Embedder> =>
  Layer.effectContext(Effect.gen(function*() {
    const connection = {
      baseUrl: url,
      maxRequestsPerMinute,
      pauseOthers: false,
      retry,
      apiKey
    }
    const named = model ?? (yield* Effect.mapError(onlyModel(connection), forClients))
    const upstream = yield* OpenAiChat.make({ ...connection, model: named })
    const chat = countedChat({ model: named, stream: (request) => Stream.mapError(upstream.stream(request), forClients) })
    const texts = embeddingModel === undefined
      ? yield* Effect.map(Layer.build(OfflineTextEmbedder.layer), Context.get(TextEmbedder))
      : yield* makeTextEmbedder({ ...connection, model: embeddingModel })
    return Context.make(ChatModel, chat).pipe(
      // The offline one uses the embedder of corpora, which keeps its own counts.
      Context.add(
        TextEmbedder,
        embeddingModel === undefined
          ? texts
          : countedEmbedder({ ...texts, embed: (...request) => Effect.mapError(texts.embed(...request), forClients) })
      ),
      Context.add(Generator, GroundedGenerator.make(chat)),
      Context.add(QueryRewriter, ChatRewriter.make(chat))
    )
  })).pipe(Layer.provide(keys(keeping)))

const keys = ({ dataDir, secrets }: Keeping) =>
  Layer.merge(secrets ?? SecretManager.layer(join(dataDir, "secrets")).pipe(Layer.provide(GoogleAuth.layer())), Http.layer()).pipe(
    Layer.provide(Http.layer())
  )

/** The upstream refused this server's key: the caller is authenticated, and can do nothing about it. */
const forClients = (error: ServiceError): ServiceError =>
  error.code === "UNAUTHENTICATED" || error.code === "PERMISSION_DENIED"
    ? new ServiceError({
      code: "FAILED_PRECONDITION",
      message: `the upstream service does not accept this server's key: ${error.message}`,
      fix: "give sluice serve another one: --upstream-key or SLUICE_UPSTREAM_KEY, --reranker-key or SLUICE_RERANKER_KEY"
    })
    : error

/**
 * Rankers of a server: the operator's reranker, or the offline ranker, stands in for the ranking service, and the
 * upstream, whatever model is named, is the ranker wherever a language model is requested.
 */
export const rankers = (byService: Ranker["Service"], chat?: ChatModel["Service"]): Rankers["Service"] => {
  const byModel = chat === undefined ? undefined : ChatRanker.make(chat)
  return Rankers.of({
    of: ({ _tag }) => {
      if (_tag !== "llmRanker") return Effect.succeed(byService)
      return byModel === undefined
        ? Effect.fail(ServiceError.invalid(
          "rank",
          "llm_ranker needs a server started with --upstream; rank_service needs none"
        ))
        : Effect.succeed(byModel)
    }
  })
}

/** Rankers of a server, with or without an upstream. */
export const rankersLayer = (
  reranker: Reranker | LocalModel | undefined,
  withModel: boolean,
  keeping: Keeping
): Layer.Layer<Rankers, ServiceError, ChatModel> =>
  Layer.effect(
    Rankers,
    Effect.gen(function*() {
      const chat = withModel ? yield* ChatModel : undefined
      if (reranker === undefined) return rankers(LexicalRanker.make(), chat)
      if (!("url" in reranker)) return rankers(yield* (yield* crossEncoders(keeping.dataDir))(reranker), chat)
      const { apiKey, model, url } = reranker
      const connection = { baseUrl: url, model, apiKey, maxRequestsPerMinute, pauseOthers: false, retry: { times: 0 } }
      const service = yield* Effect.provide(ServiceRanker.make(connection), yield* Layer.build(keys(keeping)))
      return rankers({ rank: (query, contexts) => Effect.mapError(service.rank(query, contexts), forClients) }, chat)
    })
  )
