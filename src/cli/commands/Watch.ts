import { Clock, Effect, Exit, Scope } from "effect"
import { Command } from "effect/cli"
import { outcomes, type Report } from "../../domain/Report.ts"
import { printable } from "../../domain/Text.ts"
import type { WatchEvent } from "../../pipeline/watch/WatchEvent.ts"
import { Engine } from "../../ports/Engine.ts"
import { Output } from "../Output.ts"
import { fromHere } from "../Paths.ts"
import { count, seconds } from "../render/Numbers.ts"
import { makeProgress } from "../render/Progress.ts"
import { renderReport } from "../render/Report.ts"
import { root } from "../Root.ts"
import { onEngine, openPipeline, pipelineArgument } from "../Session.ts"
import { strict, wait } from "./Run.ts"

/** `sluice watch`: a run, and then one more whenever something changes, until Ctrl-C. */
export const watch = Command.make(
  "watch",
  { pipeline: pipelineArgument, strict, wait },
  Effect.fn(function*(args) {
    const { json } = yield* root
    const output = yield* Output
    const loaded = yield* openPipeline(args.pipeline)
    const { watchPipeline } = yield* Effect.promise(() => import("../../pipeline/watch/WatchPipeline.ts"))
    return yield* onEngine(
      loaded,
      { writes: `sluice watch ${fromHere(loaded.file)}`, waitMs: args.wait * 1000 },
      Effect.gen(function*() {
        if (json) return yield* watchPipeline(loaded.pipeline, { strict: args.strict, observe: (event) => output.json({ version: 1, ...event }) })
        const { remoteEmbedding } = yield* Engine
        const observe = yield* narrate(remoteEmbedding ? { embeddingsPerMinute: loaded.pipeline.import.maxEmbeddingRequestsPerMinute } : {})
        return yield* watchPipeline(loaded.pipeline, { strict: args.strict, observe })
      }).pipe(Effect.scoped)
    )
  })
).pipe(
  Command.withShortDescription("Keep the corpus in line with the sources as they change."),
  Command.withDescription(
    "Keep the corpus in line with the sources as they change: a run first, then one for every batch of changes, a line each. Folders tell of their changes; other sources are listed at their `poll` interval. Ctrl-C finishes the batch in hand and exits 130; a second one stops at once. Deletes that the guard holds are shown, and released by `sluice run --yes`."
  ),
  Command.withExamples([
    { command: "sluice watch pipeline.yaml", description: "sync, and go on syncing" },
    { command: "sluice watch --json", description: "one JSON event a line; `batch` has the report of each" }
  ])
)

/** Progress and report of the first sync, then a line for each batch in which something happened. */
const narrate = Effect.fnUntraced(function*(quota: Parameters<typeof makeProgress>[0]) {
  const output = yield* Output
  const first = yield* Effect.acquireRelease(Scope.make(), (scope) => Scope.close(scope, Exit.void))
  const progress = yield* Scope.provide(makeProgress(quota), first)
  const held = new Map<string, string>()

  const heldNews = ({ sources }: Report): ReadonlyArray<string> =>
    sources.flatMap(({ heldBecause, source }) => {
      const news = heldBecause !== undefined && held.get(source) !== heldBecause
      if (heldBecause === undefined) held.delete(source)
      else held.set(source, heldBecause)
      return news ? [`${source}: ${heldBecause}`] : []
    })

  return (event: WatchEvent): Effect.Effect<void> =>
    Effect.gen(function*() {
      switch (event.type) {
        case "batch": {
          const news = heldNews(event.report)
          if (event.batch === 1) {
            yield* Scope.close(first, Exit.void)
            yield* output.print(renderReport(event.report, output))
            return yield* output.say("Watching; Ctrl-C stops")
          }
          const line = batchLine(event.report)
          if (line !== "") yield* output.print(`${yield* timeOfDay}  ${line} (${seconds(event.report.seconds)})`)
          yield* Effect.forEach(news, (text) => output.say(output.paintError("yellow", printable(text))), { discard: true })
          return
        }
        case "trouble":
          return yield* output.say(output.paintError("yellow", printable(
            `${event.source === undefined ? "" : `${event.source}: `}${event.message}` +
              (event.retrySeconds === undefined ? "" : `; trying again in ${seconds(event.retrySeconds)}`)
          )))
        case "recovered":
          return yield* output.say(printable(`${event.source === undefined ? "" : `${event.source}: `}in order again`))
        case "stopping":
          return yield* output.say("finishing the batch in hand; Ctrl-C again stops at once")
        case "quiet":
          return
        default:
          return yield* progress(event)
      }
    })
})

const batchLine = ({ ended, totals }: Report): string =>
  [
    ...([...outcomes, "deleted"] as const)
      .filter((key) => key !== "unchanged" && key !== "skipped" && key !== "quarantined" && totals[key] > 0)
      .map((key) => `${count(totals[key])} ${key}`),
    ...(ended === "budget" ? ["stopped at the budget"] : [])
  ].join(", ")

const timeOfDay = Effect.map(Clock.currentTimeMillis, (now) => new Date(now).toTimeString().slice(0, 8))
