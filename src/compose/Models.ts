import { Effect, Layer } from "effect"
import { ServiceError } from "../domain/Errors.ts"
import { Models } from "../pipeline/Services.ts"
import type { Retrieval } from "../ports/Retrieval.ts"
import { Secrets } from "../ports/Secrets.ts"
import { localRankers } from "./LocalModels.ts"

// Loaded when a model is made: runs make none.
const carryOverRewriter = Effect.promise(() => import("../models/CarryOverRewriter.ts"))
const chatDrafter = Effect.promise(() => import("../models/ChatDrafter.ts"))
const chatJudge = Effect.promise(() => import("../models/ChatJudge.ts"))
const chatRewriter = Effect.promise(() => import("../models/ChatRewriter.ts"))
const extractiveChat = Effect.promise(() => import("../models/ExtractiveChat.ts"))
const extractiveDrafter = Effect.promise(() => import("../models/ExtractiveDrafter.ts"))
const extractiveGenerator = Effect.promise(() => import("../models/ExtractiveGenerator.ts"))
const groundedGenerator = Effect.promise(() => import("../models/GroundedGenerator.ts"))

type EmbedderOf = Retrieval["Service"]["embedderOf"]

/** Makes a chat model of a generator's settings. */
type MakeChat = Models["Service"]["chat"]

/**
 * Makes everything that one kind of chat model is used for. Without a model the corpus's own sentences are the answers,
 * compared with the question by the corpus's embedder too where it is a model; with any model, answers must be supported by them, and
 * citations are verified.
 */
export const conversing = (
  chat: MakeChat,
  embedderOf?: EmbedderOf
): Pick<Models["Service"], "chat" | "drafter" | "generator" | "grounded" | "judge" | "rewriter"> => ({
  chat,
  grounded: (model) => Effect.map(groundedGenerator, ({ make }) => make(model)),
  generator: (settings) =>
    settings._tag === "extractive"
      ? Effect.map(extractiveGenerator, ({ make }) => make({}, embedderOf))
      : Effect.zipWith(groundedGenerator, chat(settings), ({ make }, model) => make(model)),
  judge: (settings) => Effect.zipWith(chatJudge, chat(settings), ({ make }, model) => make(model)),
  drafter: (settings) =>
    settings._tag === "extractive"
      ? Effect.map(extractiveDrafter, ({ make }) => make())
      : Effect.zipWith(chatDrafter, chat(settings), ({ make }, model) => make(model)),
  rewriter: (settings) =>
    settings._tag === "extractive"
      ? Effect.map(carryOverRewriter, ({ make }) => make())
      : Effect.zipWith(chatRewriter, chat(settings), ({ make }, model) => make(model))
})

/**
 * Models that need no engine: extractive and OpenAI-protocol ones, and local rankers. `embedderOf` finds the embedder of a
 * file's corpus, where it runs here.
 */
export const layer = (dataDir: string, embedderOf?: EmbedderOf): Layer.Layer<Models, never, Secrets> =>
  Layer.effect(
    Models,
    Effect.gen(function*() {
      const secrets = yield* Secrets
      const rankers = yield* localRankers(dataDir)
      const chat: MakeChat = Effect.fnUntraced(function*(settings) {
        switch (settings._tag) {
          case "extractive":
            return (yield* extractiveChat).make((yield* Effect.promise(() => import("../text/Tokens.ts"))).countTokens)
          case "openai": {
            // The HTTP client is large, and most runs do not need it.
            const [http, openai] = yield* Effect.promise(() => Promise.all([import("../net/Http.ts"), import("../models/OpenAiChat.ts")]))
            const { apiKey, model, url } = settings
            return yield* openai.make({ baseUrl: url, model, apiKey }).pipe(
              Effect.provide(yield* Layer.build(http.layer())),
              Effect.provideService(Secrets, secrets)
            )
          }
          case "hosted":
            return yield* new ServiceError({
              code: "UNIMPLEMENTED",
              message: `this engine has no hosted models, so ${settings.model} is not available`,
              fix: "use model: extractive, or an OpenAI-protocol server"
            })
        }
      })
      return Models.of({
        ...conversing(chat, embedderOf),
        searching: (model) =>
          Effect.fail(
            new ServiceError({
              code: "UNIMPLEMENTED",
              message: `this engine has no model that searches the corpus itself, so ${model} is not available`,
              fix: "leave ground out of the generate stage"
            })
          ),
        ranker: rankers.of
      })
    })
  )
