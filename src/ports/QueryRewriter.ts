import { Context as Ctx, type Effect } from "effect"
import type { Exchange } from "../domain/Answer.ts"
import type { ServiceError } from "../domain/Errors.ts"

/**
 * Makes a question that leans on what was said before stand by itself, so that it can be searched. One that needs
 * nothing from before comes back as it is.
 */
export class QueryRewriter extends Ctx.Service<QueryRewriter, {
  /** `history`: oldest first. */
  readonly rewrite: (question: string, history: ReadonlyArray<Exchange>) => Effect.Effect<string, ServiceError>
  /** What is searched for a question that was rewritten, where that is more than is asked. Default: the rewritten question. */
  readonly searched?: (rewritten: string, history: ReadonlyArray<Exchange>) => string
  /** Up to `count` queries that ask for the same as a question in other words. Absent: it writes none. */
  readonly queries?: (question: string, count: number) => Effect.Effect<ReadonlyArray<string>, ServiceError>
}>()("sluice/ports/QueryRewriter") {}
