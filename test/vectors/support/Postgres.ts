import { PGlite } from "@electric-sql/pglite"
import { vector } from "@electric-sql/pglite-pgvector"
import { PGLiteSocketServer } from "@electric-sql/pglite-socket"
import { Effect } from "effect"
import { expect } from "vitest"

const start = async () => {
  const db = await PGlite.create({ extensions: { vector } })
  const server = new PGLiteSocketServer({ db, host: "127.0.0.1", port: 0, maxConnections: 20 })
  await server.start()
  return { db, address: server.getServerConn() }
}

let started: ReturnType<typeof start> | undefined

/** The file of tests that has it, and when nothing of the file before is left. */
let held: { readonly file: string | undefined; readonly emptied: Promise<void> } | undefined

const empty = async (db: PGlite): Promise<void> => {
  await db.exec("DISCARD ALL")
  await db.exec(`
    DO $$ DECLARE name text; BEGIN
      FOR name IN SELECT nspname FROM pg_namespace WHERE nspname NOT LIKE 'pg\\_%' AND nspname <> 'information_schema' LOOP
        EXECUTE format('DROP SCHEMA %I CASCADE', name);
      END LOOP;
    END $$;
    CREATE SCHEMA public AUTHORIZATION pg_database_owner;
    GRANT USAGE ON SCHEMA public TO PUBLIC`)
}

/**
 * PostgreSQL with pgvector in this process, empty for each file of tests. Its start costs seconds of processor time: the
 * files of a process share it, and it ends with that.
 */
export const ownPostgres = async () => {
  const postgres = await (started ??= start())
  const file = expect.getState().testPath
  if (held === undefined || held.file !== file) held = { file, emptied: empty(postgres.db) }
  await held.emptied
  return postgres
}

/** The URL of {@link ownPostgres}, or that of `POSTGRES_URL` where it is set. */
export const postgresUrl = Effect.promise(async () => {
  const given = process.env["POSTGRES_URL"]
  return given !== undefined && given !== "" ? given : `postgres://postgres:postgres@${(await ownPostgres()).address}/postgres`
})
