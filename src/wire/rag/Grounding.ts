import { Result } from "effect"
import { isEmpty } from "../../domain/Defined.ts"
import { type Answer, type Citation, type Exchange, type Support, unverifiedText } from "../../domain/Answer.ts"
import type { CorpusName } from "../../domain/Corpus.ts"
import { ServiceError } from "../../domain/Errors.ts"
import type { Content } from "../messages/Content.ts"
import type { GenerateContentRequest, GenerateContentResponse } from "../messages/GenerateContent.ts"
import type { GenerationConfig } from "../messages/GenerationConfig.ts"
import type { GroundingChunk, GroundingMetadata } from "../messages/Grounding.ts"
import { defined, text as filled } from "../Optional.ts"
import { chunkFromWire, chunkToWire, type Selection, storeFromWire, storeToWire } from "./Retrievals.ts"
import { byteOffset, unitOffset } from "../Utf8.ts"

/** A question that the service answers from a corpus, including the retrieval. */
export interface GroundedQuestion {
  readonly question: string
  /** The system instruction. */
  readonly instruction?: string
  readonly selection: Selection
  readonly sampling?: GenerationConfig
}

/** The body of `generateContent` and `streamGenerateContent` for a grounded question. */
export const groundedQuestionToWire = (
  { instruction, question, sampling = {}, selection }: GroundedQuestion
): Result.Result<GenerateContentRequest, ServiceError> =>
  Result.map(storeToWire(selection), (vertexRagStore) =>
    defined({
      contents: [{ role: "user", parts: [{ text: question }] }],
      systemInstruction: instruction === undefined ? undefined : { parts: [{ text: instruction }] },
      tools: [{ retrieval: { vertexRagStore } }],
      generationConfig: isEmpty(sampling) ? undefined : sampling
    }))

/**
 * The question of a generation request: the text of its last turn, and where to look for the answer if it has a RAG tool.
 * Earlier turns are read by `exchangesFromWire`; anything not about grounding is read from the message directly.
 */
export const groundedQuestionFromWire = (
  parent: string,
  wire: GenerateContentRequest
): Result.Result<Omit<GroundedQuestion, "selection"> & Partial<Pick<GroundedQuestion, "selection">>, ServiceError> =>
  Result.gen(function*() {
    const question = contentText(wire.contents?.at(-1))
    if (question.trim() === "") return yield* Result.fail(ServiceError.invalid("contents", "the last content must have text"))
    const stores = (wire.tools ?? []).flatMap(({ retrieval }, i) =>
      retrieval?.vertexRagStore === undefined ? [] : [{ store: retrieval.vertexRagStore, at: `tools[${i}].retrieval.vertex_rag_store` }]
    )
    if (stores.length > 1) return yield* Result.fail(ServiceError.invalid("tools", "at most one vertex_rag_store can be used"))
    const [only] = stores
    return defined({
      question,
      instruction: filled(contentText(wire.systemInstruction)),
      selection: only === undefined ? undefined : yield* storeFromWire(parent, only.store, only.at)
    })
  })

/** The exchanges before the last turn. Consecutive turns of the user are one question. */
export const exchangesFromWire = ({ contents = [] }: GenerateContentRequest): ReadonlyArray<Exchange> => {
  const exchanges: Array<Exchange> = []
  let goesOn = false
  for (const content of contents.slice(0, -1)) {
    const text = contentText(content)
    const last = exchanges.at(-1)
    if (content.role === "model") {
      if (last !== undefined) exchanges[exchanges.length - 1] = { ...last, answer: last.answer + text }
    } else if (goesOn && last !== undefined) {
      const question = `${last.question}\n${text}`
      exchanges[exchanges.length - 1] = { ...last, question, standalone: question }
    } else exchanges.push({ question: text, standalone: text, answer: "" })
    goesOn = content.role !== "model"
  }
  return exchanges.filter(({ question }) => question.trim() !== "")
}

/** The text of a content's parts, without thoughts. */
export const contentText = (content: Content | undefined): string =>
  (content?.parts ?? []).map((part) => (part.thought === true ? "" : part.text ?? "")).join("")

/** The text of an answer, or of one chunk of a stream. */
export const responseText = (response: GenerateContentResponse): string => contentText(response.candidates?.[0]?.content)

export interface AnswerFacts {
  readonly responseId?: string
  readonly createTime?: string
  /** The query that was searched for. */
  readonly question?: string
  /** Whether the answer names its sources, which the request may disable. Default true. */
  readonly attributed?: boolean
}

type Candidate = NonNullable<GenerateContentResponse["candidates"]>[number]

/** An answer as one response. Citations become grounding chunks, in the order of their numbers. */
export const answerToWire = (
  answer: Answer,
  more: AnswerFacts = {}
): GenerateContentResponse =>
  defined({
    candidates: [defined({
      content: { role: "model", parts: [{ text: answer.text }] },
      finishReason: answer.truncated === true ? "MAX_TOKENS" : "STOP",
      finishMessage: answer.unverified === undefined ? undefined : unverifiedText,
      ...(more.attributed === false ? {} : defined({
        citationMetadata: citationMetadataOf(answer),
        groundingMetadata: groundingToWire(answer, more.question)
      }))
    })],
    modelVersion: answer.model,
    createTime: more.createTime,
    responseId: more.responseId,
    usageMetadata: usageToWire(answer)
  })

/** A piece of text in a stream, which `answerEndToWire` ends. */
export const answerPieceToWire = (
  piece: string,
  more: { readonly model: string; readonly responseId?: string; readonly createTime?: string }
): GenerateContentResponse =>
  defined({
    candidates: [{ content: { role: "model", parts: [{ text: piece }] } }],
    modelVersion: more.model,
    createTime: more.createTime,
    responseId: more.responseId
  })

/** The end of a stream: the answer without its text, which was sent in pieces. */
export const answerEndToWire: typeof answerToWire = (answer, more) => {
  const whole = answerToWire(answer, more)
  const [candidate] = whole.candidates ?? []
  return { ...whole, candidates: [{ ...candidate, content: { role: "model", parts: [{ text: "" }] } }] }
}

/** Joins the chunks of a stream into one response with one text part. Segments in a stream count from the start of the whole text. */
export const joinResponses = (chunks: ReadonlyArray<GenerateContentResponse>): GenerateContentResponse => {
  const last = chunks.at(-1)
  const candidates = chunks.flatMap(({ candidates }) => candidates?.slice(0, 1) ?? [])
  const latest = <A>(of: (candidate: (typeof candidates)[number]) => A | undefined): A | undefined =>
    candidates.map(of).findLast((value) => value !== undefined)
  return defined({
    ...last,
    candidates: candidates.length === 0 ? undefined : [defined({
      content: { role: "model", parts: [{ text: chunks.map(responseText).join("") }] },
      finishReason: latest(({ finishReason }) => finishReason),
      groundingMetadata: inOnePart(latest(({ groundingMetadata }) => groundingMetadata))
    })],
    promptFeedback: chunks.map(({ promptFeedback }) => promptFeedback).findLast((value) => value !== undefined),
    usageMetadata: chunks.map(({ usageMetadata }) => usageMetadata).findLast((value) => value !== undefined)
  })
}

const inOnePart = (metadata: GroundingMetadata | undefined): GroundingMetadata | undefined =>
  metadata?.groundingSupports === undefined ? metadata : {
    ...metadata,
    groundingSupports: metadata.groundingSupports.map((support) => {
      const { partIndex: _, ...segment } = support.segment ?? {}
      return { ...support, segment }
    })
  }

/**
 * The answer in a response. The service writes no citation marks: `[1]` is inserted after every supported stretch without one.
 * A blocked prompt or answer is an error with the service's reason.
 */
export const answerFromWire = (
  corpus: CorpusName,
  model: string,
  wire: GenerateContentResponse
): Result.Result<Answer, ServiceError> => {
  const candidate = wire.candidates?.[0]
  const text = responseText(wire)
  const refusal = wire.promptFeedback?.blockReason ?? (text === "" ? candidate?.finishReason : undefined)
  if (refusal !== undefined && refusal !== "STOP") {
    const message = wire.promptFeedback?.blockReasonMessage ?? candidate?.finishMessage
    return Result.fail(
      new ServiceError({
        code: "FAILED_PRECONDITION",
        message: `the model gave no answer (${refusal})${message === undefined ? "" : `: ${message}`}`,
        reason: refusal
      })
    )
  }
  const metadata = candidate?.groundingMetadata ?? {}
  const { citations, numbers } = citationsFromWire(corpus, metadata.groundingChunks ?? [])
  const supports = supportsFromWire(candidate?.content, metadata, numbers)
  return Result.succeed(defined({
    ...marked(text, supports),
    grounded: supports.length > 0,
    citations,
    model: wire.modelVersion ?? model,
    truncated: candidate?.finishReason?.endsWith("MAX_TOKENS") === true ? true : undefined,
    usage: wire.usageMetadata === undefined ? undefined : {
      promptTokens: wire.usageMetadata.promptTokenCount ?? 0,
      answerTokens: wire.usageMetadata.candidatesTokenCount ?? 0,
      totalTokens: wire.usageMetadata.totalTokenCount ?? 0
    }
  }))
}

const usageToWire = ({ usage }: Answer): GenerateContentResponse["usageMetadata"] =>
  usage === undefined ? undefined : {
    promptTokenCount: usage.promptTokens,
    candidatesTokenCount: usage.answerTokens,
    totalTokenCount: usage.totalTokens
  }

/** The evidence in the older form of citation metadata, with addresses and without text. */
const citationMetadataOf = ({ citations, supports, text }: Answer): Candidate["citationMetadata"] => {
  const cited = supports.flatMap((support) =>
    support.citations.flatMap((index) => {
      const citation = citations.find((each) => each.index === index)
      return citation === undefined ? [] : [{
        startIndex: byteOffset(text, support.start),
        endIndex: byteOffset(text, support.end),
        uri: citation.sourceUri,
        title: citation.sourceDisplayName
      }]
    })
  )
  return cited.length === 0 ? undefined : { citations: cited }
}

const groundingToWire = (answer: Answer, question: string | undefined): GroundingMetadata | undefined => {
  // An unverified answer has a query but no supports; a refusal has neither.
  if (answer.unverified !== undefined) return question === undefined ? {} : { retrievalQueries: [question] }
  if (answer.citations.length === 0) return undefined
  const places = new Map(answer.citations.map((citation, i) => [citation.index, i]))
  return defined({
    retrievalQueries: question === undefined ? undefined : [question],
    groundingChunks: answer.citations.map((citation) => ({
      retrievedContext: {
        uri: citation.sourceUri,
        title: citation.sourceDisplayName,
        text: citation.quote,
        ragChunk: chunkToWire(citation)
      }
    })),
    // The service omits sentences without evidence, and so does this list.
    groundingSupports: answer.supports.filter(({ citations }) => citations.length > 0).map(({ citations, confidence, end, start }) => {
      const indices = citations.flatMap((index) => places.get(index) ?? [])
      return defined({
        segment: {
          startIndex: byteOffset(answer.text, start),
          endIndex: byteOffset(answer.text, end),
          text: answer.text.slice(start, end)
        },
        groundingChunkIndices: indices,
        confidenceScores: confidence === undefined ? undefined : indices.map(() => confidence)
      })
    })
  })
}

/** Citations of the corpus's chunks, and their `numbers`. Chunks from the web or from maps are left out. */
const citationsFromWire = (corpus: CorpusName, chunks: ReadonlyArray<GroundingChunk>) => {
  const citations: Array<Citation> = []
  const numbers = new Map<number, number>()
  for (const [i, { retrievedContext }] of chunks.entries()) {
    if (retrievedContext === undefined) continue
    const { ragChunk, text: content, title = "", uri = title } = retrievedContext
    const quote = content ?? ragChunk?.text ?? ""
    const index = citations.length + 1
    numbers.set(i, index)
    citations.push({ index, ...chunkFromWire(corpus, ragChunk, uri, quote), sourceUri: uri, sourceDisplayName: title, quote })
  }
  return { citations, numbers }
}

const supportsFromWire = (
  content: Content | undefined,
  { groundingSupports = [] }: GroundingMetadata,
  numbers: ReadonlyMap<number, number>
): ReadonlyArray<Support> =>
  groundingSupports.flatMap(({ confidenceScores = [], groundingChunkIndices = [], segment }) => {
    const citations = groundingChunkIndices.flatMap((i) => numbers.get(i) ?? [])
    if (segment === undefined || citations.length === 0) return []
    const index = segment.partIndex ?? 0
    const part = content?.parts?.[index]
    if (part?.text === undefined || part.thought === true) return []
    const offset = contentText({ parts: content?.parts?.slice(0, index) ?? [] }).length
    const start = offset + unitOffset(part.text, segment.startIndex ?? 0)
    const end = offset + unitOffset(part.text, segment.endIndex ?? 0)
    if (end <= start) return []
    return [defined({ start, end, citations, confidence: confidenceScores.length === 0 ? undefined : Math.max(...confidenceScores) })]
  })

/** The text with a citation mark after each supported stretch without one, and the supports with their new offsets. */
const marked = (
  text: string,
  supports: ReadonlyArray<Support>
): { readonly text: string; readonly supports: ReadonlyArray<Support> } => {
  const marks = new Map<number, Array<number>>()
  for (const { citations, end } of supports) {
    if (/^\s*\[\d/.test(text.slice(end, end + 10))) continue
    marks.set(end, [...new Set([...marks.get(end) ?? [], ...citations])])
  }
  const places = [...marks].sort(([a], [b]) => a - b).map(([at, numbers]) => ({ at, mark: ` ${numbers.map((n) => `[${n}]`).join("")}` }))
  const shifted = (at: number, inclusive: boolean): number =>
    places.reduce((sum, place) => (place.at < at || (inclusive && place.at === at) ? sum + place.mark.length : sum), at)
  let out = ""
  let from = 0
  for (const { at, mark } of places) {
    out += text.slice(from, at) + mark
    from = at
  }
  return {
    text: out + text.slice(from),
    supports: supports.map((support) => ({ ...support, start: shifted(support.start, true), end: shifted(support.end, false) }))
  }
}
