import { assert, layer } from "@effect/vitest"
import { Effect, type Layer } from "effect"
import type { CorpusName } from "../../src/domain/Corpus.ts"
import type { MetadataValue } from "../../src/domain/MetadataValue.ts"
import { Corpora } from "../../src/ports/Corpora.ts"
import { FileMetadataStore } from "../../src/ports/FileMetadataStore.ts"
import { Files } from "../../src/ports/Files.ts"
import { Retrieval } from "../../src/ports/Retrieval.ts"
import { managed, textFile } from "./Cases.ts"

const string = (value: string): MetadataValue => ({ _tag: "string", value })
const integer = (value: string): MetadataValue => ({ _tag: "integer", value })

/** A corpus with schemas and two files. */
const setUp = Effect.gen(function*() {
  const files = yield* Files
  const store = yield* FileMetadataStore
  const corpus = (yield* (yield* Corpora).create(managed("with metadata"))).name
  yield* store.createSchemas(corpus, [
    { key: "team", type: "string" },
    { key: "year", type: "integer", search: "exact", granularity: "file" },
    { key: "tags", type: "list", element: "string" },
    { key: "due", type: "datetime" }
  ])
  const [cats, dogs] = yield* Effect.forEach(
    ["cats", "dogs"],
    (name) =>
      Effect.map(files.upload(textFile(corpus, `${name}.txt`, `Animals such as ${name} live with people.`)), ({ file }) => file.name)
  )
  return { corpus, cats: cats ?? assert.fail(), dogs: dogs ?? assert.fail() }
})

const found = Effect.fnUntraced(function*(corpus: CorpusName, metadataFilter: string) {
  const contexts = yield* (yield* Retrieval).retrieve({ corpus, query: "animals", filter: { metadataFilter } })
  return contexts.map(({ sourceDisplayName }) => sourceDisplayName).toSorted()
})

/** What every engine's FileMetadataStore does, and what its retrieval makes of it. */
export const suite = <E>(name: string, engine: Layer.Layer<Corpora | Files | FileMetadataStore | Retrieval, E>): void => {
  layer(engine, { excludeTestServices: true })(`FileMetadata: ${name}`, (it) => {
    it.effect("keeps a corpus's data schemas", () =>
      Effect.gen(function*() {
        const store = yield* FileMetadataStore
        const { corpus } = yield* setUp
        const { items } = yield* store.listSchemas(corpus, {})
        assert.deepStrictEqual(items.map(({ key, type }) => [key, type]), [["team", "string"], ["year", "integer"], ["tags", "list"], [
          "due",
          "datetime"
        ]])
        const [, year, tags] = items
        assert.deepStrictEqual(yield* store.getSchema(year?.name ?? assert.fail()), year)
        assert.deepStrictEqual({ ...year, name: undefined }, {
          key: "year",
          type: "integer",
          search: "exact",
          granularity: "file",
          name: undefined
        })
        assert.strictEqual(tags?.element, "string")
        assert.strictEqual((yield* store.listSchemas(corpus, { size: 3 })).items.length, 3)
        yield* store.deleteSchemas(corpus, [year?.name ?? assert.fail()])
        assert.strictEqual((yield* Effect.flip(store.getSchema(year?.name ?? assert.fail()))).code, "NOT_FOUND")
      }))

    it.effect("makes all schemas of a batch or none", () =>
      Effect.gen(function*() {
        const store = yield* FileMetadataStore
        const { corpus } = yield* setUp
        const error = yield* Effect.flip(store.createSchemas(corpus, [{ key: "new", type: "float" }, { key: "team", type: "string" }]))
        assert.strictEqual(error.code, "ALREADY_EXISTS")
        assert.strictEqual((yield* store.listSchemas(corpus, {})).items.length, 4)
        for (const key of ["Bad", "1st", "a_b", "x".repeat(64), "end-", ""]) {
          assert.strictEqual((yield* Effect.flip(store.createSchemas(corpus, [{ key, type: "float" }]))).code, "INVALID_ARGUMENT", key)
        }
      }))

    it.effect("keeps what is written of a file, as its schema has it", () =>
      Effect.gen(function*() {
        const store = yield* FileMetadataStore
        const files = yield* Files
        const { cats } = yield* setUp
        const made = yield* store.create(cats, [
          { id: "mine", key: "year", value: string("2024") },
          { key: "tags", value: { _tag: "list", values: [{ _tag: "string", value: "red" }] } }
        ])
        assert.deepStrictEqual(made.map(({ key, value }) => [key, value]), [
          ["year", integer("2024")],
          ["tags", { _tag: "list", values: [{ _tag: "string", value: "red" }] }]
        ])
        assert.match(made[0]?.name ?? "", /\/ragMetadata\/mine$/)
        assert.deepStrictEqual((yield* store.list(cats, {})).items, made)
        assert.deepStrictEqual((yield* files.get(cats)).userMetadata, { year: 2024, tags: ["red"] })
        const year = made[0]?.name ?? assert.fail()
        assert.deepStrictEqual((yield* store.update(year, { key: "year", value: integer("2025") })).value, integer("2025"))
        assert.deepStrictEqual((yield* store.get(year)).value, integer("2025"))
        yield* store.delete(cats, made.map(({ name }) => name))
        assert.deepStrictEqual((yield* store.list(cats, {})).items, [])
        assert.strictEqual((yield* Effect.flip(store.get(year))).code, "NOT_FOUND")
      }))

    it.effect("takes no value that its schema does not", () =>
      Effect.gen(function*() {
        const store = yield* FileMetadataStore
        const { cats } = yield* setUp
        const refused: ReadonlyArray<readonly [string, MetadataValue]> = [
          ["year", string("soon")],
          ["year", { _tag: "float", value: 1.5 }],
          ["due", string("2026-02-30")],
          ["tags", string("red")],
          ["unknown", string("x")]
        ]
        for (const [key, value] of refused) {
          assert.strictEqual(
            (yield* Effect.flip(store.create(cats, [{ key: "team", value: string("ops") }, { key, value }]))).code,
            "INVALID_ARGUMENT",
            key
          )
        }
        assert.deepStrictEqual((yield* store.list(cats, {})).items, [])
        yield* store.create(cats, [{ key: "team", value: string("ops") }])
        assert.strictEqual((yield* Effect.flip(store.create(cats, [{ key: "team", value: string("dev") }]))).code, "ALREADY_EXISTS")
      }))

    it.effect("filters retrieval by it, also after it changed", () =>
      Effect.gen(function*() {
        const store = yield* FileMetadataStore
        const { cats, corpus, dogs } = yield* setUp
        yield* store.create(cats, [{ key: "year", value: integer("2024") }, {
          key: "tags",
          value: { _tag: "list", values: [{ _tag: "string", value: "red" }] }
        }])
        const [year] = yield* store.create(dogs, [{ key: "year", value: integer("2026") }, { key: "team", value: string("ops") }])
        assert.deepStrictEqual(yield* found(corpus, "year >= 2024"), ["cats.txt", "dogs.txt"])
        assert.deepStrictEqual(yield* found(corpus, "year > 2024"), ["dogs.txt"])
        assert.deepStrictEqual(yield* found(corpus, "\"red\" in tags || team == \"ops\""), ["cats.txt", "dogs.txt"])
        assert.deepStrictEqual(yield* found(corpus, "!(team == \"ops\") && year in [2024, 2026]"), ["cats.txt"])
        yield* store.update(year?.name ?? assert.fail(), { key: "year", value: integer("2020") })
        assert.deepStrictEqual(yield* found(corpus, "year > 2024"), [])
        for (const bad of ["year >", "year == \"soon\""]) {
          assert.strictEqual((yield* Effect.flip(found(corpus, bad))).code, "INVALID_ARGUMENT", bad)
        }
      }))

    it.effect("goes with its file, and with its corpus", () =>
      Effect.gen(function*() {
        const store = yield* FileMetadataStore
        const { cats, corpus } = yield* setUp
        const [team] = yield* store.create(cats, [{ key: "team", value: string("ops") }])
        yield* (yield* Files).delete(cats)
        assert.strictEqual((yield* Effect.flip(store.get(team?.name ?? assert.fail()))).code, "NOT_FOUND")
        assert.strictEqual((yield* Effect.flip(store.create(cats, [{ key: "team", value: string("x") }]))).code, "NOT_FOUND")
        yield* (yield* Corpora).delete(corpus, { force: true })
        assert.strictEqual((yield* Effect.flip(store.listSchemas(corpus, {}))).code, "NOT_FOUND")
      }))
  })
}
