import { Effect, type Scope, Stream } from "effect"
import type { Answer, AnswerPart } from "../../domain/Answer.ts"
import { type SecretError, ServiceError } from "../../domain/Errors.ts"
import type { Generator } from "../../ports/Generator.ts"
import type { TextPool } from "../../text/TextPool.ts"
import type { HostedModels } from "../Host.ts"
import { generatorOf, type GenerateSettings, isGenerator, type StageSettings, type WrittenGenerator } from "../definition/StageSettings.ts"
import { Models } from "../Services.ts"
import { withFileOffsets } from "./FileOffsets.ts"
import {
  type CorpusInUse,
  type Question,
  retrievalRequest,
  type Retrieved,
  type RetrieveOptions,
  type Unanswered,
  type Unretrieved
} from "./Retrieve.ts"
import { described, type Stage } from "./Stage.ts"

/** What a `generate` stage gives: the question, the contexts it was answered from, best first, and the answer. */
export interface Answered extends Retrieved {
  readonly answer: Answer
}

/** How the answer should be, and how a model draws its words. */
export interface AnswerOptions extends Omit<GenerateSettings, "_tag" | "model" | "ground"> {}

/** What a model needs of the engine: only one that has hosted models can run a pipeline that names one. */
type Needs<M extends WrittenGenerator> = (M extends "extractive" | object ? Models : Models | HostedModels) | TextPool

/**
 * Answers the question from the contexts, citing them. `model`: `extractive` (the default: sentences of the corpus, no
 * model), a hosted model's name, or an OpenAI-protocol server.
 */
export const generate = <const M extends WrittenGenerator = "extractive">(
  { model, ...options }: AnswerOptions & { readonly model?: M } = {}
): Stage<Unanswered, Answered, ServiceError | SecretError, Needs<M>> =>
  generateBySettings({ _tag: "generate", model: generatorOf(model ?? "extractive"), ...options })

/** The stage that a pipeline file's `generate` or `chat` makes. */
export const generateBySettings = (
  settings: GenerateSettings
): Stage<Unanswered, Answered, ServiceError | SecretError, Models | TextPool> => {
  const { _tag, ground: _, model, ...options } = settings
  return grounded(
    settings,
    options,
    () => isGenerator(model) ? Effect.flatMap(Models, (models) => models.generator(model)) : Effect.fail(noModel),
    contextsOf
  )
}

const noModel = ServiceError.invalid("model", "is none", "name a hosted model, or { openai: { url, model } }")

/** Answers by a generator of one's own: see `Generator`. */
export const generateBy = (
  generator: Generator["Service"],
  options: AnswerOptions = {}
): Stage<Unanswered, Answered, ServiceError, TextPool> => grounded(undefined, options, () => Effect.succeed(generator), contextsOf)

/** A hosted model that searches the corpus by itself, with its own queries and these settings of `retrieve`. */
export const generateFromCorpus = (
  { model, retrieve, ...options }: AnswerOptions & { readonly model: string; readonly retrieve?: RetrieveOptions }
): Stage<Unretrieved, Answered, ServiceError | SecretError, Models | HostedModels | CorpusInUse | TextPool> =>
  searching({ _tag: "generate", ground: "corpus", model: { _tag: "hosted", model }, ...options }, model, retrieve)

/** The stage that a pipeline file's `generate` with `ground: corpus` makes. */
export const searching = (
  settings: GenerateSettings,
  name: string,
  retrieve: RetrieveOptions = {}
): Stage<Unretrieved, Answered, ServiceError | SecretError, Models | CorpusInUse | TextPool> => {
  const { _tag, ground: _, model: __, ...options } = settings
  return grounded(
    settings,
    options,
    Effect.fnUntraced(function*(input: Unretrieved) {
      const models = yield* Models
      return yield* models.searching(name, yield* retrievalRequest(input, retrieve))
    }),
    () => []
  )
}

const contextsOf = ({ contexts }: Retrieved): Retrieved["contexts"] => contexts

const grounded = <In extends Question, E, R>(
  settings: StageSettings | undefined,
  { instruction, ...sampling }: AnswerOptions,
  generatorFor: (input: In) => Effect.Effect<Generator["Service"], E, R | Scope.Scope>,
  contextsFor: (input: In) => Retrieved["contexts"]
): Stage<In, Answered, E | ServiceError, R | TextPool> => {
  const requestOf = (input: In) => ({
    question: input.question,
    contexts: contextsFor(input),
    sampling,
    instruction
  })
  return described<In, Answered, E | ServiceError, unknown>(
    settings,
    (input) =>
      Effect.gen(function*() {
        const generator = yield* generatorFor(input)
        const request = requestOf(input)
        return { ...input, contexts: request.contexts, answer: yield* withFileOffsets(yield* generator.answer(request)) }
      }).pipe(Effect.scoped, Effect.withSpan("stage.generate")),
    (input) =>
      Stream.unwrap(Effect.map(generatorFor(input), (generator) => generator.stream(requestOf(input)))).pipe(
        Stream.mapEffect((part): Effect.Effect<AnswerPart, never, TextPool> =>
          part._tag === "done" ? Effect.map(withFileOffsets(part.answer), (answer) => ({ ...part, answer })) : Effect.succeed(part)
        ),
        Stream.scoped
      )
  ) as Stage<In, Answered, E | ServiceError, R | TextPool> // the scope is closed above, and the span is ours
}
