import { Effect, FileSystem, Path, Predicate } from "effect"
import { ServiceError } from "../../domain/Errors.ts"
import type { Evaluation } from "./Evaluation.ts"

/** Reads an evaluation written by `sluice eval --json` or `--save`. */
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

/** The saved evaluations of a pipeline, in a folder of their own, each named by when it started. */
export const savedEvaluations = (folder: string) => {
  /** Names of the evaluations, newest first. */
  const names = Effect.gen(function*() {
    const fs = yield* FileSystem.FileSystem
    const files = yield* fs.readDirectory(folder).pipe(Effect.orElseSucceed((): ReadonlyArray<string> => []))
    return files.filter((file) => file.endsWith(".json")).map((file) => file.slice(0, -".json".length)).toSorted().toReversed()
  })
  /** Reads the evaluation of one of {@link names}; any other name is `NOT_FOUND`. */
  const read = Effect.fnUntraced(function*(name: string) {
    if (!(yield* names).includes(name)) return yield* ServiceError.notFound(`evaluation "${name}"`, "save one: sluice eval --save")
    return yield* readEvaluation((yield* Path.Path).join(folder, `${name}.json`))
  })
  const refused = () =>
    new ServiceError({
      code: "PERMISSION_DENIED",
      message: `${folder} cannot be written; results are saved there`,
      fix: "give another data directory, --data-dir FOLDER, or check this one's permissions"
    })
  return {
    names,
    read,
    /** The newest evaluation; undefined where none was saved. */
    last: Effect.flatMap(names, ([newest]) => newest === undefined ? Effect.undefined : read(newest)),
    /** Fails where {@link save} would: to be checked before an evaluation has cost anything. */
    writable: Effect.gen(function*() {
      const fs = yield* FileSystem.FileSystem
      yield* fs.makeDirectory(folder, { recursive: true }).pipe(
        Effect.andThen(fs.access(folder, { writable: true })),
        Effect.mapError(refused)
      )
    }),
    /** Saves an evaluation, completely or not at all. */
    save: Effect.fnUntraced(function*(evaluation: Evaluation) {
      const [fs, path] = [yield* FileSystem.FileSystem, yield* Path.Path]
      const name = path.join(folder, `${new Date(evaluation.started).toISOString().replaceAll(":", "-")}.json`)
      yield* fs.makeDirectory(folder, { recursive: true }).pipe(
        Effect.andThen(fs.writeFileString(`${name}.tmp`, JSON.stringify(evaluation))),
        Effect.andThen(fs.rename(`${name}.tmp`, name)),
        Effect.mapError(refused)
      )
    })
  }
}
