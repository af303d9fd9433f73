import { assert, layer } from "@effect/vitest"
import { Context, Effect, Layer, Result, Stream } from "effect"
import { defined, isEmpty } from "../../../src/domain/Defined.ts"
import { FacetCounts, isAmong } from "../../../src/domain/Facets.ts"
import { parseMetadataFilter } from "../../../src/domain/MetadataFilter.ts"
import type { MetadataValue } from "../../../src/domain/MetadataValue.ts"
import { Corpora } from "../../../src/ports/Corpora.ts"
import { FileMetadataStore } from "../../../src/ports/FileMetadataStore.ts"
import { facetsOf, Files } from "../../../src/ports/Files.ts"
import { openDatabase } from "../../../src/state/Database.ts"
import { pages } from "../../../src/ports/Paging.ts"
import { managed } from "../../conformance/Cases.ts"
import { tempFolder } from "../../support/TempFolder.ts"
import { engine, textFile } from "./support/Engine.ts"

class Folder extends Context.Service<Folder, string>()("test/Folder") {}

const fresh = Layer.unwrap(Effect.map(tempFolder, (folder) => Layer.merge(engine(folder), Layer.succeed(Folder, folder))))

const string = (value: string): MetadataValue => ({ _tag: "string", value })
const teams = ["ops", "hr", "legal"]
/** The owner, who may read all, Ann, who may too, Bob, both, and someone of whom nothing is known. */
const askers = [undefined, "user:ANN@x.com", "user:bob@x.com", ["user:bob@x.com", "user:ANN@x.com"], []]
const readers = [undefined, { public: true, principals: [] }, { public: false, principals: ["user:ann@x.com"] }]
const uploaded = 60
/** Together more than are counted at once. */
const copies = 40

/** Every file of a corpus as often, with what was written of it. */
const copied = (folder: string) => {
  const db = openDatabase(folder)
  const columns =
    "corpus, display_name, source_uri, size_bytes, metadata, permissions, first_chunk, chunks, tokens, title, author, created, updated"
  for (let copy = 1; copy < copies; copy++) {
    db.exec(`INSERT INTO files (name, ${columns}) SELECT name || '-${copy}', ${columns} FROM files WHERE name NOT LIKE '%-%';
      INSERT INTO file_metadata (file, name, key, value) SELECT f.id, m.name, m.key, m.value FROM file_metadata m
        JOIN files o ON o.id = m.file JOIN files f ON f.name = o.name || '-${copy}'`)
  }
  db.close()
}

layer(fresh, { excludeTestServices: true })("the embedded engine's facets and samples", (it) => {
  it.effect("are those of a listing, whoever asks for which", () =>
    Effect.gen(function*() {
      const corpora = yield* Corpora
      const files = yield* Files
      const store = yield* FileMetadataStore
      const { name: corpus } = yield* corpora.create(managed("counted"))
      const { name: other } = yield* corpora.create(managed("other"))
      for (const each of [corpus, other]) {
        yield* store.createSchemas(each, [
          { key: "team", type: "string" },
          { key: "year", type: "integer" },
          { key: "tags", type: "list", element: "string" },
          { key: "draft", type: "boolean" }
        ])
      }
      for (let i = 0; i < uploaded; i++) {
        const few = i % 5 === 0
        const { file } = yield* files.upload(textFile(i % 10 === 0 ? other : corpus, `${i}.txt`, "a text", {
          metadata: defined({ lang: i % 2 === 0 ? "de" : undefined, author: `a${i % 3}`, team: "of the source" }),
          permissions: readers[i % 3]
        }))
        if (!few) continue
        yield* store.create(file.name, [
          { key: "team", value: string(teams[i % 4] ?? "ops") },
          { key: "year", value: { _tag: "integer", value: String(2020 + (i % 7)) } },
          { key: "tags", value: { _tag: "list", values: [{ _tag: "string", value: "a" }, { _tag: "string", value: `t${i % 5}` }] } },
          ...(i % 15 === 0 ? [{ key: "draft", value: { _tag: "boolean" as const, value: true } }] : [])
        ])
      }
      copied(yield* Folder)
      const { facets: _, ...listing } = files
      assert.deepStrictEqual(yield* facetsOf(listing, corpus, {}), yield* facetsOf(files, corpus, {}))
      const listed = yield* Stream.runCollect(pages((page) => files.list(corpus, page), 1_000))
      const wheres = [undefined, "team == \"ops\" || lang == \"de\"", "!has(team)", "year >= 2022 && \"t1\" in tags", "nothing == 1"]
      for (const keys of [undefined, ["lang"], ["team", "year", "none", "title", "author"]]) {
        for (const where of wheres.map((text) => text === undefined ? text : Result.getOrThrow(parseMetadataFilter(text, "where")))) {
          for (const principal of askers) {
            const query = defined({ keys, where, principal })
            const counts = new FacetCounts(query)
            for (const file of listed) counts.add(file)
            assert.deepStrictEqual(yield* facetsOf(files, corpus, query), counts.facets, JSON.stringify(query))
          }
        }
      }
      const counted = (principal?: string | ReadonlyArray<string>) =>
        Effect.map(facetsOf(files, corpus, defined({ keys: ["none"], principal })), ([none]) => none?.without)
      const all = uploaded * 9 / 10 * copies
      const some = all * 2 / 3
      assert.deepStrictEqual(yield* Effect.forEach(askers, counted), [all, all, some, all, some])
      const sample = files.sample!
      const most = 50
      const { names: ofAll } = yield* sample(corpus, most, {})
      for (const where of [undefined, "team == \"ops\" || lang == \"de\"", "year >= 2022 && \"t1\" in tags", "nothing == 1"]) {
        for (const principal of askers) {
          const query = defined({ principal, where: where === undefined ? where : Result.getOrThrow(parseMetadataFilter(where, "where")) })
          const meant = listed.filter(isAmong(query)).map(({ name }) => name)
          const { names, of } = yield* sample(corpus, most, query)
          // Of all files the corpus's own record is asked, and the copies were not told to it.
          const many = isEmpty(query) ? uploaded - uploaded / 10 : meant.length
          assert.deepStrictEqual([of, names.length], [many, Math.min(most, meant.length)], `${where} ${principal}`)
          assert.includeMembers(meant, [...new Set(names)], "each of those that are meant")
          // The same order chooses, whoever asks: what may be seen of a sample of all is in the sample of what may be seen.
          assert.includeMembers([...names], ofAll.filter((name) => meant.includes(name)))
          assert.deepStrictEqual((yield* sample(corpus, most, query)).names, names)
        }
      }
      const [lang] = yield* facetsOf(files, corpus, { keys: ["lang"] })
      assert.deepStrictEqual(lang, { key: "lang", values: [{ value: "de", files: 24 * copies }], without: 30 * copies })
      yield* corpora.delete(other, { force: true })
      assert.strictEqual((yield* Effect.flip(facetsOf(files, other, {}))).code, "NOT_FOUND")
    }))

  it.effect("are counted without a listing", () =>
    Effect.gen(function*() {
      const files = yield* Files
      const { name: corpus } = yield* (yield* Corpora).create(managed("alone"))
      yield* files.upload(textFile(corpus, "a.txt", "a text", { metadata: { lang: "de" } }))
      const never = { ...files, list: () => Effect.die("files are listed") }
      assert.deepStrictEqual(yield* facetsOf(never, corpus, { keys: ["lang"] }), [
        { key: "lang", values: [{ value: "de", files: 1 }], without: 0 }
      ])
    }))
})
