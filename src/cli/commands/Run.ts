import { Effect } from "effect"
import { Command, Flag } from "effect/cli"
import { ExitCode } from "../../domain/Errors.ts"
import type { Report, SyncEvent } from "../../domain/Report.ts"
import { printable } from "../../domain/Text.ts"
import type { LoadedPipeline } from "../../pipeline/definition/Load.ts"
import { Engine } from "../../ports/Engine.ts"
import type { SyncOptions } from "../../pipeline/sync/Session.ts"
import { exitWith } from "../Exit.ts"
import { boundHeap } from "../Heap.ts"
import { Output } from "../Output.ts"
import { fromHere } from "../Paths.ts"
import { makeProgress } from "../render/Progress.ts"
import { renderReport } from "../render/Report.ts"
import { root } from "../Root.ts"
import { onEngine, openPipeline, pipelineArgument } from "../Session.ts"
import { UsageError } from "../UsageError.ts"

const yes = Flag.Boolean("yes").pipe(
  Flag.withAlias("y"),
  Flag.withDescription("Make deletes that the guard (import.maxDelete) would hold"),
  Flag.withDefault(false)
)

export const strict = Flag.Boolean("strict").pipe(
  Flag.withDescription("Fail if a source is empty, before anything is written"),
  Flag.withDefault(false)
)

export const wait = Flag.Int("wait").pipe(
  Flag.filter((seconds) => seconds >= 0, () => "Expected 0 or more seconds"),
  Flag.withDescription("Seconds to wait for another sluice that is writing to the same data directory"),
  Flag.withMetavar("SECONDS"),
  Flag.withDefault(0)
)

/** `sluice run`: brings the corpus in line with the sources and accounts for every file. */
export const run = Command.make(
  "run",
  {
    pipeline: pipelineArgument,
    yes,
    wait,
    strict,
    candidate: Flag.Boolean("candidate").pipe(
      Flag.withDescription(
        "Build, or continue to build, a corpus beside the live one, with the file's current settings. `sluice eval --candidate` compares the two, `sluice promote` makes the new one live"
      ),
      Flag.withDefault(false)
    ),
    replace: Flag.Boolean("replace").pipe(
      Flag.withDescription(
        "If the corpus cannot be changed in place, such as for another embedder: build a new one beside it, which becomes live once it is complete"
      ),
      Flag.withDefault(false)
    )
  },
  Effect.fn(function*(args) {
    const loaded = yield* openPipeline(args.pipeline)
    if (args.candidate && args.replace) {
      return yield* new UsageError({
        message: "--candidate and --replace cannot be given together",
        fix: "leave one out: --replace builds a candidate that becomes live at once"
      })
    }
    yield* runAndReport(
      loaded,
      { yes: args.yes, replace: args.replace, candidate: args.candidate, strict: args.strict },
      "run",
      args.wait
    )
  })
).pipe(
  Command.withShortDescription("Bring the corpus in line with the sources."),
  Command.withDescription(
    "Bring the corpus in line with the sources: new, changed, moved and deleted files, each accounted for. Safe to stop and run again at any time. Exits 1 when a source could not be listed, 2 when deletes were held, 3 when files failed, 6 when the budget ended it, 130 when interrupted."
  ),
  Command.withExamples([
    { command: "sluice run pipeline.yaml", description: "sync once" },
    { command: "sluice run --wait 60", description: "give another sluice a minute to finish first" },
    { command: "sluice run --candidate", description: "build another corpus beside the live one, after the file was changed" },
    { command: "sluice run --yes", description: "make held deletes, after checking them" },
    { command: "sluice run pipeline.yaml --json", description: "one JSON event per line; the last one is the report" }
  ])
)

/** Syncs with progress on stderr and the report on stdout. The exit code says how it ended. */
export const runAndReport = Effect.fnUntraced(function*(
  loaded: LoadedPipeline,
  options: SyncOptions,
  command: string,
  waitSeconds: number
) {
  const { json } = yield* root
  const output = yield* Output
  boundHeap()
  const report = yield* onEngine(
    loaded,
    {
      mode: "write",
      holder: `sluice ${command} ${fromHere(loaded.file)}`,
      waitMs: waitSeconds * 1000,
      of: options.candidate === true || options.replace === true ? "candidate" : "live"
    },
    (pipeline) =>
      Effect.gen(function*() {
        const [{ runPipeline }, { builtBy, decodeBuilt, differences }] = yield* Effect.promise(() =>
          Promise.all([import("../../pipeline/RunPipeline.ts"), import("../../pipeline/sync/Built.ts")])
        )
        const { remoteEmbedding } = yield* Engine
        // Opened for the live corpus, a pipeline has that corpus's settings where the file describes another generation.
        const kept = differences(decodeBuilt(builtBy(loaded.pipeline, "")), decodeBuilt(builtBy(pipeline, "")))
        if (kept.length > 0) {
          const settings = kept.map(({ field, from, to }) => `${field} ${to}, not ${from}`).join(", ")
          const note = `the file describes another generation, so that the live corpus keeps its own settings: ${settings}`
          yield* output.say(output.paintError("yellow", printable(note)))
        }
        const progress = yield* makeProgress(
          remoteEmbedding ? { embeddingsPerMinute: pipeline.import.maxEmbeddingRequestsPerMinute } : {}
        )
        const observe = (event: SyncEvent) => json ? output.json({ version: 1, ...event }) : progress(event)
        return yield* runPipeline(pipeline, { ...options, observe })
      }).pipe(Effect.scoped)
  )
  if (!json) yield* output.print(renderReport(report, output))
  return yield* exitWith(exitCodeOf(report))
})

const exitCodeOf = (report: Report): number =>
  report.ended === "budget"
    ? ExitCode.exhausted
    : report.ended === "incomplete"
    ? ExitCode.error
    : report.totals.failed + report.totals.quarantined > 0
    ? ExitCode.someFailed
    : report.totals.held > 0
    ? ExitCode.changesPending
    : ExitCode.done
