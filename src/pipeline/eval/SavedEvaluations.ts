import { Effect, FileSystem, Path, Predicate } from "effect"
import { ServiceError } from "../../domain/Errors.ts"
import type { Evaluation } from "./Evaluation.ts"

/** Reads what `sluice eval --json` or `--save` wrote. */
export const readEvaluation = Effect.fn("readEvaluation")(function*(file: string) {
  const fs = yield* FileSystem.FileSystem
  const text = yield* fs.readFileString(file).pipe(
    Effect.mapError(() => ServiceError.invalid("against", `${file} cannot be read`, "check the name; `last` is the newest that was saved"))
  )
  const value = yield* Effect.try({
    try: (): unknown => JSON.parse(text),
    catch: () => ServiceError.invalid("against", `${file} is not JSON`, "give a file of sluice eval --json")
  })
  if (!isEvaluation(value)) {
    return yield* ServiceError.invalid("against", `${file} is not the result of an evaluation`, "give a file of sluice eval --json")
  }
  return value
})

const isEvaluation = (value: unknown): value is Evaluation =>
  Predicate.isObject(value) && "version" in value && value.version === 1 && "results" in value && Array.isArray(value.results) &&
  "documents" in value

/** The results of a pipeline that were kept, in a folder of their own, each named by when it began. */
export const savedEvaluations = (folder: string) => ({
  /** The newest; undefined where none was kept. */
  last: Effect.gen(function*() {
    const [fs, path] = [yield* FileSystem.FileSystem, yield* Path.Path]
    const names = yield* fs.readDirectory(folder).pipe(Effect.orElseSucceed((): ReadonlyArray<string> => []))
    const newest = names.filter((name) => name.endsWith(".json")).toSorted().at(-1)
    return newest === undefined ? undefined : yield* readEvaluation(path.join(folder, newest))
  }),
  /** Written whole or not at all. */
  save: Effect.fnUntraced(function*(evaluation: Evaluation) {
    const [fs, path] = [yield* FileSystem.FileSystem, yield* Path.Path]
    const name = path.join(folder, `${new Date(evaluation.started).toISOString().replaceAll(":", "-")}.json`)
    yield* fs.makeDirectory(folder, { recursive: true }).pipe(
      Effect.andThen(fs.writeFileString(`${name}.tmp`, JSON.stringify(evaluation))),
      Effect.andThen(fs.rename(`${name}.tmp`, name)),
      Effect.mapError(() =>
        new ServiceError({ code: "PERMISSION_DENIED", message: `${name} cannot be written`, fix: "check the data directory's permissions" })
      )
    )
  })
})
