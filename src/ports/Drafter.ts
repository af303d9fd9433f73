import { Context as Ctx, type Effect } from "effect"
import type { ChatUsage } from "../domain/Chat.ts"
import type { ServiceError } from "../domain/Errors.ts"

/** A piece of a document. */
export interface Passage {
  readonly text: string
  /** Those it stands under, the outermost first. */
  readonly headings: ReadonlyArray<string>
}

/** What a drafter makes of a passage. */
export interface DraftedQuestions {
  /** `span`: the words that answer it, as the drafter quotes them; whether the passage has them is not looked at. */
  readonly drafts: ReadonlyArray<{ readonly question: string; readonly span: string }>
  /** Absent where the model does not tell. */
  readonly usage?: ChatUsage
}

/** Drafts questions that a passage answers. */
export class Drafter extends Ctx.Service<Drafter, {
  readonly model: string
  /** At most `count` of them; none where the passage answers nothing. */
  readonly draft: (passage: Passage, count: number) => Effect.Effect<DraftedQuestions, ServiceError>
}>()("sluice/ports/Drafter") {}
