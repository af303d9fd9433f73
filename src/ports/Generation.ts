import { Context as Ctx, type Effect, type Stream } from "effect"
import type { ServiceError } from "../domain/Errors.ts"
import type { CountRequest, GenerationRequest, GenerationResponse, TokenCount } from "../domain/generation/Generation.ts"

/**
 * Content generation by the platform's models, named in short (`gemini-2.0-flash-001`), with the publisher
 * (`publishers/meta/models/…`), or in full. The rules for requests are in `domain/generation/GenerationRules.ts`.
 */
export class Generation extends Ctx.Service<Generation, {
  /** Returns the complete answer. An answer that was withheld says so in its finish reason, or in the feedback on the prompt. */
  readonly generate: (model: string, request: GenerationRequest) => Effect.Effect<GenerationResponse, ServiceError>
  /**
   * Streams the answer as it is generated. Ending the stream early stops the model. A stream that breaks off before its
   * finish reason, an error inside it, and a silence are failures.
   */
  readonly stream: (model: string, request: GenerationRequest) => Stream.Stream<GenerationResponse, ServiceError>
  /** Counts the tokens of a request without answering it. */
  readonly countTokens: (model: string, request: CountRequest) => Effect.Effect<TokenCount, ServiceError>
}>()("sluice/ports/Generation") {}
