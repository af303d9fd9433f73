import { Effect, Schedule, Schema, Semaphore } from "effect"
import { ServiceError } from "../../domain/Errors.ts"
import { decoder, type rest } from "../Rest.ts"
import { awaited } from "./Service.ts"

/** A column, by the standard names of types. */
export interface Column {
  readonly name: string
  readonly type: "STRING" | "INT64" | "FLOAT64"
  readonly repeated?: boolean
}

/** Values by name; a list is of texts. */
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

/** Milliseconds that the service waits before it says that a job goes on, and rows of one page. */
const waitMs = 20_000
const pageSize = 1_000

export interface Queried {
  /** Cells in the order of the columns that were selected: text, a list of texts, or null. */
  readonly rows: ReadonlyArray<ReadonlyArray<string | ReadonlyArray<string> | null>>
  /** Rows that a statement changed. */
  readonly affected: number
}

/**
 * Runs statements of GoogleSQL in a project, each of which may be run twice, one after the other, and waits for what they
 * give. One that met another's changes is run again.
 */
export const queries = (call: ReturnType<typeof rest>, project: string, firstMs = 1_000) => {
  const one = Semaphore.makeUnsafe(1)
  const again = Schedule.exponential(firstMs).pipe(Schedule.jittered, Schedule.upTo({ times: 5 }))
  const run = Effect.fnUntraced(function*(doing: string, query: string, parameters: Values): Effect.fn.Return<Queried, ServiceError> {
    const path = `/projects/${encodeURIComponent(project)}/queries`
    const decoded = decoder(() => new ServiceError({ code: "INTERNAL", message: `${doing}: BigQuery answers otherwise than its API says` }))
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
        { late: `${doing}: BigQuery is not done yet`, firstMs }
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

/** A name in a statement: quoted, whatever is in it. */
export const quoted = (name: string): string => `\`${name.replace(/[\\`]/g, "\\$&")}\``

/**
 * Puts rows into a table in place of those with the same `key`, in one step: those in the parameter `rows`, a JSON list of
 * objects by the columns' names. A value that is absent is null, an absent list empty.
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
