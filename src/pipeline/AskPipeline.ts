import { Effect } from "effect"
import type { CorpusName } from "../domain/Corpus.ts"
import { ServiceError } from "../domain/Errors.ts"
import { RagFileName } from "../domain/RagFile.ts"
import { Generator } from "../ports/Generator.ts"
import { Ranker } from "../ports/Ranker.ts"
import { onEngine } from "./OnEngine.ts"
import type { Pipeline } from "./Pipeline.ts"
import { corpusOf } from "./RunPipeline.ts"
import type { GenerateSettings, RetrieveSettings } from "./schema/StageSettings.ts"
import { Models } from "./Services.ts"
import { generate } from "./stages/Generate.ts"
import { rank } from "./stages/Rank.ts"
import { type Question, retrieve, type Retrieved, type RetrieveOptions } from "./stages/Retrieve.ts"

/** Runs a pipeline's stages up to the contexts: retrieve, and any rankers. `overrides` go before what the file says. */
export const retrieveFrom = Effect.fn("retrieveFrom")(function*(
  given: Pipeline,
  question: Question,
  overrides: RetrieveOptions = {}
) {
  const pipeline = yield* onEngine(given)
  const { name } = yield* corpusOf(pipeline)
  let retrieved: Retrieved = { ...question, contexts: [] }
  for (const stage of pipeline.stages) {
    switch (stage._tag) {
      case "retrieve":
        retrieved = yield* retrieve(name, { ...retrieveOptions(name, stage), ...overrides })(question)
        break
      case "rank": {
        const ranker = yield* (yield* Models).ranker(stage.rank)
        retrieved = yield* rank()(retrieved).pipe(Effect.provideService(Ranker, ranker))
        break
      }
      case "generate":
      case "chat":
      case "batch":
    }
  }
  return retrieved
}, Effect.scoped)

/** Runs all of a pipeline's stages and answers. A pipeline without a generate stage is `FAILED_PRECONDITION`. */
export const askPipeline = Effect.fn("askPipeline")(function*(
  given: Pipeline,
  question: Question,
  overrides: RetrieveOptions = {}
) {
  const pipeline = yield* onEngine(given)
  const { ground, instruction, model, ...sampling } = yield* generateStage(pipeline)
  const models = yield* Models
  const searches = ground === "corpus" && model._tag === "hosted"
  const retrieved: Retrieved = searches ? { ...question, contexts: [] } : yield* retrieveFrom(pipeline, question, overrides)
  const generator = searches
    ? yield* models.searching(model.model, yield* selectionOf(pipeline, question, overrides))
    : yield* models.generator(model)
  return yield* generate({ sampling, ...(instruction === undefined ? {} : { instruction }) })(retrieved).pipe(
    Effect.provideService(Generator, generator)
  )
}, Effect.scoped)

/** What a model searches that searches by itself, and how. */
const selectionOf = Effect.fnUntraced(function*(pipeline: Pipeline, { principal }: Question, overrides: RetrieveOptions) {
  const { name } = yield* corpusOf(pipeline)
  const stage = pipeline.stages.find((stage): stage is RetrieveSettings => stage._tag === "retrieve")
  return { corpus: name, ...(stage === undefined ? {} : retrieveOptions(name, stage)), ...overrides, ...(principal === undefined ? {} : { principal }) }
})

/** A chat stage answers a single question as it does the first of a conversation. */
export const generateStage = ({ name, stages }: Pipeline): Effect.Effect<Omit<GenerateSettings, "_tag">, ServiceError> => {
  const generate = stages.find((stage) => stage._tag === "generate")
  const chat = stages.find((stage) => stage._tag === "chat")
  if (generate !== undefined) {
    const { _tag, ...settings } = generate
    return Effect.succeed(settings)
  }
  if (chat !== undefined) {
    const { _tag, turns: _, ...settings } = chat
    return Effect.succeed(settings)
  }
  return Effect.fail(
    new ServiceError({
      code: "FAILED_PRECONDITION",
      message: `pipeline ${name} has no generate stage, so it cannot answer`,
      fix: "add `- generate: {}` to stages, or use `sluice retrieve`"
    })
  )
}

const retrieveOptions = (corpus: CorpusName, settings: RetrieveSettings): RetrieveOptions => {
  const { _tag, files, ...options } = settings
  return {
    ...options,
    ...(files === undefined
      ? {}
      : { files: files.map((file) => RagFileName.make(file.includes("/") ? file : `${corpus}/ragFiles/${file}`)) })
  }
}
