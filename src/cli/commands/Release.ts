import { Clock, Effect, FileSystem, Option, Path, Stream } from "effect"
import { Command } from "effect/cli"
import { Output } from "../Output.ts"
import { fromHere } from "../Paths.ts"
import { root } from "../Root.ts"
import { openPipeline, pipelineArgument } from "../Session.ts"
import { UsageError } from "../UsageError.ts"

/** How often a watch checks whether deletes are released. */
const lookEvery = "1 second"
/** How often a release checks whether the watch has responded, every tenth of a second: long enough for several of the watch's checks. */
const looks = 100

/** File of a release that waits for the watch of a pipeline: by the rules for names, a pipeline's name is a valid file name. */
const noteOf = Effect.fnUntraced(function*(pipeline: string) {
  const { dataDir } = yield* root
  const path = yield* Path.Path
  return path.join(dataDir, `release-${pipeline}`)
})

/** Emits an element for each `sluice release` of the pipeline that is waiting, or comes from now on. */
export const releases = (pipeline: string) => Effect.flatMap(noteOf(pipeline), releasesAt)

/** Emits an element for each release that writes this file. */
export const releasesAt = Effect.fnUntraced(function*(note: string) {
  const fs = yield* FileSystem.FileSystem
  const written = fs.stat(note).pipe(
    Effect.map(({ mtime }) => Option.getOrUndefined(mtime)?.getTime()),
    Effect.orElseSucceed(() => undefined)
  )
  // A waiting release keeps its file recent; an old one was left by a release that no longer waits, and that knew nothing
  // of the deletes that this watch holds.
  const left = yield* written
  // Taken once; a file that cannot be removed would release for ever, and so is ignored.
  const take = Effect.flatMap(written, (at) =>
    at === undefined || at === left
      ? Effect.succeed(false)
      : fs.remove(note).pipe(Effect.as(true), Effect.orElseSucceed(() => false)))
  return Stream.tick(lookEvery).pipe(Stream.mapEffect(() => take), Stream.filter((taken) => taken), Stream.map(() => undefined))
})

/** `sluice release`: has a watch make the deletes it holds. */
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
      message: `no \`sluice watch\` of pipeline ${name} is running on this data directory`,
      fix: `release deletes that a run held with: sluice run ${fromHere(file)} --yes`
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
  Command.withShortDescription("Have a watch make the deletes it holds."),
  Command.withDescription(
    "Have a watch that is running on this data directory make the deletes that the guard (import.maxDelete) holds. It lists everything once more, and deletes the files that are gone by then. Without a watch: `sluice run --yes`."
  ),
  Command.withExamples([{ command: "sluice release pipeline.yaml", description: "after checking the held deletes that the watch shows" }])
)
