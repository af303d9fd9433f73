import { Effect, Option } from "effect"
import { optionalText } from "./Flags.ts"
import { given, root } from "./Root.ts"
import { openForResources, pipelineFlag } from "./Session.ts"
import { UsageError } from "./UsageError.ts"

/** Flags that choose the engine of commands that need no pipeline. */
export const engineFlags = {
  pipeline: pipelineFlag,
  project: optionalText("project", "PROJECT", "Google Cloud project of the vertex engine, where no pipeline names it"),
  location: optionalText("location", "REGION", "Its region, for example us-central1")
}

export interface EngineArgs {
  readonly pipeline: Option.Option<string>
  readonly project: Option.Option<string>
  readonly location: Option.Option<string>
}

/** A pipeline on the chosen engine. */
export const pipelineFor = Effect.fnUntraced(function*({ location, pipeline, project }: EngineArgs) {
  const [p, l] = [given(project), given(location)]
  if (p === undefined && l === undefined) return (yield* openForResources(pipeline)).pipeline
  const { engine } = yield* root
  if (p === undefined || l === undefined || Option.isSome(pipeline) || given(engine) === "embedded") {
    return yield* new UsageError({
      message: "--project and --location must be given together, and select the vertex engine",
      fix: "give both, without --pipeline and --engine embedded"
    })
  }
  const { definePipeline } = yield* Effect.promise(() => import("../pipeline/definition/DefinePipeline.ts"))
  return yield* Effect.try({
    try: () =>
      definePipeline({
        name: "resources",
        engine: { vertex: { project: p, location: l } },
        corpus: { displayName: "resources" },
        sources: {}
      }),
    catch: () =>
      new UsageError({
        message: `${p} in ${l} is not a project and its region`,
        fix: "write for example --project my-project --location us-central1"
      })
  })
})
