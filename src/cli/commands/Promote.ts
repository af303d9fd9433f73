import { Effect } from "effect"
import { Command, Flag } from "effect/cli"
import type { Switched } from "../../pipeline/sync/Generations.ts"
import { Output } from "../Output.ts"
import { root } from "../Root.ts"
import { onEngine, openPipeline, pipelineArgument, reading } from "../Session.ts"

/** `sluice promote`: the candidate takes the place of the corpus that serves. */
export const promote = Command.make(
  "promote",
  {
    pipeline: pipelineArgument,
    yes: Flag.Boolean("yes").pipe(
      Flag.withAlias("y"),
      Flag.withDescription("Even where the candidate lacks more files of the corpus that serves than import.maxDelete allows"),
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
  Command.withShortDescription("Let the candidate take the place of the corpus that serves."),
  Command.withDescription(
    "Let the candidate, which `sluice run --candidate` built, take the place of the corpus that serves: in one step, beside whatever reads, which finds the one or the other. The corpus that served is kept for `sluice rollback`, as corpus.keepGenerations says. Refused where the candidate is not whole, or lacks files."
  ),
  Command.withExamples([
    { command: "sluice promote pipeline.yaml", description: "after a look at `sluice eval --candidate`" },
    { command: "sluice promote --yes", description: "although files are missing in it" }
  ])
)

/** `sluice rollback`: the corpus that served last serves again. */
export const rollback = Command.make(
  "rollback",
  {
    pipeline: pipelineArgument,
    candidate: Flag.Boolean("candidate").pipe(
      Flag.withDescription("Give the candidate up instead: it is deleted, and the corpus that serves stays"),
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
  Command.withShortDescription("Go back to the corpus that served before."),
  Command.withDescription(
    "Go back to the corpus that served before the last promotion, in one step, beside whatever reads. What served until now is the candidate then; where there is a candidate already, that stays. Fails where no earlier one is kept."
  ),
  Command.withExamples([
    { command: "sluice rollback pipeline.yaml", description: "what was promoted answers worse" },
    { command: "sluice rollback --candidate", description: "the candidate is not wanted any more" }
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
    `generation ${live.number} serves from now on${before === undefined ? "" : `, in the place of generation ${before.number}`}${gone}`
  )
})
