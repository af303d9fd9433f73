import { Effect, FileSystem, Result, Schema } from "effect"
import { Document } from "yaml"
import { askerFrom } from "../../domain/Asker.ts"
import { records, separatorOf } from "../../text/parse/Delimited.ts"
import { explain } from "../definition/Explain.ts"
import { PipelineInvalid, type PipelineIssue } from "../definition/PipelineInvalid.ts"
import { issueOf, placed } from "../definition/Place.ts"
import { type EvaluationTest, EvaluationTests } from "../definition/TestSettings.ts"
import { escapeReferences } from "../definition/Print.ts"
import { readYaml } from "../definition/YamlText.ts"

const decode = Schema.decodeUnknownResult(EvaluationTests, { errors: "all", onExcessProperty: "error" })

/** Most bytes of a file of tests. */
const maxBytes = 4 * 1024 * 1024

/** How each column of a CSV file is read; several values are separated by `;`. */
const columns: Readonly<Record<string, (cell: string) => Partial<Record<keyof EvaluationTest, unknown>>>> = {
  question: (question) => ({ question }),
  id: (id) => ({ id }),
  principal: (cell) => ({ principal: askerFrom(cell) }),
  files: (cell) => ({ files: several(cell) }),
  contexts: (cell) => ({ contexts: several(cell) }),
  contains: (cell) => ({ answer: { contains: several(cell) } }),
  matches: (matches) => ({ answer: { matches } }),
  means: (means) => ({ answer: { means } }),
  cites: (cell) => ({ cites: several(cell) }),
  refused: (cell) => ({ refused: /^(?:true|yes|1)$/i.test(cell) ? true : /^(?:false|no|0)$/i.test(cell) ? false : cell })
}

const several = (cell: string): ReadonlyArray<string> => cell.split(";").map((part) => part.trim()).filter((part) => part !== "")

/** The tests of a CSV file, whose first row names its columns. */
const readCsv = (file: string, text: string): Result.Result<ReadonlyArray<EvaluationTest>, PipelineInvalid> => {
  const source = text.replace(/^\ufeff/, "").replaceAll("\r\n", "\n")
  const invalid = (issues: ReadonlyArray<PipelineIssue>) => Result.fail(new PipelineInvalid({ file, issues }))
  const [head, ...rows] = records(source, separatorOf(source, "csv") ?? ",")
  const names = head?.cells.map((name) => name.trim().toLowerCase()) ?? []
  const unknown = names.filter((name) => !Object.hasOwn(columns, name))
  if (unknown.length > 0 || !names.includes("question")) {
    return invalid([{
      file,
      line: 1,
      column: 1,
      path: unknown[0] ?? "question",
      rule: unknown.length > 0
        ? `${unknown.join(", ")} ${unknown.length === 1 ? "is not a column" : "are not columns"} of tests`
        : "there is no column for the question",
      fix: `name the columns in the first row: ${Object.keys(columns).join(", ")}`
    }])
  }
  const value = rows.map(({ cells }) => {
    const parts = names.flatMap((name, at) => {
      const cell = cells[at]?.trim() ?? ""
      return cell === "" ? [] : [columns[name]?.(cell) ?? {}]
    })
    const answers = parts.flatMap(({ answer }) => (answer === undefined ? [] : [answer]))
    return Object.assign({}, ...parts, answers.length === 0 ? {} : { answer: Object.assign({}, ...answers) })
  })
  const decoded = decode(value)
  if (Result.isSuccess(decoded)) return Result.succeed(decoded.success)
  const lineOf = (row: number) => source.slice(0, rows[row]?.start ?? 0).split("\n").length
  return invalid(
    explain(decoded.failure.issue, value).map((problem) => ({
      ...issueOf(file, problem),
      line: typeof problem.path[0] === "number" ? lineOf(problem.path[0]) : 1,
      column: 1
    }))
  )
}

/**
 * Reads tests from a file: YAML or JSON with a list of them, `.jsonl` with one per line, `.csv` with one per row. Fails
 * with every mistake, each with its line and, except for CSV, its column.
 */
export const readTests = Effect.fn("readTests")(function*(
  file: string
): Effect.fn.Return<ReadonlyArray<EvaluationTest>, PipelineInvalid, FileSystem.FileSystem> {
  const fs = yield* FileSystem.FileSystem
  const failure = (rule: string, fix: string) => new PipelineInvalid({ file, issues: [{ file, path: "", rule, fix }] })
  const { size } = yield* fs.stat(file).pipe(Effect.mapError(() => failure("the file cannot be found or read", "check the name")))
  if (size > maxBytes) return yield* failure(`is larger than ${maxBytes / 1024 / 1024} MiB, too large for tests`, "split it into several")
  const text = yield* fs.readFileString(file).pipe(Effect.mapError(() => failure("the file cannot be read", "check its permissions")))
  const found = /\.csv$/i.test(file) ? yield* Effect.fromResult(readCsv(file, text)) : yield* readList(file, text)
  return found.length > 0 ? found : yield* failure("has no tests", "write some, or draft them with `sluice questions`")
}, (read, file) => Effect.mapError(read, ({ issues }) => new PipelineInvalid({ file, issues, kind: "file of tests" })))

const readList = Effect.fnUntraced(function*(file: string, text: string) {
  const source = readYaml(file.endsWith(".jsonl") ? listOfLines(text) : text, {})
  if (source.problems.length > 0) return yield* placed(file, source, source.problems)
  const decoded = decode(source.value)
  return Result.isSuccess(decoded) ? decoded.success : yield* placed(file, source, explain(decoded.failure.issue, source.value))
})

/** Lines as the items of a list, each still on its own line. */
const listOfLines = (text: string): string => `[${text.split("\n").map((line) => line.trim() === "" ? line : `${line},`).join("\n")}]`

/** Writes tests in a form that {@link readTests} reads. */
export const writtenTests = (tests: ReadonlyArray<EvaluationTest>, form: "jsonl" | "yaml"): string => {
  const written = tests.map(escapeReferences)
  return form === "yaml"
    ? new Document(written).toString({ lineWidth: 0 })
    : written.map((test) => `${JSON.stringify(test)}\n`).join("")
}
