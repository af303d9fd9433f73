import { assert, describe, it } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { type AddressInfo, createConnection, createServer } from "node:net"
import postgresClient from "postgres"
import * as Postgres from "../../src/vectors/postgres/Postgres.ts"
import { Opening, suite } from "../conformance/VectorStore.ts"
import { hastened } from "../support/Hastened.ts"
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
      // The index has no vectors of zeros, so whoever searches by it finds none.
      const zero = file("zero", 1)
      yield* store.put([{ ...zero, chunks: zero.chunks.map((chunk) => ({ ...chunk, vector: new Float32Array(4) })) }])
      assert.strictEqual((yield* store.search({ vector: Float32Array.of(1, 0, 0, 0), count: 200 })).dense.length, 100)
      yield* store.delete(["zero"])
      yield* store.put([file("last", 1)])
      assert.strictEqual((yield* store.check).chunks, 101)
      yield* store.drop
    }).pipe(Effect.scoped))
})

describe("a connection to PostgreSQL that breaks in the middle of a statement", () => {
  /** Connections to a server that each end where a statement with `text` would go through them; `times` of them. */
  const breaking = (url: URL, text: string, times: number) => {
    let left = times
    return Effect.acquireRelease(
      Effect.promise(async () => {
        const server = createServer((client) => {
          const upstream = createConnection(Number(url.port), url.hostname)
          const close = () => {
            client.end()
            upstream.destroy()
          }
          for (const socket of [client, upstream]) socket.on("error", close).on("close", close)
          upstream.pipe(client, { end: false })
          client.on("data", (data) => left > 0 && data.includes(text) ? (left--, close()) : upstream.write(data))
        })
        await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve))
        return server
      }),
      (server) => Effect.promise(() => new Promise((resolve) => server.close(resolve)))
    ).pipe(Effect.map((server) => {
      const through = new URL(url)
      through.port = String((server.address() as AddressInfo).port)
      return { url: through.href, left: () => left }
    }))
  }

  it.live("is another attempt, and no error that nobody catches", () =>
    Effect.gen(function*() {
      const { left, url } = yield* breaking(new URL(yield* postgresUrl), "INSERT INTO", 3)
      const space = { corpus: `${Date.now()}80`, dimensions: 4 }
      const uncaught: Array<unknown> = []
      const catching = (error: unknown) => void uncaught.push(error)
      yield* Effect.acquireRelease(
        Effect.sync(() => process.on("uncaughtExceptionMonitor", catching)),
        () => Effect.sync(() => process.off("uncaughtExceptionMonitor", catching))
      )
      yield* Effect.scoped(Effect.gen(function*() {
        const store = yield* Postgres.make({ url: secretVersion("url"), space, secrets: secretsOf(new Map([["url", url]])) })
        yield* store.prepare
        const chunk = { ordinal: 0, text: "t", vector: Float32Array.of(1, 0, 0, 0), terms: ["t"], headings: [], byteStart: 0, byteEnd: 1 }
        yield* store.put([{ file: "f", sourceUri: "", displayName: "", chunks: [chunk] }])
        assert.strictEqual((yield* store.check).chunks, 1)
        yield* store.drop
      }))
      assert.strictEqual(left(), 0)
      assert.lengthOf(uncaught, 0)
    }).pipe(Effect.scoped, Effect.provide(hastened)))
})

describe("PostgreSQL's search by words", () => {
  it.live("scores as BM25 does, whatever the length of a chunk and the frequency of a word", () =>
    Effect.gen(function*() {
      const url = yield* postgresUrl
      const space = { corpus: `${Date.now()}79`, dimensions: 4 }
      const store = yield* Postgres.make({ url: secretVersion("url"), space, secrets: secretsOf(new Map([["url", url]])) })
      yield* store.prepare
      const shapes = [[1, 1], [1, 10], [1, 200], [2, 20], [4, 20], [9, 30], [40, 400], [0, 5], [0, 50]] as const
      const chunks = shapes.map(([frequency, length], ordinal) => ({
        ordinal,
        text: "text",
        vector: Float32Array.of(1, 0, 0, 0),
        terms: Array.from({ length }, (_, at) => at < frequency ? "it's" : `w${at}`),
        headings: [],
        byteStart: 0,
        byteEnd: 4
      }))
      yield* store.put([{ file: "f", sourceUri: "", displayName: "", chunks }])
      const { sparse } = yield* store.search({ terms: [{ term: "it's", weight: 1 }], count: 10 })
      const mean = shapes.reduce((sum, [, length]) => sum + length, 0) / shapes.length
      const rarity = Math.log(1 + (9 - 7 + 0.5) / (7 + 0.5))
      const expected = shapes.map(([frequency, length]) => rarity * frequency / (frequency + 1.2 * (0.25 + 0.75 * length / mean)))
      assert.lengthOf(sparse, 7)
      for (const { ordinal, score } of sparse) assert.closeTo(score, expected[ordinal]!, expected[ordinal]! * 0.05, `${shapes[ordinal]}`)
      yield* store.drop
    }).pipe(Effect.scoped))

  it.live("finds what scoring every chunk finds, though it scores few", () =>
    Effect.gen(function*() {
      const url = yield* postgresUrl
      const space = { corpus: `${Date.now()}78`, dimensions: 4 }
      const store = yield* Postgres.make({ url: secretVersion("url"), space, secrets: secretsOf(new Map([["url", url]])) })
      yield* store.prepare
      let state = 7
      const next = (): number => (state = (state * 1_664_525 + 1_013_904_223) >>> 0) / 2 ** 32
      // The n-th word is a share of 1/n of all, one is everywhere, and chunks are of any length.
      const word = (): string => `w${Math.floor(200 ** next())}`
      const files = Array.from({ length: 40 }, (_, at) => ({
        file: `f${at}`,
        sourceUri: "",
        displayName: "",
        chunks: Array.from({ length: 20 }, (_, ordinal) => ({
          ordinal,
          text: "text",
          vector: Float32Array.of(1, 0, 0, 0),
          terms: ["everywhere", ...Array.from({ length: Math.floor(1 + 40 * next()) }, word)],
          headings: [],
          byteStart: 0,
          byteEnd: 4
        }))
      }))
      yield* store.put(files)
      const some = files.slice(0, 9).map(({ file }) => file)
      for (let question = 0; question < 40; question++) {
        const terms = ["everywhere", ...Array.from({ length: 1 + question % 6 }, word)].map((term) => ({ term, weight: 1 - next() / 2 }))
        const asked = { terms, files: question % 4 === 0 ? some : undefined }
        // So many that no chunk can be left out.
        const all = (yield* store.search({ ...asked, count: 2_000 })).sparse
        const { sparse } = yield* store.search({ ...asked, count: 5 })
        assert.deepStrictEqual(sparse, all.slice(0, 5), JSON.stringify(asked))
        assert.lengthOf(all, asked.files === undefined ? 800 : 180)
      }
      yield* store.drop
    }).pipe(Effect.scoped), 30_000)
})
