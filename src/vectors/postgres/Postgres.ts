import { Clock, Duration, Effect, Fiber, Redacted, type Scope, Semaphore } from "effect"
import postgres from "postgres"
import { asServiceError, type Code, ServiceError } from "../../domain/Errors.ts"
import type { SecretVersion } from "../../domain/Secret.ts"
import { redactText } from "../../net/Redact.ts"
import { retry, type RetryOptions } from "../../net/Retry.ts"
import type { Secrets } from "../../ports/Secrets.ts"
import {
  byWords,
  type VectorDescription,
  type VectorFile,
  type VectorHit,
  type VectorQuery,
  type VectorSpace,
  type VectorStore
} from "../../ports/VectorStore.ts"
import {
  blamed,
  chunkBatches,
  chunkColumns,
  chunkId,
  corpusRecordOf,
  type Fields,
  filesOf,
  isOlder,
  jsonIn,
  parts,
  type ReadChunk,
  renewing,
  unfit,
  vectorJson
} from "../Chunks.ts"

export interface PostgresOptions {
  /** Of the connection's URL. */
  readonly url: SecretVersion
  /** Default `sluice`. */
  readonly schema?: string | undefined
  readonly space: VectorSpace
  readonly secrets: Secrets["Service"]
  readonly retry?: RetryOptions | undefined
  /** Connections at the same time. Default 4. */
  readonly connections?: number | undefined
  /** Chunks from which there is an index of vectors; fewer are compared one by one. Default 5,000. */
  readonly indexFrom?: number | undefined
}

/** pgvector from which half precision and filtered scans that go on are there. */
const leastVersion = [0, 8] as const
const fields: Fields = { address: "postgres.url", key: "postgres.url", part: "postgres.url" }
/** Components that an index of half precision takes. */
const mostDimensions = 4_000
/** Chunks of one statement, and files of one deletion. */
const chunksAtOnce = 100
const filesAtOnce = 1_000
/** Milliseconds of one statement. */
const statementLimit = 60_000
/** Milliseconds of making the index of vectors, the memory it may take, and how long nothing is written before it is made. */
const indexLimit = 3_600_000
const indexMemory = "512MB"
/**
 * Candidates of a search: so many for each hit that is wanted, and at least; pgvector takes 1,000. Recall of the nearest
 * hundred is .89 with 200, .98 with 1,000 (`npm run bench:vectors -- --recall`).
 */
const candidatesOfHit = 10
const leastCandidates = 200
const mostCandidates = 1_000
const quiet = Duration.seconds(5)
/** Chunks written by this process after which the index is made though more is on its way. */
const mostWithout = 100_000
/** How long the corpus's size is taken for what it was. */
const statisticsFor = 10_000

/** BM25's constant of length. That of frequency is `ts_rank`'s own. */
const lengthWeight = 0.75

interface Row {
  readonly [column: string]: unknown
}

/** A statement of a transaction. */
type Run = (text: string, values?: ReadonlyArray<string | null>) => Promise<ReadonlyArray<Row>>

/** Ends a transaction of which nothing is to stay. */
class TakenBack extends Error {}

type Sql = postgres.Sql<Record<string, unknown>>

/**
 * A corpus in PostgreSQL: a table of its own, with an HNSW index over half-precision vectors and a GIN index over the terms
 * of the corpus's own analysis. A call to `put` is one transaction per batch, text and vector together.
 */
export const make = Effect.fnUntraced(function*(options: PostgresOptions): Effect.fn.Return<VectorStore, ServiceError, Scope.Scope> {
  const { indexFrom = 5_000, schema = "sluice", space: { corpus, dimensions } } = options
  if (dimensions > mostDimensions) {
    return yield* unfit(
      "postgres",
      `the embedder gives ${dimensions} dimensions, and pgvector's index takes ${mostDimensions} at most`,
      "use an embedding model of fewer dimensions, or another database"
    )
  }
  // Corpora's ids are digits.
  const name = `corpus_${corpus.replace(/[^a-z0-9_]/gi, "_")}`
  const table = `"${schema}"."${name}"`
  /** What the corpora of the schema say of themselves. */
  const records = `"${schema}"."corpus_records"`
  const place = `schema ${schema} of PostgreSQL`

  const pool = renewing<{ readonly sql: Sql; readonly url: Redacted.Redacted<string> }>(
    Effect.gen(function*() {
      const url = yield* Effect.mapError(options.secrets.resolve(options.url), (error) => blamed(fields)(asServiceError(error)))
      const sql = yield* Effect.try({
        try: () =>
          postgres(Redacted.value(url), {
            max: options.connections ?? 4,
            fetch_types: false,
            // Poolers between here and the server know no prepared statements.
            prepare: false,
            idle_timeout: 20,
            connect_timeout: 10,
            onnotice: () => {},
            connection: { application_name: "sluice" }
          }),
        catch: () => unfit("postgres.url", "the secret holds no PostgreSQL URL", "store postgres://user:password@host:port/database")
      })
      return { sql, url }
    }),
    ({ sql }) => Effect.ignore(Effect.tryPromise(() => sql.end({ timeout: 1 })))
  )
  yield* Effect.addFinalizer(() => pool.close)

  const again = retry({ times: 4, ...options.retry })
  /** Statements of one transaction. Tried again as a whole. `settings` are its own. */
  const transaction = <A>(
    what: string,
    body: (run: Run) => Promise<A>,
    { limit = statementLimit, settings = {} }: { readonly limit?: number; readonly settings?: Readonly<Record<string, string>> } = {}
  ): Effect.Effect<A, ServiceError> =>
    pool.use(({ sql, url }) =>
      Effect.tryPromise({
        try: () =>
          sql.begin(async (tx) => {
            const set = Object.entries({ statement_timeout: String(limit), ...settings })
              .map(([name, value]) => `SET LOCAL ${name} = '${value}'`).join("; ")
            // Not waited for: the first statement goes along with it.
            const done = tx.unsafe(set).execute()
            const value = await body(async (text, values = []) => Array.from(await tx.unsafe<Array<Row>>(text, [...values])))
            await done
            return [value] as const
          }),
        catch: (cause) => failureOf(`${what} in ${place}`, cause, [url])
      }).pipe(
        Effect.map(([value]) => value as A),
        Effect.timeoutOrElse({
          duration: Duration.millis(2 * limit),
          orElse: () =>
            Effect.fail(blamed(fields)(new ServiceError({ code: "DEADLINE_EXCEEDED", message: `${what} in ${place} did not end` })))
        }),
        again
      )
    )

  const describe = (run: Run) =>
    run(
      `SELECT current_setting('server_version') AS server, current_setting('transaction_read_only') AS read_only,
        (SELECT extversion FROM pg_extension WHERE extname = 'vector') AS vector,
        EXISTS (SELECT FROM pg_available_extensions WHERE name = 'vector') AS available,
        to_regclass($1) IS NOT NULL AS there,
        EXISTS (SELECT FROM pg_attribute WHERE attrelid = to_regclass($1) AND attname = 'record') AS recording,
        (SELECT format_type(atttypid, atttypmod) FROM pg_attribute WHERE attrelid = to_regclass($1) AND attname = 'embedding') AS embedding`,
      [table]
    )

  const fit = (row: Row | undefined): ServiceError | undefined => {
    const version = typeof row?.["vector"] === "string" ? row["vector"] : undefined
    if (version === undefined && row?.["available"] !== true) {
      return unfit(
        "postgres.url",
        `${place} has no pgvector, and its server has none to make`,
        "have pgvector installed on the server, or name one that has it"
      )
    }
    if (version !== undefined && isOlder(version, leastVersion)) {
      return unfit(
        "postgres.url",
        `${place} has pgvector ${version}, and ${leastVersion.join(".")} is the first that searches with filters`,
        "update the extension: ALTER EXTENSION vector UPDATE"
      )
    }
    if (row?.["read_only"] === "on") return unfit("postgres.url", `${place} is read-only`, "name a server that takes writes, not a replica")
    const type = typeof row?.["embedding"] === "string" ? row["embedding"] : undefined
    if (row?.["there"] === true && type === undefined) {
      return unfit("postgres.schema", `the table ${name} of ${place} is somebody else's`, "use another schema")
    }
    const [, found] = /halfvec\((\d+)\)$/.exec(type ?? "") ?? []
    return type !== undefined && Number(found) !== dimensions
      ? unfit(
        "postgres.schema",
        `the table ${name} of ${place} holds ${type}, and the embedder gives ${dimensions} dimensions`,
        "use another schema, or build the corpus anew: sluice run --replace"
      )
      : undefined
  }

  const makeTable = async (run: Run) => {
    // Two processes may come at the same time.
    await run(`SELECT pg_advisory_xact_lock(hashtext($1))`, [table])
    // Asked for first: whoever may not make schemas may use one that is there.
    const [row] = await run("SELECT to_regnamespace($1) IS NOT NULL AS there", [`"${schema}"`])
    if (row?.["there"] !== true) await run(`CREATE SCHEMA IF NOT EXISTS "${schema}"`)
    await run(
      `CREATE TABLE IF NOT EXISTS ${table} (
        id uuid PRIMARY KEY,
        file_id text NOT NULL,
        ordinal integer NOT NULL,
        text text NOT NULL,
        headings jsonb NOT NULL,
        byte_start integer NOT NULL,
        byte_end integer NOT NULL,
        first_page integer,
        last_page integer,
        source_uri text NOT NULL,
        display_name text NOT NULL,
        metadata jsonb,
        permissions jsonb,
        record text,
        terms tsvector NOT NULL,
        length integer NOT NULL,
        embedding halfvec(${dimensions}) NOT NULL
      )`
    )
    // Tables of earlier versions have none.
    await run(`ALTER TABLE ${table} ADD COLUMN IF NOT EXISTS record text`)
    await run(`CREATE INDEX IF NOT EXISTS "${name}_file" ON ${table} (file_id)`)
    await run(`CREATE INDEX IF NOT EXISTS "${name}_terms" ON ${table} USING gin (terms)`)
    await run(`CREATE TABLE IF NOT EXISTS ${records} (corpus text PRIMARY KEY, record text NOT NULL)`)
  }

  /** Does what a run begins with in a transaction that is then taken back: whether the user may, and whether there is room. */
  const rehearse = (row: Row | undefined) =>
    transaction("trying to write", async (run) => {
      if (row?.["vector"] === null) await run("CREATE EXTENSION IF NOT EXISTS vector")
      if (row?.["there"] !== true || row["recording"] !== true) await makeTable(run)
      await run(
        `INSERT INTO ${table} (id, file_id, ordinal, text, headings, byte_start, byte_end, source_uri, display_name, terms, length, embedding)
          VALUES (gen_random_uuid(), '', 0, '', '[]', 0, 0, '', '', '', 0, array_fill(0, ARRAY[${dimensions}])::halfvec)`
      )
      await run(`DELETE FROM ${table} WHERE file_id = ''`)
      throw new TakenBack()
    })

  const prepare = Effect.gen(function*() {
    const [row] = yield* transaction("looking", describe)
    const bad = fit(row)
    if (bad !== undefined) return yield* bad
    if (row?.["there"] === true && row["recording"] === true) return
    if (row?.["vector"] === null) {
      yield* transaction("making the extension vector", (run) => run("CREATE EXTENSION IF NOT EXISTS vector")).pipe(
        Effect.mapError((error) =>
          unfit(
            "postgres.url",
            `${place} has no pgvector, and it cannot be made: ${error.message}`,
            "have CREATE EXTENSION vector run by who may"
          )
        )
      )
      const [made] = yield* transaction("looking", describe)
      const old = fit(made)
      if (old !== undefined) return yield* old
    }
    yield* transaction("making the table of the corpus", makeTable)
  })

  /**
   * Makes the index of vectors, once: over all that is there it takes a fraction of what taking chunks in one by one does.
   * Writers wait meanwhile, readers do not.
   */
  const makeIndex = Effect.gen(function*() {
    const [row] = yield* transaction(
      "looking",
      (run) =>
        run(
          `SELECT to_regclass($1) IS NOT NULL AS indexed, (SELECT count(*) FROM (SELECT 1 FROM ${table} LIMIT ${indexFrom}) AS enough) >= ${indexFrom} AS due`,
          [`"${schema}"."${name}_embedding"`]
        )
    )
    indexed = row?.["indexed"] === true
    if (indexed || row?.["due"] !== true) return
    const build = (settings: Readonly<Record<string, string>>) =>
      transaction("indexing vectors", async (run) => {
        await run(`SELECT pg_advisory_xact_lock(hashtext($1))`, [table])
        return run(`CREATE INDEX IF NOT EXISTS "${name}_embedding" ON ${table} USING hnsw (embedding halfvec_cosine_ops)`)
      }, { limit: indexLimit, settings: { maintenance_work_mem: indexMemory, ...settings } })
    // Processes that build together need that memory shared, of which a container has 64 MB where nobody gave it more.
    yield* Effect.catchIf(build({}), ({ reason }) => reason === diskFull, () => build({ max_parallel_maintenance_workers: "0" }))
    indexed = true
  }).pipe(
    // Without it a search is only slower, and whoever writes next makes it.
    Effect.catch(({ message, reason }) =>
      reason === undefinedTable ? Effect.void : Effect.logWarning(`${place} has no index of vectors: ${message}`)
    )
  )
  let indexed = false
  let unindexed = 0
  const indexing = yield* Semaphore.make(1)
  const scope = yield* Effect.scope
  let waiting: Fiber.Fiber<void> | undefined
  /** After something was written: a first fill is indexed when it is over, or large. */
  const written = Effect.fnUntraced(function*(chunks: number) {
    if (indexed) return
    unindexed += chunks
    const now = unindexed >= mostWithout
    if (now) unindexed = 0
    const before = waiting
    waiting = yield* Effect.forkIn(
      Effect.andThen(now ? Effect.void : Effect.sleep(quiet), Effect.uninterruptible(indexing.withPermit(makeIndex))),
      scope
    )
    if (before !== undefined) yield* Fiber.interrupt(before)
  })
  yield* Effect.addFinalizer(() => Effect.suspend(() => indexed || unindexed === 0 ? Effect.void : indexing.withPermit(makeIndex)))

  const check: VectorStore["check"] = Effect.gen(function*() {
    const [row] = yield* transaction("looking", describe)
    const bad = fit(row)
    if (bad !== undefined) return yield* bad
    yield* Effect.catchIf(rehearse(row), ({ cause }) => cause instanceof TakenBack, () => Effect.void)
    const version = `PostgreSQL ${String(row?.["server"])}, pgvector ${String(row?.["vector"] ?? "not made yet")}`
    if (row?.["there"] !== true) return yield* ServiceError.notFound(`the table ${name} in ${place} (${version})`)
    const [counted] = yield* transaction("counting", (run) => run(`SELECT count(*)::integer AS chunks FROM ${table}`))
    return { chunks: Number(counted?.["chunks"]), dimensions, version } satisfies VectorDescription
  })

  const put: VectorStore["put"] = (files) =>
    Effect.forEach(chunkBatches(files, chunksAtOnce), (batch) =>
      transaction("writing chunks", (run) =>
        run(
          `INSERT INTO ${table} (${columns.join(", ")})
            SELECT ${columns.map((column) => casts[column] ?? column).join(", ")}
            FROM jsonb_to_recordset($1::text::jsonb) AS r(${columns.map((column) => `${column} ${types[column] ?? "text"}`).join(", ")})
            ON CONFLICT (id) DO UPDATE SET ${columns.map((column) => `${column} = excluded.${column}`).join(", ")}`,
          [withoutNul(JSON.stringify(batch.map(([file, chunk]) => rowOf(corpus, file, chunk))))]
        )), { discard: true }).pipe(Effect.andThen(written(files.reduce((sum, { chunks }) => sum + chunks.length, 0))))

  const remove: VectorStore["delete"] = (files) =>
    Effect.forEach(parts(files, filesAtOnce), (some) =>
      transaction("deleting chunks", async (run) => {
        const [row] = await run("SELECT to_regclass($1) IS NOT NULL AS there", [table])
        return row?.["there"] === true ? run(`DELETE FROM ${table} WHERE ${ofFiles("$1")}`, [JSON.stringify(some)]) : []
      }), { discard: true })

  const corpora: VectorStore["corpora"] = Effect.map(
    transaction("looking for corpora", async (run) => {
      const [row] = await run("SELECT to_regclass($1) IS NOT NULL AS there", [records])
      return row?.["there"] === true ? run(`SELECT corpus, record FROM ${records} ORDER BY corpus`) : []
    }),
    (rows) => rows.flatMap((row) => corpusRecordOf(String(row["corpus"]), row["record"]))
  )

  const sign: VectorStore["sign"] = (record) =>
    Effect.asVoid(transaction("signing the corpus", (run) =>
      run(
        `INSERT INTO ${records} (corpus, record) VALUES ($1, $2) ON CONFLICT (corpus) DO UPDATE SET record = excluded.record`,
        [corpus, withoutNul(JSON.stringify(record))]
      )))

  const versions: VectorStore["versions"] = Effect.map(
    transaction("looking for files", async (run) => {
      const [row] = await run("SELECT to_regclass($1) IS NOT NULL AS there", [table])
      return row?.["there"] !== true ? [] : run(
        `SELECT file_id, count(*)::integer AS chunks, max(record) FILTER (WHERE ordinal = 0) AS record FROM ${table} GROUP BY file_id`
      )
    }),
    (rows) => rows.map((row) => ({ file: String(row["file_id"]), chunks: Number(row["chunks"]), record: textOf(row["record"]) }))
  )

  const read: VectorStore["read"] = (files) =>
    Effect.map(
      transaction("reading files", (run) =>
        run(
          `SELECT file_id, ordinal, text, headings::text, byte_start, byte_end, first_page, last_page, source_uri, display_name,
            metadata::text, permissions::text, record, embedding::text FROM ${table} WHERE ${ofFiles("$1")}`,
          [JSON.stringify(files)]
        )),
      (rows) => filesOf(rows.map(readOf))
    )

  /** Of the corpus, as of not long ago. */
  interface Statistics {
    readonly chunks: number
    /** Terms of a chunk: the mean, and the least. */
    readonly length: number
    readonly shortest: number
    /** Chunks that have a term, of terms that were asked for. */
    readonly having: Map<string, number>
  }
  let statistics: Statistics | undefined
  let statisticsUntil = 0
  /** With terms counted that were not yet. */
  const statisticsWith = Effect.fnUntraced(function*(terms: ReadonlyArray<string>) {
    const now = yield* Clock.currentTimeMillis
    const known = statistics === undefined || now >= statisticsUntil ? undefined : statistics
    const unknown = terms.filter((term) => known?.having.has(term) !== true)
    if (known !== undefined && unknown.length === 0) return known
    const [corpusNow = known, having] = yield* transaction("counting", async (run) => {
      const [row] = known !== undefined ? [] : await run(
        `SELECT count(*)::integer AS chunks, coalesce(avg(length), 1)::float8 AS length, coalesce(min(length), 0) AS shortest FROM ${table}`
      )
      const counted = await run(
        `SELECT term, (SELECT count(*)::integer FROM ${table} WHERE terms @@ term::tsquery) AS chunks
          FROM jsonb_array_elements_text($1::text::jsonb) AS term`,
        [JSON.stringify(unknown)]
      )
      return [
        row === undefined ? undefined : {
          chunks: Number(row["chunks"]),
          length: Number(row["length"]) || 1,
          shortest: Number(row["shortest"]),
          having: new Map<string, number>()
        },
        counted.map((row) => [String(row["term"]), Number(row["chunks"])] as const)
      ] as const
    })
    if (corpusNow === undefined) return yield* ServiceError.notFound(`the table ${name} in ${place}`)
    if (corpusNow !== known) {
      statistics = corpusNow
      statisticsUntil = now + statisticsFor
    }
    for (const [term, chunks] of having) corpusNow.having.set(term, chunks)
    return corpusNow
  })

  const dense = (vector: Float32Array, { count, files }: VectorQuery) =>
    transaction("searching", (run) =>
      run(
        `SELECT file_id, ordinal, 1 - (embedding <=> $1::text::halfvec) AS score FROM ${table}
          ${files === undefined ? "" : `WHERE ${ofFiles("$2")}`}
          ORDER BY embedding <=> $1::text::halfvec LIMIT ${count}`,
        [vectorJson(vector), ...(files === undefined ? [] : [JSON.stringify(files)])]
      ), {
      settings: {
        "hnsw.ef_search": String(Math.min(mostCandidates, Math.max(leastCandidates, candidatesOfHit * count))),
        "hnsw.iterative_scan": "strict_order",
        // Vectors lie beside their rows, and the planner takes reading them all for cheap.
        enable_seqscan: "off"
      }
    })

  const sparse = Effect.fnUntraced(function*(terms: NonNullable<VectorQuery["terms"]>, { count, files }: VectorQuery) {
    const weights = new Map<string, number>()
    for (const { term, weight } of terms) {
      const lexeme = quoted(term)
      if (lexeme !== undefined) weights.set(lexeme, (weights.get(lexeme) ?? 0) + weight)
    }
    const { chunks, having, length, shortest } = yield* statisticsWith([...weights.keys()])
    // What a term says is how rare it is; how often a chunk says it counts ever less; a long chunk says more anyway.
    const asked = [...weights].flatMap(([lexeme, weight]) => {
      const n = having.get(lexeme) ?? 0
      return n === 0 ? [] : [{ lexeme, n, weight: weight * Math.log(1 + (Math.max(chunks, n) - n + 0.5) / (n + 0.5)) }]
    }).toSorted((a, b) => b.weight - a.weight)
    const shortened = (1 - lengthWeight) + (lengthWeight * shortest) / length
    /** The most that a chunk scores that has none of the first terms: of one term `ts_rank` is 1 at most. */
    const without = (first: number): number => asked.slice(first).reduce((sum, { weight }) => sum + weight, 0) / shortened
    /** The best of the chunks that have any of the first terms, by all of the terms. */
    const best = (first: number) =>
      transaction("searching", (run) =>
        run(
          `SELECT file_id, ordinal, (${
            asked.map((_, at) => `$${2 * at + 3}::text::float8 * ts_rank('{1,1,1,1}', terms, $${2 * at + 4}::text::tsquery)`).join(" + ")
          }) / (${1 - lengthWeight} + ${lengthWeight} * length / ${length}::float8) AS score
          FROM ${table} WHERE terms @@ $1::text::tsquery AND ($2::text IS NULL OR ${ofFiles("$2")})
          ORDER BY score DESC, file_id, ordinal LIMIT ${count}`,
          [
            asked.slice(0, first).map(({ lexeme }) => lexeme).join(" | "),
            files === undefined ? null : JSON.stringify(files),
            ...asked.flatMap(({ lexeme, weight }) => [String(weight), lexeme])
          ]
        ))
    if (asked.length === 0) return []
    // Most chunks have only words that most chunks have: rare ones tell first how much a chunk must score to be found.
    let few = 0
    for (let found = 0; few < asked.length && found < 2 * count; few++) found += asked[few]?.n ?? 0
    const rows = yield* best(few)
    const least = rows.length < count ? 0 : Number(rows.at(-1)?.["score"])
    let enough = few
    while (enough < asked.length && without(enough) >= least * (1 - 1e-6)) enough++
    return enough === few ? rows : yield* best(enough)
  })

  const search: VectorStore["search"] = Effect.fnUntraced(
    function*(query) {
      const { terms, vector } = query
      const isZero = vector === undefined || vector.every((value) => value === 0)
      const [near, worded] = yield* Effect.all([
        isZero ? Effect.succeed([]) : dense(vector, query),
        terms === undefined || terms.length === 0 ? Effect.succeed([]) : sparse(terms, query)
      ], { concurrency: 2 })
      return { dense: near.map(hitOf), sparse: worded.map(hitOf) }
    },
    Effect.catchIf(
      // No file was put yet.
      ({ reason }) => reason === undefinedTable,
      () => Effect.succeed({ dense: [], sparse: [] })
    )
  )

  return {
    place,
    abilities: Effect.succeed(byWords),
    mostFiles: 10_000,
    prepare,
    check,
    put,
    delete: remove,
    drop: Effect.gen(function*() {
      if (waiting !== undefined) yield* Fiber.interrupt(waiting)
      yield* transaction("deleting the table of the corpus", async (run) => {
        await run(`DROP TABLE IF EXISTS ${table}`)
        const [row] = await run("SELECT to_regclass($1) IS NOT NULL AS there", [records])
        return row?.["there"] === true ? run(`DELETE FROM ${records} WHERE corpus = $1`, [corpus]) : []
      })
      indexed = false
      unindexed = 0
    }),
    search,
    corpora,
    sign,
    versions,
    read
  }
})

const columns = [...chunkColumns, "length"] as const
const types: Readonly<Record<string, string>> = {
  id: "uuid",
  ordinal: "integer",
  headings: "jsonb",
  byte_start: "integer",
  byte_end: "integer",
  first_page: "integer",
  last_page: "integer",
  metadata: "jsonb",
  permissions: "jsonb",
  length: "integer"
}
const casts: Readonly<Record<string, string>> = { terms: "terms::tsvector", embedding: "embedding::halfvec" }

const rowOf = (corpus: string, file: VectorFile, chunk: VectorFile["chunks"][number]) => ({
  id: chunkId(corpus, file.file, chunk.ordinal),
  file_id: file.file,
  ordinal: chunk.ordinal,
  text: chunk.text,
  headings: chunk.headings,
  byte_start: chunk.byteStart,
  byte_end: chunk.byteEnd,
  first_page: chunk.firstPage ?? null,
  last_page: chunk.lastPage ?? null,
  source_uri: file.sourceUri,
  display_name: file.displayName,
  metadata: file.metadata ?? null,
  permissions: file.permissions ?? null,
  record: chunk.record ?? null,
  terms: tsvector(chunk.terms),
  length: chunk.terms.length,
  embedding: vectorJson(chunk.vector)
})

const hitOf = (row: Row): VectorHit => ({ file: String(row["file_id"]), ordinal: Number(row["ordinal"]), score: Number(row["score"]) })

const textOf = (value: unknown): string | undefined => typeof value === "string" ? value : undefined

/** A row as {@link rowOf} wrote it. */
const readOf = (row: Row): ReadChunk => {
  const json = <A>(column: string) => jsonIn<A>(row[column])?.value
  const number = (column: string) => row[column] === null ? undefined : Number(row[column])
  return {
    file: {
      file: String(row["file_id"]),
      sourceUri: String(row["source_uri"]),
      displayName: String(row["display_name"]),
      metadata: json("metadata"),
      permissions: json("permissions")
    },
    chunk: {
      ordinal: Number(row["ordinal"]),
      text: String(row["text"]),
      vector: Float32Array.from(JSON.parse(String(row["embedding"])) as ReadonlyArray<number>),
      terms: [],
      headings: json<ReadonlyArray<string>>("headings") ?? [],
      byteStart: Number(row["byte_start"]),
      byteEnd: Number(row["byte_end"]),
      firstPage: number("first_page"),
      lastPage: number("last_page"),
      record: textOf(row["record"])
    }
  }
}

/** Whether a row is of one of the files that a parameter lists as JSON. */
const ofFiles = (parameter: string): string => `file_id = ANY (ARRAY(SELECT jsonb_array_elements_text(${parameter}::text::jsonb)))`

/** What `tsvector` holds of a document: bytes of a term, places of one, and the last place. */
const longestTerm = 2_046
const mostPlaces = 255
const lastPlace = 16_383

/** A term as `tsvector` and `tsquery` read it; undefined where neither takes it. */
const quoted = (term: string): string | undefined => {
  const plain = withoutNul(term)
  return plain === "" || Buffer.byteLength(plain) > longestTerm ? undefined : `'${plain.replace(/['\\]/g, "$&$&")}'`
}

const tsvector = (terms: ReadonlyArray<string>): string => {
  const places = new Map<string, Array<number>>()
  terms.forEach((term, at) => {
    const known = places.get(term) ?? []
    if (known.length < mostPlaces) known.push(Math.min(at + 1, lastPlace))
    places.set(term, known)
  })
  return [...places].flatMap(([term, at]) => {
    const lexeme = quoted(term)
    return lexeme === undefined ? [] : [`${lexeme}:${at.join(",")}`]
  }).join(" ")
}

/** PostgreSQL keeps no NUL in a text, whether written as it is or in JSON. */
const withoutNul = (text: string): string => text.replaceAll("\0", "").replace(/(?<!\\)((?:\\\\)*)\\u0000/g, "$1")

const undefinedTable = "42P01"
const diskFull = "53100"

/** What PostgreSQL's and the system's error codes mean, by how they begin. Source: its manual, appendix A. */
const codes: ReadonlyArray<readonly [prefix: string, code: Code, fix?: string]> = [
  ["28", "UNAUTHENTICATED", "check the user and password in the secret, and that the server lets it in"],
  ["3D", "FAILED_PRECONDITION", "make the database, or check its name in the secret"],
  ["42501", "PERMISSION_DENIED", "let the user create a schema and tables in the database, or read and write those that are there"],
  ["25006", "FAILED_PRECONDITION", "name a server that takes writes, not a replica"],
  [diskFull, "FAILED_PRECONDITION", "the server's disk is full: make room"],
  ["53300", "RESOURCE_EXHAUSTED", "the server takes no more connections: let it take more, or have others close theirs"],
  ["53", "RESOURCE_EXHAUSTED", "see what the server lacks"],
  ["57014", "DEADLINE_EXCEEDED", "see what keeps the server busy"],
  ["57", "UNAVAILABLE", "see whether the server is starting or stopping"],
  ["08", "UNAVAILABLE", "check the host and port in the secret, and that a PostgreSQL server runs there"],
  ["40", "ABORTED"],
  ["55P03", "ABORTED"],
  ["ECONN", "UNAVAILABLE", "check the host and port in the secret, and that the server runs"],
  ["ENOTFOUND", "UNAVAILABLE", "check the host in the secret"],
  ["EAI_AGAIN", "UNAVAILABLE", "check the host in the secret, and that names are resolved"],
  ["EHOSTUNREACH", "UNAVAILABLE", "check the host in the secret, and the network"],
  ["ENETUNREACH", "UNAVAILABLE", "check the host in the secret, and the network"],
  ["CONNECT", "UNAVAILABLE", "check the host and port in the secret, and that the server runs"],
  ["CONNECTION", "UNAVAILABLE"]
]

const failureOf = (what: string, cause: unknown, secrets: ReadonlyArray<Redacted.Redacted<string>>): ServiceError => {
  const error = cause instanceof AggregateError ? cause.errors[0] as unknown : cause
  const code = error instanceof Error && "code" in error && typeof error.code === "string" ? error.code : undefined
  const [, meaning, fix] = codes.find(([prefix]) => code?.startsWith(prefix) === true) ?? []
  const said = error instanceof Error ? redactText(error.message, secrets) : "no details"
  const field = `corpus.vectorDb.${fields.address}`
  return new ServiceError({
    code: meaning ?? "FAILED_PRECONDITION",
    message: `${field}: ${what}: ${said}`,
    reason: code,
    field,
    fix: code === "42501" && said.includes("extension") ? "have CREATE EXTENSION vector run by who may" : fix,
    cause: cause instanceof TakenBack ? cause : undefined
  })
}
