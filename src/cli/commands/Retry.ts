import { Effect } from "effect"
import { Command, Flag } from "effect/cli"
import { openPipeline, pipelineArgument } from "../Session.ts"
import { runAndReport, wait } from "./Run.ts"

/** `sluice retry --failed`: a run that retries quarantined files too. */
export const retry = Command.make(
  "retry",
  {
    pipeline: pipelineArgument,
    wait,
    failed: Flag.Boolean("failed").pipe(
      Flag.withDescription("Retry failed and quarantined files: the default, and the only choice"),
      Flag.withDefault(true)
    )
  },
  Effect.fn(function*(args) {
    const loaded = yield* openPipeline(args.pipeline)
    yield* runAndReport(loaded, { retryFailed: true }, "retry", args.wait)
  })
).pipe(
  Command.withShortDescription("Sync, and retry quarantined files."),
  Command.withDescription(
    "Sync, and retry quarantined files: those that failed in a way that the same bytes and the same parser would repeat. Useful when the machine was the problem (its memory, a time limit) and not the file."
  ),
  Command.withExamples([{ command: "sluice retry --failed pipeline.yaml", description: "retry every failed file" }])
)
