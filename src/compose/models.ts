import { Effect, Layer } from "effect"
import { ServiceError } from "../domain/Errors.ts"
import * as ExtractiveGenerator from "../models/ExtractiveGenerator.ts"
import * as LexicalRanker from "../models/LexicalRanker.ts"
import { Models } from "../pipeline/Services.ts"
import { Secrets } from "../ports/Secrets.ts"

/** The models that need no engine: extractive and OpenAI-protocol generators, the lexical ranker. */
export const layer: Layer.Layer<Models, never, Secrets> = Layer.effect(
  Models,
  Effect.gen(function*() {
    const secrets = yield* Secrets
    return Models.of({
      generator: Effect.fnUntraced(function*(settings) {
        switch (settings._tag) {
          case "extractive":
            return ExtractiveGenerator.make()
          case "openai": {
            // The HTTP client is large, and most runs never need it.
            const [http, openai] = yield* Effect.promise(() =>
              Promise.all([import("../net/Http.ts"), import("../models/OpenAiGenerator.ts")])
            )
            const { apiKey, model, url } = settings
            return yield* openai.make({ baseUrl: url, model, ...(apiKey === undefined ? {} : { apiKey }) }).pipe(
              Effect.provide(yield* Layer.build(http.layer())),
              Effect.provideService(Secrets, secrets)
            )
          }
          case "hosted":
            return yield* new ServiceError({
              code: "UNIMPLEMENTED",
              message: `this engine has no hosted models, and so no ${settings.model}`,
              fix: "use model: extractive, or an OpenAI-protocol server"
            })
        }
      }),
      ranker: (ranking) =>
        ranking._tag === "lexical"
          ? Effect.succeed(LexicalRanker.make())
          : Effect.fail(
            new ServiceError({
              code: "UNIMPLEMENTED",
              message: `this engine has no ${ranking._tag} (port Ranker)`,
              fix: "use rank: lexical"
            })
          )
    })
  })
)
