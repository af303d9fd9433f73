import { Effect } from "effect"
import { ServiceError } from "../../domain/Errors.ts"
import type { VectorDescription, VectorStore } from "../../ports/VectorStore.ts"
import { isOlder, unfit } from "../Chunks.ts"
import type { Connection, Row, Run } from "./Connection.ts"
import { extensionFix, TakenBack } from "./Failures.ts"

/** The first version of pgvector with half precision and iterative scans, which searches with filters need. */
const leastVersion = [0, 8] as const

/** Makes the extension, the schema and the tables, and checks that existing ones fit the corpus and may be written to. */
export const schemaOf = (
  { dimensions, name, place, records, schema, table, transaction }: Connection
): Pick<VectorStore, "prepare" | "check"> => {
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
        `${place} has no pgvector, and its server does not offer it`,
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
        "use another schema, or rebuild the corpus: sluice run --replace"
      )
      : undefined
  }

  const makeTable = async (run: Run) => {
    // Two processes may make the table at the same time.
    await run(`SELECT pg_advisory_xact_lock(hashtext($1))`, [table])
    // Checked first: a user without the right to make schemas may use an existing one.
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
    // Tables of earlier versions lack this column.
    await run(`ALTER TABLE ${table} ADD COLUMN IF NOT EXISTS record text`)
    await run(`CREATE INDEX IF NOT EXISTS "${name}_file" ON ${table} (file_id)`)
    await run(`CREATE INDEX IF NOT EXISTS "${name}_terms" ON ${table} USING gin (terms)`)
    await run(`CREATE TABLE IF NOT EXISTS ${records} (corpus text PRIMARY KEY, record text NOT NULL)`)
  }

  /** Makes the table and writes to it in a transaction that is rolled back, to test the rights of the user and the room on the disk. */
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
            extensionFix
          )
        )
      )
      const [made] = yield* transaction("looking", describe)
      const old = fit(made)
      if (old !== undefined) return yield* old
    }
    yield* transaction("making the table of the corpus", makeTable)
  })

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

  return { prepare, check }
}
