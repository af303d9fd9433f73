import { assert, describe, it, layer } from "@effect/vitest"
import { Effect, Layer, type Scope } from "effect"
import { join } from "node:path"
import { DatabaseSync } from "node:sqlite"
import postgresClient from "postgres"
import type { VectorDb } from "../../src/domain/Corpus.ts"
import { ServiceError } from "../../src/domain/Errors.ts"
import { hashEmbedder } from "../../src/models/HashEmbedder.ts"
import { Corpora } from "../../src/ports/Corpora.ts"
import { Files } from "../../src/ports/Files.ts"
import { Retrieval } from "../../src/ports/Retrieval.ts"
import { type VectorStore, VectorStores } from "../../src/ports/VectorStore.ts"
import * as Postgres from "../../src/vectors/postgres/Postgres.ts"
import { managed } from "../conformance/Cases.ts"
import * as FileMetadataCases from "../conformance/FileMetadata.ts"
import * as FilesCases from "../conformance/Files.ts"
import * as RetrievalCases from "../conformance/Retrieval.ts"
import { fakeWeaviate } from "../fakes/Weaviate.ts"
import { engine, textFile } from "../engines/embedded/support/Engine.ts"
import { eventually } from "../support/Eventually.ts"
import { tempFolder } from "../support/TempFolder.ts"
import { lanceDbFolder } from "./support/LanceDb.ts"
import { postgresUrl } from "./support/Postgres.ts"
import { secretsOf, secretVersion } from "./support/Secrets.ts"
import { connected, placed } from "./support/Placed.ts"

const vectorDb: VectorDb = { _tag: "postgres", url: secretVersion("url") }
const postgres = placed(Effect.map(postgresUrl, (url) => ({ vectorDb, secrets: new Map([["url", url]]) })))

FilesCases.suite("embedded, vectors in PostgreSQL", postgres)
RetrievalCases.suite("embedded, vectors in PostgreSQL", postgres)
FileMetadataCases.suite("embedded, vectors in PostgreSQL", postgres)

const weaviate = placed(Effect.map(
  process.env["WEAVIATE_URL"] === undefined
    ? Effect.map(fakeWeaviate(), ({ origin }) => origin)
    : Effect.succeed(process.env["WEAVIATE_URL"]),
  (httpEndpoint) => ({ vectorDb: { _tag: "weaviate" as const, httpEndpoint, collectionName: "SluiceEngine" }, secrets: new Map() })
))
FilesCases.suite("embedded, vectors in Weaviate", weaviate)
RetrievalCases.suite("embedded, vectors in Weaviate", weaviate)

layer(weaviate, { excludeTestServices: true })("a search of vectors in Weaviate", (it) => {
  it.effect("finds what any of those who ask may read", () =>
    Effect.gen(function*() {
      const files = yield* Files
      const retrieval = yield* Retrieval
      const { name: corpus } = yield* (yield* Corpora).create(managed("readers"))
      yield* files.upload(textFile(corpus, "all.txt", "salaries of all"))
      for (const [name, reader] of [["ann.txt", "user:ann@x.com"], ["staff.txt", "group:staff"]] as const) {
        yield* files.upload(textFile(corpus, name, `salaries in ${name}`, { permissions: { public: false, principals: [reader] } }))
      }
      const seen = (principal: string | ReadonlyArray<string>) =>
        Effect.map(
          retrieval.retrieve({ corpus, query: "salaries", principal }),
          (contexts) => contexts.map(({ sourceDisplayName }) => sourceDisplayName).toSorted()
        )
      assert.deepStrictEqual(yield* seen("user:ANN@x.com"), ["all.txt", "ann.txt"])
      assert.deepStrictEqual(yield* seen(["group:Staff", "user:ann@x.com"]), ["all.txt", "ann.txt", "staff.txt"])
      assert.deepStrictEqual(yield* seen([]), ["all.txt"])
    }))
})

if (lanceDbFolder !== undefined) {
  const lanceDb = placed(Effect.map(tempFolder, (folder) => ({ vectorDb: { _tag: "lanceDb" as const, uri: folder }, secrets: new Map() })))
  FilesCases.suite("embedded, vectors in LanceDB", lanceDb)
  RetrievalCases.suite("embedded, vectors in LanceDB", lanceDb)
}

const idOf = (name: string): string => name.slice(name.lastIndexOf("/") + 1)

describe("vectors in a database of the corpus's own", () => {
  const scene = Effect.gen(function*() {
    const folder = yield* tempFolder
    const url = yield* postgresUrl
    const secrets = new Map([["url", url]])
    const sql = yield* Effect.acquireRelease(
      Effect.sync(() => postgresClient(url, { max: 1, fetch_types: false, prepare: false, onnotice: () => {} })),
      (sql) => Effect.promise(() => sql.end({ timeout: 1 }))
    )
    const sqlite = <A>(body: (db: DatabaseSync) => A): A => {
      const db = new DatabaseSync(join(folder, "sluice.db"), { timeout: 60_000 })
      try {
        return body(db)
      } finally {
        db.close()
      }
    }
    return {
      secrets,
      sqlite,
      on: <A, E>(body: Effect.Effect<A, E, Corpora | Files | Retrieval | Scope.Scope>) =>
        Effect.provide(body, connected(folder, secretsOf(secrets))),
      work: () => sqlite((db) => Number(db.prepare("SELECT count(*) AS n FROM vector_work").get()?.["n"])),
      /** Versions of which a chunk is in the database. */
      versions: (corpus: string) =>
        Effect.promise(() =>
          sql.unsafe<Array<{ file_id: string }>>(`SELECT DISTINCT file_id FROM sluice.corpus_${idOf(corpus)} ORDER BY 1`)
        ).pipe(
          Effect.map((rows) => rows.map((row) => row.file_id))
        ),
      rows: (corpus: string) =>
        Effect.promise(() => sql.unsafe(`SELECT display_name, source_uri, text, metadata FROM sluice.corpus_${idOf(corpus)}`)),
      there: (corpus: string) =>
        Effect.promise(() => sql.unsafe(`SELECT to_regclass('sluice.corpus_${idOf(corpus)}') IS NOT NULL AS there`)).pipe(
          Effect.map(([row]) => row?.["there"] === true)
        ),
      /** The corpus's store, to write to behind the engine's back. */
      store: (corpus: string) =>
        Postgres.make({
          url: secretVersion("url"),
          space: { corpus: idOf(corpus), dimensions: hashEmbedder.dimensions },
          secrets: secretsOf(secrets)
        })
    }
  })

  const create = Effect.flatMap(Corpora, (corpora) => corpora.create({ ...managed("c"), vectorDb })).pipe(Effect.map(({ name }) => name))

  const stray = (file: string, text: string) =>
    Effect.map(hashEmbedder.embed([text], "document"), ([vector]) => ({
      file,
      sourceUri: file,
      displayName: file,
      chunks: [{ ordinal: 0, text, vector: vector!, terms: text.split(" "), headings: [], byteStart: 0, byteEnd: 1 }]
    }))

  it.live("takes away the old version, and what is deleted", () =>
    Effect.gen(function*() {
      const { on, there, versions, work } = yield* scene
      yield* on(Effect.gen(function*() {
        const files = yield* Files
        const corpus = yield* create
        const { file } = yield* files.upload(textFile(corpus, "a", "first words\n\nsecond words"))
        const other = yield* files.upload(textFile(corpus, "b", "other words"))
        const next = yield* files.upload(textFile(corpus, "a", "third words", { replaces: file.name }))
        assert.sameMembers(yield* versions(corpus), [idOf(other.file.name), idOf(next.file.name)])
        yield* files.delete(other.file.name)
        assert.deepStrictEqual(yield* versions(corpus), [idOf(next.file.name)])
        yield* (yield* Corpora).delete(corpus, { force: true })
        assert.isFalse(yield* there(corpus))
        assert.strictEqual(work(), 0)
      }))
    }).pipe(Effect.scoped))

  it.live("tells the database when facts about a file change", () =>
    Effect.gen(function*() {
      const { on, rows } = yield* scene
      yield* on(Effect.gen(function*() {
        const files = yield* Files
        const corpus = yield* create
        const { file } = yield* files.upload(textFile(corpus, "a", "some words", { sourceUri: "file:///a" }))
        yield* files.update(file.name, { displayName: "moved", sourceUri: "file:///moved", metadata: { lang: "de" } })
        assert.deepStrictEqual([...yield* rows(corpus)], [{
          display_name: "moved",
          source_uri: "file:///moved",
          text: "some words",
          metadata: { lang: "de" }
        }])
      }))
    }).pipe(Effect.scoped))

  it.live("shows nothing that is not visible, and asks for more instead", () =>
    Effect.gen(function*() {
      const { on, store } = yield* scene
      yield* on(Effect.gen(function*() {
        const corpus = yield* create
        yield* (yield* Files).upload(textFile(corpus, "a", "the boiler of the house is checked in spring"))
        const behind = yield* store(corpus)
        const strays = yield* Effect.forEach(Array.from({ length: 350 }, (_, i) => i), (i) =>
          stray(`stray${i}`, "boiler house checked spring"))
        yield* behind.put(strays)
        for (const alpha of [0, 0.25, 1]) {
          const found = yield* (yield* Retrieval).retrieve({ corpus, query: "boiler house checked spring", hybrid: { alpha }, topK: 3 })
          assert.deepStrictEqual(
            found.map(({ sourceDisplayName }) =>
              sourceDisplayName
            ),
            ["a"],
            String(alpha)
          )
        }
      }))
    }).pipe(Effect.scoped))

  it.live("removes what a process left behind that was killed before a version was whole", () =>
    Effect.gen(function*() {
      const { on, sqlite, store, versions, work } = yield* scene
      const corpus = yield* on(Effect.gen(function*() {
        const corpus = yield* create
        yield* (yield* Files).upload(textFile(corpus, "a", "some words"))
        return corpus
      }))
      const behind = yield* store(corpus)
      yield* behind.put([yield* stray("half", "half a file")])
      // No process has this id: it is more than any system gives.
      sqlite((db) =>
        db.prepare("INSERT INTO vector_work (corpus, file, action, place, owner) VALUES (?, 'half', 'writing', ?, ?)").run(
          idOf(corpus),
          JSON.stringify(vectorDb),
          2 ** 30
        )
      )
      assert.lengthOf(yield* versions(corpus), 2)
      yield* on(Effect.void)
      assert.lengthOf(yield* versions(corpus), 1)
      assert.strictEqual(work(), 0)
    }).pipe(Effect.scoped))

  it.live("does later what the database could not be told", () =>
    Effect.gen(function*() {
      const { on, secrets, versions, work } = yield* scene
      const url = secrets.get("url")!
      const { corpus, file } = yield* on(Effect.gen(function*() {
        const corpus = yield* create
        const { file } = yield* (yield* Files).upload(textFile(corpus, "a", "some words"))
        return { corpus, file: file.name }
      }))
      secrets.delete("url")
      yield* on(Effect.gen(function*() {
        yield* (yield* Files).delete(file)
        const refused = yield* Effect.flip((yield* Files).upload(textFile(corpus, "b", "other words")))
        assert.strictEqual(refused.message, "corpus.vectorDb.postgres.url: is not there")
      }))
      assert.strictEqual(work(), 1)
      assert.lengthOf(yield* versions(corpus), 1)
      secrets.set("url", url)
      yield* on(Effect.void)
      assert.lengthOf(yield* versions(corpus), 0)
      assert.strictEqual(work(), 0)
    }).pipe(Effect.scoped))

  it.live("takes nothing for lost that is still to be deleted, however much is to be done before", () =>
    Effect.gen(function*() {
      const { on, secrets, sqlite, versions } = yield* scene
      const url = secrets.get("url")!
      const spec = { ...managed("to be deleted"), vectorDb }
      const { corpus, file } = yield* on(Effect.gen(function*() {
        const corpus = (yield* (yield* Corpora).create(spec)).name
        return { corpus, file: (yield* (yield* Files).upload(textFile(corpus, "a", "some words"))).file.name }
      }))
      sqlite((db) => {
        const note = db.prepare("INSERT INTO vector_work (corpus, file, action, place, owner) VALUES (?, ?, 'writing', '', ?)")
        // Of a process that lives, so that nothing of it is due.
        for (let at = 0; at < 600; at++) note.run(idOf(corpus), `${at}`, process.ppid)
      })
      secrets.delete("url")
      yield* on(Effect.flatMap(Files, (files) => files.delete(file)))
      secrets.set("url", url)
      const lost = yield* on(Effect.flatMap(Corpora, (corpora) => corpora.lost!(spec)))
      assert.lengthOf(yield* versions(corpus), 1)
      assert.lengthOf(lost?.files ?? [], 0)
    }).pipe(Effect.scoped))

  it.live("changes nothing more once another data directory has taken the corpus over", () =>
    Effect.gen(function*() {
      const { on, sqlite, store, versions } = yield* scene
      yield* on(Effect.gen(function*() {
        const corpus = yield* create
        const files = yield* Files
        const { file } = yield* files.upload(textFile(corpus, "a", "some words"))
        const taken = yield* store(corpus)
        const record = (yield* taken.corpora).find((each) => each.corpus === idOf(corpus))!
        yield* taken.sign({ displayName: record.displayName, embedder: record.embedder, owner: "another" })
        const upload = Effect.flip(files.upload(textFile(corpus, "b", "other words")))
        const refused = yield* eventually("an upload is refused", Effect.orElseSucceed(upload, () => undefined))
        assert.include(refused.message, "taken over by another data directory")
        const before = yield* versions(corpus)
        yield* files.delete(file.name)
        assert.deepStrictEqual(yield* versions(corpus), before)
      }))
      assert.strictEqual(sqlite((db) => Number(db.prepare("SELECT count(*) AS n FROM vector_work").get()?.["n"])), 0)
    }).pipe(Effect.scoped))

  it.live("does not try every waiting file alone where the database is gone", () =>
    Effect.gen(function*() {
      const gone = new ServiceError({ code: "UNAVAILABLE", message: "gone" })
      const count = 30
      let puts = 0
      const store = {
        place: "nowhere",
        prepare: Effect.void,
        corpora: Effect.succeed([]),
        sign: () => Effect.void,
        delete: () => Effect.void,
        put: () => Effect.andThen(Effect.sleep(50), Effect.suspend(() => (puts++, Effect.fail(gone))))
      } satisfies Partial<VectorStore>
      // The engine calls nothing else of it here.
      const stores = Layer.succeed(VectorStores, { open: () => Effect.succeed(store as unknown as VectorStore) })
      yield* Effect.gen(function*() {
        const corpus = yield* create
        const files = yield* Files
        const all = yield* Effect.forEach(
          Array.from({ length: count }, (_, at) => at),
          (at) => Effect.flip(files.upload(textFile(corpus, `${at}`, `word${at}`))),
          { concurrency: "unbounded" }
        )
        assert.deepStrictEqual(new Set(all.map(({ message }) => message)), new Set(["gone"]))
      }).pipe(Effect.provide(engine(yield* tempFolder).pipe(Layer.provide(stores))))
      assert.isBelow(puts, count)
    }).pipe(Effect.scoped))

  it.live("embeds nothing that was embedded for a corpus elsewhere", () =>
    Effect.gen(function*() {
      const { on } = yield* scene
      yield* on(Effect.gen(function*() {
        const corpora = yield* Corpora
        const files = yield* Files
        const here = (yield* corpora.create(managed("here"))).name
        const there = yield* create
        assert.strictEqual((yield* files.upload(textFile(here, "a", "one\n\ntwo"))).embedded, 2)
        const moved = yield* files.upload(textFile(there, "a", "one\n\ntwo\n\nthree"))
        assert.strictEqual(moved.embedded, 1)
        const question = { query: "one two three", topK: 9 }
        const retrieval = yield* Retrieval
        assert.lengthOf(yield* retrieval.retrieve({ corpus: there, ...question }), 3)
      }))
    }).pipe(Effect.scoped))
})
