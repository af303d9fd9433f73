import { assert, describe, it } from "@effect/vitest"
import { QdrantClient } from "@qdrant/js-client-rest"
import { Effect, Layer } from "effect"
import { HttpClient } from "effect/http"
import * as Http from "../../src/net/Http.ts"
import type { VectorSpace } from "../../src/ports/VectorStore.ts"
import * as Qdrant from "../../src/vectors/qdrant/Qdrant.ts"
import { Opening, suite } from "../conformance/VectorStore.ts"
import { fakeQdrant } from "../fakes/Qdrant.ts"
import { secretsOf, secretVersion } from "./support/Secrets.ts"

const real = process.env["QDRANT_URL"] ?? ""

const open = (url: string, space: VectorSpace, more: Partial<Parameters<typeof Qdrant.make>[0]> = {}) =>
  Effect.flatMap(
    HttpClient.HttpClient,
    (http) =>
      Qdrant.make({
        url,
        collection: "docs",
        space,
        secrets: secretsOf(new Map([["key", "qdrant-key"]])),
        http,
        retry: { times: 1, baseMs: 1 },
        ...more
      })
  )

const opening = (url: string) =>
  Effect.map(HttpClient.HttpClient, (http) => {
    const collection = `docs-${Date.now()}`
    return { open: (space: VectorSpace) => Effect.provideService(open(url, space, { collection }), HttpClient.HttpClient, http) }
  })

suite("Qdrant", Layer.effect(Opening, Effect.flatMap(fakeQdrant(), ({ origin }) => opening(origin))).pipe(Layer.provide(Http.layer())))
if (real !== "") suite(`Qdrant at ${real}`, Layer.effect(Opening, opening(real)).pipe(Layer.provide(Http.layer())))

describe("Qdrant", () => {
  const space = { corpus: "4611686018427387904", dimensions: 2 }
  const file = {
    file: "f1",
    sourceUri: "file:///a",
    displayName: "a",
    metadata: { lang: "de" },
    permissions: { public: true, principals: [] },
    chunks: [0, 1, 2].map((ordinal) => ({
      ordinal,
      text: `text ${ordinal}`,
      vector: Float32Array.of(1, 0),
      terms: ["text", String(ordinal)],
      headings: ["H"],
      byteStart: 0,
      byteEnd: 6
    }))
  }

  it.live("is read by its own client", () =>
    Effect.gen(function*() {
      const { collections, origin } = yield* fakeQdrant({ key: "qdrant-key" })
      const store = yield* open(origin, space, { apiKey: secretVersion("key") })
      yield* store.prepare
      yield* store.put([file])
      assert.deepStrictEqual(collections.get("docs")?.indexed.get("corpusId"), { type: "keyword", is_tenant: true })
      const client = new QdrantClient({ url: origin, apiKey: "qdrant-key", checkCompatibility: false })
      const { points } = yield* Effect.promise(() => client.query("docs", { query: [1, 0], using: "dense", limit: 1, with_payload: true }))
      assert.deepInclude(points[0]?.payload, {
        fileId: "f1",
        corpusId: space.corpus,
        chunkId: points[0]?.id,
        chunkDataType: "TEXT",
        chunkData: "text 0",
        fileOriginalUri: "file:///a",
        fileMetadata: { lang: "de" }
      })
      assert.strictEqual((yield* Effect.promise(() => client.count("docs", { exact: true }))).count, 3)
    }).pipe(Effect.scoped, Effect.provide(Http.layer())))

  it.live("does not take a write for done that the server stopped waiting for", () =>
    Effect.gen(function*() {
      const { origin, updates } = yield* fakeQdrant()
      const store = yield* open(origin, space)
      yield* store.prepare
      updates.status = "wait_timeout"
      for (const write of [store.put([file]), store.delete(["f1"])]) {
        const error = yield* Effect.flip(write)
        assert.strictEqual(error.code, "UNAVAILABLE")
        assert.include(error.message, "not done yet (wait_timeout)")
      }
    }).pipe(Effect.scoped, Effect.provide(Http.layer())))

  it.live("makes the indexes that a collection lacks, as after a process that was killed between", () =>
    Effect.gen(function*() {
      const { collections, origin } = yield* fakeQdrant()
      collections.set("docs", {
        config: { vectors: { dense: { size: 2, distance: "Cosine" } }, sparse_vectors: { terms: { modifier: "idf" } } },
        points: new Map(),
        indexed: new Map()
      })
      const store = yield* open(origin, space)
      assert.strictEqual((yield* Effect.flip(store.check)).code, "NOT_FOUND")
      assert.lengthOf(yield* store.corpora, 0)
      yield* store.prepare
      yield* store.put([file])
      assert.lengthOf((yield* store.search({ vector: Float32Array.of(1, 0), count: 10, files: ["f1"] })).dense, 3)
    }).pipe(Effect.scoped, Effect.provide(Http.layer())))

  it.live("refuses a collection that is not as a corpus needs it, a wrong key, and a host where none is", () =>
    Effect.gen(function*() {
      const { collections, origin } = yield* fakeQdrant({ key: "qdrant-key" })
      const keyed = { apiKey: secretVersion("key") }
      const made = (config: object) =>
        collections.set("docs", {
          config: { vectors: {}, sparse_vectors: { terms: {} }, ...config },
          points: new Map(),
          indexed: new Map()
        })
      for (
        const [config, said] of [
          [{ vectors: { other: { size: 2, distance: "Cosine" } } }, "somebody else's"],
          [{ vectors: { dense: { size: 2, distance: "Euclid" } } }, "by Euclid"],
          [{ vectors: { dense: { size: 3, distance: "Cosine" } } }, "of 3 dimensions"]
        ] as const
      ) {
        made(config)
        const refused = yield* Effect.flatMap(open(origin, space, keyed), ({ prepare }) => Effect.flip(prepare))
        assert.strictEqual(refused.code, "FAILED_PRECONDITION")
        assert.include(refused.message, said)
        assert.include(refused.message, "corpus.vectorDb.qdrant.collection")
      }
      assert.strictEqual((yield* Effect.flatMap(open(origin, space), ({ prepare }) => Effect.flip(prepare))).code, "UNAUTHENTICATED")
      assert.strictEqual(
        (yield* Effect.flatMap(open("http://127.0.0.1:9", space), ({ prepare }) => Effect.flip(prepare))).code,
        "UNAVAILABLE"
      )
    }).pipe(Effect.scoped, Effect.provide(Http.layer())))
})
