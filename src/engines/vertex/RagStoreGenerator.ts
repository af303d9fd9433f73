import { Effect, Stream } from "effect"
import { type Answer, type AnswerPart, refusedAnswer, unsupportedText, unverifiedAnswer } from "../../domain/Answer.ts"
import { selectionBroken } from "../../domain/rag/RagRules.ts"
import { refusalOf } from "../../domain/Rule.ts"
import { Generator, type GroundedRequest } from "../../ports/Generator.ts"
import { answerFromWire, groundedQuestionToWire, joinResponses } from "../../wire/rag/Grounding.ts"
import type { Selection } from "../../wire/rag/Retrievals.ts"
import type { GenerateContent } from "./GenerateContent.ts"

export interface RagStoreOptions {
  readonly generation: GenerateContent["Service"]
  readonly model: string
  /** The corpus to search, and how to search it. */
  readonly selection: Selection
}

/**
 * Grounding by the service itself: the model searches the corpus with its own queries, and the service reports which part of the answer is
 * supported by which chunk. If the request has contexts, only their files are searched; otherwise the whole selection is.
 *
 * The evidence comes at the end of a stream, and nothing is shown before it, so `stream` returns the text in one piece.
 */
export const make = ({ generation, model, selection }: RagStoreOptions): Generator["Service"] => {
  const bodyOf = ({ contexts, instruction, question, sampling }: GroundedRequest) => {
    const refused = refusalOf(selectionBroken(selection))
    if (refused !== undefined) return Effect.fail(refused)
    const files = [...new Set(contexts.map(({ file }) => file))]
    return Effect.fromResult(groundedQuestionToWire({
      question,
      selection: files.length === 0 ? selection : { ...selection, files },
      instruction,
      sampling
    }))
  }
  const answerOf = (response: Parameters<typeof answerFromWire>[2]) =>
    Effect.map(Effect.fromResult(answerFromWire(selection.corpus, model, response)), groundedOnly)

  return Generator.of({
    model,
    answer: Effect.fn("RagStoreGenerator.answer")(function*(request: GroundedRequest) {
      return yield* answerOf(yield* generation.generate(model, yield* bodyOf(request)))
    }),
    stream: (request) =>
      Stream.unwrap(Effect.map(bodyOf(request), (body) => Stream.fromEffect(Stream.runCollect(generation.stream(model, body))))).pipe(
        Stream.mapEffect((chunks) => answerOf(joinResponses(chunks))),
        Stream.flatMap((answer) => Stream.fromIterable<AnswerPart>([{ _tag: "text", text: answer.text }, { _tag: "done", answer }]))
      )
  })
}

/** The answer, unless it has no evidence from the corpus: such text is not shown as an answer. */
const groundedOnly = (answer: Answer): Answer =>
  answer.grounded
    ? answer
    : answer.text.trim() === "" || answer.text === unsupportedText
    ? refusedAnswer(answer)
    : unverifiedAnswer(answer, answer.text)
