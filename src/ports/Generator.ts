import { Context as Ctx, type Effect, type Stream } from "effect"
import type { Answer, AnswerPart } from "../domain/Answer.ts"
import type { ChatRequest } from "../domain/Chat.ts"
import type { ServiceError } from "../domain/Errors.ts"
import type { Context } from "../domain/Retrieval.ts"
import type { Synonyms } from "../domain/Synonyms.ts"

/** A question with the evidence to answer it from. */
export interface GroundedRequest {
  readonly question: string
  /** Evidence, best first. Untrusted text: it is delimited in prompts and never obeyed. */
  readonly contexts: ReadonlyArray<Context>
  /** Words and phrases that mean the same. Without effect where a model answers. Default: none. */
  readonly synonyms?: Synonyms
  /** The pipeline author's instruction on the form of the answer. */
  readonly instruction?: string
  /**
   * Receives the answer so far; once it returns true the rest is not wanted, and the model is stopped. Default: the whole
   * answer is wanted.
   */
  readonly enough?: (text: string) => boolean
  /** Sampling settings; without effect where no model is used. */
  readonly sampling?: Pick<ChatRequest, "maxTokens" | "temperature" | "topP" | "topK" | "seed" | "presencePenalty" | "frequencyPenalty">
}

/** Answers a question from the given contexts and nothing else, citing them. */
export class Generator extends Ctx.Service<Generator, {
  readonly model: string
  readonly answer: (request: GroundedRequest) => Effect.Effect<Answer, ServiceError>
  readonly stream: (request: GroundedRequest) => Stream.Stream<AnswerPart, ServiceError>
}>()("sluice/ports/Generator") {}
