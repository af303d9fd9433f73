import { Option, Schema } from "effect"
import type { ImportedFile } from "../../domain/Import.ts"

/** The import that a result file belongs to. */
export interface ImportRun {
  /** Id of the operation: the last segment of its name. */
  readonly operation: string
  readonly createTime: string
}

/** Address of the rows: the sink, or an object of this name in it where it is a folder. */
export const sinkObject = (sink: string, name: "import_results" | "partial_failures"): string =>
  sink.startsWith("gs://") && sink.endsWith("/") ? `${sink}${name}.ndjson` : sink

/**
 * The result of an import, one row per file. The documentation lists the contents of a row but not the spelling of its keys,
 * so they are spelled like columns of a table.
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

/** The rows as the text of an object, one line of JSON each. */
export const importResultsToText = (files: ReadonlyArray<ImportedFile>, run: ImportRun): string =>
  importResultRows(files, run).map((row) => `${JSON.stringify(row)}\n`).join("")

const Row = Schema.fromJsonString(Schema.Record(Schema.String, Schema.Json))
const decodeRow = Schema.decodeUnknownOption(Row)

/**
 * The rows of a result file from any writer. Keys are recognized by their meaning rather than their spelling. Rows without a
 * file or an outcome are left out.
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
