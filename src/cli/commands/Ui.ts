import { randomBytes } from "node:crypto"
import { Deferred, Effect, Fiber, Option, Path, Redacted } from "effect"
import { Argument, Command, Flag } from "effect/cli"
import packageJson from "../../../package.json" with { type: "json" }
import { defined } from "../../domain/Defined.ts"
import { ServiceError } from "../../domain/Errors.ts"
import type { Inspected } from "../../ui/Inspector.ts"
import { Output } from "../Output.ts"
import { fromHere } from "../Paths.ts"
import { questionFlags } from "../Question.ts"
import { given, root } from "../Root.ts"
import { onEngine, openPipeline, reading } from "../Session.ts"

/** Most tokens of text in one result: the page is not a prompt. */
const tokens = 1_000_000

type Opened = Effect.Success<ReturnType<typeof openPipeline>>

/** `sluice ui`: shows the pipeline's corpus in a web page. */
export const ui = Command.make(
  "ui",
  {
    pipelines: Argument.Path("pipeline").pipe(
      Argument.map(fromHere),
      Argument.withDescription("The pipeline files; optional where there is only one"),
      Argument.variadic()
    ),
    port: Flag.Int("port").pipe(
      Flag.filter((port) => port >= 0 && port <= 65_535, () => "Expected a port, from 0 to 65535"),
      Flag.withDescription("Port to listen on; 0 picks a free one. Default 8687"),
      Flag.withDefault(8687)
    ),
    as: questionFlags.as,
    where: questionFlags.where
  },
  Effect.fn(function*(args) {
    const { dataDir, json } = yield* root
    const output = yield* Output
    const loaded = yield* Effect.forEach(
      args.pipelines.length === 0 ? [Option.none()] : args.pipelines.map(Option.some),
      openPipeline
    )
    const path = yield* Path.Path
    const [{ accountOf }, { knowledgeBaseOf }, { idOf, Inspector }, { serveInspector }] = yield* Effect.promise(() =>
      Promise.all([
        import("../../compose/Account.ts"),
        import("../KnowledgeBase.ts"),
        import("../../ui/Inspector.ts"),
        import("../../compose/InspectorServer.ts")
      ])
    )
    Object.assign(output.interrupted, { what: "stopped", next: "nothing was changed" })
    const limits = { principal: args.as, where: given(args.where), tokens }
    const inspected = ({ bundle, pipeline }: Opened) =>
      Effect.gen(function*() {
        // A bundle has no ledger: its files are listed from the corpus.
        const account = bundle === undefined ? yield* accountOf(pipeline, path.join(dataDir, "evaluations", pipeline.name)) : undefined
        const { base, corpus } = yield* knowledgeBaseOf({ bundle, pipeline }, limits)
        return Effect.map(corpus, ({ description, displayName, filesCount, name }): Inspected => ({
          card: defined({ id: idOf(name), title: displayName, pipeline: pipeline.name, description, files: filesCount }),
          corpus: Effect.succeed(name),
          base,
          account
        }))
      })
    /** Each pipeline is open as long as the command runs. */
    const opened = Effect.fnUntraced(function*(each: Opened) {
      const found = yield* Deferred.make<Effect.Success<ReturnType<typeof inspected>>>()
      const open = Effect.flatMap(inspected(each), (inspected) => Effect.andThen(Deferred.succeed(found, inspected), Effect.never))
      const fiber = yield* Effect.forkChild(onEngine(each, reading, open))
      return yield* Effect.raceFirst(Deferred.await(found), Fiber.join(fiber))
    })
    const all = yield* Effect.forEach(loaded, opened)
    const token = randomBytes(24).toString("base64url")
    return yield* Effect.scoped(Effect.gen(function*() {
      const url = yield* serveInspector(
        Inspector.of({
          corpora: Effect.forEach(all, Effect.map(({ card }) => card)),
          corpus: Effect.fnUntraced(function*(id) {
            const found = (yield* Effect.all(all)).find(({ card }) => card.id === id)
            return found ?? (yield* ServiceError.notFound(`corpus "${id}"`))
          })
        }),
        { port: args.port, token: Redacted.make(token) }
      )
      // The part after the # is not sent to the server.
      const address = `${url}/ui/#token=${token}`
      yield* json ? output.json({ version: 1, url: address }) : output.print(address)
      const titles = loaded.map(({ pipeline }) => pipeline.corpus.displayName).join(", ")
      yield* output.say(`sluice ${packageJson.version} shows ${titles} there, to anyone who has the address. Ctrl-C ends it`)
      return yield* Effect.never
    }))
  })
).pipe(
  Command.withShortDescription("Inspect the corpus in a web page, on this machine."),
  Command.withDescription(
    "Inspect the corpus in a web page on this machine: runs, files and why some were not stored, documents with their chunks, questions with the contexts they find and why, answers beside their evidence. It only reads, and calls no other machines. The address contains a token; the page does not show files that --as and --where exclude."
  ),
  Command.withExamples([
    { command: "sluice ui", description: "on http://127.0.0.1:8687; open the printed address" },
    { command: "sluice ui pipeline.yaml other.yaml", description: "two pipelines, to compare what a question finds" },
    { command: "sluice ui pipeline.yaml --port 0 --as user:ann@acme.com", description: "on a free port; only files that Ann may read" }
  ])
)
