import { Cause, Effect, Stream } from "effect"
import { Command } from "effect/cli"
import type { Answer, Exchange } from "../../domain/Answer.ts"
import { printable } from "../../domain/Text.ts"
import type { ConversationTurn } from "../../pipeline/ChatPipeline.ts"
import { typing } from "../Conversation.ts"
import { Output } from "../Output.ts"
import { optionsOf, questionFlags } from "../Question.ts"
import { renderAnswer, renderFooting } from "../render/Answer.ts"
import { renderCause } from "../render/Error.ts"
import { wrapping } from "../render/Wrap.ts"
import { root } from "../Root.ts"
import { onEngine, openPipeline, reading } from "../Session.ts"

/** `sluice chat`: a conversation over the corpus, in which a question may refer to earlier ones. */
export const chat = Command.make(
  "chat",
  questionFlags,
  Effect.fn(function*(args) {
    const { json } = yield* root
    const output = yield* Output
    const loaded = yield* openPipeline(args.pipeline)
    const { chatPipeline } = yield* Effect.promise(() => import("../../pipeline/ChatPipeline.ts"))

    /** Prints an answer: as it arrives on a terminal, as a whole otherwise. */
    const show = Effect.fnUntraced(function*(turn: ConversationTurn, question: string) {
      const { parts, question: standalone } = turn
      if (standalone !== question && !json) yield* output.say(output.paintError("dim", `(searching for: ${printable(standalone)})`))
      const write = json ? undefined : output.write
      const flow = wrapping(output.width)
      let started = false
      let whole: Answer | undefined
      yield* Stream.runForEach(parts, (part) => {
        if (part._tag === "done") whole = part.answer
        else if (write !== undefined) {
          started = true
          return write(flow.push(printable(part.text)))
        }
        return Effect.void
      }).pipe(Effect.onExit(() => (write === undefined || !started ? Effect.void : write(`${flow.rest()}\n`))))
      if (whole === undefined) return undefined
      if (json) yield* output.json({ version: 1, question: question, standalone, ...whole })
      else if (write !== undefined) yield* output.print(renderFooting(whole, output))
      // Nobody typed it there: without its question, each answer would run on from the one before.
      else yield* output.print(`Q: ${printable(question)}\n${renderAnswer(whole, output)}\n`)
      return { question: question, standalone, answer: whole.text }
    })

    yield* onEngine(
      loaded,
      reading,
      Effect.scoped(Effect.gen(function*() {
        const { options } = optionsOf(args, "")
        const ask = yield* chatPipeline(loaded.pipeline, options)
        if (output.write !== undefined) {
          yield* output.say(output.paintError("dim", `${printable(loaded.pipeline.corpus.displayName)}: ask away. ${help}`))
        }
        const { next, untilStopped } = yield* typing(output.paintError("bold", "> "))
        let history: ReadonlyArray<Exchange> = []
        for (;;) {
          const line = (yield* next)?.trim()
          if (line === undefined || line === "/quit") return
          if (line === "") continue
          if (line === "/new") {
            history = []
            yield* output.say("(a new conversation)")
          } else if (line.startsWith("/")) yield* output.say(help)
          else {
            const { question } = optionsOf(args, line)
            const finished = yield* untilStopped(
              Effect.gen(function*() {
                const exchange = yield* show(yield* ask({ ...question, history }), line)
                if (exchange !== undefined) history = [...history, exchange]
              }).pipe(
                // A person can ask again; a script must see that it failed.
                Effect.catchIf(() => output.write !== undefined, (error) => renderCause(Cause.fail(error)))
              )
            )
            if (!finished) yield* output.say("(stopped)")
          }
        }
      }))
    )
  })
).pipe(
  Command.withShortDescription("Talk with the corpus: questions may refer to earlier ones."),
  Command.withDescription(
    "Talk with the corpus. A question may refer to earlier ones (\"And in Japan?\"): it is completed from them before the search, and the completed question is shown. Every answer has citations, like those of `sluice ask`. /new starts over, /quit or Ctrl-D leaves, Ctrl-C stops an answer. Where the input is not a terminal, each line is a question."
  ),
  Command.withExamples([
    { command: "sluice chat", description: "with the pipeline in this folder" },
    { command: "sluice chat --json < questions.txt", description: "a conversation from a file, one JSON document per answer" }
  ])
)

const help = "/new starts over, /quit leaves, Ctrl-C stops an answer."
