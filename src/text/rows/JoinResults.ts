import { Effect, type Scope, Stream } from "effect"
import { type BatchJob, tableUri, parseTable } from "../../domain/batch/BatchPrediction.ts"
import { type BatchResult, type BatchRow, readResult, rowKey } from "../../domain/batch/BatchRow.ts"
import { ServiceError } from "../../domain/Errors.ts"
import { parseExactly } from "../../domain/Json.ts"
import { lineGroups, readRows, type Stores } from "./ReadRows.ts"
import { Spill } from "./Spill.ts"

/** An input row with its result. */
export interface JoinedRow {
  readonly row: BatchRow
  /** Absent: the job's output does not have it. */
  readonly result?: BatchResult
}

export interface JoinTally {
  readonly answered: number
  readonly failed: number
  readonly missing: number
  /** Results whose row is not in the input (any more). */
  readonly unmatched: number
}

/** A job's results by the key of their row, of any number. */
export interface Results {
  readonly take: (customId: string) => BatchResult | undefined
  /** How many results were not taken. */
  readonly left: () => number
}

export const gatherResults = Effect.fn("gatherResults")(function*(
  job: BatchJob,
  stores: Stores
): Effect.fn.Return<Results, ServiceError, Scope.Scope> {
  const results = yield* Effect.acquireRelease(Effect.sync(() => new Spill()), (spill) => Effect.sync(() => spill.close()))
  yield* Stream.runForEach(readResults(job, stores), (group) =>
    Effect.sync(() => {
      for (const result of group) results.add(result.customId, JSON.stringify(result))
    }))
  return {
    take: (customId) => {
      const found = results.take(customId)
      return found === undefined ? undefined : JSON.parse(found) as BatchResult // written above
    },
    left: () => results.left
  }
})

/** The rows of a job's input, in their order, with their results; both of any size. Call `tally` when the stream has ended. */
export const joinResults = Effect.fn("joinResults")(function*(
  job: BatchJob,
  stores: Stores
): Effect.fn.Return<{ readonly rows: Stream.Stream<JoinedRow, ServiceError>; readonly tally: () => JoinTally }, ServiceError, Scope.Scope> {
  const results = yield* gatherResults(job, stores)
  const counts = { answered: 0, failed: 0, missing: 0 }
  const rows = readRows(job.input, stores, job.model).pipe(
    Stream.map((group) =>
      group.flatMap(({ row }): ReadonlyArray<JoinedRow> => {
        if (row === undefined) return []
        const result = results.take(rowKey(row))
        counts[result === undefined ? "missing" : result.error === undefined ? "answered" : "failed"] += 1
        return [result === undefined ? { row } : { row, result }]
      })
    ),
    Stream.flattenIterable
  )
  return { rows, tally: () => ({ ...counts, unmatched: results.left() }) }
})

/** All output of a job, in groups. */
const readResults = (job: BatchJob, { objects, tables }: Stores): Stream.Stream<ReadonlyArray<BatchResult>, ServiceError> => {
  if (job.results === undefined) {
    return Stream.fail(
      new ServiceError({
        code: "FAILED_PRECONDITION",
        message: `${job.name} has no results${job.error === undefined ? ` yet: it is ${job.state}` : `: ${job.error.message}`}`
      })
    )
  }
  if (job.results._tag === "table") {
    const table = parseTable(job.results.uri)
    return Stream.map(tables.read(table === undefined ? job.results.uri : tableUri(table)), (rows) => rows.flatMap(resultOf))
  }
  return objects.list(`${job.results.uri}/`).pipe(
    Stream.filter(({ uri }) => uri.endsWith(".jsonl")),
    Stream.flatMap(({ uri }) => lineGroups(objects.get(uri, Infinity))),
    Stream.map((lines) => lines.flatMap((line) => "text" in line ? resultOf(parsed(line.text)) : []))
  )
}

const resultOf = (value: unknown): ReadonlyArray<BatchResult> => {
  const result = readResult(value)
  return result === undefined ? [] : [result]
}

const parsed = (text: string): unknown => {
  try {
    return parseExactly(text)
  } catch {
    return undefined
  }
}
