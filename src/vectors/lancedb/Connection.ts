import { join } from "node:path"
import { Duration, Effect, type Scope, Semaphore } from "effect"
import { ServiceError } from "../../domain/Errors.ts"
import { retry, type RetryOptions } from "../../net/Retry.ts"
import type { VectorSpace } from "../../ports/VectorStore.ts"
import { blamed } from "../Chunks.ts"
import { failureOf, fields } from "./Failures.ts"
import { folderOf, isThere } from "./Folder.ts"
import type { Arrow, Connection as Database, Lance, Table } from "./Library.ts"
import { libraryFrom } from "./Load.ts"

export interface LanceDbOptions {
  /** Address of the database: a folder, as an absolute path or `file:///…`, or object storage, `s3://…`, `gs://…`, `az://…`. */
  readonly uri: string
  readonly space: VectorSpace
  readonly retry?: RetryOptions | undefined
  /** Folder whose packages are searched for the library, after those beside Sluice. Default: the working directory. */
  readonly from?: string | undefined
  /** Number of chunks from which vectors are indexed; below it, every vector is compared. Default 10,000. */
  readonly indexFrom?: number | undefined
}

/** Most milliseconds of one call. */
const callLimit = 120_000
/** Most milliseconds of optimizing or scanning a large table, which take longest. */
export const longLimit = 3_600_000

/** Name of the table with the records of all corpora. */
export const recordsName = "corpus_records"

/** The table of one corpus, and its database. The other files of this folder share it. */
export interface Connection {
  readonly corpus: string
  readonly dimensions: number
  /** The folder of the database; undefined for object storage. */
  readonly folder: string | undefined
  /** Name of the corpus's table. */
  readonly name: string
  /** The table and its database, for messages. */
  readonly place: string
  /** Calls the library with a timeout, of two minutes by default. `what` says in errors what it is for. */
  readonly attempt: <A>(what: string, body: () => Promise<A>, limit?: number) => Effect.Effect<A, ServiceError>
  /** Retries an effect as a whole, bounded and with jitter. */
  readonly again: <A>(effect: Effect.Effect<A, ServiceError>) => Effect.Effect<A, ServiceError>
  readonly library: ReturnType<typeof libraryFrom>
  /** Connects once. */
  readonly connection: Effect.Effect<{ readonly lance: Lance; readonly arrow: Arrow; readonly db: Database }, ServiceError>
  /** The table of the corpus, opened once; undefined where it does not exist. */
  readonly table: Effect.Effect<Table | undefined, ServiceError>
  /** The table of the corpus; `NOT_FOUND` where it does not exist. */
  readonly needTable: Effect.Effect<Table, ServiceError>
  /** The table with the records of all corpora; undefined where it does not exist. */
  readonly records: Effect.Effect<Table | undefined, ServiceError>
  /** Makes {@link table} open the table again: another process may have dropped or replaced it. */
  readonly forget: Effect.Effect<void>
  /** Keeps a table that was just made as the opened one. */
  readonly keep: (made: Table) => void
}

/** Describes the connection, which is made at the first use. The table is closed with the scope. */
export const connect = Effect.fnUntraced(function*(options: LanceDbOptions): Effect.fn.Return<Connection, never, Scope.Scope> {
  const { space: { corpus, dimensions } } = options
  const folder = folderOf(options.uri)
  const uri = folder ?? options.uri
  // Ids of corpora are digits; anything else would have to be quoted.
  const name = `corpus_${corpus.replace(/[^a-z0-9_]/gi, "_")}`
  const place = `table ${name} of LanceDB in ${uri}`
  const again = retry({ times: 4, ...options.retry })
  const library = libraryFrom(options.from ?? process.cwd())

  const attempt: Connection["attempt"] = <A>(what: string, body: () => Promise<A>, limit = callLimit): Effect.Effect<A, ServiceError> =>
    Effect.tryPromise({ try: body, catch: (cause) => failureOf(`${what} in ${place}`, cause) }).pipe(
      Effect.timeoutOrElse({
        duration: Duration.millis(limit),
        orElse: () => Effect.fail(new ServiceError({ code: "DEADLINE_EXCEEDED", message: `${what} in ${place} timed out` }))
      }),
      Effect.mapError(blamed(fields))
    )

  let connected: { readonly lance: Lance; readonly arrow: Arrow; readonly db: Database } | undefined
  const connecting = yield* Semaphore.make(1)
  const connection = connecting.withPermit(Effect.suspend(() =>
    connected !== undefined
      ? Effect.succeed(connected)
      : Effect.gen(function*() {
        const { arrow, lance } = yield* library
        // Other processes write too, so each search reads the newest version.
        const db = yield* attempt("connecting", () => lance.connect(uri, { readConsistencyInterval: 0 }))
        return connected = { lance, arrow, db }
      })
  ))

  let opened: Table | undefined
  const table: Effect.Effect<Table | undefined, ServiceError> = Effect.suspend(() =>
    opened !== undefined ? Effect.succeed(opened) : Effect.gen(function*() {
      // Checked first, because connecting to a folder would make it.
      if (folder !== undefined && !(yield* isThere(join(folder, `${name}.lance`)))) return undefined
      const { db } = yield* connection
      return yield* attempt("looking", () => db.openTable(name)).pipe(
        Effect.tap((found) => Effect.sync(() => void (opened = found))),
        Effect.catchIf(({ code }) => code === "NOT_FOUND", () => Effect.undefined)
      )
    })
  )
  const records: Effect.Effect<Table | undefined, ServiceError> = Effect.gen(function*() {
    if (folder !== undefined && !(yield* isThere(join(folder, `${recordsName}.lance`)))) return undefined
    const { db } = yield* connection
    return yield* attempt("looking", () => db.openTable(recordsName)).pipe(
      Effect.catchIf(({ code }) => code === "NOT_FOUND", () => Effect.undefined)
    )
  })
  const forget = Effect.sync(() => {
    opened?.close()
    opened = undefined
  })
  yield* Effect.addFinalizer(() => forget)

  const needTable = Effect.flatMap(table, (found) => found === undefined ? ServiceError.notFound(place) : Effect.succeed(found))

  return {
    corpus,
    dimensions,
    folder,
    name,
    place,
    attempt,
    again,
    library,
    connection,
    table,
    needTable,
    records,
    forget,
    keep: (made) => {
      opened = made
    }
  }
})
