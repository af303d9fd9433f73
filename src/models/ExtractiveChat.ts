import { Effect, Layer, Stream } from "effect"
import { boundedEnd } from "../domain/Bounds.ts"
import type { ChatEvent, ChatRequest } from "../domain/Chat.ts"
import { needsModel } from "../domain/ChatRefusal.ts"
import type { ServiceError } from "../domain/Errors.ts"
import { RagFileName } from "../domain/RagFile.ts"
import type { Context } from "../domain/Retrieval.ts"
import { ChatModel } from "../ports/ChatModel.ts"
import { contextsOfPrompt, noAnswer } from "./Prompts.ts"
import { answerExtractively } from "./extractive/Answer.ts"
import { questionOf } from "./StuffedPrompt.ts"

const model = "extractive"

/** The answer where the given text contains none. */
export const notInText = "The text given does not answer this."

/**
 * Converses without a model: the last paragraph of the last user turn is the question, and it is answered in sentences of the other text of
 * the system and the users. What that text does not contain it does not know, and says so. The same request gives the same answer; sampling
 * parameters have no effect, since nothing is sampled.
 */
export const make = (countTokens: (text: string) => number): ChatModel["Service"] =>
  ChatModel.of({
    model,
    stream: (request) =>
      Stream.unwrap(Effect.suspend(() => {
        const refused = refusal(request)
        return refused === undefined ? Effect.succeed(Stream.fromIterable(eventsOf(request, countTokens))) : Effect.fail(refused)
      })).pipe(Stream.withSpan("ChatModel.stream", { attributes: { model, turns: request.turns.length } }))
  })

export const layer = (countTokens: (text: string) => number): Layer.Layer<ChatModel> => Layer.succeed(ChatModel, make(countTokens))

/** The error for a request that needs a model, naming the field. */
const refusal = (request: ChatRequest): ServiceError | undefined => {
  if (request.toolChoice === "required" || typeof request.toolChoice === "object") return needsModel("toolChoice", "calling tools")
  if (request.json !== undefined) return needsModel("json", "an answer of a given form")
  if (request.thinking !== undefined) return needsModel("thinking", "thinking")
  if ((request.candidates ?? 1) > 1) return needsModel("candidates", "more than one candidate")
  if (request.logprobs !== undefined) return needsModel("logprobs", "telling probabilities")
  for (const [i, { parts }] of request.turns.entries()) {
    for (const [j, { type }] of parts.entries()) {
      if (type === "media" || type === "mediaUri") return needsModel(`turns[${i}].parts[${j}]`, "reading media")
    }
  }
  return request.turns.at(-1)?.role === "assistant"
    ? needsModel(`turns[${request.turns.length - 1}]`, "going on from the beginning of an answer")
    : undefined
}

const eventsOf = (request: ChatRequest, countTokens: (text: string) => number): ReadonlyArray<ChatEvent> => {
  const whole = groundedAnswer(request) ?? quotes(request)
  const { end, ...ending } = boundedEnd(whole, request, countTokens)
  const text = whole.slice(0, end)
  const read = [request.system ?? "", ...request.turns.flatMap(({ parts }) => parts.map((part) => ("text" in part ? part.text : "")))]
  const inputTokens = read.reduce((sum, text) => sum + countTokens(text), 0)
  return [
    ...(text === "" ? [] : text.split(/(?<=\n)/)).map((text): ChatEvent => ({ type: "text", candidate: 0, text })),
    { type: "end", candidate: 0, ...ending },
    { type: "usage", usage: { inputTokens, outputTokens: countTokens(text) } }
  ]
}

const quotes = (request: ChatRequest): string => {
  const { evidence, question } = questionOf(request)
  const { grounded, supports, text } = answerExtractively({ question, contexts: evidence.map((text, at) => contextOf(text, at)) }, model)
  // The statements without their marks: there are no documents that numbers could refer to.
  return grounded ? supports.map(({ end, start }) => text.slice(start, end)).join("\n") : notInText
}

/** The answer to a prompt with numbered contexts, in the form that it requests: with marks, or the words for no answer. */
const groundedAnswer = (request: ChatRequest): string | undefined => {
  const prompt = contextsOfPrompt(request)
  if (prompt === undefined) return undefined
  const contexts = prompt.contexts.map(({ text, where }, at) => contextOf(text, at, where))
  const { citations, grounded, supports, text } = answerExtractively({ question: prompt.question, contexts }, model)
  if (!grounded) return noAnswer
  const marks = new Map(citations.map(({ chunkId, index }) => [index, `[${Number(chunkId) + 1}]`]))
  return supports.map(({ citations, end, start }) => `${text.slice(start, end)} ${citations.map((index) => marks.get(index)).join("")}`)
    .join("\n")
}

/** A piece of the prompt in the form of a retrieved context. */
const contextOf = (text: string, at: number, where = ""): Context => ({
  chunkId: String(at),
  file: RagFileName.make(`prompt/${at}`),
  sourceUri: "",
  sourceDisplayName: where,
  text,
  headings: [],
  score: 1
})
