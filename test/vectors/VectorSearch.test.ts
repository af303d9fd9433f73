import { assert, describe, it } from "@effect/vitest"
import { Effect, Layer, Redacted } from "effect"
import { HttpClient } from "effect/http"
import { GoogleAuth } from "../../src/net/GoogleAuth.ts"
import * as Http from "../../src/net/Http.ts"
import type { VectorSpace } from "../../src/ports/VectorStore.ts"
import * as VectorSearch from "../../src/vectors/google/VectorSearch.ts"
import { Opening, suite } from "../conformance/VectorStore.ts"
import { fakeVectorSearch, type FakeVectorSearchOptions, vectorSearchNames } from "../fakes/VectorSearch.ts"
import { secretsOf } from "./support/Secrets.ts"

const secretToken = Redacted.make("the-token")

const open = (endpoint: string, space: VectorSpace, more: Partial<VectorSearch.VectorSearchOptions> = {}) =>
  Effect.flatMap(HttpClient.HttpClient, (http) =>
    VectorSearch.make({
      ...vectorSearchNames,
      endpoint,
      space,
      auth: GoogleAuth.anonymous,
      secrets: secretsOf(new Map()),
      http,
      retry: { times: 1, baseMs: 1 },
      ...more
    }))

const opening = (options: FakeVectorSearchOptions) =>
  Layer.effect(
    Opening,
    Effect.gen(function*() {
      const http = yield* HttpClient.HttpClient
      const { origin } = yield* fakeVectorSearch(options)
      return { open: (space: VectorSpace) => Effect.provideService(open(origin, space), HttpClient.HttpClient, http) }
    })
  ).pipe(Layer.provide(Http.layer()))

suite("Vector Search", opening({ dimensions: 8 }), { zeros: false, mixes: true, rarity: false })
suite("Vector Search, by cosine", opening({ dimensions: 8, distance: "COSINE_DISTANCE" }), { zeros: false, mixes: true, rarity: false })

describe("Vector Search", () => {
  const space = { corpus: "4611686018427387904", dimensions: 2 }

  it.live("refuses an index that is not as a corpus needs it, at its field", () =>
    Effect.gen(function*() {
      const refusal = (options: Partial<FakeVectorSearchOptions>, more: Parameters<typeof open>[2] = {}) =>
        Effect.gen(function*() {
          const { datapoints, origin } = yield* fakeVectorSearch({ dimensions: 2, ...options })
          const refused = yield* Effect.flip((yield* open(origin, space, more)).prepare)
          assert.strictEqual(datapoints.size, 0)
          return refused
        })
      const cases = [
        [yield* refusal({ dimensions: 3 }), "vectorSearch.index", "has 3 dimensions"],
        [yield* refusal({ distance: "SQUARED_L2_DISTANCE" }), "vectorSearch.index", "by SQUARED_L2_DISTANCE"],
        [yield* refusal({ method: "BATCH_UPDATE" }), "vectorSearch.index", "Cloud Storage"],
        [yield* refusal({ deployed: false }), "vectorSearch.indexEndpoint", "is not deployed"],
        [yield* refusal({ domain: "" }), "vectorSearch.indexEndpoint", "no public address"],
        [yield* refusal({}, { index: "projects/acme/locations/us-central1/indexes/18" }), "vectorSearch.index", "there is no index"]
      ] as const
      for (const [refused, field, said] of cases) {
        assert.strictEqual(refused.code, "FAILED_PRECONDITION")
        assert.include(refused.message, `corpus.vectorDb.${field}: `)
        assert.include(refused.message, said)
      }
      assert.include((yield* Effect.flip(open("http://x", space, { index: undefined }))).message, "corpus.vectorDb.vectorSearch.index")
    }).pipe(Effect.scoped, Effect.provide(Http.layer())))

  it.live("sends the credentials, and says what to do where they are refused", () =>
    Effect.gen(function*() {
      const { asked, fault, origin } = yield* fakeVectorSearch({ dimensions: 2 })
      const store = yield* open(origin, space, {
        auth: { ...GoogleAuth.anonymous, token: Effect.map(Effect.void, () => secretToken), quotaProject: Effect.succeed("acme") }
      })
      yield* store.prepare
      assert.isTrue(asked.every(({ headers }) => headers["authorization"] === "Bearer the-token"))
      assert.isTrue(asked.every(({ headers }) => headers["x-goog-user-project"] === "acme"))
      fault(9, () => true, (response) => void response.writeHead(403).end(JSON.stringify({ error: { code: 403, message: "denied" } })))
      const denied = yield* Effect.flip(store.check)
      assert.strictEqual(denied.code, "PERMISSION_DENIED")
      assert.include(denied.message, "corpus.vectorDb.vectorSearch.index")
      assert.notInclude(JSON.stringify(denied), "the-token")
    }).pipe(Effect.scoped, Effect.provide(Http.layer())))
})
