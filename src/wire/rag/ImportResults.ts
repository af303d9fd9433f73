import { Option, Schema } from "effect"
import type { ImportedFile } from "../../domain/Import.ts"

/** Which import a result file is of. */
export interface ImportRun {
  /** Last segment of the operation's name. */
  readonly operation: string
  readonly createTime: string
}

/** Where the rows go: the sink itself, or an object of this name where it is a folder. */
export const sinkObject = (sink: string, name: "import_results" | "partial_failures"): string =>
  sink.startsWith("gs://") && sink.endsWith("/") ? `${sink}${name}.ndjson` : sink

/**
 * The result of an import, a row for each file. The documentation lists what a row says and not how its keys are
 * spelled: these are spelled as in a table.
 */
export const importResultRows = (files: ReadonlyArray<ImportedFile>, run: ImportRun) =>
  files.map(({ file, message, status, uri }) => ({
    operation_id: run.operation,
    create_time: run.createTime,
    file_name: uri,
    status: status.toUpperCase(),
    ...(file === undefined ? {} : { file_id: file }),
    ...(message === undefined ? {} : { error: message })
  }))

/** The rows as an object holds them: a line of JSON each. */
export const importResultsToText = (files: ReadonlyArray<ImportedFile>, run: ImportRun): string =>
  importResultRows(files, run).map((row) => `${JSON.stringify(row)}\n`).join("")

const Row = Schema.fromJsonString(Schema.Record(Schema.String, Schema.Json))
const decodeRow = Schema.decodeUnknownOption(Row)

/**
 * The rows of a result file, whoever wrote it, by what each key is about rather than its spelling. A row that names no
 * file or does not say how it ended tells nothing and is left out.
 */
export const importResultsFromText = (text: string): ReadonlyArray<ImportedFile> =>
  text.split("\n").flatMap((line) => {
    const row = Object.entries(Option.getOrElse(decodeRow(line), () => ({})))
    const cell = (key: RegExp): string | undefined => {
      const found = row.find(([name, value]) => key.test(name) && value !== "")?.[1]
      return typeof found === "string" ? found : found === undefined || found === null ? undefined : JSON.stringify(found)
    }
    const uri = row.map(([, value]) => value).find((value) => typeof value === "string" && /^[a-z][a-z0-9]*:\/\//i.test(value)) ??
      cell(/^(?:rag_?)?file_?(?:name|path|uri)?$|^(?:source_?)?uri$/i)
    const status = statusOf(cell(/status|state|result/i))
    if (typeof uri !== "string" || status === undefined) return []
    const file = cell(/file_?id$/i)?.replace(/^.*\//, "")
    const message = cell(/error|message|reason/i)
    return [{ uri, status, file, message }]
  })

const statusOf = (cell: string | undefined): ImportedFile["status"] | undefined => {
  if (cell === undefined) return undefined
  if (/skip/i.test(cell)) return "skipped"
  if (/fail|error/i.test(cell)) return "failed"
  return /import|succe|ok|done|active/i.test(cell) ? "imported" : undefined
}
