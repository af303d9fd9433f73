import { PGlite } from "@electric-sql/pglite"
import { vector } from "@electric-sql/pglite-pgvector"
import { PGLiteSocketServer } from "@electric-sql/pglite-socket"
import { Effect } from "effect"
import { afterAll } from "vitest"

const start = async () => {
  const db = await PGlite.create({ extensions: { vector } })
  const server = new PGLiteSocketServer({ db, host: "127.0.0.1", port: 0, maxConnections: 20 })
  await server.start()
  return {
    url: `postgres://postgres:postgres@${server.getServerConn()}/postgres`,
    stop: async () => {
      await server.stop()
      await db.close()
    }
  }
}

let started: ReturnType<typeof start> | undefined
afterAll(async () => {
  await (await started)?.stop()
})

/** PostgreSQL with pgvector in this process, one for a file of tests; that of `POSTGRES_URL` where it is set. Gives its URL. */
export const postgresUrl = Effect.promise(async () => {
  const given = process.env["POSTGRES_URL"]
  return given !== undefined && given !== "" ? given : (await (started ??= start())).url
})
