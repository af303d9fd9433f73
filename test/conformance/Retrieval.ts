import { assert, layer } from "@effect/vitest"
import { Effect, type Layer } from "effect"
import { Corpora } from "../../src/ports/Corpora.ts"
import { Files } from "../../src/ports/Files.ts"
import { Retrieval } from "../../src/ports/Retrieval.ts"
import { managed, textFile } from "./Cases.ts"

const texts = {
  "cats.txt": "Cats sleep for most of the day and hunt at dusk.",
  "dogs.txt": "Dogs were the first animals that people tamed.",
  "ships.txt": "Container ships carry most of the world's freight.",
  "vaults.txt": "The vault of the library holds medieval charters."
}

const setUp = Effect.gen(function*() {
  const files = yield* Files
  const corpus = (yield* (yield* Corpora).create(managed("animals and others"))).name
  const uploaded = yield* Effect.forEach(
    Object.entries(texts),
    ([displayName, text]) => Effect.map(files.upload(textFile(corpus, displayName, text)), ({ file }) => [displayName, file.name] as const)
  )
  return { corpus, names: new Map(uploaded) }
})

/** What every engine's Retrieval does. */
export const suite = <E>(name: string, engine: Layer.Layer<Corpora | Files | Retrieval, E>): void => {
  layer(engine, { excludeTestServices: true })(`Retrieval: ${name}`, (it) => {
    it.effect("finds what bears on the question, best first", () =>
      Effect.gen(function*() {
        const { corpus, names } = yield* setUp
        const [best, ...rest] = yield* (yield* Retrieval).retrieve({ corpus, query: "which animals were tamed first", topK: 3 })
        assert.strictEqual(best?.sourceDisplayName, "dogs.txt")
        assert.strictEqual(best?.file, names.get("dogs.txt"))
        assert.include(best?.text, "tamed")
        for (const other of rest) assert.isAtMost(other.score, best?.score ?? 0)
      }))

    it.effect("finds what documents call otherwise, by synonyms", () =>
      Effect.gen(function*() {
        const { corpus } = yield* setUp
        const retrieval = yield* Retrieval
        const synonyms = [["Z9", "hounds", "dogs"], ["muniment room", "vault"]]
        const first = (query: string) => Effect.map(retrieval.retrieve({ corpus, query, synonyms }), ([best]) => best?.sourceDisplayName)
        assert.strictEqual(yield* first("what is Z9"), "dogs.txt")
        assert.strictEqual(yield* first("Which muniment rooms are there?"), "vaults.txt")
      }))

    it.effect("repeats its order", () =>
      Effect.gen(function*() {
        const { corpus } = yield* setUp
        const retrieval = yield* Retrieval
        const once = yield* retrieval.retrieve({ corpus, query: "most of the day" })
        const again = yield* retrieval.retrieve({ corpus, query: "most of the day" })
        assert.deepStrictEqual(again, once)
      }))

    it.effect("gives no more than topK", () =>
      Effect.gen(function*() {
        const { corpus } = yield* setUp
        const found = yield* (yield* Retrieval).retrieve({ corpus, query: "most of the animals", topK: 1 })
        assert.strictEqual(found.length, 1)
      }))

    it.effect("keeps to the files it is given", () =>
      Effect.gen(function*() {
        const { corpus, names } = yield* setUp
        const ships = names.get("ships.txt")
        assert.isDefined(ships)
        const found = yield* (yield* Retrieval).retrieve({ corpus, query: "most of the day animals freight", files: [ships] })
        assert.deepStrictEqual(found.map(({ sourceDisplayName }) => sourceDisplayName), ["ships.txt"])
      }))

    it.effect("takes thresholds strictly", () =>
      Effect.gen(function*() {
        const { corpus } = yield* setUp
        const retrieval = yield* Retrieval
        const query = "dogs were tamed by people"
        const [best] = (yield* retrieval.retrieve({ corpus, query })).toSorted((a, b) => (a.distance ?? 2) - (b.distance ?? 2))
        const distance = best?.distance ?? Number.NaN
        const under = yield* retrieval.retrieve({ corpus, query, filter: { maxDistance: distance } })
        assert.deepStrictEqual(under, [])
        const over = yield* retrieval.retrieve({ corpus, query, filter: { maxDistance: distance + 1e-6 } })
        assert.strictEqual(over[0]?.chunkId, best?.chunkId)
        assert.strictEqual(over.length, 1)
      }))

    it.effect("sees a deleted file no more", () =>
      Effect.gen(function*() {
        const { corpus, names } = yield* setUp
        const dogs = names.get("dogs.txt")
        assert.isDefined(dogs)
        yield* (yield* Files).delete(dogs)
        const found = yield* (yield* Retrieval).retrieve({ corpus, query: "animals tamed by people" })
        assert.notInclude(found.map(({ sourceDisplayName }) => sourceDisplayName), "dogs.txt")
      }))

    it.effect("refuses what the service refuses", () =>
      Effect.gen(function*() {
        const { corpus } = yield* setUp
        const retrieval = yield* Retrieval
        const refused = [
          { corpus, query: "" },
          { corpus, query: "q", hybrid: { alpha: 1.5 } },
          { corpus, query: "q", filter: { maxDistance: 0.5, minSimilarity: 0.5 } }
        ]
        for (const request of refused) {
          assert.strictEqual((yield* Effect.flip(retrieval.retrieve(request))).code, "INVALID_ARGUMENT")
        }
      }))

    it.effect("knows no corpus that is not there", () =>
      Effect.gen(function*() {
        const corpora = yield* Corpora
        const corpus = (yield* corpora.create(managed("gone"))).name
        yield* corpora.delete(corpus)
        const error = yield* Effect.flip((yield* Retrieval).retrieve({ corpus, query: "anything" }))
        assert.strictEqual(error.code, "NOT_FOUND")
      }))
  })
}
