import { Effect, type Scope, Stream } from "effect"
import type { Answer, AnswerPart } from "../../domain/Answer.ts"
import { defined } from "../../domain/Defined.ts"
import { type SecretError, ServiceError } from "../../domain/Errors.ts"
import type { Generator } from "../../ports/Generator.ts"
import type { TextPool } from "../../text/TextPool.ts"
import type { HostedModels } from "../Host.ts"
import { generatorOf, type GenerateSettings, isGenerator, type StageSettings, type WrittenGenerator } from "../definition/StageSettings.ts"
import { Models } from "../Services.ts"
import { withFileOffsets } from "./FileOffsets.ts"
import {
  type CorpusInUse,
  overContexts,
  type Question,
  retrievalRequest,
  type Retrieved,
  type RetrieveOptions,
  type Unanswered,
  type Unretrieved
} from "./Retrieve.ts"
import { described, type Stage } from "./Stage.ts"

/** Output of a `generate` stage: the question, the contexts it was answered from, best first, and the answer. */
export interface Answered extends Retrieved {
  readonly answer: Answer
}

/** How the answer should be, and how a model draws its words. Where no model answers, none of it has an effect. */
export interface AnswerOptions {
  /** What the answer should be like, in words for the model: "In one sentence." Default: nothing is said of it. */
  readonly instruction?: string
  /** How freely a model draws its words, 0 to 2: 0 takes the likeliest. Default: the model's own. */
  readonly temperature?: number
  /** The share of likeliest words that a model draws from, 0 to 1. Default: the model's own. */
  readonly topP?: number
  /** A whole number by which a model draws alike for equal requests, as far as it can. Default: none. */
  readonly seed?: number
}

/** Services a model needs: only an engine that has hosted models can run a pipeline that names one. */
type Needs<M extends WrittenGenerator> = (M extends "extractive" | object ? Models : Models | HostedModels) | TextPool

/**
 * Answers the question from the contexts, citing them. `model` is `extractive` (the default: sentences of the corpus, no
 * model), a hosted model's name, or an OpenAI-protocol server.
 */
export const generate = <const M extends WrittenGenerator = "extractive">(
  { model, ...options }: AnswerOptions & { readonly model?: M } = {}
): Stage<Unanswered, Answered, ServiceError | SecretError, Needs<M>> =>
  generateBySettings({ _tag: "generate", model: generatorOf(model ?? "extractive"), ...options })

/** Makes the stage of a pipeline file's `generate` or `chat`. */
export const generateBySettings = (
  settings: GenerateSettings
): Stage<Unanswered, Answered, ServiceError | SecretError, Models | TextPool> => {
  const { _tag, ground: _, model, ...options } = settings
  return overContexts(
    "generate",
    grounded(
      settings,
      options,
      () => isGenerator(model) ? Effect.flatMap(Models, (models) => models.generator(model)) : Effect.fail(noModel),
      contextsOf
    )
  )
}

const noModel = ServiceError.invalid("model", "is none", "name a hosted model, or { openai: { url, model } }")

/** Answers with a custom generator: see `Generator`. */
export const generateBy = (
  generator: Generator["Service"],
  options: AnswerOptions = {}
): Stage<Unanswered, Answered, ServiceError, TextPool> =>
  overContexts("generateBy", grounded(undefined, options, () => Effect.succeed(generator), contextsOf))

/** Answers with a hosted model that searches the corpus itself, with its own queries and these settings of `retrieve`. */
export const generateFromCorpus = (
  { model, retrieve, ...options }: AnswerOptions & { readonly model: string; readonly retrieve?: RetrieveOptions }
): Stage<Unretrieved, Answered, ServiceError | SecretError, Models | HostedModels | CorpusInUse | TextPool> =>
  searching({ _tag: "generate", ground: "corpus", model: { _tag: "hosted", model }, ...options }, model, retrieve)

/** Makes the stage of a pipeline file's `generate` with `ground: corpus`. */
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
    ...defined({ synonyms: input.synonyms }),
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
