import { Duration, Effect, Redacted, type Scope } from "effect"
import postgres from "postgres"
import { asServiceError, ServiceError } from "../../domain/Errors.ts"
import type { SecretVersion } from "../../domain/Secret.ts"
import { retry, type RetryOptions } from "../../net/Retry.ts"
import type { Secrets } from "../../ports/Secrets.ts"
import type { VectorSpace } from "../../ports/VectorStore.ts"
import { blamed, renewing, unfit } from "../Chunks.ts"
import { closesConnection, failureOf, fields } from "./Failures.ts"

export interface PostgresOptions {
  /** Secret version that holds the URL of the database: `postgres://user:password@host:port/database`. */
  readonly url: SecretVersion
  /** Schema of the tables. Default `sluice`. */
  readonly schema?: string | undefined
  readonly space: VectorSpace
  readonly secrets: Secrets["Service"]
  readonly retry?: RetryOptions | undefined
  /** Number of connections, at most. Default 4. */
  readonly connections?: number | undefined
  /** Number of chunks from which vectors are indexed; below it, every vector is compared. Default 5,000. */
  readonly indexFrom?: number | undefined
}

/** Most milliseconds of one statement. */
const statementLimit = 60_000

export interface Row {
  readonly [column: string]: unknown
}

/** Runs one statement of a transaction and returns its rows. */
export type Run = (text: string, values?: ReadonlyArray<string | null>) => Promise<ReadonlyArray<Row>>

type Sql = postgres.Sql<Record<string, unknown>>

export interface TransactionOptions {
  /** Most milliseconds of a statement. Default 60,000. */
  readonly limit?: number
  /** Settings of PostgreSQL that hold during the transaction. */
  readonly settings?: Readonly<Record<string, string>>
}

/** The database of one corpus, and the names of its tables. The other files of this folder share it. */
export interface Connection {
  readonly corpus: string
  readonly dimensions: number
  readonly schema: string
  /** Name of the corpus's table, without its schema. */
  readonly name: string
  /** The corpus's table as statements name it. */
  readonly table: string
  /** The table with the records of all corpora of the schema, as statements name it. */
  readonly records: string
  /** The schema, for messages. */
  readonly place: string
  /** Runs `body` in a transaction, and retries it as a whole. `what` says in errors what it is for. */
  readonly transaction: <A>(what: string, body: (run: Run) => Promise<A>, options?: TransactionOptions) => Effect.Effect<A, ServiceError>
}

/** Opens a pool that connects at the first statement, and closes it with the scope. */
export const connect = Effect.fnUntraced(
  function*(options: PostgresOptions): Effect.fn.Return<Connection, never, Scope.Scope> {
    const { schema = "sluice", space: { corpus, dimensions } } = options
    // Ids of corpora are digits; anything else would have to be quoted.
    const name = `corpus_${corpus.replace(/[^a-z0-9_]/gi, "_")}`
    const place = `schema ${schema} of PostgreSQL`

    const pool = renewing<{ readonly sql: Sql; readonly url: Redacted.Redacted<string> }>(
      Effect.gen(function*() {
        const url = yield* Effect.mapError(options.secrets.resolve(options.url), (error) => blamed(fields)(asServiceError(error)))
        const sql = yield* Effect.try({
          try: () =>
            postgres(Redacted.value(url), {
              max: options.connections ?? 4,
              fetch_types: false,
              // Connection poolers may not support prepared statements.
              prepare: false,
              idle_timeout: 20,
              connect_timeout: 10,
              // Attempts are spaced by `retry`; on top of that, the driver would wait up to 20 s before each.
              backoff: () => 0,
              onnotice: () => {},
              connection: { application_name: "sluice" }
            }),
          catch: () =>
            unfit(
              "postgres.url",
              "the secret holds no PostgreSQL URL",
              "store postgres://user:password@host:port/database, special characters of the password as in %40 for @"
            )
        })
        return { sql, url }
      }),
      ({ sql }) => Effect.ignore(Effect.tryPromise(() => sql.end({ timeout: 1 })))
    )
    yield* Effect.addFinalizer(() => pool.close)

    const again = retry({ times: 4, ...options.retry })
    const transaction: Connection["transaction"] = <A>(
      what: string,
      body: (run: Run) => Promise<A>,
      { limit = statementLimit, settings = {} }: TransactionOptions = {}
    ): Effect.Effect<A, ServiceError> =>
      pool.use(({ sql, url }) =>
        Effect.tryPromise({
          try: () =>
            sql.begin(async (tx) => {
              const set = Object.entries({ statement_timeout: String(limit), ...settings })
                .map(([name, value]) => `SET LOCAL ${name} = '${value}'`).join("; ")
              // Not awaited here: it is sent together with the first statement.
              const done = tx.unsafe(set).execute()
              try {
                const value = await body(async (text, values = []) => Array.from(await tx.unsafe<Array<Row>>(text, [...values])))
                await done
                return [value] as const
              } catch (cause) {
                // The driver would send ROLLBACK into the closed connection, and throw that from a timer, which ends the process
                // (https://github.com/porsager/postgres/issues/1208). It rejects the transaction itself once the connection is closed.
                if (closesConnection(cause)) return await new Promise<never>(() => {})
                throw cause
              }
            }),
          catch: (cause) => failureOf(`${what} in ${place}`, cause, [url])
        }).pipe(
          Effect.map(([value]) => value as A),
          Effect.timeoutOrElse({
            duration: Duration.millis(2 * limit),
            orElse: () =>
              Effect.fail(blamed(fields)(new ServiceError({ code: "DEADLINE_EXCEEDED", message: `${what} in ${place} timed out` })))
          }),
          again
        )
      )

    return {
      corpus,
      dimensions,
      schema,
      name,
      table: `"${schema}"."${name}"`,
      records: `"${schema}"."corpus_records"`,
      place,
      transaction
    }
  }
)

/** Whether a table exists. */
export const exists = async (run: Run, table: string): Promise<boolean> => {
  const [row] = await run("SELECT to_regclass($1) IS NOT NULL AS there", [table])
  return row?.["there"] === true
}

/** A condition for the rows of the files that a parameter lists as JSON. */
export const ofFiles = (parameter: string): string => `file_id = ANY (ARRAY(SELECT jsonb_array_elements_text(${parameter}::text::jsonb)))`
