import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import type { VectorDb } from "../../src/domain/Corpus.ts"
import { Corpora } from "../../src/ports/Corpora.ts"
import { Files } from "../../src/ports/Files.ts"
import { Retrieval } from "../../src/ports/Retrieval.ts"
import { managed } from "../conformance/Cases.ts"
import { textFile } from "../engines/embedded/support/Engine.ts"
import { fakePinecone } from "../fakes/Pinecone.ts"
import { fakeWeaviate } from "../fakes/Weaviate.ts"
import { tempFolder } from "../support/TempFolder.ts"
import { connected } from "./support/Placed.ts"
import { secretsOf, secretVersion } from "./support/Secrets.ts"

const texts = {
  boiler: "the boiler of the house is checked by the caretaker in spring",
  roof: "the roof of the house is swept of leaves by the neighbour",
  cellar: "what the caretaker of the house does in the cellar is the business of the caretaker",
  garden: "the garden behind the house of the neighbour"
}

const filled = Effect.fnUntraced(function*(vectorDb: VectorDb) {
  const corpus = (yield* (yield* Corpora).create({ ...managed("c"), vectorDb })).name
  for (const [name, text] of Object.entries(texts)) yield* (yield* Files).upload(textFile(corpus, name, text))
  return corpus
})

const pineconeDb: VectorDb = { _tag: "pinecone", indexName: "docs", apiKey: secretVersion("key") }
const onPinecone = (metric: string, together = true) =>
  Effect.gen(function*() {
    const fake = yield* fakePinecone({ dimension: 2048, metric, together })
    process.env["PINECONE_CONTROLLER_HOST"] = fake.origin
    yield* Effect.addFinalizer(() => Effect.sync(() => void delete process.env["PINECONE_CONTROLLER_HOST"]))
    return { ...fake, engine: connected(yield* tempFolder, secretsOf(new Map([["key", "pc-key"]]))) }
  })

describe("a search that the request mixes", () => {
  it.live("is mixed by Weaviate, in its order, unless an arm is all that is wanted", () =>
    Effect.gen(function*() {
      const { asked, origin } = yield* fakeWeaviate()
      const queries = () =>
        asked.splice(0).filter(({ url }) => url.pathname.endsWith("/graphql")).map(({ body }) => body.toString()).filter((query) =>
          query.includes("chunkOrdinal _additional")
        )
      yield* Effect.gen(function*() {
        const corpus = yield* filled({ _tag: "weaviate", httpEndpoint: origin, collectionName: "Docs" })
        const { retrieve } = yield* Retrieval
        const question = { corpus, query: "caretaker cellar", topK: 3 }
        queries()
        const mixed = yield* retrieve({ ...question, hybrid: { alpha: 0.5 }, explain: true })
        const seen = queries()
        assert.strictEqual(seen.filter((query) => query.includes("mixed:") && query.includes("alpha: 0.5")).length, 1)
        assert.strictEqual(mixed[0]?.sourceDisplayName, "cellar")
        // Best in both arms: the server's own scale ends there.
        assert.approximately(mixed[0]?.score ?? 0, 1, 1e-6)
        assert.strictEqual(mixed[0]?.explanation?.fused, mixed[0]?.score)
        assert.isAbove(mixed[0]?.explanation?.sparse ?? 0, 0)
        assert.isAbove(mixed[0]?.explanation?.cosine ?? 0, 0)
        assert.deepStrictEqual(
          (yield* retrieve({ ...question, hybrid: { alpha: 0.5 } })).map(({ sourceDisplayName }) => sourceDisplayName),
          mixed.map(({ sourceDisplayName }) => sourceDisplayName)
        )
        assert.lengthOf(queries(), 1)
        const distances = mixed.map(({ distance = 2 }) => distance).toSorted((a, b) => a - b)
        const maxDistance = (distances[0]! + distances[1]!) / 2
        assert.lengthOf(yield* retrieve({ ...question, hybrid: { alpha: 0.5 }, filter: { maxDistance } }), 1)
        for (const hybrid of [undefined, { alpha: 0 }, { alpha: 1 }]) {
          queries()
          yield* retrieve({ ...question, hybrid })
          assert.isFalse(queries().some((query) => query.includes("hybrid:")), JSON.stringify(hybrid))
        }
      }).pipe(Effect.provide(connected(yield* tempFolder, secretsOf(new Map()))))
    }).pipe(Effect.scoped))

  it.live("is mixed by Pinecone where its index takes sparse vectors, whose rare words weigh more", () =>
    Effect.gen(function*() {
      const { asked, engine, namespaces } = yield* onPinecone("dotproduct")
      yield* Effect.gen(function*() {
        const corpus = yield* filled(pineconeDb)
        const records = [...namespaces.values()].flatMap((records) => [...records.values()]).filter(({ id }) => id.includes("#"))
        assert.lengthOf(records, 4)
        assert.isTrue(records.every(({ sparseValues }) => (sparseValues?.indices.length ?? 0) > 3))
        const { retrieve } = yield* Retrieval
        const names = Effect.fnUntraced(function*(query: string, alpha: number | undefined) {
          const found = yield* retrieve({ corpus, query, hybrid: alpha === undefined ? undefined : { alpha } })
          return found.map(({ sourceDisplayName }) => sourceDisplayName)
        })
        // All but one say "house", one says "leaves".
        assert.strictEqual((yield* names("house leaves", 0))[0], "roof")
        assert.sameMembers(yield* names("neighbour", 0), ["roof", "garden"])
        assert.strictEqual((yield* names("cellar of the house", undefined))[0], "cellar")
        asked.splice(0)
        assert.strictEqual((yield* names("caretaker cellar", 0.5))[0], "cellar")
        const queries = asked.filter(({ url }) => url.pathname === "/query").map(({ body }) => JSON.parse(body.toString()))
        assert.lengthOf(queries, 1)
        assert.approximately(Math.hypot(...queries[0].vector), 0.5, 1e-3)
        assert.lengthOf(queries[0].sparseVector.indices, 2)
      }).pipe(Effect.provide(engine))
    }).pipe(Effect.scoped))

  it.live("is refused by name where Pinecone's index takes none", () =>
    Effect.gen(function*() {
      for (const [metric, together] of [["cosine", true], ["dotproduct", false]] as const) {
        const { engine } = yield* onPinecone(metric, together)
        yield* Effect.gen(function*() {
          const corpus = yield* filled(pineconeDb)
          const { retrieve } = yield* Retrieval
          const refused = yield* Effect.flip(retrieve({ corpus, query: "caretaker", hybrid: { alpha: 0.5 } }))
          assert.strictEqual(refused.code, "UNIMPLEMENTED")
          assert.include(refused.message, "hybrid: namespace")
          assert.lengthOf(yield* retrieve({ corpus, query: "caretaker" }), 4)
        }).pipe(Effect.provide(engine))
      }
    }).pipe(Effect.scoped))
})
