import { Effect } from "effect"
import { Command, Flag } from "effect/cli"
import { openPipeline, pipelineArgument } from "../Session.ts"
import { runAndReport, wait } from "./Run.ts"

/** `sluice retry --failed`: a run that tries quarantined files too. */
export const retry = Command.make(
  "retry",
  {
    pipeline: pipelineArgument,
    wait,
    failed: Flag.Boolean("failed").pipe(
      Flag.withDescription("Failed and quarantined files: the default, and the only ones there are to retry"),
      Flag.withDefault(true)
    )
  },
  Effect.fn(function*(args) {
    const loaded = yield* openPipeline(args.pipeline)
    yield* runAndReport(loaded, { retryFailed: true }, "retry", args.wait)
  })
).pipe(
  Command.withShortDescription("Sync, and try quarantined files again."),
  Command.withDescription(
    "Sync, and try quarantined files again: those that failed in a way which the same bytes and the same parser would repeat. Worth it when what failed was the machine (its memory, a time limit) and not the file."
  ),
  Command.withExamples([{ command: "sluice retry --failed pipeline.yaml", description: "try every failed file again" }])
)
