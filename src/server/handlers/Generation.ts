import { randomUUID } from "node:crypto"
import { DateTime, Effect, Stream } from "effect"
import type { Answer } from "../../domain/Answer.ts"
import { ServiceError } from "../../domain/Errors.ts"
import { Generator } from "../../ports/Generator.ts"
import { Retrieval } from "../../ports/Retrieval.ts"
import { answerEndToWire, answerPieceToWire, answerToWire, contentText, groundedQuestionFromWire } from "../../wire/Grounding.ts"
import type { GenerateContentRequest, GenerateContentResponse } from "../../wire/messages/GenerateContent.ts"
import { type Handlers, take } from "../Call.ts"
import type { ClientNames } from "../ClientNames.ts"
import { beyond, needsModel } from "../grounding/beyond.ts"
import { bounded, type Bounded } from "../grounding/cut.ts"
import { inEngine } from "./Retrieval.ts"

type Methods = Pick<Handlers, "generateContent" | "streamGenerateContent">

/**
 * Grounded generation over the engine: contexts are retrieved as the request's tool says, and the answer is made from
 * them. Usage counts the tokens of the request's text and of the answer.
 */
export const generationHandlers = (countTokens: (text: string) => number): Effect.Effect<Methods, never, Generator | Retrieval> =>
  Effect.gen(function*() {
    const generator = yield* Generator
    const { retrieve } = yield* Retrieval

    const answer = Effect.fnUntraced(function*(request: GenerateContentRequest, names: ClientNames) {
      const refused = badTurns(request) ?? beyond(request)
      if (refused !== undefined) return yield* refused
      const { instruction, question, selection } = yield* take(groundedQuestionFromWire(names.location, request))
      if (selection === undefined) return yield* needsModel("tools", "an answer without retrieval.vertex_rag_store")
      const contexts = yield* retrieve({ ...inEngine(selection, names), query: question })
      const whole = yield* generator.answer({ question, contexts, ...(instruction === undefined ? {} : { instruction }) })
      const cut = bounded(whole, request.generationConfig ?? {}, countTokens)
      const identity = {
        responseId: randomUUID(),
        createTime: DateTime.formatIso(yield* DateTime.now)
      }
      return { question, identity, ...cut, answer: counted(cut.answer, request, countTokens) }
    })

    return {
      generateContent: ({ body, names }) =>
        Effect.map(answer(body, names), ({ answer, finishReason, identity, question }) =>
          ended(answerToWire(answer, { ...identity, question }), finishReason)),
      streamGenerateContent: ({ body, names }) =>
        Effect.map(answer(body, names), ({ answer, finishReason, identity, question }) =>
          Stream.fromIterable([
            ...piecesOf(answer.text).map((piece) => answerPieceToWire(piece, { model: answer.model, ...identity })),
            ended(answerEndToWire(answer, { ...identity, question }), finishReason)
          ]))
    }
  })

const badTurns = ({ contents = [] }: GenerateContentRequest): ServiceError | undefined => {
  const strange = contents.findIndex(({ role = "" }) => !["", "user", "model", "function"].includes(role))
  if (strange >= 0) return ServiceError.invalid(`contents[${strange}].role`, "Please use a valid role: user, model.")
  if (contents.length > 1 && contents.some(({ role = "" }) => role === "")) {
    return ServiceError.invalid("contents", "Please ensure that multiturn requests alternate between user and model.")
  }
  return contents.at(-1)?.role === "model"
    ? ServiceError.invalid("contents", "Please ensure that multiturn requests end with a user role.")
    : undefined
}

const counted = (answer: Answer, { contents = [], systemInstruction }: GenerateContentRequest, countTokens: (text: string) => number): Answer => {
  const promptTokens = [...contents, ...(systemInstruction === undefined ? [] : [systemInstruction])]
    .reduce((sum, content) => sum + countTokens(contentText(content)), 0)
  const answerTokens = countTokens(answer.text)
  return { ...answer, usage: { promptTokens, answerTokens, totalTokens: promptTokens + answerTokens } }
}

/** A reader sees whole lines, each with its marks. */
const piecesOf = (text: string): ReadonlyArray<string> => (text === "" ? [] : text.split(/(?<=\n)/))

const ended = (response: GenerateContentResponse, finishReason: Bounded["finishReason"]): GenerateContentResponse => ({
  ...response,
  candidates: (response.candidates ?? []).map((candidate) => ({ ...candidate, finishReason }))
})
