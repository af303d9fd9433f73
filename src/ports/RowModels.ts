import { Context, Effect } from "effect"
import type { JsonRecord } from "../domain/Chat.ts"
import { ServiceError } from "../domain/Errors.ts"

/** Answers a row of a batch job whose request is in its model's native form, in that form. Errors name fields of the request. */
export interface AnswerRow {
  (model: string, request: JsonRecord): Effect.Effect<JsonRecord, ServiceError>
}

const none: AnswerRow = () =>
  Effect.fail(
    new ServiceError({ code: "UNIMPLEMENTED", message: "rows of this form are not answered here", fix: "give body, a chat completion" })
  )

/** Answers rows in the native forms of models. Default: such rows are refused. */
export const RowModels = Context.Reference<{ readonly gemini: AnswerRow; readonly anthropic: AnswerRow }>("sluice/ports/RowModels", {
  defaultValue: () => ({ gemini: none, anthropic: none })
})
