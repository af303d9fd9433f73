import { Context as Ctx, type Effect } from "effect"
import type { ChatUsage } from "../domain/Chat.ts"
import type { ServiceError } from "../domain/Errors.ts"

/** An answer, and what is expected of it: at least one of the three. */
export interface JudgeRequest {
  readonly question: string
  readonly answer: string
  readonly expected: {
    /** The right answer, in any words. */
    readonly means?: string
    /** Texts that it must hold. */
    readonly contains?: ReadonlyArray<string>
    /** A regular expression that it must match. */
    readonly matches?: string
  }
}

/** What a judge says. */
export interface Verdict {
  /** Absent: the judge gave no verdict. */
  readonly right?: boolean
  /** Absent where the model does not tell. */
  readonly usage?: ChatUsage
}

/** Says whether an answer is right, by what is expected of it. */
export class Judge extends Ctx.Service<Judge, {
  readonly model: string
  readonly judge: (request: JudgeRequest) => Effect.Effect<Verdict, ServiceError>
}>()("sluice/ports/Judge") {}
