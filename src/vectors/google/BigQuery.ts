import { Effect, Schedule, Schema, Semaphore } from "effect"
import { ServiceError } from "../../domain/Errors.ts"
import { awaited, decoder, type rest } from "../Rest.ts"

/** A column of a table. Its type has the name that GoogleSQL gives it. */
export interface Column {
  readonly name: string
  readonly type: "STRING" | "INT64" | "FLOAT64"
  readonly repeated?: boolean
}

/** Parameters of a statement by name; a list is an array of strings. */
export type Values = Readonly<Record<string, string | ReadonlyArray<string>>>

const Cell = Schema.Struct({ v: Schema.optionalKey(Schema.Unknown) })
const Answer = Schema.Struct({
  jobComplete: Schema.optionalKey(Schema.Boolean),
  jobReference: Schema.optionalKey(Schema.Struct({
    projectId: Schema.optionalKey(Schema.String),
    jobId: Schema.String,
    location: Schema.optionalKey(Schema.String)
  })),
  rows: Schema.optionalKey(Schema.Array(Schema.Struct({ f: Schema.Array(Cell) }))),
  pageToken: Schema.optionalKey(Schema.String),
  numDmlAffectedRows: Schema.optionalKey(Schema.String)
})
const isCells = Schema.is(Schema.Array(Cell))

/** Milliseconds that the service waits before it responds that a job is still running. */
const waitMs = 20_000
/** Rows per page of a result. */
const pageSize = 1_000

export interface Queried {
  /** Rows with their cells in the order of the selected columns: a string, a list of strings, or null. */
  readonly rows: ReadonlyArray<ReadonlyArray<string | ReadonlyArray<string> | null>>
  /** Number of rows that the statement changed. */
  readonly affected: number
}

/**
 * Returns a function that runs GoogleSQL statements in a project, one at a time, and waits for their results. Statements have
 * to be idempotent: calls are retried, and a statement that failed because of concurrent updates is run again.
 */
export const queries = (call: ReturnType<typeof rest>, project: string, firstMs = 1_000) => {
  const one = Semaphore.makeUnsafe(1)
  const again = Schedule.exponential(firstMs).pipe(Schedule.jittered, Schedule.upTo({ times: 5 }))
  const run = Effect.fnUntraced(function*(doing: string, query: string, parameters: Values): Effect.fn.Return<Queried, ServiceError> {
    const path = `/projects/${encodeURIComponent(project)}/queries`
    const decoded = decoder(() =>
      new ServiceError({ code: "INTERNAL", message: `${doing}: BigQuery does not answer as its API specifies` })
    )
    let answer = yield* Effect.flatMap(
      call(doing, path, {
        method: "POST",
        body: {
          query,
          useLegacySql: false,
          parameterMode: "NAMED",
          queryParameters: Object.entries(parameters).map(([name, value]) =>
            typeof value === "string"
              ? { name, parameterType: { type: "STRING" }, parameterValue: { value } }
              : {
                name,
                parameterType: { type: "ARRAY", arrayType: { type: "STRING" } },
                parameterValue: { arrayValues: value.map((value) => ({ value })) }
              }
          ),
          timeoutMs: waitMs,
          maxResults: pageSize
        }
      }),
      ({ json }) => decoded(Answer, json)
    )
    const { jobReference } = answer
    const of = new URLSearchParams({
      maxResults: String(pageSize),
      timeoutMs: String(waitMs),
      ...(jobReference?.location === undefined ? {} : { location: jobReference.location })
    })
    const page = (token: string) =>
      Effect.flatMap(
        call(
          doing,
          `${path}/${encodeURIComponent(jobReference?.jobId ?? "")}?${of}${token === "" ? "" : `&pageToken=${encodeURIComponent(token)}`}`
        ),
        ({ json }) => decoded(Answer, json)
      )
    if (answer.jobComplete !== true) {
      answer = yield* awaited(
        Effect.map(page(""), (later) => later.jobComplete === true ? later : undefined),
        { late: `${doing}: BigQuery has not finished in time`, firstMs }
      )
    }
    const rows: Array<Queried["rows"][number]> = []
    for (;;) {
      for (const { f } of answer.rows ?? []) rows.push(f.map(({ v }) => valueOf(v)))
      if (answer.pageToken === undefined || answer.pageToken === "") return { rows, affected: Number(answer.numDmlAffectedRows ?? 0) }
      answer = yield* page(answer.pageToken)
    }
  })
  return (...args: Parameters<typeof run>) =>
    one.withPermit(Effect.retry(run(...args), { while: ({ message }) => message.includes("due to concurrent update"), schedule: again }))
}

const valueOf = (value: unknown): string | ReadonlyArray<string> | null =>
  value === null || value === undefined ? null : isCells(value) ? value.map(({ v }) => String(v)) : String(value)

/** A name quoted for a statement, with every special character escaped. */
export const quoted = (name: string): string => `\`${name.replace(/[\\`]/g, "\\$&")}\``

/**
 * A MERGE statement that inserts the rows of the parameter `rows`, or replaces those with the same `key`, atomically. `rows`
 * is a JSON list of objects by column name. An absent value becomes null, an absent list an empty one.
 */
export const mergeOf = (table: string, key: string, columns: ReadonlyArray<Column>): string => {
  const names = columns.map(({ name }) => quoted(name))
  const selected = columns.map(({ name, repeated, type }) => {
    const at = `line, '$.${name}'`
    const value = repeated !== true
      ? type === "STRING" ? `JSON_VALUE(${at})` : `CAST(JSON_VALUE(${at}) AS ${type})`
      : type === "STRING"
      ? `JSON_VALUE_ARRAY(${at})`
      : `ARRAY(SELECT CAST(item AS ${type}) FROM UNNEST(JSON_VALUE_ARRAY(${at})) AS item WITH OFFSET AS place ORDER BY place)`
    return `${value} AS ${quoted(name)}`
  })
  const changed = names.filter((name) => name !== quoted(key)).map((name) => `${name} = given.${name}`)
  return `MERGE ${quoted(table)} AS stored
USING (SELECT ${selected.join(", ")} FROM UNNEST(JSON_QUERY_ARRAY(@rows)) AS line) AS given
ON stored.${quoted(key)} = given.${quoted(key)}
WHEN MATCHED THEN UPDATE SET ${changed.join(", ")}
WHEN NOT MATCHED THEN INSERT (${names.join(", ")}) VALUES (${names.map((name) => `given.${name}`).join(", ")})`
}
