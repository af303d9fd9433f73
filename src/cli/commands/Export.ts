import { dirname } from "node:path"
import { Effect } from "effect"
import { Argument, Command, Flag } from "effect/cli"
import { Output } from "../Output.ts"
import { fromHere } from "../Paths.ts"
import { plural } from "../render/Numbers.ts"
import { given, root } from "../Root.ts"
import { UsageError } from "../UsageError.ts"
import { atItsPlace, openPipeline, pipelineFlag } from "../Session.ts"

/** `sluice export`: writes a generation of the corpus as one file that can be read anywhere. */
export const exportCommand = Command.make(
  "export",
  {
    file: Argument.Path("file").pipe(
      Argument.map(fromHere),
      Argument.withDescription("The bundle to write, NAME.bundle; an existing one is replaced once the new one is complete")
    ),
    pipeline: pipelineFlag,
    generation: Flag.Int("generation").pipe(
      Flag.filter((number) => number >= 1, () => "Expected 1 or more"),
      Flag.withDescription("Which of the pipeline's generations, by the number that `sluice status` shows. Default: the live one"),
      Flag.withMetavar("N"),
      Flag.optional
    )
  },
  Effect.fn(function*(args) {
    const { json } = yield* root
    const output = yield* Output
    if (!args.file.endsWith(".bundle")) {
      return yield* new UsageError({ message: `${args.file} is not the name of a bundle`, fix: `call it ${args.file}.bundle` })
    }
    const loaded = yield* openPipeline(args.pipeline)
    if (loaded.bundle !== undefined) {
      return yield* new UsageError({ message: `${loaded.bundle} is a bundle already`, fix: "copy it" })
    }
    const { exportBundle } = yield* Effect.promise(() => import("../../compose/Bundle.ts"))
    const { file, pipeline } = loaded
    const made = yield* atItsPlace(
      loaded,
      exportBundle({ definition: pipeline }, args.file, { generation: given(args.generation), folder: dirname(file) })
    )
    if (json) return yield* output.json({ version: 1, type: "exported", file: args.file, ...made })
    yield* output.print(
      `${args.file}: ${plural(made.files, "file")}, ${plural(made.chunks, "chunk")}, ${made.bytes} bytes, sha256 ${made.sha256}`
    )
    const own = pipeline.stages.flatMap((stage) => stage._tag === "own" ? [stage.kind] : [])
    if (own.length > 0) yield* output.say(`custom stages are left out: ${own.join(", ")}`)
  })
).pipe(
  Command.withShortDescription("Write the corpus as one file that can be read anywhere."),
  Command.withDescription(
    "Write the live corpus as a bundle: one checksummed, read-only file that `ask`, `retrieve`, `serve --bundle` and programs can use anywhere. The same files and settings give the same bytes. During a run it contains the corpus as of the start of the export. It contains no source, path or secret of this machine."
  ),
  Command.withExamples([
    { command: "sluice export handbook.bundle", description: "the live corpus" },
    { command: "sluice export next.bundle --generation 2", description: "another generation, such as the candidate" },
    { command: "sluice ask \"How many days of leave carry over?\" --bundle handbook.bundle", description: "use it, anywhere" }
  ])
)
