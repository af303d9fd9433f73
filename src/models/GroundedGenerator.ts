import { Effect, Option, Stream } from "effect"
import { type Answer, type AnswerPart, refusedAnswer, unverifiedAnswer, type Usage } from "../domain/Answer.ts"
import { defined } from "../domain/Defined.ts"
import type { ChatUsage } from "../domain/Chat.ts"
import { ServiceError } from "../domain/Errors.ts"
import type { ChatModel } from "../ports/ChatModel.ts"
import { Generator, type GroundedRequest } from "../ports/Generator.ts"
import { MarkVerifier } from "./openai/MarkVerifier.ts"
import { groundedPrompt } from "./Prompts.ts"

/** Most UTF-16 units of an answer; a model that writes more is cut off. */
const maxAnswer = 100_000

/**
 * Lets a chat model answer from contexts and nothing else. The model is asked to mark every sentence with the context it rests on and a
 * quote from it. Every mark is verified (see {@link MarkVerifier}) before it is printed, and sentences without one are searched for in the
 * contexts. If nothing could be verified, the model's text is not presented as an answer: the answer says so, and the text is returned
 * separately. That is not a refusal, which states that the corpus contains no answer.
 *
 * In `supports`, a sentence without verified evidence has no citations and confidence 0. Otherwise the confidence is 1 where the model's
 * quote stands in the context, else the share of the sentence's terms in the cited span.
 *
 * `maxContextCharacters`: most UTF-16 units of all contexts in a prompt.
 */
export const make = (chat: ChatModel["Service"], maxContextCharacters = 100_000): Generator["Service"] => {
  const { model } = chat

  const stream = (request: GroundedRequest): Stream.Stream<AnswerPart, ServiceError> =>
    Stream.suspend((): Stream.Stream<AnswerPart, ServiceError> => {
      const verifier = new MarkVerifier(request.contexts, request.question)
      let usage: Usage | undefined
      let truncated = false
      if (request.contexts.length === 0) return Stream.fromIterable(ending(answerOf(verifier, model), ""))
      let written = 0
      let shown = ""
      return chat.stream(groundedPrompt(request, maxContextCharacters)).pipe(
        Stream.mapEffect((event) => {
          if (event.type === "usage") usage = usageOf(event.usage)
          truncated ||= event.type === "end" && event.reason === "length"
          if (event.type === "end" && event.reason === "contentFilter") return Effect.fail(withheld(model, event.detail))
          return Effect.succeed(event.type === "text" ? event.text : "")
        }),
        Stream.takeUntil((text) => (truncated ||= (written += text.length) > maxAnswer)),
        Stream.map((text) => verifier.push(text)),
        Stream.filter((text) => text !== ""),
        // Ending here closes the connection: what nobody reads is not paid for.
        Stream.takeUntil((text) => request.enough?.(shown += text) === true),
        Stream.map((text): AnswerPart => ({ _tag: "text", text })),
        Stream.concat(Stream.suspend(() => {
          const rest = verifier.finish()
          return Stream.fromIterable(ending(answerOf(verifier, model, usage, truncated), rest)).pipe(
            Stream.onStart(noteRemoved(verifier))
          )
        }))
      )
    }).pipe(Stream.withSpan("Generator.stream", { attributes: { model, contexts: request.contexts.length } }))

  const answer = Effect.fn("Generator.answer")(function*(request: GroundedRequest) {
    const last = yield* Stream.runLast(stream(request))
    if (Option.isSome(last) && last.value._tag === "done") return last.value.answer
    return yield* ServiceError.internal(`${model} ended without an answer`)
  })

  return Generator.of({ model, answer, stream })
}

const withheld = (model: string, reason?: string): ServiceError =>
  new ServiceError({
    code: "FAILED_PRECONDITION",
    message: `${model} withheld the answer (${reason ?? "content filter"})`,
    reason
  })

const usageOf = ({ inputTokens, outputTokens }: ChatUsage): Usage => ({
  promptTokens: inputTokens,
  answerTokens: outputTokens,
  totalTokens: inputTokens + outputTokens
})

const answerOf = (verifier: MarkVerifier, model: string, usage?: Usage, truncated = false): Answer => {
  const { citations, grounded, refused, removed, supports, text, words } = verifier
  const answer: Answer = defined({
    text,
    grounded,
    citations,
    supports,
    removed: removed.unknown + removed.unsupported === 0 ? undefined : { ...removed },
    model,
    usage,
    truncated: truncated ? true : undefined
  })
  return grounded ? answer : refused ? refusedAnswer(answer) : unverifiedAnswer(answer, words.replace(/[ \t]+(?=[.,;:!?])/g, "").trim())
}

const ending = (answer: Answer, rest: string): ReadonlyArray<AnswerPart> => {
  const text = answer.grounded ? rest : answer.text
  return [...(text === "" ? [] : [{ _tag: "text" as const, text }]), { _tag: "done", answer }]
}

const noteRemoved = ({ removed }: MarkVerifier): Effect.Effect<void> =>
  removed.unknown + removed.unsupported === 0
    ? Effect.void
    : Effect.logDebug("citations taken out of an answer").pipe(Effect.annotateLogs({ ...removed }))
