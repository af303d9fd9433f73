import { Effect } from "effect"
import { Argument, Command } from "effect/cli"
import { printable } from "../../domain/Text.ts"
import { Output } from "../Output.ts"
import { renderAnswer } from "../render/Answer.ts"
import { optionsOf, questionArgument, questionFlags, sayUnknownKeys } from "../Question.ts"
import { root } from "../Root.ts"
import { onEngine, openPipeline, reading } from "../Session.ts"

/** `sluice ask`: answers with citations, one question or several. */
export const ask = Command.make(
  "ask",
  {
    questions: questionArgument("question", "One or more questions").pipe(Argument.variadic({ min: 1 })),
    ...questionFlags
  },
  Effect.fn(function*(args) {
    const { json } = yield* root
    const output = yield* Output
    const loaded = yield* openPipeline(args.pipeline)
    const { askPipeline } = yield* Effect.promise(() => import("../../pipeline/AskPipeline.ts"))
    yield* onEngine(
      loaded,
      reading,
      Effect.forEach(args.questions, (text, at) =>
        Effect.gen(function*() {
          const { options, question } = optionsOf(args, text)
          const { answer, contexts } = yield* askPipeline(loaded.pipeline, question, options)
          if (contexts.length === 0) yield* sayUnknownKeys(loaded.pipeline, args)
          if (json) return yield* output.json({ version: 1, question: text, ...answer })
          if (args.questions.length > 1) yield* output.print(`${at === 0 ? "" : "\n"}${output.paint("bold", `Q: ${printable(text)}`)}`)
          yield* output.print(renderAnswer(answer, output))
        }), { discard: true })
    )
  })
).pipe(
  Command.withShortDescription("Answer from the corpus, with a citation of file, page and words for each statement."),
  Command.withDescription(
    "Answer from the corpus and nothing else: each statement has a numbered citation with its file, page and quoted words. Says so when the corpus has no answer."
  ),
  Command.withExamples([
    { command: "sluice ask \"How many days of leave carry over?\"", description: "with the pipeline in this folder" },
    {
      command: "sluice ask \"Who is on call?\" \"Since when?\" --pipeline pipeline.yaml",
      description: "several questions, each answered separately"
    }
  ])
)
