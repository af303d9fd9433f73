/**
 * Uses models of `effect/ai`, and custom chat models, in pipelines, and models of Sluice as models of `effect/ai`.
 *
 * @example
 * ```ts
 * const model = yield* LanguageModel.LanguageModel
 * const handbook = Pipeline.make("handbook", {
 *   corpus: { displayName: "Handbook" },
 *   sources: { docs: local("./docs") },
 *   stages: compose(retrieve(), generateBy(fromLanguageModel(model, { name: "claude" })))
 * })
 * ```
 */
export { chatModelOf, fromChatModel, fromEmbeddingModel, fromLanguageModel, toEmbeddingModel, toLanguageModel } from "./models/EffectAi.ts"
