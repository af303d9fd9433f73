import { Effect, FileSystem, Result, Schema } from "effect"
import { explain } from "../definition/Explain.ts"
import { PipelineInvalid } from "../definition/PipelineInvalid.ts"
import { placed } from "../definition/Place.ts"
import { type EvaluationTest, EvaluationTests } from "../definition/TestSettings.ts"
import { readYaml } from "../definition/YamlText.ts"

const decode = Schema.decodeUnknownResult(EvaluationTests, { errors: "all", onExcessProperty: "error" })

/** Bytes of a file of tests. */
const maxBytes = 4 * 1024 * 1024

/**
 * Reads tests from a file: YAML or JSON with a list of them, or `.jsonl` with one a line. Fails with every mistake, each
 * with line and column.
 */
export const readTests = Effect.fn("readTests")(function*(
  file: string
): Effect.fn.Return<ReadonlyArray<EvaluationTest>, PipelineInvalid, FileSystem.FileSystem> {
  const fs = yield* FileSystem.FileSystem
  const failure = (rule: string, fix: string) => new PipelineInvalid({ file, issues: [{ file, path: "", rule, fix }] })
  const { size } = yield* fs.stat(file).pipe(Effect.mapError(() => failure("the file cannot be found or read", "check the name")))
  if (size > maxBytes) return yield* failure(`is larger than ${maxBytes / 1024 / 1024} MiB, too large for tests`, "make several of it")
  const text = yield* fs.readFileString(file).pipe(Effect.mapError(() => failure("the file cannot be read", "check its permissions")))
  // Lines become the items of a list, each on its own line still.
  const source = readYaml(file.endsWith(".jsonl") ? `[${text.trimEnd().split("\n").join(",\n")}]` : text, {})
  if (source.problems.length > 0) return yield* placed(file, source, source.problems)
  const decoded = decode(source.value)
  return Result.isSuccess(decoded) ? decoded.success : yield* placed(file, source, explain(decoded.failure.issue, source.value))
})
