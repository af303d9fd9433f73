import { Duration, Effect } from "effect"
import type { Definition } from "../definition/Definition.ts"
import { countRun } from "../Metrics.ts"
import { tellError, tellReport } from "../Notify.ts"
import { syncSpec } from "../RunPipeline.ts"
import { commonSettings } from "../definition/SourceSettings.ts"
import { watch, type WatchOptions } from "./Watch.ts"

/**
 * Keeps the pipeline's corpus in line with its sources until it is interrupted; see {@link watch}. Each source is listed
 * at its `poll` interval at the latest.
 *
 * ```ts
 * yield* watchPipeline(pipeline, {
 *   observe: (event) => event.type === "batch" ? Effect.log(event.report.totals) : Effect.void
 * })
 * ```
 */
export const watchPipeline = Effect.fn("watchPipeline")(function*(
  pipeline: Definition,
  options: Omit<WatchOptions, "interval"> = {}
) {
  const observe = options.observe ?? (() => Effect.void)
  return yield* watch(yield* syncSpec(pipeline), {
    ...options,
    interval: (source) => {
      const settings = pipeline.sources[source]
      const poll = settings === undefined ? undefined : commonSettings(settings).poll
      return poll === undefined ? undefined : Duration.toMillis(poll)
    },
    observe: Effect.fnUntraced(function*(event) {
      if (event.type === "batch") {
        yield* countRun(event.report)
        yield* tellReport(pipeline, event.report, observe)
      }
      yield* observe(event)
      // A source that cannot be listed is in the report.
      if (event.type === "trouble" && event.source === undefined) {
        yield* tellError(pipeline, { _tag: "ServiceError", message: event.message }, observe)
      }
    })
  })
}, Effect.scoped)
