import { assert, describe, it } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { HttpClient } from "effect/http"
import { GoogleAuth } from "../../src/net/GoogleAuth.ts"
import * as Http from "../../src/net/Http.ts"
import type { VectorSpace } from "../../src/ports/VectorStore.ts"
import * as FeatureStore from "../../src/vectors/google/FeatureStore.ts"
import { Opening, suite } from "../conformance/VectorStore.ts"
import { fakeFeatureStore, type FakeFeatureStoreOptions, featureStoreNames } from "../fakes/FeatureStore.ts"
import { secretsOf } from "./support/Secrets.ts"

const open = (endpoint: string, space: VectorSpace, featureView: string | undefined = featureStoreNames.featureView) =>
  Effect.flatMap(HttpClient.HttpClient, (http) =>
    FeatureStore.make({
      featureView,
      endpoint,
      bigQuery: endpoint,
      space,
      auth: GoogleAuth.anonymous,
      secrets: secretsOf(new Map()),
      http,
      retry: { times: 1, baseMs: 1 }
    }))

const opening = (options: FakeFeatureStoreOptions) =>
  Layer.effect(
    Opening,
    Effect.gen(function*() {
      const http = yield* HttpClient.HttpClient
      const { origin } = yield* fakeFeatureStore(options)
      return { open: (space: VectorSpace) => Effect.provideService(open(origin, space), HttpClient.HttpClient, http) }
    })
  ).pipe(Layer.provide(Http.layer()))

suite("Feature Store", opening({ dimensions: 8 }), { zeros: false, words: false })
suite("Feature Store, by cosine and by itself", opening({ dimensions: 8, distance: "COSINE_DISTANCE", continuous: true }), {
  zeros: false,
  words: false
})

describe("Feature Store", () => {
  const space = { corpus: "4611686018427387904", dimensions: 2 }
  const file = (name: string) => ({
    file: name,
    sourceUri: "u",
    displayName: "d",
    chunks: [{ ordinal: 0, text: "a", terms: ["a"], headings: [], byteStart: 0, byteEnd: 1, vector: new Float32Array([1, 0]) }]
  })

  it.live("refuses a view that is not as a corpus needs it, at its field", () =>
    Effect.gen(function*() {
      const refusal = (options: Partial<FakeFeatureStoreOptions>, featureView?: string) =>
        Effect.gen(function*() {
          const { asked, origin } = yield* fakeFeatureStore({ dimensions: 2, ...options })
          const refused = yield* Effect.flip((yield* open(origin, space, featureView)).prepare)
          assert.isTrue(asked.every(({ method }) => method === "GET"))
          return refused
        })
      const cases = [
        [yield* refusal({ dimensions: 3 }), "has 3 dimensions"],
        [yield* refusal({ distance: "SQUARED_L2_DISTANCE" }), "by SQUARED_L2_DISTANCE"],
        [yield* refusal({ filterColumns: ["corpus_id"] }), "does not filter by file_id"],
        [yield* refusal({ entityIdColumns: ["id"] }), "other columns than chunk_id"],
        [yield* refusal({ domain: "" }), "no public address"],
        [yield* refusal({ uri: "gs://a/b" }), "no BigQuery table"],
        [yield* refusal({ more: [{ name: "chunk_ordinal", type: "STRING" }] }), "its column chunk_ordinal is STRING, not INT64"],
        [yield* refusal({}, `${featureStoreNames.featureView}2`), "there is no feature view docs2"]
      ] as const
      for (const [refused, said] of cases) {
        assert.strictEqual(refused.code, "FAILED_PRECONDITION")
        assert.include(refused.message, "corpus.vectorDb.featureStore.featureView: ")
        assert.include(refused.message, said)
      }
    }).pipe(Effect.scoped, Effect.provide(Http.layer())))

  it.live("adds its columns to those of others, and fills the view once for all that waited", () =>
    Effect.gen(function*() {
      const price = { name: "price", type: "NUMERIC", mode: "NULLABLE", policyTags: { names: ["p"] } }
      const { asked, fields, origin, rows } = yield* fakeFeatureStore({ dimensions: 2, more: [price], busy: 2 })
      const store = yield* open(origin, space)
      assert.strictEqual((yield* Effect.flip(store.check)).code, "NOT_FOUND")
      yield* store.prepare
      assert.deepInclude(fields(), price)
      yield* Effect.forEach(["a", "b", "c", "d", "e"], (name) => store.put([file(name)]), { concurrency: "unbounded" })
      assert.lengthOf(rows(), 5)
      const syncs = asked.filter(({ url }) => url.pathname.endsWith(":sync")).length - 2
      assert.isAtLeast(syncs, 1)
      assert.isBelow(syncs, 5)
      // What is not there leaves nothing to fill the view with.
      yield* store.delete(["nobody"])
      assert.strictEqual(asked.filter(({ url }) => url.pathname.endsWith(":sync")).length - 2, syncs)
    }).pipe(Effect.scoped, Effect.provide(Http.layer())))
})
