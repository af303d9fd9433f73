import { Context, Effect } from "effect"
import { type NotifySettings, recipientOf } from "../domain/Hooks.ts"
import { type SecretError, ServiceError } from "../domain/Errors.ts"
import type { Report, SyncEvent } from "../domain/Report.ts"
import type { Definition } from "./definition/Definition.ts"

/** The notification of a run: its report, or the error that left it without one. The last lines of `--json` are the same. */
export type RunNews =
  | { readonly version: 1; readonly type: "report"; readonly report: Report }
  | { readonly version: 1; readonly type: "error"; readonly pipeline: string; readonly error: string; readonly message: string }

/** Sends the notification of a run; provided by the code that opens pipelines for writing. */
export const Notifier = Context.Reference<(to: NotifySettings, news: RunNews) => Effect.Effect<void, ServiceError | SecretError>>(
  "sluice/pipeline/Notifier",
  {
    defaultValue: () => () => Effect.fail(new ServiceError({ code: "UNIMPLEMENTED", message: "notifications cannot be sent here" }))
  }
)

const occasionsOf = (
  { ended, totals: { added, changed, deleted, failed, held, moved } }: Report
): ReadonlyArray<NotifySettings["on"][number]> => [
  "always",
  ...(added + changed + moved + deleted > 0 ? ["changed"] as const : []),
  ...(ended !== "done" || failed + held > 0 ? ["failed"] as const : [])
]

/**
 * Notifies the recipients of the pipeline's `notify` that a run concerns, each separately. A notification that cannot be
 * sent is reported as an event, and does not fail the run.
 */
const tell = (
  { notify }: Definition,
  news: RunNews,
  observe: (event: SyncEvent) => Effect.Effect<void>
): Effect.Effect<void> =>
  Effect.gen(function*() {
    const send = yield* Notifier
    const occasions = news.type === "error" ? ["always", "failed"] : occasionsOf(news.report)
    yield* Effect.forEach(
      notify.filter(({ on }) => on.some((each) => occasions.includes(each))),
      (to) =>
        send(to, news).pipe(
          Effect.match({ onSuccess: () => undefined, onFailure: ({ message }) => message }),
          Effect.flatMap((error) => observe({ type: "notified", to: recipientOf(to), error }))
        ),
      { discard: true, concurrency: mostAtOnce }
    )
  })

const mostAtOnce = 4

export const tellReport = (
  pipeline: Definition,
  report: Report,
  observe: (event: SyncEvent) => Effect.Effect<void>
): Effect.Effect<void> => tell(pipeline, { version: 1, type: "report", report }, observe)

export const tellError = (
  pipeline: Definition,
  error: { readonly _tag: string; readonly message: string },
  observe: (event: SyncEvent) => Effect.Effect<void>
): Effect.Effect<void> =>
  tell(pipeline, { version: 1, type: "error", pipeline: pipeline.name, error: error._tag, message: error.message }, observe)
