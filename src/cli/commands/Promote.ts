import { Effect } from "effect"
import { Command, Flag } from "effect/cli"
import type { Switched } from "../../pipeline/sync/Generations.ts"
import { Output } from "../Output.ts"
import { root } from "../Root.ts"
import { onEngine, openPipeline, pipelineArgument, reading } from "../Session.ts"

/** `sluice promote`: makes the candidate the live corpus. */
export const promote = Command.make(
  "promote",
  {
    pipeline: pipelineArgument,
    yes: Flag.Boolean("yes").pipe(
      Flag.withAlias("y"),
      Flag.withDescription("Promote even if the candidate lacks more files of the live corpus than import.maxDelete allows"),
      Flag.withDefault(false)
    )
  },
  Effect.fn(function*(args) {
    const loaded = yield* openPipeline(args.pipeline)
    const { promotePipeline } = yield* Effect.promise(() => import("../../pipeline/RunPipeline.ts"))
    const switched = yield* onEngine(loaded, reading, promotePipeline(loaded.pipeline, { yes: args.yes }))
    yield* tell("promoted", switched)
  })
).pipe(
  Command.withShortDescription("Make the candidate the live corpus."),
  Command.withDescription(
    "Make the candidate, which `sluice run --candidate` built, the live corpus, in one step: every reader sees either the old or the new one. The previous corpus is kept for `sluice rollback`, as corpus.keepGenerations says. Refused if the candidate is not complete, or lacks files of the live corpus."
  ),
  Command.withExamples([
    { command: "sluice promote pipeline.yaml", description: "after checking `sluice eval --candidate`" },
    { command: "sluice promote --yes", description: "even though files are missing in it" }
  ])
)

/** `sluice rollback`: makes the previous corpus live again. */
export const rollback = Command.make(
  "rollback",
  {
    pipeline: pipelineArgument,
    candidate: Flag.Boolean("candidate").pipe(
      Flag.withDescription("Delete the candidate instead; the live corpus stays"),
      Flag.withDefault(false)
    )
  },
  Effect.fn(function*(args) {
    const { json } = yield* root
    const output = yield* Output
    const loaded = yield* openPipeline(args.pipeline)
    const { dropPipelineCandidate, rollbackPipeline } = yield* Effect.promise(() => import("../../pipeline/RunPipeline.ts"))
    if (!args.candidate) return yield* tell("rolledBack", yield* onEngine(loaded, reading, rollbackPipeline(loaded.pipeline)))
    const { corpus, number } = yield* onEngine(loaded, reading, dropPipelineCandidate(loaded.pipeline))
    yield* json
      ? output.json({ version: 1, type: "dropped", generation: number, corpus })
      : output.print(`generation ${number}, the candidate, is deleted`)
  })
).pipe(
  Command.withShortDescription("Make the previous corpus live again."),
  Command.withDescription(
    "Undo the last promotion, in one step: the previous corpus is live again, and the one that was live becomes the candidate. If there is a candidate already, that one stays, and the one that was live is deleted. Fails if no earlier corpus is kept."
  ),
  Command.withExamples([
    { command: "sluice rollback pipeline.yaml", description: "the promoted corpus answers worse" },
    { command: "sluice rollback --candidate", description: "the candidate is no longer needed" }
  ])
)

const tell = Effect.fnUntraced(function*(type: "promoted" | "rolledBack", { before, deleted, live }: Switched) {
  const { json } = yield* root
  const output = yield* Output
  if (json) {
    return yield* output.json({
      version: 1,
      type,
      live: { generation: live.number, corpus: live.corpus },
      before: before === undefined ? null : { generation: before.number, corpus: before.corpus },
      deleted: deleted.map(({ corpus, number }) => ({ generation: number, corpus }))
    })
  }
  const gone = deleted.length === 0 ? "" : `; deleted: generation ${deleted.map(({ number }) => number).join(", ")}`
  yield* output.print(
    `generation ${live.number} is live now${before === undefined ? "" : `, instead of generation ${before.number}`}${gone}`
  )
})
