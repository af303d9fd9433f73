import { Effect, Result } from "effect"
import { Engine } from "../ports/Engine.ts"
import { PipelineInvalid, type Problem } from "./definition/PipelineInvalid.ts"
import { issueOf } from "./definition/Place.ts"
import type { Definition } from "./definition/Definition.ts"
import type { EngineName } from "./definition/EngineSettings.ts"
import { forEngine } from "./definition/ForEngine.ts"

/** What is wrong with a pipeline that came from no file. */
export const invalidPipeline = ({ name }: Definition, problems: ReadonlyArray<Problem>): PipelineInvalid => {
  const file = `pipeline ${JSON.stringify(name)}`
  return new PipelineInvalid({ file, issues: problems.map((problem) => issueOf(file, problem)) })
}

/**
 * The pipeline as an engine runs it: the sections that `engines` gives for it in the place of the pipeline's own. Throws
 * {@link PipelineInvalid} where the engine needs settings that the pipeline does not have. A pipeline runs on the engine
 * it names; this makes one that names another.
 *
 * @example
 * ```ts
 * const local = pipelineFor(pipeline, "embedded")
 * ```
 */
export const pipelineFor = (pipeline: Definition, engine: EngineName): Definition =>
  Result.getOrThrowWith(forEngine(pipeline, engine), (problems) => invalidPipeline(pipeline, problems))

/** The pipeline as its own engine runs it, where that is `engine`. */
export const ownEngine = (pipeline: Definition, engine: EngineName): Result.Result<Definition, PipelineInvalid> => {
  const named = pipeline.engine._tag
  const fitted = named === engine ? forEngine(pipeline) : Result.fail<ReadonlyArray<Problem>>([{
    path: ["engine"],
    rule: `the pipeline names the ${named} engine, and the one it is given is ${engine}`,
    fix: `provide ${named === "vertex" ? "Vertex" : "Embedded"}.layer, or take pipelineFor(pipeline, "${engine}")`
  }])
  return Result.mapError(fitted, (problems) => invalidPipeline(pipeline, problems))
}

/** {@link ownEngine}, for the engine that is there. */
export const onEngine = (pipeline: Definition): Effect.Effect<Definition, PipelineInvalid, Engine> =>
  Effect.flatMap(Engine, ({ name }) => Effect.fromResult(ownEngine(pipeline, name)))
