import { Effect, Layer, Scope, Stream } from "effect"
import { asServiceError } from "../domain/Errors.ts"
import * as EmbeddedGeneration from "../engines/embedded/EmbeddedGeneration.ts"
import * as LocalPartnerChat from "../models/LocalPartnerChat.ts"
import type { Definition } from "../pipeline/definition/Definition.ts"
import type { GeneratorSettings } from "../pipeline/definition/StageSettings.ts"
import { Models } from "../pipeline/Services.ts"
import { ChatModel } from "../ports/ChatModel.ts"
import type { Generation } from "../ports/Generation.ts"
import type { PartnerChat } from "../ports/PartnerChat.ts"
import { countTokens } from "../text/Tokens.ts"

/** The service's ways to ask a model, answered by the model that the pipeline's stage names; without one, extractively. */
export const localModels = (pipeline: Definition): Layer.Layer<Generation | PartnerChat, never, Models> =>
  Layer.merge(EmbeddedGeneration.layer(countTokens), LocalPartnerChat.layer(countTokens)).pipe(
    Layer.provide(stageModel(pipeline))
  )

/** Made when it is first asked: a pipeline that only syncs needs neither the model's server nor its key. */
const stageModel = ({ stages }: Definition): Layer.Layer<ChatModel, never, Models> =>
  Layer.effect(
    ChatModel,
    Effect.gen(function*() {
      const settings = stages.map(modelOf).find((settings) => settings !== undefined) ?? { _tag: "extractive" }
      const { chat } = yield* Models
      const scope = yield* Effect.scope
      const model = yield* Effect.cached(chat(settings).pipe(Scope.provide(scope), Effect.mapError(asServiceError)))
      return ChatModel.of({
        model: settings._tag === "extractive" ? "extractive" : settings.model,
        stream: (request) => Stream.unwrap(Effect.map(model, (model) => model.stream(request)))
      })
    })
  )

const modelOf = (stage: Definition["stages"][number]): GeneratorSettings | undefined => ("model" in stage ? stage.model : undefined)
