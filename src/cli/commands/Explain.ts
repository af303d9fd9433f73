import { Effect } from "effect"
import { Argument, Command } from "effect/cli"
import { Output } from "../Output.ts"
import { renderExplanations } from "../render/Explanation.ts"
import { optionsOf, questionFlags } from "../Question.ts"
import { root } from "../Root.ts"
import { onEngine, openPipeline } from "../Session.ts"

/** `sluice explain`: why each context has its place. */
export const explain = Command.make(
  "explain",
  { query: Argument.String("query").pipe(Argument.withDescription("What to look for")), ...questionFlags },
  Effect.fn(function*(args) {
    const { json } = yield* root
    const output = yield* Output
    const loaded = yield* openPipeline(args.pipeline)
    const { retrieveFrom } = yield* Effect.promise(() => import("../../pipeline/AskPipeline.ts"))
    const { options, question } = optionsOf(args, args.query)
    const { contexts } = yield* onEngine(
      loaded,
      {},
      retrieveFrom(loaded.pipeline, question, { ...options, explain: true })
    )
    if (json) return yield* output.json({ version: 1, query: args.query, contexts })
    yield* output.print(
      contexts.length === 0 ? "Nothing in the corpus matches." : renderExplanations(contexts, output)
    )
  })
).pipe(
  Command.withShortDescription("Show why each context was found and has its place."),
  Command.withDescription(
    "Show why each context was found and has its place: the query's terms (corrected ones too), their weights, the vector similarity and how the two were mixed."
  ),
  Command.withExamples([{ command: "sluice explain \"carry over anual leave\"", description: "shows the corrected word, too" },
    { command: "sluice explain \"carry over anual leave\" --no-spelling --alpha 0", description: "the same by words alone, as they are written" }])
)
