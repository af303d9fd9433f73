import { Clock, Effect, FileSystem, Option, Path, Stream } from "effect"
import { Command } from "effect/cli"
import { Output } from "../Output.ts"
import { fromHere } from "../Paths.ts"
import { root } from "../Root.ts"
import { openPipeline, pipelineArgument } from "../Session.ts"
import { UsageError } from "../UsageError.ts"

/** How often a watch looks whether deletes are released. */
const lookEvery = "1 second"
/** Looks that a release waits for, a tenth of a second apart: several of the watch's. */
const looks = 100

/** Where a release waits for the watch of a pipeline: its name is a file name, by the rules for names. */
const noteOf = Effect.fnUntraced(function*(pipeline: string) {
  const { dataDir } = yield* root
  const path = yield* Path.Path
  return path.join(dataDir, `release-${pipeline}`)
})

/** An element for each `sluice release` of the pipeline that still waits, or comes from now on. */
export const releases = (pipeline: string) => Effect.flatMap(noteOf(pipeline), releasesAt)

/** The same, of whoever writes this note. */
export const releasesAt = Effect.fnUntraced(function*(note: string) {
  const fs = yield* FileSystem.FileSystem
  const written = fs.stat(note).pipe(
    Effect.map(({ mtime }) => Option.getOrUndefined(mtime)?.getTime()),
    Effect.orElseSucceed(() => undefined)
  )
  // Whoever waits keeps it new; what somebody left who no longer waits knew nothing of what this watch holds.
  const left = yield* written
  // Taken once; a note that cannot be removed would release for ever, and so is none.
  const take = Effect.flatMap(written, (at) =>
    at === undefined || at === left
      ? Effect.succeed(false)
      : fs.remove(note).pipe(Effect.as(true), Effect.orElseSucceed(() => false)))
  return Stream.tick(lookEvery).pipe(Stream.mapEffect(() => take), Stream.filter((taken) => taken), Stream.map(() => undefined))
})

/** `sluice release`: a watch deletes what it holds. */
export const release = Command.make(
  "release",
  { pipeline: pipelineArgument },
  Effect.fn(function*(args) {
    const { json } = yield* root
    const output = yield* Output
    const fs = yield* FileSystem.FileSystem
    const { file, pipeline: { name } } = yield* openPipeline(args.pipeline)
    const note = yield* noteOf(name)
    const unheard = new UsageError({
      message: `no \`sluice watch\` of pipeline ${name} runs on this data directory`,
      fix: `release what a run held by: sluice run ${fromHere(file)} --yes`
    })
    yield* fs.writeFileString(note, "").pipe(Effect.mapError(() => unheard))
    for (let look = 0; look < looks; look++) {
      const now = new Date(yield* Clock.currentTimeMillis)
      const taken = fs.utimes(note, now, now).pipe(
        Effect.as(false),
        Effect.catch(({ reason }) => Effect.succeed(reason._tag === "NotFound"))
      )
      if (yield* taken) {
        return yield* json
          ? output.json({ version: 1, type: "released", pipeline: name })
          : output.print("released: the watch lists everything once more, and deletes what it held")
      }
      yield* Effect.sleep("100 millis")
    }
    yield* Effect.ignore(fs.remove(note))
    return yield* unheard
  })
).pipe(
  Command.withShortDescription("Let a watch delete what it holds."),
  Command.withDescription(
    "Let a watch that runs on this data directory make the deletes that the guard (import.maxDelete) holds. It lists everything once more, and deletes what is gone by then. Without a watch: `sluice run --yes`."
  ),
  Command.withExamples([{ command: "sluice release pipeline.yaml", description: "after a look at what the watch says is held" }])
)
