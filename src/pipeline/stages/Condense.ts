import { Effect } from "effect"
import type { Exchange } from "../../domain/Answer.ts"
import type { ServiceError } from "../../domain/Errors.ts"
import { QueryRewriter } from "../../ports/QueryRewriter.ts"
import type { Question } from "./Retrieve.ts"
import type { Stage } from "./Stage.ts"

/** A question within a conversation. */
export interface FollowUp extends Question {
  /** Oldest first. */
  readonly history: ReadonlyArray<Exchange>
}

/** Earlier exchanges looked at, when a pipeline does not say how many. */
export const defaultTurns = 6

/** Turns a question of a conversation into one that stands by itself, ready to be retrieved for. */
export const condense =
  (options: { readonly turns?: number } = {}): Stage<FollowUp, Question, ServiceError, QueryRewriter> =>
  ({ history, ...input }) =>
    Effect.gen(function*() {
      const { rewrite } = yield* QueryRewriter
      const turns = options.turns ?? defaultTurns
      const question = turns === 0 ? input.question : yield* rewrite(input.question, history.slice(-turns))
      return { ...input, question }
    }).pipe(Effect.withSpan("stage.condense"))
