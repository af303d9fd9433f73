import { Effect } from "effect"
import { Command, Flag } from "effect/cli"
import { ExitCode } from "../../domain/Errors.ts"
import type { Plan, PlanItem } from "../../pipeline/sync/Plan.ts"
import { exitWith } from "../Exit.ts"
import { Output } from "../Output.ts"
import { Folders, planColumns, planRow, renderPlan } from "../render/Plan.ts"
import { makeProgress } from "../render/Progress.ts"
import { makeTable } from "../render/Table.ts"
import { root } from "../Root.ts"
import { onEngine, openPipeline, pipelineArgument } from "../Session.ts"
import { strict } from "./Run.ts"

/** Lines sorted and printed at a time, so that a plan of any size is shown with constant memory. */
const pageSize = 1_000
/** With more files than this, folders are shown instead. */
const mostFiles = 500

/** `sluice plan`: what a run would do, file by file, and what it would cost. */
export const plan = Command.make(
  "plan",
  {
    pipeline: pipelineArgument,
    all: Flag.Boolean("all").pipe(Flag.withDescription("List every file, including unchanged and ignored ones"), Flag.withDefault(false)),
    summary: Flag.Boolean("summary").pipe(Flag.withDescription("Counts and costs only, no files"), Flag.withDefault(false)),
    strict,
    candidate: Flag.Boolean("candidate").pipe(
      Flag.withDescription("Show what `sluice run --candidate` would do, instead of `sluice run`"),
      Flag.withDefault(false)
    ),
    detailedExitcode: Flag.Boolean("detailed-exitcode").pipe(
      Flag.withDescription("Exit 2 when there is something to do, 0 when there is not"),
      Flag.withDefault(false)
    )
  },
  Effect.fn(function*(args) {
    const { json } = yield* root
    const output = yield* Output
    const loaded = yield* openPipeline(args.pipeline)
    const { planPipeline } = yield* Effect.promise(() => import("../../pipeline/RunPipeline.ts"))
    const table = makeTable(planColumns(output.paint), output.width)
    let rows: Array<ReadonlyArray<string>> = []
    let shown = 0
    const folders = new Folders()
    const flush = Effect.suspend(() => {
      const page = rows.toSorted((a, b) => (a[1] ?? "").localeCompare(b[1] ?? "", "en"))
      rows = []
      return page.length === 0 ? Effect.void : output.print(table(page))
    })
    const observe = (item: PlanItem) => {
      if (json) return args.summary ? Effect.void : output.json({ version: 1, ...item })
      if (args.summary || (!args.all && isQuiet(item))) return Effect.void
      shown += 1
      if (!args.all) folders.add(item)
      if (args.all || shown <= mostFiles) rows.push(planRow(item))
      return args.all && rows.length >= pageSize ? flush : Effect.void
    }
    const result = yield* onEngine(
      loaded,
      { mode: "read", of: args.candidate ? "candidate" : "live" },
      (pipeline) =>
        Effect.gen(function*() {
          const progress = json || args.all ? undefined : yield* makeProgress({})
          return yield* planPipeline(pipeline, { all: args.all, strict: args.strict, candidate: args.candidate, observe, progress })
        }).pipe(Effect.scoped)
    )
    if (!args.all && shown > mostFiles) {
      yield* output.print(table(folders.rows))
      yield* output.say(`${shown} files, shown by folder; --all lists each`)
    } else yield* flush
    const listed = shown > 0
    if (json) yield* output.json({ version: 1, type: "plan", ...result })
    else yield* output.print((listed ? "\n" : "") + renderPlan(result, loaded.pipeline.corpus.displayName, output))
    return yield* exitWith(
      result.incomplete.length > 0 ? ExitCode.error : args.detailedExitcode && changes(result) ? ExitCode.changesPending : ExitCode.done
    )
  })
).pipe(
  Command.withShortDescription("Show what a run would do, file by file, and what it would cost."),
  Command.withDescription(
    "Show what a run would do with each file (add, change, move, delete, leave unchanged or skip) and why, with chunks, tokens, embedding requests, time and, where import.pricePerMillionTokens is set, costs. A large number of files is shown by folder. Changes nothing."
  ),
  Command.withExamples([
    { command: "sluice plan pipeline.yaml", description: "what would change" },
    { command: "sluice plan pipeline.yaml --summary", description: "totals and costs" },
    { command: "sluice plan pipeline.yaml --all", description: "every file, including unchanged ones" },
    { command: "sluice plan pipeline.yaml --detailed-exitcode", description: "for scripts: 2 means there are changes" }
  ])
)

/** Whether nothing happens to a file: a plan leaves it out. */
const isQuiet = (item: PlanItem): boolean => item.type === "file" && (item.outcome === "unchanged" || item.reason === "ignored")

const changes = ({ corpus, totals, unknown }: Plan): boolean =>
  unknown.length > 0 || corpus.action !== "keep" || totals.added + totals.changed + totals.moved + totals.deleted + totals.held > 0
