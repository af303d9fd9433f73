import { Result } from "effect"
import type { ServiceError } from "../../domain/Errors.ts"
import type { Context } from "../../domain/Retrieval.ts"
import { contentText } from "./Grounding.ts"
import type {
  AugmentPromptRequest,
  AugmentPromptResponse,
  CorroborateContentRequest,
  CorroborateContentResponse,
  Fact
} from "../messages/Grounding.ts"
import { defined, required, unserved } from "../Optional.ts"
import { chunkToWire, type Selection, storeFromWire } from "./Retrievals.ts"
import { byteOffset } from "../Utf8.ts"

/** A retrieved chunk as a fact, which `augmentPrompt` returns and `corroborateContent` takes. */
export const factToWire = (query: string, context: Context): Fact =>
  defined({
    query,
    title: context.sourceDisplayName,
    uri: context.sourceUri,
    summary: context.text,
    score: context.distance,
    chunk: chunkToWire(context)
  })

/** Decodes a request of `augmentPrompt`. Its query is the text of the last turn. */
export const augmentRequestFromWire = (
  parent: string,
  wire: AugmentPromptRequest
): Result.Result<{ readonly question: string; readonly selection: Selection }, ServiceError> =>
  Result.gen(function*() {
    yield* unserved(wire.model, "model", "leave it out: what is laid before the question is the same for every model")
    return {
      question: yield* required(contentText(wire.contents?.at(-1)), "contents"),
      selection: yield* storeFromWire(parent, yield* required(wire.vertexRagStore, "vertex_rag_store"), "vertex_rag_store")
    }
  })

/** The turns of a request with the facts inserted before the last one, as text that names the sources. */
export const augmentResponseToWire = (wire: AugmentPromptRequest, facts: ReadonlyArray<Fact>): AugmentPromptResponse => {
  const contents = wire.contents ?? []
  const given = facts.map(({ summary = "", title = "" }, i) => `[${i + 1}] ${title}\n${summary}`).join("\n\n")
  const last = contents.at(-1)
  return {
    augmentedPrompt: [
      ...contents.slice(0, -1),
      {
        role: last?.role ?? "user",
        parts: [...(given === "" ? [] : [{ text: `Answer from these sources:\n\n${given}\n\n` }]), ...last?.parts ?? []]
      }
    ],
    facts
  }
}

export interface CorroborationRequest {
  readonly text: string
  readonly facts: ReadonlyArray<Fact>
  /** Least support of a claim, from 0 to 1, below which it cites nothing. */
  readonly threshold?: number
}

export const corroborateRequestFromWire = (wire: CorroborateContentRequest): Result.Result<CorroborationRequest, ServiceError> =>
  Result.map(
    required(contentText(wire.content), "content"),
    (text) => defined({ text, facts: wire.facts ?? [], threshold: wire.parameters?.citationThreshold })
  )

/** A claim of a text. Offsets count UTF-16 code units here, and bytes in the API. */
export interface Claim {
  readonly start: number
  readonly end: number
  /** Indices of the supporting facts in the request. */
  readonly facts: ReadonlyArray<number>
  /** Support of the claim, from 0 to 1. */
  readonly score: number
}

export const corroborateResponseToWire = (
  text: string,
  score: number,
  claims: ReadonlyArray<Claim>
): CorroborateContentResponse => ({
  corroborationScore: score,
  claims: claims.map(({ end, facts, score, start }) => ({
    startIndex: byteOffset(text, start),
    endIndex: byteOffset(text, end),
    factIndexes: facts,
    score
  }))
})
