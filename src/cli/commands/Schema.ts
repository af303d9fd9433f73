import { Effect } from "effect"
import { Command } from "effect/cli"
import { Output } from "../Output.ts"

/** `sluice schema`: the JSON Schema of pipeline files. */
export const schema = Command.make("schema", {}, Effect.fn(function*() {
  const output = yield* Output
  const { pipelineJsonSchema } = yield* Effect.promise(() => import("../../pipeline/definition/JsonSchema.ts"))
  yield* output.print(JSON.stringify(pipelineJsonSchema(), null, 2))
})).pipe(
  Command.withDescription("Print the JSON Schema of pipeline files, for editors."),
  Command.withExamples([{ command: "sluice schema > pipeline.schema.json", description: "save it beside your pipeline" }])
)
