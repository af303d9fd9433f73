import { existsSync } from "node:fs"
import { DatabaseSync, type SQLInputValue, type SQLOutputValue } from "node:sqlite"
import { Effect, Layer, Semaphore, Stream } from "effect"
import type { JsonRecord } from "../../../domain/Chat.ts"
import { parseTable, type TableName } from "../../../domain/batch/BatchPrediction.ts"
import { ServiceError } from "../../../domain/Errors.ts"
import { parseExactly } from "../../../domain/Json.ts"
import { type Column, TableStore } from "../../../ports/TableStore.ts"
import { attemptAt } from "../StateFailure.ts"

/** Rows that are read at a time. */
const groupSize = 500

/**
 * Tables of one SQLite file. `bq://{project}.main.{table}` is the table of that name; in another dataset it is called
 * `{dataset}.{table}`. The project may be any. A column has its declared type: `JSON` columns have JSON.
 */
export const make = (file: string) =>
  Effect.gen(function*() {
    const writing = yield* Semaphore.make(1)
    let opened: DatabaseSync | undefined
    yield* Effect.addFinalizer(() => Effect.sync(() => opened?.close()))

    const attempt = <A>(body: (db: DatabaseSync) => A): Effect.Effect<A, ServiceError> => attemptAt(file, () => body(opened ??= open(file)))

    const head = Effect.fn("TableStore.head")(function*(uri: string) {
      const table = yield* tableOf(uri)
      const columns = existsSync(file) ? yield* attempt((db) => columnsOf(db, table)) : []
      if (columns.length > 0) return { columns }
      return yield* ServiceError.notFound(`table ${uri}`, `${file} has no table ${table}`)
    })

    return TableStore.of({
      idOf: (uri) => {
        const name = parseTable(uri)
        // SQLite ignores the case of ASCII letters in names.
        return name === undefined ? undefined : tableIn(name).replace(/[A-Z]/g, (letter) => letter.toLowerCase())
      },
      head,
      read: (uri) =>
        Stream.unwrap(Effect.gen(function*() {
          const { columns } = yield* head(uri)
          const table = yield* tableOf(uri)
          // A separate connection, for one snapshot independent of concurrent writes.
          const db = yield* Effect.acquireRelease(attempt(() => open(file)), (db) => Effect.sync(() => db.close()))
          const rows = yield* attempt(() => {
            const read = db.prepare(`SELECT * FROM ${quoted(table)}`)
            read.setReadBigInts(true)
            return read.iterate()
          })
          return Stream.unfold(undefined, () =>
            attempt(() => {
              const group: Array<JsonRecord> = []
              for (let row = rows.next(); row.done !== true; row = rows.next()) {
                const held = row.value
                group.push(Object.fromEntries(columns.map((column) => [column.name, value(column, held[column.name] ?? null)])))
                if (group.length === groupSize) break
              }
              return group.length === 0 ? undefined : [group, undefined] as const
            }))
        })),
      put: Effect.fn("TableStore.put")(function*(uri, columns, rows, { replace = false } = {}) {
        const table = yield* tableOf(uri)
        const insertInto = (db: DatabaseSync) => {
          if (!replace && columnsOf(db, table).length > 0) {
            throw new ServiceError({ code: "ALREADY_EXISTS", message: `table ${uri} is there already`, fix: "name another, or drop it" })
          }
          db.exec(`DROP TABLE IF EXISTS ${quoted(table)}`)
          db.exec(`CREATE TABLE ${quoted(table)} (${columns.map(({ name, type }) => `${quoted(name)} ${sqlType(type)}`).join(", ")})`)
          return db.prepare(`INSERT INTO ${quoted(table)} VALUES (${columns.map(() => "?").join(", ")})`)
        }
        // One transaction, however long the rows take to arrive: readers see the table only when it is complete.
        yield* writing.withPermit(Effect.acquireUseRelease(
          attempt((db) => db.exec("BEGIN IMMEDIATE")),
          () =>
            Effect.gen(function*() {
              const insert = yield* attempt(insertInto)
              yield* Stream.runForEach(rows, (group) =>
                attempt(() => {
                  for (const row of group) insert.run(...columns.map((column) => stored(column, row[column.name])))
                }))
              yield* attempt((db) => db.exec("COMMIT"))
            }),
          () => Effect.ignore(attempt((db) => db.isTransaction ? db.exec("ROLLBACK") : undefined))
        ))
      }),
      delete: Effect.fn("TableStore.delete")(function*(uri) {
        const table = yield* tableOf(uri)
        yield* writing.withPermit(attempt((db) => db.exec(`DROP TABLE IF EXISTS ${quoted(table)}`)))
      })
    })
  })

export const layer = (file: string): Layer.Layer<TableStore> => Layer.effect(TableStore, make(file))

/** A store without tables, where no file was configured. */
export const layerNone: Layer.Layer<TableStore> = Layer.sync(TableStore, () => {
  const none = new ServiceError({
    code: "FAILED_PRECONDITION",
    message: "there are no tables here",
    fix: "give a SQLite file with --tables FILE"
  })
  return TableStore.of({
    idOf: () => undefined,
    head: () => Effect.fail(none),
    read: () => Stream.fail(none),
    put: () => Effect.fail(none),
    delete: () => Effect.fail(none)
  })
})

const open = (file: string): DatabaseSync => {
  const db = new DatabaseSync(file, { timeout: 10_000 })
  db.exec("PRAGMA journal_mode = WAL")
  return db
}

const tableOf = (uri: string): Effect.Effect<string, ServiceError> => {
  const name = parseTable(uri)
  if (name === undefined) return Effect.fail(ServiceError.invalid("uri", `${uri} is not bq://<project>.<dataset>.<table>`))
  return Effect.succeed(tableIn(name))
}

const tableIn = ({ dataset, table }: TableName): string => dataset === "main" ? table : `${dataset}.${table}`

const quoted = (name: string): string => `"${name.replaceAll("\"", "\"\"")}"`

/** The columns of a table; empty where it does not exist. */
const columnsOf = (db: DatabaseSync, table: string): ReadonlyArray<Column> =>
  db.prepare("SELECT name, type FROM pragma_table_info(?) ORDER BY cid").all(table).map(({ name, type }) => ({
    name: String(name),
    type: typeOf(String(type).toUpperCase())
  }))

/** The type of a column. SQLite accepts any type name and derives its kind from parts of the name (sqlite.org/datatype3.html). */
const typeOf = (declared: string): Column["type"] => {
  if (declared.includes("JSON")) return "JSON"
  if (declared.includes("BOOL")) return "BOOLEAN"
  if (declared.includes("INT")) return "INTEGER"
  if (/CHAR|CLOB|TEXT|STRING/.test(declared)) return "STRING"
  return /REAL|FLOA|DOUB/.test(declared) ? "FLOAT" : declared === "" || declared.includes("BLOB") ? "BYTES" : "NUMERIC"
}

const sqlTypes: Readonly<Record<string, string>> = { STRING: "TEXT", FLOAT: "REAL", BYTES: "BLOB" }

const sqlType = (type: Column["type"]): string => sqlTypes[type] ?? (/^[A-Z][A-Z0-9]*$/.test(type) ? type : "TEXT")

const value = ({ type }: Column, held: SQLOutputValue): unknown => {
  if (held instanceof Uint8Array) return Buffer.from(held).toString("base64")
  if (typeof held === "string") return type === "JSON" ? jsonOr(held) : held
  if (typeof held === "bigint") return type === "BOOLEAN" ? held !== 0n : parseExactly(String(held))
  return held
}

/** The value of a JSON column. SQLite checks nothing, so what is not JSON is taken as text. */
const jsonOr = (text: string): unknown => {
  try {
    return parseExactly(text)
  } catch {
    return text
  }
}

const stored = ({ type }: Column, given: unknown): SQLInputValue => {
  if (given === undefined || given === null) return null
  if (type === "JSON") return JSON.stringify(given)
  if (typeof given === "boolean") return given ? 1 : 0
  if (typeof given === "string") return type === "BYTES" ? Buffer.from(given, "base64") : given
  if (typeof given === "number") return given
  const text = JSON.stringify(given)
  // An integer that a double may not hold, but SQLite does.
  return /^-?[0-9]{1,18}$/.test(text) ? BigInt(text) : text
}
