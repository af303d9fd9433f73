import { assert, describe, it } from "@effect/vitest"
import { Effect, Schema, Stream } from "effect"
import { mkdirSync, readdirSync, readFileSync, truncateSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { DatabaseSync } from "node:sqlite"
import { local } from "../../connectors/index.ts"
import { type Connector, defineConnector, Embedded, type Listed, Pipeline, type RetrieveOptions, type StateError } from "../../src/index.ts"
import { tempFolder, touch, write } from "../support/TempFolder.ts"

interface Note {
  readonly text: string
  readonly team?: string
  readonly readers?: ReadonlyArray<string>
}

const notesOf = (items: Readonly<Record<string, Note>>) =>
  defineConnector({
    kind: "notes",
    description: "Notes of a program.",
    fields: { folder: Schema.String.annotate({ description: "The folder of notes." }) },
    shorthand: "folder",
    connect: () =>
      Effect.succeed<Connector>({
        kind: "notes",
        check: Effect.void,
        list: () =>
          Stream.concat(
            Stream.fromIterable(
              Object.entries(items).map(([path, { readers, team, text }]): Listed => ({
                _tag: "item",
                item: {
                  path,
                  uri: `notes://${path}`,
                  displayName: path,
                  revision: text,
                  mimeType: "text/markdown",
                  ...(team === undefined ? {} : { metadata: { team } }),
                  ...(readers === undefined ? {} : { permissions: { public: false, principals: readers } })
                }
              }))
            ),
            Stream.make({ _tag: "complete" as const })
          ),
        read: ({ path }) => Stream.make(new TextEncoder().encode(items[path]?.text ?? ""))
      })
  })("all")

const notes: Readonly<Record<string, Note>> = {
  "pay/ann.md": { text: "# Pay\n\nAnn earns ninety thousand euros a year.", team: "hr", readers: ["user:ann@acme.com"] },
  "pay/scale.md": { text: "# Pay scale\n\nThe pay scale begins at forty thousand euros a year.", team: "hr" },
  "ops/keys.md": { text: "# Keys\n\nThe spare keys hang in the porter's lodge behind the mirror.", team: "ops" },
  "ops/bikes.md": { text: "# Bikes\n\nBikes stand in the inner yard and are locked to the rail there.", team: "ops" }
}

const documents = {
  "leave.md":
    "# Leave\n\nFive unused days of annual leave carry over into the next year.\n\n# Notice\n\nNotice is given three weeks ahead.\n",
  "travel/hotels.md": "# Hotels\n\nThe hotel limit in Osaka is 150 euros a night.\n",
  "batteries.txt": "A damaged lithium cell stays in the quarantine cage for fourteen days.\n"
}

/** A pipeline over documents of a folder and notes, in a folder of its own. */
const handbook = (folder: string, items = notes) =>
  Pipeline.make("handbook", {
    corpus: { displayName: "Handbook" },
    chunking: { strategy: "structure", size: 20, overlap: 0 },
    sources: { docs: local(join(folder, "docs")), notes: notesOf(items) }
  })

const placed = Effect.map(tempFolder, (folder) => {
  write(join(folder, "docs"), documents)
  return { folder, engine: Embedded.layer({ dataDir: join(folder, ".sluice") }), file: join(folder, "handbook.bundle") }
})

const exported = Effect.gen(function*() {
  const place = yield* placed
  const pipeline = handbook(place.folder)
  yield* pipeline.run.pipe(Effect.provide(place.engine))
  const made = yield* Embedded.exportBundle(pipeline, place.file).pipe(Effect.provide(place.engine))
  return { ...place, pipeline, made }
})

describe("a bundle", () => {
  it.live("has the same bytes wherever, whenever and in whatever order the same files came in", () =>
    Effect.gen(function*() {
      const one = yield* exported
      assert.deepInclude(one.made, { files: 7, chunks: 8, bytes: readFileSync(one.file).length })
      const other = yield* placed
      // One source after the other, a file that was another before, and one that is gone again.
      const some = (items: Readonly<Record<string, Note>>) => handbook(other.folder, items).run.pipe(Effect.provide(other.engine))
      write(join(other.folder, "docs"), { "leave.md": "# Leave\n\nNo day of leave carries over.\n", "gone.md": "# Gone\n\nSoon gone.\n" })
      yield* some({ "ops/bikes.md": { text: "# Bikes\n\nBikes may not be brought." } })
      write(join(other.folder, "docs"), { "leave.md": documents["leave.md"] })
      yield* Effect.promise(async () => (await import("node:fs/promises")).rm(join(other.folder, "docs/gone.md")))
      touch(join(other.folder, "docs/travel/hotels.md"))
      yield* some(notes)
      const { sha256 } = yield* Embedded.exportBundle(handbook(other.folder), other.file).pipe(Effect.provide(other.engine))
      assert.strictEqual(sha256, one.made.sha256)
      assert.isTrue(readFileSync(other.file).equals(readFileSync(one.file)))
      const text = readFileSync(one.file, "latin1")
      assert.isFalse(text.includes(one.folder))
    }).pipe(Effect.scoped))

  it.live("answers as the corpus that it was made of, to the last bit, and keeps who may read what", () =>
    Effect.gen(function*() {
      const { engine, file, folder, pipeline } = yield* exported
      const bundle = yield* Embedded.fromBundle(file)
      const elsewhere = Embedded.layer({ dataDir: join(folder, "elsewhere") })
      const ways: ReadonlyArray<RetrieveOptions> = [
        {},
        { hybrid: { alpha: 0 } },
        { hybrid: { alpha: 1 } },
        { hybrid: { alpha: 0.5 }, topK: 3 },
        { filter: { metadataFilter: "team == \"ops\"" } }
      ]
      const questions = ["what does Ann earn?", "how many days of leave carry over", "limit of hotels in Osaka"].flatMap((question) => [
        ...ways.map((options) => ({ asked: { question }, options })),
        ...["user:ann@acme.com", "user:ben@acme.com"].map((principal) => ({ asked: { question, principal }, options: {} }))
      ])
      const foundIn = (one: Pick<typeof bundle, "retrieve">) =>
        Effect.forEach(questions, ({ asked, options }) =>
          Effect.map(one.retrieve(asked, options), ({ contexts }) =>
            contexts.map(({ distance, score, sourceDisplayName, text }) => ({ distance, score, sourceDisplayName, text }))))
      const [here, there] = [
        yield* foundIn(pipeline).pipe(Effect.provide(engine)),
        yield* foundIn(bundle).pipe(Effect.provide(elsewhere))
      ]
      assert.deepStrictEqual(there, here)
      const salary = there.map((contexts) =>
        contexts.some(({ text }) =>
          text.includes("ninety thousand")
        )
      )
      // Of the first question: she is found, and by herself; not among what the operators wrote, and not by Ben.
      assert.deepStrictEqual(salary.slice(0, 7), [true, true, true, true, false, true, false])
      const { answer } = yield* bundle.ask("how many days of leave carry over?").pipe(Effect.provide(elsewhere))
      assert.include(answer.text, "Five unused days")
      assert.strictEqual(answer.citations[0]?.sourceUri, "docs/leave.md")
      // Nothing was made to read it.
      assert.notInclude(readdirSync(folder), "elsewhere")
      const refused = yield* bundle.run.pipe(Effect.provide(elsewhere), Effect.flip)
      assert.match(refused.message, /is a bundle: it has one generation, and is read-only/)
    }).pipe(Effect.scoped))

  it.live("holds the corpus as it was, beside whoever writes to it", () =>
    Effect.gen(function*() {
      const { engine, file, folder, made, pipeline } = yield* exported
      const writer = new DatabaseSync(join(folder, ".sluice/sluice.db"), { timeout: 60_000 })
      yield* Effect.addFinalizer(() => Effect.sync(() => writer.close()))
      writer.exec("BEGIN IMMEDIATE; DELETE FROM chunk_pages; DELETE FROM files")
      const again = yield* Embedded.exportBundle(pipeline, file).pipe(Effect.provide(engine))
      assert.strictEqual(again.sha256, made.sha256)
      writer.exec("ROLLBACK")
    }).pipe(Effect.scoped))

  it.live("is not made of a corpus that is damaged, and leaves the one that is there alone", () =>
    Effect.gen(function*() {
      const { engine, file, folder, pipeline } = yield* exported
      const before = readFileSync(file)
      const db = new DatabaseSync(join(folder, ".sluice/sluice.db"), { timeout: 60_000 })
      db.exec("UPDATE embeddings SET vector = zeroblob(8) WHERE id = 1")
      db.close()
      const error = yield* Embedded.exportBundle(pipeline, file).pipe(Effect.provide(engine), Effect.flip)
      assert.match(error.message, /a vector of .* is damaged in .*sluice\.db: nothing was exported/)
      assert.isTrue(readFileSync(file).equals(before))
      assert.deepStrictEqual(readdirSync(folder).filter((name) => name.includes("bundle")), ["handbook.bundle"])
    }).pipe(Effect.scoped))

  it.live("is refused before the first run, and of a generation that is not there", () =>
    Effect.gen(function*() {
      const { engine, file, folder } = yield* placed
      const pipeline = handbook(folder)
      const none = yield* Embedded.exportBundle(pipeline, file).pipe(Effect.provide(engine), Effect.flip)
      assert.deepInclude(none, { message: "handbook has no corpus yet", fix: "run it first: sluice run" })
      yield* pipeline.run.pipe(Effect.provide(engine))
      const other = yield* Embedded.exportBundle(pipeline, file, { generation: 7 }).pipe(Effect.provide(engine), Effect.flip)
      assert.strictEqual(other.message, "handbook has no generation 7, but 1")
    }).pipe(Effect.scoped))
})

describe("a file that is no good bundle", () => {
  it.live("says what it is, by one error", () =>
    Effect.gen(function*() {
      const { file, folder } = yield* exported
      const whole = readFileSync(file)
      const opened = (bytes: Uint8Array): Effect.Effect<StateError> => {
        const path = join(folder, "other.bundle")
        writeFileSync(path, bytes)
        return Effect.flip(Embedded.fromBundle(path)) as Effect.Effect<StateError>
      }
      const changed = (at: number, byte?: number): Uint8Array => {
        const bytes = Buffer.from(whole)
        bytes[at] = byte ?? (bytes[at] as number) ^ 1
        return bytes
      }
      const expectEach = [
        [Buffer.alloc(0), "other", /is not a bundle of Sluice$/],
        [Buffer.from("name: handbook\n"), "other", /is not a bundle of Sluice$/],
        [readFileSync(join(folder, ".sluice/sluice.db")), "other", /is not a bundle of Sluice, but another SQLite database$/],
        [whole.subarray(0, 5000), "damaged", /is not whole/],
        [whole.subarray(0, whole.length - 1), "damaged", /is not whole/],
        [Buffer.concat([whole.subarray(0, 8192), whole.subarray(12_288)]), "damaged", /has \d+ bytes where its footer says \d+/],
        [Buffer.concat([whole, Buffer.alloc(1)]), "damaged", /is not whole/],
        [changed(0), "damaged", /its bytes are not those that its checksum was made of/],
        [changed(20_000), "damaged", /its bytes are not those that its checksum was made of/],
        [changed(whole.length - 1), "damaged", /its bytes are not those that its checksum was made of/],
        [changed(whole.length - 48, 2), "newer", /was written by a newer Sluice \(bundle format 2, schema \d+; this one reads 1 and \d+\)/],
        [changed(whole.length - 44, 200), "newer", /was written by a newer Sluice \(bundle format 1, schema 200;/],
        [changed(whole.length - 44, 3), "damaged", /checksum/]
      ] as const
      for (const [bytes, problem, message] of expectEach) {
        const error = yield* opened(bytes)
        assert.strictEqual(error._tag, "StateError")
        assert.strictEqual(error.problem, problem, error.message)
        assert.match(error.message, message)
        assert.include(error.message, join(folder, "other.bundle"))
        assert.isNotEmpty(error.fix)
      }
      const missing = yield* Effect.flip(Embedded.fromBundle(join(folder, "none.bundle")))
      assert.match(missing.message, /none\.bundle cannot be read \(ENOENT\)/)
      mkdirSync(join(folder, "folder.bundle"))
      assert.match((yield* Effect.flip(Embedded.fromBundle(join(folder, "folder.bundle")))).message, /folder\.bundle/)
      truncateSync(file, 100)
      assert.match((yield* Effect.flip(Embedded.fromBundle(file))).message, /is not whole/)
    }).pipe(Effect.scoped))
})
