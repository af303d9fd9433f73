import { Effect, Fiber, Layer, Logger } from "effect"
import { Command, Flag } from "effect/cli"
import type { Inquiry } from "../../mcp/KnowledgeBase.ts"
import packageJson from "../../../package.json" with { type: "json" }
import { Files } from "../../ports/Files.ts"
import { Ledger } from "../../ports/Ledger.ts"
import { questionFlags } from "../Question.ts"
import { given, root } from "../Root.ts"
import { onEngine, openPipeline, pipelineArgument, reading } from "../Session.ts"
import { UsageError } from "../UsageError.ts"

/** `sluice mcp`: the pipeline's corpus as tools of an agent, by the Model Context Protocol. */
export const mcp = Command.make(
  "mcp",
  {
    pipeline: pipelineArgument,
    as: questionFlags.as,
    where: questionFlags.where,
    tokens: Flag.Int("tokens").pipe(
      Flag.filter((n) => n >= 200 && n <= 100_000, () => "Expected 200 to 100000"),
      Flag.withDescription("Tokens of text that one result may have. Default 4000"),
      Flag.withMetavar("N"),
      Flag.optional
    )
  },
  Effect.fn(function*(args) {
    const { json } = yield* root
    if (json) {
      return yield* new UsageError({ message: "--json has no meaning here: what is printed is the protocol", fix: "leave it out" })
    }
    const loaded = yield* openPipeline(args.pipeline)
    const { pipeline } = loaded
    const [{ askPipeline, retrieveFrom }, { corpusOf }, { findScope, namesIn }, KnowledgeBase, { stdio }] = yield* Effect.promise(() =>
      Promise.all([
        import("../../pipeline/AskPipeline.ts"),
        import("../../pipeline/RunPipeline.ts"),
        import("../../pipeline/sync/Target.ts"),
        import("../../mcp/KnowledgeBase.ts"),
        import("../../mcp/Mcp.ts")
      ])
    )
    yield* onEngine(
      loaded,
      reading,
      Effect.gen(function*() {
        const files = yield* Files
        const ledger = yield* Ledger
        const around = yield* Effect.context<Effect.Services<ReturnType<typeof askPipeline | typeof retrieveFrom>>>()
        const asked = ({ principal, question, ...options }: Inquiry) => [pipeline, { question, principal }, options] as const
        const base = yield* Effect.fromResult(KnowledgeBase.make({
          title: pipeline.corpus.displayName,
          description: pipeline.corpus.description,
          corpus: Effect.map(corpusOf(pipeline), ({ name }) => name).pipe(Effect.provideContext(around)),
          files,
          retrieve: (inquiry) =>
            retrieveFrom(...asked(inquiry)).pipe(Effect.map(({ contexts }) => contexts), Effect.provideContext(around)),
          answer: (inquiry) => askPipeline(...asked(inquiry)).pipe(Effect.map(({ answer }) => answer), Effect.provideContext(around)),
          status: Effect.gen(function*() {
            const scope = yield* findScope(namesIn(pipeline))
            const [last] = yield* ledger.runs(scope, 1)
            return {
              pipeline: pipeline.name,
              corpus: pipeline.corpus.displayName,
              files: yield* ledger.count(scope),
              lastRun: last === undefined ? null : {
                started: new Date(last.started).toISOString(),
                ...(last.ended === undefined ? {} : { ended: new Date(last.ended).toISOString() }),
                ...(last.report === undefined ? {} : { totals: last.report.totals, reasons: last.report.reasons ?? [] })
              }
            }
          }).pipe(Effect.provideContext(around))
        }, { principal: given(args.as), where: given(args.where), tokens: given(args.tokens) }))
        // The end of the input interrupts the server from within, and is the end of the command.
        yield* Effect.forkChild(Layer.launch(stdio(base, { version: packageJson.version }))).pipe(Effect.flatMap(Fiber.await))
      })
    )
  }, Effect.provideService(Logger.LogToStderr, true))
).pipe(
  Command.withShortDescription("Give the corpus to an agent, by the Model Context Protocol."),
  Command.withDescription(
    "Give the corpus to an agent, by the Model Context Protocol on standard input and output: tools search, ask, read, list and status. It reads and changes nothing. What --as and --where leave out no caller gets to see."
  ),
  Command.withExamples([
    { command: "sluice mcp pipeline.yaml", description: "what an agent's settings have as the server's command" },
    {
      command: "sluice mcp pipeline.yaml --as user:ann@acme.com --where 'team == \"ops\"'",
      description: "only what Ann may read, and of that only what is of ops"
    }
  ])
)
