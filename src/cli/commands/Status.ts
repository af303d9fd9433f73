import { Effect, Stream } from "effect"
import { Command, Flag } from "effect/cli"
import type { LoadedPipeline } from "../../pipeline/definition/Load.ts"
import { Ledger, type LedgerEntry, type RunRecord } from "../../ports/Ledger.ts"
import { Output } from "../Output.ts"
import { fromHere } from "../Paths.ts"
import { printable } from "../../domain/Text.ts"
import { generationLines } from "../render/Generations.ts"
import { count, plural } from "../render/Numbers.ts"
import { renderReport } from "../render/Report.ts"
import { makeTable } from "../render/Table.ts"
import { wrap } from "../render/Wrap.ts"
import { root } from "../Root.ts"
import { onEngine, openPipeline, pipelineArgument, reading } from "../Session.ts"

/** Problem files shown without `--files`; `--json` streams all of them. */
const shown = 50

/** Lines printed at a time. */
const pageSize = 200

/** States that are worth a line each; work that a run began and did not finish is for the next run, and only counted. */
const problems = ["failed", "quarantined", "skipped"] as const

/** `sluice status`: shows what the ledger knows, without contacting sources or target. */
export const status = Command.make(
  "status",
  {
    pipeline: pipelineArgument,
    files: Flag.Boolean("files").pipe(Flag.withDescription("List every file the ledger knows"), Flag.withDefault(false))
  },
  Effect.fn(function*(args) {
    const { dataDir, json } = yield* root
    const output = yield* Output
    const loaded = yield* openPipeline(args.pipeline)
    const hookNames = Object.keys(loaded.pipeline.hooks)
    const { hookLines, hooks } = yield* Effect.promise(async () => {
      if (hookNames.length === 0) return { hookLines: () => [], hooks: Effect.succeed({}) }
      const [{ hookLines }, { readHookStates }] = await Promise.all([import("../Hooks.ts"), import("../../compose/Hooks.ts")])
      return { hookLines, hooks: readHookStates(dataDir, loaded.pipeline.name) }
    })
    const { findGeneration, generationsStatus, liveRuns, namesIn } = yield* Effect.promise(() =>
      import("../../pipeline/sync/Generations.ts")
    )
    const { bundle } = loaded
    if (bundle !== undefined) {
      const { corpusOf } = yield* Effect.promise(() => import("../../pipeline/RunPipeline.ts"))
      const { displayName, filesCount = 0 } = yield* onEngine(loaded, reading, corpusOf(loaded.pipeline))
      if (json) {
        const counts = { done: filesCount }
        return yield* output.json({ version: 1, type: "status", pipeline: loaded.pipeline.name, bundle: fromHere(bundle), counts })
      }
      return yield* output.print(
        printable(`${fromHere(bundle)} is a bundle of pipeline ${loaded.pipeline.name}: ${displayName}, ${plural(filesCount, "file")}`)
      )
    }
    yield* onEngine(
      loaded,
      reading,
      Effect.gen(function*() {
        const ledger = yield* Ledger
        const found = yield* findGeneration(namesIn(loaded.pipeline))
        const { candidate, scope } = found
        const counts = yield* ledger.count(scope)
        const [last] = yield* liveRuns(found, 1)
        const [lastOfCandidate] = candidate === undefined ? [] : yield* ledger.runs(candidate.scope, 1)
        const generations = yield* generationsStatus(namesIn(loaded.pipeline))
        const entries = ledger.entries(scope, args.files ? undefined : problems)
        const noticed = yield* hooks
        if (json) {
          yield* output.json({
            version: 1,
            type: "status",
            pipeline: loaded.pipeline.name,
            counts,
            generations,
            hooks: noticed,
            lastRun: last ?? null,
            ...(lastOfCandidate === undefined ? {} : { candidateRun: lastOfCandidate })
          })
          return yield* entries.pipe(Stream.runForEach((entry) => output.json({ version: 1, type: "entry", ...entry })))
        }
        const file = fromHere(loaded.file)
        const lines = generationLines(generations).map((line) => wrap(printable(line), output.width, "  "))
        if (lines.length > 0) yield* output.print(`${lines.join("\n")}\n`)
        for (const line of hookLines(hookNames, noticed)) yield* output.print(wrap(line, output.width, "  "))
        if (lastOfCandidate !== undefined) yield* output.print(`${renderRun("Last run of the candidate", lastOfCandidate, output)}\n`)
        if (last === undefined) return yield* output.print(`${loaded.pipeline.name} has not run yet: sluice run ${file}`)
        yield* output.print(renderRun("Last run", last, output))
        const listed = Object.entries(counts).map(([state, n]) => `${count(n ?? 0)} ${state}`)
        yield* output.print(`\nIn the ledger: ${listed.join(", ") || "nothing"}`)
        yield* showEntries(args.files ? entries : Stream.take(entries, shown))
        for (const line of advice(counts, args.files, loaded, file)) yield* output.say(line)
      })
    )
  })
).pipe(
  Command.withShortDescription("Show the last run and the files that have problems."),
  Command.withDescription(
    "Show the last run, that of a candidate too, and the files that failed or are quarantined or skipped, from the ledger alone."
  ),
  Command.withExamples([
    { command: "sluice status", description: "the last run and its problems" },
    { command: "sluice status pipeline.yaml --files --json", description: "every file, for scripts" }
  ])
)

const renderRun = (title: string, { report, started }: RunRecord, output: Output["Service"]): string => {
  const when = new Date(started).toISOString()
  return report === undefined
    ? `${title}: ${when}, and it has not ended: it goes on, or it was killed and the next run goes on from there`
    : `${title}: ${when}\n${renderReport(report, output)}`
}

const showEntries = <E, R>(entries: Stream.Stream<LedgerEntry, E, R>) =>
  Effect.gen(function*() {
    const output = yield* Output
    const table = makeTable([{ title: "state" }, { title: "file", flexible: true }, { title: "why", flexible: true }], output.width)
    yield* entries.pipe(
      Stream.grouped(pageSize),
      Stream.runForEach((page) =>
        output.print(table(page.map((e) => [
          e.state,
          `${e.source}: ${e.path}`,
          [e.reason, e.message].filter((part) => part !== undefined).join(": ")
        ])))
      )
    )
  })

/** Suggests what to do about files with problems. */
const advice = (
  counts: Partial<Record<LedgerEntry["state"], number>>,
  everything: boolean,
  { pipeline }: LoadedPipeline,
  file: string
): ReadonlyArray<string> => {
  const of = (states: ReadonlyArray<LedgerEntry["state"]>) => states.reduce((sum, state) => sum + (counts[state] ?? 0), 0)
  const broken = of(["failed", "quarantined"])
  return [
    ...(!everything && of(problems) > shown
      ? [`only the first ${plural(shown, "file")}; --files or --json has all of ${pipeline.name}`]
      : []),
    ...(broken > 0 ? [`try ${broken === 1 ? "it" : "them"} again: sluice retry --failed ${file}`] : []),
    ...(of(["intent"]) > 0 ? [`finish what was begun: sluice run ${file}`] : [])
  ]
}
