import { randomBytes } from "node:crypto"
import { Effect, Redacted } from "effect"
import { Command, Flag } from "effect/cli"
import packageJson from "../../../package.json" with { type: "json" }
import { ServiceError } from "../../domain/Errors.ts"
import { Output } from "../Output.ts"
import { questionFlags } from "../Question.ts"
import { given, root } from "../Root.ts"
import { onEngine, openPipeline, pipelineArgument, reading } from "../Session.ts"

/** Tokens of text in one result: the page is not a prompt. */
const tokens = 1_000_000

/** `sluice ui`: the pipeline's corpus in a web page. */
export const ui = Command.make(
  "ui",
  {
    pipeline: pipelineArgument,
    port: Flag.Int("port").pipe(
      Flag.filter((port) => port >= 0 && port <= 65_535, () => "Expected a port, from 0 to 65535"),
      Flag.withDescription("0 picks a free one. Default 8687"),
      Flag.withDefault(8687)
    ),
    as: questionFlags.as,
    where: questionFlags.where
  },
  Effect.fn(function*(args) {
    const { json } = yield* root
    const output = yield* Output
    const loaded = yield* openPipeline(args.pipeline)
    const { pipeline } = loaded
    const [{ knowledgeBaseOf }, { idOf, Inspector }, { serveInspector }] = yield* Effect.promise(() =>
      Promise.all([import("../KnowledgeBase.ts"), import("../../ui/Inspector.ts"), import("../../compose/InspectorServer.ts")])
    )
    return yield* onEngine(
      loaded,
      reading,
      Effect.gen(function*() {
        const { account, base, corpus } = yield* knowledgeBaseOf(pipeline, { principal: given(args.as), where: given(args.where), tokens })
        const inspected = Effect.map(corpus, ({ description, displayName, filesCount, name }) => ({
          card: {
            id: idOf(name),
            title: displayName,
            pipeline: pipeline.name,
            ...(description === undefined ? {} : { description }),
            ...(filesCount === undefined ? {} : { files: filesCount })
          },
          corpus: Effect.succeed(name),
          base,
          account
        }))
        const token = randomBytes(24).toString("base64url")
        const url = yield* serveInspector(
          Inspector.of({
            corpora: Effect.map(inspected, ({ card }) => [card]),
            corpus: (id) => Effect.filterOrFail(inspected, ({ card }) => card.id === id, () => ServiceError.notFound(`corpus "${id}"`))
          }),
          { port: args.port, token: Redacted.make(token) }
        )
        // What follows the # stays in the browser.
        const address = `${url}/ui/#token=${token}`
        yield* json ? output.json({ version: 1, url: address }) : output.print(address)
        yield* output.say(
          `sluice ${packageJson.version} shows ${pipeline.corpus.displayName} there; whoever has the address sees it. Ctrl-C ends it`
        )
        return yield* Effect.never
      })
    )
  })
).pipe(
  Command.withShortDescription("Look into the corpus in a web page, on this machine."),
  Command.withDescription(
    "Look into the corpus in a web page on this machine: runs, files and why some were not taken, documents with their chunks, questions with what they find and why, answers beside their evidence. It reads and changes nothing, and asks nothing of other machines. The address carries a token; what --as and --where leave out the page does not show."
  ),
  Command.withExamples([
    { command: "sluice ui", description: "on http://127.0.0.1:8687, at the address that is printed" },
    { command: "sluice ui pipeline.yaml --port 0 --as user:ann@acme.com", description: "on a free port; only what Ann may read" }
  ])
)
