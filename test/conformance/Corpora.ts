import { assert, layer } from "@effect/vitest"
import { Effect, type Layer, Stream } from "effect"
import { SecretVersion } from "../../src/domain/Secret.ts"
import { Corpora } from "../../src/ports/Corpora.ts"
import { Files } from "../../src/ports/Files.ts"
import { pages } from "../../src/ports/Paging.ts"
import { managed, textFile } from "./Cases.ts"

/** What every engine's Corpora does. The layer is one engine with nothing in it, or nothing that matters. */
export const suite = <E>(name: string, engine: Layer.Layer<Corpora | Files, E>): void => {
  layer(engine, { excludeTestServices: true })(`Corpora: ${name}`, (it) => {
    it.effect("gives back what it was given", () =>
      Effect.gen(function*() {
        const corpora = yield* Corpora
        const created = yield* corpora.create({ ...managed("handbook"), description: "of one company" })
        assert.strictEqual(created.displayName, "handbook")
        assert.strictEqual(created.description, "of one company")
        assert.strictEqual(created.vectorDb._tag, "managed")
        assert.match(created.name, /^projects\/[^/]+\/locations\/[^/]+\/ragCorpora\/\d+$/)
        assert.match(created.createTime, /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z$/)
        const { updateTime: _, ...read } = yield* corpora.get(created.name)
        const { updateTime: __, ...expected } = created
        assert.deepStrictEqual(read, expected)
      }))

    it.effect("knows no corpus that was not created", () =>
      Effect.gen(function*() {
        const corpora = yield* Corpora
        const created = yield* corpora.create(managed("short-lived"))
        yield* corpora.delete(created.name)
        assert.strictEqual((yield* Effect.flip(corpora.get(created.name))).code, "NOT_FOUND")
        assert.strictEqual((yield* Effect.flip(corpora.delete(created.name))).code, "NOT_FOUND")
        assert.strictEqual((yield* Effect.flip(corpora.update(created.name, { displayName: "x" }))).code, "NOT_FOUND")
      }))

    it.effect("refuses display names the service refuses", () =>
      Effect.gen(function*() {
        const corpora = yield* Corpora
        const error = yield* Effect.flip(corpora.create(managed("x".repeat(129))))
        assert.strictEqual(error.code, "INVALID_ARGUMENT")
      }))

    it.effect("lists every corpus once, page by page, though others come in meanwhile", () =>
      Effect.gen(function*() {
        const corpora = yield* Corpora
        const created = yield* Effect.forEach(["a", "b", "c", "d", "e"], (n) => corpora.create(managed(`listed ${n}`)))
        const first = yield* corpora.list({ size: 2 })
        assert.strictEqual(first.items.length, 2)
        assert.isString(first.nextToken)
        yield* corpora.create(managed("came in meanwhile"))
        const rest = yield* Stream.runCollect(pages((page) => corpora.list({ ...page, token: page.token ?? first.nextToken ?? "" }), 2))
        const names = [...first.items, ...rest].map((corpus) => corpus.name)
        assert.strictEqual(new Set(names).size, names.length)
        for (const corpus of created) assert.include(names, corpus.name)
      }))

    it.effect("changes names and descriptions, and leaves alone what is not named", () =>
      Effect.gen(function*() {
        const corpora = yield* Corpora
        const { name } = yield* corpora.create({ ...managed("before"), description: "stays" })
        yield* corpora.update(name, { displayName: "after" })
        const read = yield* corpora.get(name)
        assert.strictEqual(read.displayName, "after")
        assert.strictEqual(read.description, "stays")
      }))

    it.effect("sets a vector database's empty fields once, and never its kind", () =>
      Effect.gen(function*() {
        const corpora = yield* Corpora
        const { name } = yield* corpora.create({ displayName: "vendor", vectorDb: { _tag: "weaviate", collectionName: "Docs" } })
        yield* corpora.update(name, { vectorDb: { _tag: "weaviate", httpEndpoint: "https://w.example" } })
        const { vectorDb } = yield* corpora.get(name)
        assert.deepStrictEqual(vectorDb, { _tag: "weaviate", collectionName: "Docs", httpEndpoint: "https://w.example" })
        const again = corpora.update(name, { vectorDb: { _tag: "weaviate", httpEndpoint: "https://other.example" } })
        assert.strictEqual((yield* Effect.flip(again)).code, "INVALID_ARGUMENT")
        const kind = corpora.update(name, { vectorDb: { _tag: "pinecone", indexName: "docs" } })
        assert.strictEqual((yield* Effect.flip(kind)).code, "INVALID_ARGUMENT")
        assert.deepStrictEqual((yield* corpora.get(name)).vectorDb, vectorDb)
      }))

    it.effect("takes another key to the database in the place of the first", () =>
      Effect.gen(function*() {
        const corpora = yield* Corpora
        const key = (version: number) => SecretVersion.make(`projects/1/secrets/db/versions/${version}`)
        const vectorDb = { _tag: "pinecone", indexName: "docs" } as const
        const { name } = yield* corpora.create({ displayName: "keyed", vectorDb: { ...vectorDb, apiKey: key(1) } })
        yield* corpora.update(name, { vectorDb: { ...vectorDb, apiKey: key(2) } })
        yield* corpora.update(name, { vectorDb })
        assert.deepStrictEqual((yield* corpora.get(name)).vectorDb, { ...vectorDb, apiKey: key(2) })
      }))

    it.effect("keeps how it was asked to search and what it holds, and refuses what nothing here does", () =>
      Effect.gen(function*() {
        const corpora = yield* Corpora
        const options = {
          search: { _tag: "ann", treeDepth: 3, leafCount: 1000 },
          holds: { _tag: "documents" }
        } as const
        const { name } = yield* corpora.create({ ...managed("optional"), options })
        yield* corpora.update(name, { displayName: "still optional" })
        assert.deepStrictEqual((yield* corpora.get(name)).options, options)
        assert.isUndefined((yield* corpora.create(managed("plain"))).options)
        for (
          const options of [
            { encryptionKey: "projects/p/locations/l/keyRings/r/cryptoKeys/k" },
            { holds: { _tag: "memories", parser: { _tag: "llm", model: "gemini-2.0-flash", prompt: "what was decided" } } }
          ] as const
        ) {
          const refused = yield* Effect.flip(corpora.create({ ...managed("more"), options }))
          assert.strictEqual(refused.code, "UNIMPLEMENTED")
          assert.lengthOf(refused.violations ?? [], 1)
        }
      }))

    it.effect("deletes a corpus with files only by force", () =>
      Effect.gen(function*() {
        const corpora = yield* Corpora
        const files = yield* Files
        const { name } = yield* corpora.create(managed("full"))
        yield* files.upload(textFile(name, "a.txt", "a text"))
        assert.strictEqual((yield* Effect.flip(corpora.delete(name))).code, "FAILED_PRECONDITION")
        yield* corpora.delete(name, { force: true })
        assert.strictEqual((yield* Effect.flip(corpora.get(name))).code, "NOT_FOUND")
      }))
  })
}
