import { Effect } from "effect"
import type { Answer } from "../../domain/Answer.ts"
import type { ServiceError } from "../../domain/Errors.ts"
import { Generator, type GroundedRequest } from "../../ports/Generator.ts"
import type { Retrieved } from "./Retrieve.ts"
import type { Stage } from "./Stage.ts"

export interface Answered extends Retrieved {
  readonly answer: Answer
}

/** Answers the question from the contexts, citing them. */
export const generate =
  (options: Pick<GroundedRequest, "instruction" | "sampling"> = {}): Stage<Retrieved, Answered, ServiceError, Generator> =>
  (input) =>
    Effect.gen(function*() {
      const generator = yield* Generator
      const answer = yield* generator.answer({ ...options, question: input.question, contexts: input.contexts })
      return { ...input, answer }
    }).pipe(Effect.withSpan("stage.generate"))
