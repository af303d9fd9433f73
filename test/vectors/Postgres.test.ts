import { assert, describe, it } from "@effect/vitest"
import { Effect, Layer } from "effect"
import postgresClient from "postgres"
import * as Postgres from "../../src/vectors/postgres/Postgres.ts"
import { Opening, suite } from "../conformance/VectorStore.ts"
import { postgresUrl } from "./support/Postgres.ts"
import { secretsOf, secretVersion } from "./support/Secrets.ts"

const opening = (more: Partial<Postgres.PostgresOptions> = {}) =>
  Layer.effect(
    Opening,
    Effect.map(postgresUrl, (url) => ({
      open: (space) =>
        Postgres.make({ url: secretVersion("url"), space, secrets: secretsOf(new Map([["url", url]])), connections: 2, ...more })
    }))
  )

suite("PostgreSQL", opening())
suite("PostgreSQL, with an index of vectors from the first", opening({ indexFrom: 1 }))

describe("PostgreSQL's index of vectors", () => {
  it.live("is made when a first fill is over, and takes what comes after", () =>
    Effect.gen(function*() {
      const url = yield* postgresUrl
      const space = { corpus: `${Date.now()}77`, dimensions: 4 }
      const open = Postgres.make({ url: secretVersion("url"), space, secrets: secretsOf(new Map([["url", url]])), indexFrom: 100 })
      const sql = yield* Effect.acquireRelease(
        Effect.sync(() => postgresClient(url, { max: 1, fetch_types: false, prepare: false, onnotice: () => {} })),
        (sql) => Effect.promise(() => sql.end({ timeout: 1 }))
      )
      const index = Effect.promise(() => sql.unsafe(`SELECT to_regclass('sluice.corpus_${space.corpus}_embedding') IS NOT NULL AS there`))
        .pipe(
          Effect.map(([row]) => row?.["there"])
        )
      const file = (name: string, chunks: number) => ({
        file: name,
        sourceUri: name,
        displayName: name,
        chunks: Array.from({ length: chunks }, (_, ordinal) => ({
          ordinal,
          text: "text",
          vector: Float32Array.of(Math.cos(ordinal), Math.sin(ordinal), 0, 0),
          terms: ["text"],
          headings: [],
          byteStart: 0,
          byteEnd: 4
        }))
      })
      yield* Effect.scoped(Effect.gen(function*() {
        const store = yield* open
        yield* store.prepare
        yield* store.put([file("few", 99)])
      }))
      assert.isFalse(yield* index)
      yield* Effect.scoped(Effect.gen(function*() {
        const store = yield* open
        yield* store.prepare
        yield* store.put([file("more", 1)])
        assert.isFalse(yield* index)
        assert.strictEqual((yield* store.search({ vector: Float32Array.of(1, 0, 0, 0), count: 100 })).dense.length, 100)
      }))
      assert.isTrue(yield* index)
      const store = yield* open
      yield* store.put([file("last", 1)])
      assert.strictEqual((yield* store.check).chunks, 101)
      yield* store.drop
    }).pipe(Effect.scoped))
})
