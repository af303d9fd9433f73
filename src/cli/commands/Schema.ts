import { Effect, Option } from "effect"
import { Argument, Command } from "effect/cli"
import { Output } from "../Output.ts"
import { fromHere } from "../Paths.ts"

const pipeline = Argument.Path("pipeline").pipe(
  Argument.map(fromHere),
  Argument.withDescription("A pipeline file: the schema then includes the sources and stages of the modules under its `use`"),
  Argument.optional
)

/** `sluice schema`: the JSON Schema of pipeline files. */
export const schema = Command.make(
  "schema",
  { pipeline },
  Effect.fn(function*({ pipeline }) {
    const output = yield* Output
    const { pipelineJsonSchema } = yield* Effect.promise(() => import("../../pipeline/definition/JsonSchema.ts"))
    const extensions = Option.isNone(pipeline) ? undefined : yield* Effect.flatMap(
      Effect.promise(() => import("../../pipeline/definition/Load.ts")),
      ({ loadExtensions }) => loadExtensions(pipeline.value)
    )
    yield* output.print(JSON.stringify(pipelineJsonSchema(extensions), null, 2))
  })
).pipe(
  Command.withDescription("Print the JSON Schema of pipeline files, for editors."),
  Command.withExamples([
    { command: "sluice schema > pipeline.schema.json", description: "save it beside your pipeline" },
    {
      command: "sluice schema pipeline.yaml > pipeline.schema.json",
      description: "with the custom sources and stages that the file uses"
    }
  ])
)
