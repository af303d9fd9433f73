import { Clock, Effect, Exit, FileSystem, type Option, Scope } from "effect"
import { Command } from "effect/cli"
import type { Report } from "../../domain/Report.ts"
import { printable } from "../../domain/Text.ts"
import type { LoadedPipeline } from "../../pipeline/definition/Load.ts"
import type { WatchEvent } from "../../pipeline/watch/WatchEvent.ts"
import { Engine } from "../../ports/Engine.ts"
import { boundHeap } from "../Heap.ts"
import { Output } from "../Output.ts"
import { fromHere } from "../Paths.ts"
import { seconds } from "../render/Numbers.ts"
import { makeProgress, notToldNote } from "../render/Progress.ts"
import { batchLine, renderReport } from "../render/Report.ts"
import { root } from "../Root.ts"
import { onEngine, openPipeline, pipelineArgument } from "../Session.ts"
import { releases } from "./Release.ts"
import { strict, wait } from "./Run.ts"

/** `sluice watch`: a run, and then another one whenever something changes, until Ctrl-C. */
export const watch = Command.make(
  "watch",
  { pipeline: pipelineArgument, strict, wait },
  Effect.fn(function*(args) {
    const { json } = yield* root
    const output = yield* Output
    const { watchPipeline } = yield* Effect.promise(() => import("../../pipeline/watch/WatchPipeline.ts"))
    const watching = (loaded: LoadedPipeline) =>
      onEngine(
        loaded,
        { mode: "write", holder: `sluice watch ${fromHere(loaded.file)}`, waitMs: args.wait * 1000 },
        (pipeline) =>
          Effect.gen(function*() {
            const release = yield* releases(pipeline.name)
            if (json) {
              return yield* watchPipeline(pipeline, {
                strict: args.strict,
                release,
                observe: (event) => output.json({ version: 1, ...event })
              })
            }
            const { remoteEmbedding } = yield* Engine
            const observe = yield* narrate(
              fromHere(loaded.file),
              remoteEmbedding ? { embeddingsPerMinute: pipeline.import.maxEmbeddingRequestsPerMinute } : {}
            )
            return yield* watchPipeline(pipeline, { strict: args.strict, release, observe })
          }).pipe(Effect.scoped)
      )
    const tell = (message: string, taken: boolean) =>
      json
        ? output.json({ version: 1, type: "pipeline", taken, message })
        : output.say(output.paintError(taken ? "green" : "yellow", printable(message)))

    boundHeap()
    let loaded = yield* openPipeline(args.pipeline)
    let before: LoadedPipeline | undefined
    for (;;) {
      const file = fromHere(loaded.file)
      const ended = yield* Effect.result(
        Effect.raceFirst(
          watching(loaded),
          edited(
            loaded,
            args.pipeline,
            (why) => tell(`${file} was edited and is not valid, so that watching goes on with what it said before: ${why}`, false)
          )
        )
      )
      if (ended._tag === "Success") {
        before = loaded
        loaded = ended.success
        yield* tell(`${file} was edited: watching goes on with what it says now`, true)
        continue
      }
      if (before === undefined) return yield* Effect.fail(ended.failure)
      // The earlier pipeline can still be watched.
      yield* tell(
        `${file} as edited cannot be run; watching continues with the previous version: ${ended.failure.message}`,
        false
      )
      loaded = before
      before = undefined
    }
  })
).pipe(
  Command.withShortDescription("Keep the corpus in line with the sources as they change."),
  Command.withDescription(
    "Keep the corpus in line with the sources as they change: a run first, then one for every batch of changes, with a line each. Changes in local folders are noticed at once; other sources are listed at their `poll` interval. Ctrl-C finishes the current batch and exits 130; a second one stops at once. Changes of the pipeline file are applied; an invalid file is reported, and the previous version stays in effect. Deletes that the guard holds are shown: `sluice release` has the watch make them."
  ),
  Command.withExamples([
    { command: "sluice watch pipeline.yaml", description: "sync, and keep syncing" },
    { command: "sluice watch --json", description: "one JSON event per line; `batch` events have the reports" }
  ])
)

/** How often the pipeline file is checked for changes. */
const lookEvery = "2 seconds"

/** Waits until the pipeline file has valid new content; reports invalid content. */
const edited = Effect.fnUntraced(
  function*(loaded: LoadedPipeline, named: Option.Option<string>, invalid: (why: string) => Effect.Effect<void>) {
    // A module is loaded only once per process.
    if (!/\.(ya?ml|json)$/.test(loaded.file)) return yield* Effect.never
    const fs = yield* FileSystem.FileSystem
    const read = fs.readFileString(loaded.file).pipe(Effect.orElseSucceed(() => undefined))
    let text = yield* read
    for (;;) {
      yield* Effect.sleep(lookEvery)
      const now = yield* read
      // An editor may have removed it for a moment.
      if (now === undefined || now === text) continue
      text = now
      const next = yield* Effect.result(openPipeline(named))
      if (next._tag === "Failure") yield* invalid(next.failure.message)
      else if (JSON.stringify(next.success.pipeline) !== JSON.stringify(loaded.pipeline)) return next.success
    }
  }
)

/** Shows progress and report of the first sync, then a line for each batch in which something happened. */
const narrate = Effect.fnUntraced(function*(file: string, quota: Parameters<typeof makeProgress>[0]) {
  const output = yield* Output
  const first = yield* Effect.acquireRelease(Scope.make(), (scope) => Scope.close(scope, Exit.void))
  const progress = yield* Scope.provide(makeProgress(quota), first)
  const held = new Map<string, string>()

  const heldNews = ({ sources }: Report): ReadonlyArray<string> =>
    sources.flatMap(({ heldBecause, source }) => {
      const news = heldBecause !== undefined && held.get(source) !== heldBecause
      if (heldBecause === undefined) held.delete(source)
      else held.set(source, heldBecause)
      return news ? [`${source}: ${heldBecause.replace(/; --yes deletes [^;]*$/, "")}; to delete them: sluice release ${file}`] : []
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
          return yield* output.say(output.paintError(
            "yellow",
            printable(
              `${event.source === undefined ? "" : `${event.source}: `}${event.message}` +
                (event.retrySeconds === undefined ? "" : `; trying again in ${seconds(event.retrySeconds)}`)
            )
          ))
        case "recovered":
          return yield* output.say(printable(`${event.source === undefined ? "" : `${event.source}: `}in order again`))
        case "stopping":
          return yield* output.say("finishing the current batch; Ctrl-C again stops at once")
        case "notified":
          return event.error === undefined
            ? undefined
            : yield* output.say(output.paintError("yellow", printable(notToldNote(event.to, event.error))))
        case "quiet":
          return
        default:
          return yield* progress(event)
      }
    })
})

const timeOfDay = Effect.map(Clock.currentTimeMillis, (now) => new Date(now).toTimeString().slice(0, 8))
