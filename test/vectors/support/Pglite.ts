import { PGlite } from "@electric-sql/pglite"
import { vector } from "@electric-sql/pglite-pgvector"
import { PGLiteSocketServer } from "@electric-sql/pglite-socket"
import { Effect, Redacted } from "effect"
import { afterAll } from "vitest"
import { SecretError } from "../../../src/domain/Errors.ts"
import { SecretVersion } from "../../../src/domain/Secret.ts"
import type { Secrets } from "../../../src/ports/Secrets.ts"

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

export const secretVersion = (name: string): SecretVersion => SecretVersion.make(`projects/p/secrets/${name}/versions/latest`)

/** Secrets by their ids; changed by whoever holds the map. */
export const secretsOf = (values: ReadonlyMap<string, string>): Secrets["Service"] => ({
  resolve: (version) => {
    const value = values.get(/secrets\/([^/]+)/.exec(version)?.[1] ?? "")
    return value === undefined
      ? Effect.fail(new SecretError({ version, message: "is not there", fix: "put it there" }))
      : Effect.succeed(Redacted.make(value))
  }
})
