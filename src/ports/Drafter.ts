import { Context as Ctx, type Effect } from "effect"
import type { ChatUsage } from "../domain/Chat.ts"
import type { ServiceError } from "../domain/Errors.ts"

/** A piece of a document. */
export interface Passage {
  readonly text: string
  /** Headings above the passage, the outermost first. */
  readonly headings: ReadonlyArray<string>
}

/** Questions drafted from a passage. */
export interface DraftedQuestions {
  /** Each question with the words that answer it, as the drafter quotes them; whether the passage really has them is not checked. */
  readonly drafts: ReadonlyArray<{ readonly question: string; readonly span: string }>
  /** Absent where the model does not report it. */
  readonly usage?: ChatUsage
}

/** Drafts questions that a passage answers. */
export class Drafter extends Ctx.Service<Drafter, {
  readonly model: string
  /** Drafts at most `count` questions; none where the passage answers nothing. */
  readonly draft: (passage: Passage, count: number) => Effect.Effect<DraftedQuestions, ServiceError>
}>()("sluice/ports/Drafter") {}
