import { assert, describe, it } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { HttpClient } from "effect/http"
import { GoogleAuth } from "../../src/net/GoogleAuth.ts"
import * as Http from "../../src/net/Http.ts"
import type { VectorSpace } from "../../src/ports/VectorStore.ts"
import * as AgentSearch from "../../src/vectors/google/AgentSearch.ts"
import { Opening, suite } from "../conformance/VectorStore.ts"
import { discoveryEngineNames, fakeDiscoveryEngine, type FakeDiscoveryEngineOptions } from "../fakes/DiscoveryEngine.ts"
import { secretsOf } from "./support/Secrets.ts"

const open = (endpoint: string, space: VectorSpace, servingConfig = discoveryEngineNames.servingConfig) =>
  Effect.flatMap(HttpClient.HttpClient, (http) =>
    AgentSearch.make({
      servingConfig,
      endpoint,
      space,
      auth: GoogleAuth.anonymous,
      secrets: secretsOf(new Map()),
      http,
      retry: { times: 1, baseMs: 1 }
    }))

const opening = Layer.effect(
  Opening,
  Effect.gen(function*() {
    const http = yield* HttpClient.HttpClient
    const { origin } = yield* fakeDiscoveryEngine()
    return { open: (space: VectorSpace) => Effect.provideService(open(origin, space), HttpClient.HttpClient, http) }
  })
).pipe(Layer.provide(Http.layer()))

suite("Agent Search", opening)

describe("Agent Search", () => {
  const space = { corpus: "4611686018427387904", dimensions: 2 }

  it.live("is written in the data store of an engine, and searched by the engine", () =>
    Effect.gen(function*() {
      const { asked, documents, origin } = yield* fakeDiscoveryEngine()
      const store = yield* open(origin, space, discoveryEngineNames.engineServingConfig)
      yield* store.prepare
      const chunk = {
        ordinal: 0,
        text: "valve",
        terms: ["valve"],
        headings: [],
        byteStart: 0,
        byteEnd: 5,
        vector: new Float32Array([1, 0])
      }
      yield* store.put([{ file: "f", sourceUri: "u", displayName: "d", chunks: [chunk] }])
      assert.strictEqual(documents.size, 1)
      assert.strictEqual((yield* store.check).chunks, 1)
      const found = yield* store.search({ vector: chunk.vector, terms: [{ term: "valve", weight: 1 }], count: 3 })
      assert.deepStrictEqual([found.dense[0]?.file, found.sparse[0]?.file], ["f", "f"])
      yield* store.delete(["f"])
      assert.strictEqual(documents.size, 0)
      const searches = asked.filter(({ url }) => url.pathname.endsWith(":search"))
      assert.isTrue(searches.every(({ url }) => url.pathname === `/v1beta/${discoveryEngineNames.engineServingConfig}:search`))
    }).pipe(Effect.scoped, Effect.provide(Http.layer())))

  it.live("refuses what is not as a corpus needs it, at its field", () =>
    Effect.gen(function*() {
      const refusal = (options: FakeDiscoveryEngineOptions, servingConfig?: string, dimensions = 2) =>
        Effect.gen(function*() {
          const { documents, origin } = yield* fakeDiscoveryEngine(options)
          const refused = yield* Effect.flip((yield* open(origin, { ...space, dimensions }, servingConfig)).prepare)
          assert.strictEqual(documents.size, 0)
          return refused
        })
      const { dataStore, engineServingConfig } = discoveryEngineNames
      const cases = [
        [yield* refusal({}, undefined, 2048), "768 dimensions at most, and the embedder gives 2048"],
        [yield* refusal({ contentConfig: "CONTENT_REQUIRED" }), "CONTENT_REQUIRED"],
        [yield* refusal({}, `${dataStore}2/servingConfigs/s`), "there is no data store"],
        [yield* refusal({}, engineServingConfig.replace("/app/", "/none/")), "there is no engine none"],
        [yield* refusal({ dataStores: ["docs", "more"] }, engineServingConfig), "has 2 data stores"]
      ] as const
      for (const [refused, said] of cases) {
        assert.strictEqual(refused.code, "FAILED_PRECONDITION")
        assert.include(refused.message, "corpus.vectorDb.agentSearch.servingConfig: ")
        assert.include(refused.message, said)
      }
    }).pipe(Effect.scoped, Effect.provide(Http.layer())))

  it.live("keeps the properties of others in the schema, and asks for the words that are no grammar", () =>
    Effect.gen(function*() {
      const { asked, origin } = yield* fakeDiscoveryEngine()
      const title = { type: "string", keyPropertyMapping: "title" }
      yield* Effect.promise(() =>
        fetch(`${origin}/v1beta/${discoveryEngineNames.dataStore}/schemas/default_schema`, {
          method: "PATCH",
          body: JSON.stringify({ structSchema: { type: "object", properties: { title } } })
        })
      )
      const store = yield* open(origin, space)
      yield* store.prepare
      const written = asked.filter(({ method }) => method === "PATCH").at(-1)
      assert.deepInclude(JSON.parse(String(written?.body)).structSchema.properties, { title })
      yield* store.search({ terms: [{ term: "the", weight: 0.2 }, { term: "valve", weight: 1 }], count: 3 })
      assert.strictEqual(JSON.parse(String(asked.at(-1)?.body)).query, "valve")
    }).pipe(Effect.scoped, Effect.provide(Http.layer())))

  it.live("says what an import was refused for", () =>
    Effect.gen(function*() {
      const { documents, origin } = yield* fakeDiscoveryEngine()
      const store = yield* open(origin, space)
      yield* store.prepare
      const chunk = { ordinal: 0, text: "a", terms: ["a"], headings: [], byteStart: 0, byteEnd: 1, vector: new Float32Array([1, 0, 0]) }
      const refused = yield* Effect.flip(store.put([{ file: "f", sourceUri: "u", displayName: "d", chunks: [chunk] }]))
      assert.include(refused.message, "embedding of another dimension")
      assert.strictEqual(documents.size, 0)
    }).pipe(Effect.scoped, Effect.provide(Http.layer())))
})
