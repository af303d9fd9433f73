import { Context as Ctx, type Effect, type Stream } from "effect"
import type { ServiceError } from "../domain/Errors.ts"
import type { CountRequest, GenerationRequest, GenerationResponse, TokenCount } from "../domain/generation/Generation.ts"

/**
 * Content generation by models of the platform, named as people do (`gemini-2.0-flash-001`), with the publisher
 * (`publishers/meta/models/…`), or in full. The rules of a request are in `domain/generation/GenerationRules.ts`.
 */
export class Generation extends Ctx.Service<Generation, {
  /** The whole answer. One that was withheld says so in its finish reason, or in the feedback on the prompt. */
  readonly generate: (model: string, request: GenerationRequest) => Effect.Effect<GenerationResponse, ServiceError>
  /**
   * The answer as it is made. Ending the stream early stops the model. A stream that breaks off before its finish
   * reason, an error inside it, and a silence are failures.
   */
  readonly stream: (model: string, request: GenerationRequest) => Stream.Stream<GenerationResponse, ServiceError>
  /** Tokens that the request would have, before it is answered. */
  readonly countTokens: (model: string, request: CountRequest) => Effect.Effect<TokenCount, ServiceError>
}>()("sluice/ports/Generation") {}
