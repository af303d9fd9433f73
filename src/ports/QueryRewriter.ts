import { Context as Ctx, type Effect } from "effect"
import type { Exchange } from "../domain/Answer.ts"
import type { ServiceError } from "../domain/Errors.ts"

/**
 * Rewrites a question that refers to earlier exchanges so that it can be searched for alone. A question that needs
 * nothing from before comes back unchanged.
 */
export class QueryRewriter extends Ctx.Service<QueryRewriter, {
  /** Rewrites the question; `history` is ordered oldest first. */
  readonly rewrite: (question: string, history: ReadonlyArray<Exchange>) => Effect.Effect<string, ServiceError>
  /** The text to search for a rewritten question, where that is more than the question. Default: the rewritten question. */
  readonly searched?: (rewritten: string, history: ReadonlyArray<Exchange>) => string
  /** Up to `count` queries that ask for the same as a question in other words. Absent: it writes none. */
  readonly queries?: (question: string, count: number) => Effect.Effect<ReadonlyArray<string>, ServiceError>
}>()("sluice/ports/QueryRewriter") {}
