import { Effect, Fiber, Layer } from "effect"
import { Command } from "effect/cli"
import packageJson from "../../../package.json" with { type: "json" }
import { optionalInt } from "../Flags.ts"
import { Output } from "../Output.ts"
import { questionFlags } from "../Question.ts"
import { given, root } from "../Root.ts"
import { onEngine, openPipeline, pipelineArgument, reading } from "../Session.ts"
import { UsageError } from "../UsageError.ts"

/** `sluice mcp`: offers the pipeline's corpus as tools to an agent, by the Model Context Protocol. */
export const mcp = Command.make(
  "mcp",
  {
    pipeline: pipelineArgument,
    as: questionFlags.as,
    where: questionFlags.where,
    tokens: optionalInt("tokens", [200, 100_000], "N", "Tokens of text that one result may have. Default 4000")
  },
  Effect.fn(function*(args) {
    const { json } = yield* root
    if (json) {
      return yield* new UsageError({ message: "--json does not apply here: the output is the protocol", fix: "leave it out" })
    }
    const loaded = yield* openPipeline(args.pipeline)
    // Clients end the server by a signal if closing its input does not end it at once.
    Object.assign((yield* Output).interrupted, { what: "stopped", next: "nothing was changed" })
    const [{ knowledgeBaseOf }, { stdio }] = yield* Effect.promise(() =>
      Promise.all([import("../KnowledgeBase.ts"), import("../../mcp/Mcp.ts")])
    )
    yield* onEngine(
      loaded,
      reading,
      Effect.gen(function*() {
        const { base } = yield* knowledgeBaseOf(loaded, {
          principal: args.as,
          where: given(args.where),
          tokens: given(args.tokens)
        })
        // The end of the input interrupts the server from within, and ends the command.
        yield* Effect.forkChild(Layer.launch(stdio(base, { version: packageJson.version }))).pipe(Effect.flatMap(Fiber.await))
      })
    )
  })
).pipe(
  Command.withShortDescription("Give the corpus to an agent, by the Model Context Protocol."),
  Command.withDescription(
    "Give the corpus to an agent, by the Model Context Protocol on standard input and output, as the tools search, ask, read, list and status. It only reads. No caller sees files that --as and --where exclude."
  ),
  Command.withExamples([
    { command: "sluice mcp pipeline.yaml", description: "the server's command for an agent's settings" },
    {
      command: "sluice mcp pipeline.yaml --as user:ann@acme.com --where 'team == \"ops\"'",
      description: "only files of ops that Ann may read"
    }
  ])
)
