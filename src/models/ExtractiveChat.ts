import { Effect, Layer, Stream } from "effect"
import { boundedEnd } from "../domain/Bounds.ts"
import type { Citation } from "../domain/Answer.ts"
import type { ChatEvent, ChatRequest, CitableDocument, DocumentCitation } from "../domain/Chat.ts"
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

/** UTF-16 units of a request: reading takes about a millisecond for each 1,500, in which the process does nothing else. */
const longestRequest = 400_000

/**
 * Converses without a model: the question ({@link questionOf}) is answered in sentences of the documents to cite, and of the other text of
 * the system and the users. What these do not contain it does not know, and says so. The same request gives the same answer; sampling
 * parameters have no effect, since nothing is sampled.
 */
export const make = (countTokens: (text: string) => number): ChatModel["Service"] =>
  ChatModel.of({
    model,
    cites: true,
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
  const last = `turns[${request.turns.length - 1}]`
  if (textsOf(request).reduce((sum, text) => sum + text.length, 0) > longestRequest) {
    return needsModel(last, `reading more than ${longestRequest.toLocaleString("en-US")} characters`)
  }
  return request.turns.at(-1)?.role === "assistant"
    ? needsModel(last, "going on from the beginning of an answer")
    : undefined
}

const eventsOf = (request: ChatRequest, countTokens: (text: string) => number): ReadonlyArray<ChatEvent> => {
  const statements = statementsOf(request)
  const { end, ...ending } = boundedEnd(statements.map(({ text }) => text).join(""), request, countTokens)
  const said: Array<ChatEvent> = []
  let outputTokens = 0
  let room = end
  for (const { citations, text: whole } of statements) {
    const text = whole.slice(0, room)
    room -= text.length
    if (text === "") break
    outputTokens += countTokens(text)
    if (citations === undefined) said.push(...text.split(/(?<=\n)/).map((text): ChatEvent => ({ type: "text", candidate: 0, text })))
    else said.push({ type: "text", candidate: 0, text, citations })
  }
  const inputTokens = textsOf(request).reduce((sum, text) => sum + countTokens(text), 0)
  return [...said, { type: "end", candidate: 0, ...ending }, { type: "usage", usage: { inputTokens, outputTokens } }]
}

/** All that is read of a request. */
const textsOf = ({ documents = [], system = "", turns }: ChatRequest): ReadonlyArray<string> => [
  system,
  ...documents.map(({ text }) => text),
  ...turns.flatMap(({ parts }) => parts.map((part) => ("text" in part ? part.text : "")))
]

/** A part of the answer, with the places that it comes from where documents are to be cited. */
interface Statement {
  readonly text: string
  readonly citations?: ReadonlyArray<DocumentCitation>
}

const statementsOf = (request: ChatRequest): ReadonlyArray<Statement> => {
  const grounded = groundedAnswer(request)
  if (grounded !== undefined) return [{ text: grounded }]
  const { documents = [] } = request
  const { evidence, question } = questionOf(request)
  const texts = [...documents, ...evidence.map((text) => ({ text, title: "" }))]
  const pieces = texts.flatMap(({ text, title }, document) => piecesOf(text).map((piece) => ({ ...piece, document, title })))
  const contexts = pieces.map(({ start, text, title }, at) => ({ ...contextOf(text, at, title), byteStart: start }))
  const { citations, grounded: isAnswered, supports, text } = answerExtractively({ question, contexts }, model)
  if (!isAnswered) return [{ text: notInText }]
  // The statements without their marks: there are no numbered documents that these could refer to.
  return supports.map(({ citations: marks, end, start }, at): Statement => {
    const said = `${text.slice(start, end)}${at + 1 < supports.length ? "\n" : ""}`
    if (documents.length === 0) return { text: said }
    const cited = citations.filter(({ index }) => marks.includes(index))
    return { text: said, citations: cited.flatMap((one) => placesOf(one, documents[pieces[Number(one.chunkId)]?.document ?? -1])) }
  })
}

/** The place of a citation in a document; none where it is of the prompt itself. */
const placesOf = ({ byteStart = 0, quote }: Citation, document: CitableDocument | undefined): ReadonlyArray<DocumentCitation> => {
  if (document === undefined) return []
  const { text, ...about } = document
  const start = charactersOf(Buffer.from(text).subarray(0, byteStart).toString())
  return [{ ...about, quote, start, end: start + charactersOf(quote) }]
}

const charactersOf = (text: string): number => {
  let count = 0
  for (const _ of text) count++
  return count
}

/** UTF-16 units of a piece: the generator reads no more of one context. */
const longestPiece = 40_000

/** A long text in pieces that end with a line, each with the UTF-8 bytes before it. */
const piecesOf = (text: string): ReadonlyArray<{ readonly text: string; readonly start: number }> => {
  const pieces: Array<{ readonly text: string; readonly start: number }> = []
  let start = 0
  for (let from = 0; from < text.length;) {
    const rest = text.length - from
    const most = text.slice(from, from + longestPiece)
    const last = rest <= longestPiece ? -1 : most.lastIndexOf("\n")
    const piece = last > 0 ? most.slice(0, last) : rest > longestPiece ? most.replace(/[\ud800-\udbff]$/, "") : most
    pieces.push({ text: piece, start })
    start += Buffer.byteLength(piece)
    from += piece.length
  }
  return pieces
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
