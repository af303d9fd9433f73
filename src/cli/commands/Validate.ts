import { Effect } from "effect"
import { Command } from "effect/cli"
import { Output } from "../Output.ts"
import { fromHere } from "../Paths.ts"
import { plural } from "../render/Numbers.ts"
import { root } from "../Root.ts"
import { openPipeline, pipelineArgument } from "../Session.ts"

/** `sluice validate`: reports every problem of a pipeline file at once; contacts nothing. */
export const validate = Command.make(
  "validate",
  { pipeline: pipelineArgument },
  Effect.fn(function*(args) {
    const output = yield* Output
    const { json } = yield* root
    const { file, hash, pipeline } = yield* openPipeline(args.pipeline)
    if (json) return yield* output.json({ version: 1, valid: true, file, name: pipeline.name, engine: pipeline.engine._tag, hash })
    yield* output.print(
      `${fromHere(file)} is valid: pipeline ${pipeline.name} on the ${pipeline.engine._tag} engine, ` +
        `${plural(Object.keys(pipeline.sources).length, "source")}, ${plural(pipeline.stages.length, "stage")}`
    )
  })
).pipe(
  Command.withShortDescription("Check a pipeline file and report every problem at once."),
  Command.withDescription(
    "Check a pipeline file: its form, every rule, and whether the engine can run it. Reports all problems at once, each with its place and a fix."
  ),
  Command.withExamples([
    { command: "sluice validate pipeline.yaml", description: "check for the engine the file names" },
    { command: "sluice validate pipeline.yaml --engine vertex", description: "check whether it would run on Vertex AI" }
  ])
)
