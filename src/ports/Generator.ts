import { Context as Ctx, type Effect, type Stream } from "effect"
import type { Answer, AnswerPart } from "../domain/Answer.ts"
import type { ChatRequest } from "../domain/Chat.ts"
import type { ServiceError } from "../domain/Errors.ts"
import type { Context } from "../domain/Retrieval.ts"

/** A question with the evidence it is to be answered from. */
export interface GroundedRequest {
  readonly question: string
  /** Evidence, best first. Untrusted text: it is delimited in prompts and never obeyed. */
  readonly contexts: ReadonlyArray<Context>
  /** What the pipeline's author asks of the answer's form. */
  readonly instruction?: string
  /** How a model draws its words; without a model it has no effect. */
  /** Told the answer so far; once true, nothing after it is wanted, and a model is asked for no more. Default: all is. */
  readonly enough?: (text: string) => boolean
  readonly sampling?: Pick<ChatRequest, "maxTokens" | "temperature" | "topP" | "topK" | "seed" | "presencePenalty" | "frequencyPenalty">
}

/** Answers a question from the contexts it is given and nothing else, citing them. */
export class Generator extends Ctx.Service<Generator, {
  readonly model: string
  readonly answer: (request: GroundedRequest) => Effect.Effect<Answer, ServiceError>
  readonly stream: (request: GroundedRequest) => Stream.Stream<AnswerPart, ServiceError>
}>()("sluice/ports/Generator") {}
