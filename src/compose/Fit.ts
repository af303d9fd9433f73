import { Effect, Result } from "effect"
import { fitness } from "../pipeline/definition/Fitness.ts"
import type { LoadedPipeline } from "../pipeline/definition/Load.ts"
import type { PipelineInvalid } from "../pipeline/definition/PipelineInvalid.ts"
import { invalidPipeline, ownEngine } from "../pipeline/OnEngine.ts"
import type { Definition } from "../pipeline/definition/Definition.ts"
import type { EngineName } from "../pipeline/definition/EngineSettings.ts"
import { forEngine } from "../pipeline/definition/ForEngine.ts"
import { capabilitiesOf } from "./Capabilities.ts"

/** The pipeline as an engine runs it, or every place where that engine, with these sources, lacks something. */
export const fit = (
  loaded: LoadedPipeline,
  engine: EngineName,
  sources: Iterable<string>
): Effect.Effect<LoadedPipeline, PipelineInvalid> => {
  const fitted = forEngine(loaded.pipeline, engine)
  if (Result.isFailure(fitted)) return Effect.fail(loaded.invalid(fitted.failure))
  const problems = fitness(loaded.pipeline, capabilitiesOf(engine, sources))
  return problems.length > 0 ? Effect.fail(loaded.invalid(problems)) : Effect.succeed({ ...loaded, pipeline: fitted.success })
}

/** The same for a program's pipeline, which runs on no other engine than it names. */
export const fitOwn = (pipeline: Definition, engine: EngineName, sources: Iterable<string>): Effect.Effect<Definition, PipelineInvalid> => {
  const own = ownEngine(pipeline, engine)
  if (Result.isFailure(own)) return Effect.fail(own.failure)
  const problems = fitness(pipeline, capabilitiesOf(engine, sources))
  return problems.length > 0 ? Effect.fail(invalidPipeline(pipeline, problems)) : Effect.succeed(own.success)
}
