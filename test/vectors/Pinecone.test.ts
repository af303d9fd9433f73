import { assert, describe, it } from "@effect/vitest"
import { Pinecone as PineconeClient } from "@pinecone-database/pinecone"
import { Effect, Layer } from "effect"
import { HttpClient } from "effect/http"
import * as Http from "../../src/net/Http.ts"
import type { VectorSpace } from "../../src/ports/VectorStore.ts"
import * as Pinecone from "../../src/vectors/pinecone/Pinecone.ts"
import { Opening, suite } from "../conformance/VectorStore.ts"
import { fakePinecone, type FakePineconeOptions } from "../fakes/Pinecone.ts"
import { hastened } from "../support/Hastened.ts"
import { secretsOf, secretVersion } from "./support/Secrets.ts"

const open = (controller: string, space: VectorSpace, more: Partial<Parameters<typeof Pinecone.make>[0]> = {}) =>
  Effect.flatMap(HttpClient.HttpClient, (http) =>
    Pinecone.make({
      indexName: "docs",
      apiKey: secretVersion("key"),
      controller,
      space,
      secrets: secretsOf(new Map([["key", "pc-key"], ["wrong", "pc-old"]])),
      http,
      retry: { times: 1, baseMs: 1 },
      ...more
    }))

const opening = (options: FakePineconeOptions) =>
  Layer.effect(
    Opening,
    Effect.gen(function*() {
      const http = yield* HttpClient.HttpClient
      const { origin } = yield* fakePinecone(options)
      return { open: (space: VectorSpace) => Effect.provideService(open(origin, space), HttpClient.HttpClient, http) }
    })
  ).pipe(Layer.provide(Http.layer()), Layer.merge(hastened))

suite("Pinecone", opening({ dimension: 8 }), { words: false, zeros: false })
suite("Pinecone, dense and sparse", opening({ dimension: 8, metric: "dotproduct" }), { zeros: false, mixes: true, rarity: false })
suite("Pinecone, one vector a query", opening({ dimension: 8, metric: "dotproduct", together: false }), { words: false, zeros: false })
suite("Pinecone, that does not say how far it is", opening({ dimension: 8, tellsLsn: false }), { words: false, zeros: false })

describe("Pinecone", () => {
  const space = { corpus: "4611686018427387904", dimensions: 2 }
  const file = {
    file: "f1",
    sourceUri: "file:///a",
    displayName: "a",
    metadata: { lang: "de" },
    permissions: { public: false, principals: ["group:a"] },
    chunks: [0, 1].map((ordinal) => ({
      ordinal,
      text: ordinal === 0 ? "kurz" : "ü".repeat(60_000),
      vector: Float32Array.of(1, 0),
      terms: [],
      headings: ["H"],
      byteStart: 0,
      byteEnd: 6
    }))
  }

  it.live("is read by its own client, long texts cut to what a record takes", () =>
    Effect.gen(function*() {
      const { origin } = yield* fakePinecone({ dimension: 2 })
      const store = yield* open(origin, space)
      yield* store.prepare
      yield* store.put([file])
      const client = new PineconeClient({ apiKey: "pc-key", controllerHostUrl: origin })
      const index = client.index({ host: origin, namespace: space.corpus })
      const { records } = yield* Effect.promise(() => index.fetch({ ids: ["f1#0", "f1#1"] }))
      assert.deepInclude(records["f1#0"]?.metadata, {
        fileId: "f1",
        corpusId: space.corpus,
        chunkDataType: "TEXT",
        chunkData: "kurz",
        fileOriginalUri: "file:///a",
        chunkOrdinal: 0,
        filePublic: false,
        filePrincipals: ["group:a"]
      })
      assert.match(String(records["f1#1"]?.metadata?.["chunkData"]), /^ü{15000}$/)
      const { matches } = yield* Effect.promise(() => index.query({ vector: [1, 0], topK: 5, filter: { fileId: { $eq: "f1" } } }))
      assert.sameMembers(matches.map(({ id }) => id), ["f1#0", "f1#1"])
    }).pipe(Effect.scoped, Effect.provide(Http.layer())))

  it.live("does not take a write for done of which only a part was taken", () =>
    Effect.gen(function*() {
      const { origin } = yield* fakePinecone({ dimension: 2, takes: 1 })
      const store = yield* open(origin, space)
      yield* store.prepare
      const error = yield* Effect.flip(store.put([file]))
      assert.strictEqual(error.code, "UNAVAILABLE")
      assert.include(error.message, "it took 1 of 2 records")
    }).pipe(Effect.scoped, Effect.provide(Http.layer())))

  it.live("keeps to what a record takes, whatever its headings, principals and text are", () =>
    Effect.gen(function*() {
      const { namespaces, origin } = yield* fakePinecone({ dimension: 2 })
      const store = yield* open(origin, space)
      yield* store.prepare
      const principals = Array.from({ length: 150 }, (_, i) => `user:${"x".repeat(90)}${i}@acme.com`)
      const texts = ["\"\n".repeat(15_000), "plain ".repeat(4_900), "short"]
      const chunks = texts.map((text, ordinal) => ({ ...file.chunks[0]!, ordinal, text, headings: ["h".repeat(ordinal * 15_000)] }))
      yield* store.put([{ ...file, chunks, permissions: { public: false, principals } }])
      const records = [...namespaces.get(space.corpus)?.values() ?? []]
      assert.lengthOf(records, 3)
      assert.deepStrictEqual(records.map(({ metadata }) => metadata["chunkCut"]), [true, true, true])
      assert.isAbove(String(records[1]?.metadata["chunkData"]).length, 20_000)
      assert.lengthOf(yield* store.read(["f1"]), 0)
    }).pipe(Effect.scoped, Effect.provide(Http.layer())))

  it.live("keeps to what a request and a sparse vector take, however large chunks are", () =>
    Effect.gen(function*() {
      const { asked, namespaces, origin } = yield* fakePinecone({ dimension: 2, metric: "dotproduct" })
      const store = yield* open(origin, space)
      yield* store.prepare
      const terms = ["often", "often", ...Array.from({ length: 1_500 }, (_, i) => `word${i}`)]
      const chunks = Array.from({ length: 50 }, (_, ordinal) => ({ ...file.chunks[1]!, ordinal, terms }))
      yield* store.put([{ ...file, chunks }])
      assert.isAbove(asked.filter(({ url }) => url.pathname === "/vectors/upsert").length, 1)
      const records = [...namespaces.get(space.corpus)?.values() ?? []]
      assert.lengthOf(records, 50)
      assert.isTrue(records.every(({ sparseValues }) => sparseValues?.indices.length === 1_000))
      const client = new PineconeClient({ apiKey: "pc-key", controllerHostUrl: origin })
      const index = client.index({ host: origin, namespace: space.corpus })
      const { records: read } = yield* Effect.promise(() => index.fetch({ ids: ["f1#7"] }))
      assert.lengthOf(read["f1#7"]?.sparseValues?.indices ?? [], 1_000)
      assert.lengthOf((yield* store.search({ terms: [{ term: "often", weight: 1 }], count: 100 })).sparse, 50)
    }).pipe(Effect.scoped, Effect.provide(Http.layer())))

  it.live("refuses an index that is not as a corpus needs it, and a wrong key", () =>
    Effect.gen(function*() {
      const refusal = (options: FakePineconeOptions, more: Parameters<typeof open>[2] = {}) =>
        Effect.flatMap(fakePinecone(options), ({ origin }) =>
          Effect.flatMap(open(origin, space, more), ({ prepare }) => Effect.flip(prepare)))
      const cases = [
        [yield* refusal({ dimension: 3 }), "has 3 dimensions"],
        [yield* refusal({ dimension: 2, metric: "euclidean" }), "by euclidean"],
        [yield* refusal({ dimension: 2 }, { indexName: "none" }), "no index none"]
      ] as const
      for (const [refused, said] of cases) {
        assert.strictEqual(refused.code, "FAILED_PRECONDITION")
        assert.include(refused.message, said)
        assert.include(refused.message, "corpus.vectorDb.pinecone.indexName")
      }
      const wrong = yield* refusal({ dimension: 2 }, { apiKey: secretVersion("wrong") })
      assert.strictEqual(wrong.code, "UNAUTHENTICATED")
      assert.notInclude(JSON.stringify(wrong), "pc-old")
      assert.include((yield* Effect.flip(open("http://x", space, { apiKey: undefined }))).message, "corpus.vectorDb.pinecone.apiKey")
    }).pipe(Effect.scoped, Effect.provide(Http.layer())))
})
