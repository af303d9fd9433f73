import { Effect } from "effect"
import { Argument, Command } from "effect/cli"
import { Output } from "../Output.ts"
import { renderContexts } from "../render/Answer.ts"
import { optionsOf, questionFlags } from "../Question.ts"
import { root } from "../Root.ts"
import { onEngine, openPipeline } from "../Session.ts"

/** `sluice retrieve`: the contexts that bear on a question. */
export const retrieve = Command.make(
  "retrieve",
  { query: Argument.String("query").pipe(Argument.withDescription("What to look for")), ...questionFlags },
  Effect.fn(function*(args) {
    const { json } = yield* root
    const output = yield* Output
    const loaded = yield* openPipeline(args.pipeline)
    const { retrieveFrom } = yield* Effect.promise(() => import("../../pipeline/AskPipeline.ts"))
    const { options, question } = optionsOf(args, args.query)
    const { contexts } = yield* onEngine(loaded, {}, retrieveFrom(loaded.pipeline, question, options))
    if (json) return yield* output.json({ version: 1, query: args.query, contexts })
    yield* output.print(contexts.length === 0 ? "Nothing in the corpus matches." : renderContexts(contexts, output))
  })
).pipe(
  Command.withDescription("Find the passages that bear on a question, best first."),
  Command.withExamples([
    { command: "sluice retrieve \"parental leave\" --pipeline pipeline.yaml", description: "as the pipeline says" },
    { command: "sluice retrieve \"salary bands\" --as user:ann@acme.com", description: "only what Ann may read" },
    { command: "sluice retrieve \"invoice\" --alpha 0 --top-k 3", description: "words only, three contexts" }
  ])
)
