import { Effect } from "effect"
import type { Exchange } from "../../domain/Answer.ts"
import type { ServiceError } from "../../domain/Errors.ts"
import { QueryRewriter } from "../../ports/QueryRewriter.ts"
import type { Question } from "./Retrieve.ts"
import type { Stage } from "./Stage.ts"

/** A question within a conversation. */
export interface FollowUp extends Question {
  /** Earlier exchanges, oldest first. */
  readonly history: ReadonlyArray<Exchange>
}

/** Earlier exchanges considered, unless the pipeline says otherwise. */
const defaultTurns = 6

/** Rewrites a question of a conversation so that it can be understood, and searched for, alone. */
export const condense =
  (options: { readonly turns?: number } = {}): Stage<FollowUp, Question, ServiceError, QueryRewriter> => ({ history, ...input }) =>
    Effect.gen(function*() {
      const { rewrite, searched } = yield* QueryRewriter
      const turns = options.turns ?? defaultTurns
      if (turns === 0) return input
      const recent = history.slice(-turns)
      const question = yield* rewrite(input.question, recent)
      const query = searched?.(question, recent) ?? question
      return { ...input, question, ...(query === question ? {} : { query }) }
    }).pipe(Effect.withSpan("stage.condense"))
