/**
 * Models of `effect/ai` in pipelines, and ours as theirs.
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
export { chatModelOf, fromEmbeddingModel, fromLanguageModel, toEmbeddingModel, toLanguageModel } from "./models/EffectAi.ts"
