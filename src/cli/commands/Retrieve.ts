import { Effect, Option } from "effect"
import { Command } from "effect/cli"
import type { Context } from "../../domain/Retrieval.ts"
import { printable } from "../../domain/Text.ts"
import type { RetrieveOptions } from "../../pipeline/stages/Retrieve.ts"
import { optionalText } from "../Flags.ts"
import { Output } from "../Output.ts"
import { renderContexts } from "../render/Answer.ts"
import { renderExplanations } from "../render/Explanation.ts"
import { optionsOf, type QuestionArgs, questionArgument, questionFlags, sayUnknownKeys } from "../Question.ts"
import { root } from "../Root.ts"
import { onEngine, openPipeline, reading } from "../Session.ts"

const args = { query: questionArgument("query", "The query"), ...questionFlags }

/** Finds the contexts of a question and prints them. */
const showContexts = Effect.fnUntraced(function*(
  args: QuestionArgs & { readonly query: string },
  render: (contexts: ReadonlyArray<Context>, output: Output["Service"]) => string,
  more: RetrieveOptions = {}
) {
  const { json } = yield* root
  const output = yield* Output
  const loaded = yield* openPipeline(args.pipeline)
  const { retrieveFrom } = yield* Effect.promise(() => import("../../pipeline/AskPipeline.ts"))
  const { options, question } = optionsOf(args, args.query)
  const { contexts } = yield* onEngine(
    loaded,
    reading,
    Effect.tap(
      retrieveFrom(loaded.pipeline, question, { ...options, ...more }),
      ({ contexts }) => contexts.length === 0 ? sayUnknownKeys(loaded.pipeline, args) : Effect.void
    )
  )
  if (json) return yield* output.json({ version: 1, query: args.query, contexts })
  yield* output.print(contexts.length === 0 ? "Nothing in the corpus matches." : render(contexts, output))
})

/** `sluice retrieve`: shows the contexts that are relevant to a question. */
export const retrieve = Command.make(
  "retrieve",
  args,
  Effect.fn(function*(args) {
    yield* showContexts(args, renderContexts)
  })
).pipe(
  Command.withDescription("Find the passages that are relevant to a question, best first."),
  Command.withExamples([
    { command: "sluice retrieve \"parental leave\" --pipeline pipeline.yaml", description: "with the pipeline's settings" },
    { command: "sluice retrieve \"salary bands\" --as user:ann@acme.com", description: "only files that Ann may read" },
    { command: "sluice retrieve \"invoice\" --alpha 0 --top-k 3", description: "words only, three contexts" }
  ])
)

/** `sluice explain`: shows why each context has its rank, or why a file has none. */
export const explain = Command.make(
  "explain",
  {
    ...args,
    file: optionalText("file", "PATH", "Say why this file, by its path in its source, is not found, or not first")
  },
  Effect.fn(function*({ file, ...args }) {
    if (Option.isNone(file)) return yield* showContexts(args, renderExplanations, { explain: true })
    const { json } = yield* root
    const output = yield* Output
    const loaded = yield* openPipeline(args.pipeline)
    const { whyNotFound } = yield* Effect.promise(() => import("../../pipeline/eval/WhyNot.ts"))
    const { options, question } = optionsOf(args, args.query)
    const why = yield* onEngine(loaded, reading, whyNotFound(loaded.pipeline, question, file.value, options))
    yield* json ? output.json({ version: 1, query: args.query, file: file.value, why }) : output.print(printable(why))
  })
).pipe(
  Command.withShortDescription("Show why each context was found and has its rank."),
  Command.withDescription(
    "Show why each context was found and has its rank: the query's terms (with corrections), their weights, the vector similarity and how the two were mixed."
  ),
  Command.withExamples([
    { command: "sluice explain \"carry over anual leave\"", description: "also shows the corrected word" },
    {
      command: "sluice explain \"carry over anual leave\" --no-spelling --alpha 0",
      description: "by words alone, as written"
    },
    { command: "sluice explain \"carry over annual leave\" --file travel/hotels.md", description: "why that file is not found first" }
  ])
)
