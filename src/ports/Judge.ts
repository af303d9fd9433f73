import { Context as Ctx, type Effect } from "effect"
import type { ChatUsage } from "../domain/Chat.ts"
import type { ServiceError } from "../domain/Errors.ts"

/** An answer, and at least one expectation of it. */
export interface JudgeRequest {
  readonly question: string
  readonly answer: string
  readonly expected: {
    /** The right answer, in any words. */
    readonly means?: string
    /** Texts that the answer must contain. */
    readonly contains?: ReadonlyArray<string>
    /** A regular expression that the answer must match. */
    readonly matches?: string
  }
}

/** A judge's verdict. */
export interface Verdict {
  /** Whether the answer is right. Absent: the judge gave no verdict. */
  readonly right?: boolean
  /** Absent where the model does not report it. */
  readonly usage?: ChatUsage
}

/** Decides whether an answer meets its expectations. */
export class Judge extends Ctx.Service<Judge, {
  readonly model: string
  readonly judge: (request: JudgeRequest) => Effect.Effect<Verdict, ServiceError>
}>()("sluice/ports/Judge") {}
