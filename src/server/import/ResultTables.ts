import { Effect, Stream } from "effect"
import { ServiceError } from "../../domain/Errors.ts"
import { resultColumns } from "../../domain/Import.ts"
import type { TableStore } from "../../ports/TableStore.ts"

/** A row of a table of results, by {@link resultColumns}. */
export type ResultRow = Readonly<Record<string, string>>

/** Rows already in a table, which must be one of results; undefined where the table does not exist. */
export const resultsIn = Effect.fnUntraced(function*(tables: TableStore["Service"], uri: string) {
  const head = yield* tables.head(uri).pipe(
    Effect.catchIf(({ code }) => code === "NOT_FOUND", () => Effect.undefined)
  )
  if (head === undefined) return undefined
  const missing = resultColumns.filter((name) => !head.columns.some((column) => column.name === name))
  if (missing.length === 0 && head.columns.length === resultColumns.length) return tables.read(uri)
  return yield* new ServiceError({
    code: "FAILED_PRECONDITION",
    message: `table ${uri} has other columns than the results of imports: ${resultColumns.join(", ")}`,
    fix: "name a table that does not exist, and it is created"
  })
})

/** Adds rows to a table of results, which is created if it does not exist. */
export const appendResults = (
  tables: TableStore["Service"],
  uri: string,
  rows: ReadonlyArray<ResultRow>
): Effect.Effect<void, ServiceError> =>
  Effect.flatMap(resultsIn(tables, uri), (before = Stream.empty) =>
    tables.put(
      uri,
      resultColumns.map((name) => ({ name, type: "STRING" })),
      Stream.concat(before, Stream.succeed(rows)),
      { replace: true }
    ))
