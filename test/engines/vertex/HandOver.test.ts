import { assert, describe, it } from "@effect/vitest"
import { Effect, Redacted } from "effect"
import { readdirSync } from "node:fs"
import { rm } from "node:fs/promises"
import { join } from "node:path"
import { local } from "../../../connectors/local/Local.ts"
import { storage } from "../../../connectors/storage/Storage.ts"
import type { StorageFactory } from "../../../src/compose/Imports.ts"
import { type EmbeddedServerOptions, serveEmbedded } from "../../../src/compose/Server.ts"
import * as Vertex from "../../../src/compose/VertexEntry.ts"
import { defineParser, Pipeline, type Source } from "../../../src/index.ts"
import { addsUp, type Counts, type Report } from "../../../src/domain/Report.ts"
import { definePipeline, type PipelineInput } from "../../../src/pipeline/definition/DefinePipeline.ts"
import { emulator, fakeGcs } from "../../fakes/Gcs.ts"
import { type ConnectorSet, definitionsOf, pipelineOf } from "../../support/Sources.ts"
import { tempFolder, write } from "../../support/TempFolder.ts"

/** A server whose bucket `docs` is a folder, and the same objects behind the storage API for our own connector. */
const setUpWith = (options: Partial<EmbeddedServerOptions>) =>
  Effect.gen(function*() {
    const folder = yield* tempFolder
    const gcs = yield* fakeGcs()
    const bucket = join(folder, "bucket")
    if (options.allowRemote === true) yield* emulator(gcs.origin)
    const { url } = yield* serveEmbedded({
      dataDir: join(folder, "server"),
      version: "test",
      port: 0,
      storage: storage as StorageFactory,
      buckets: new Map([["docs", bucket]]),
      ...options
    })
    const put = (objects: Readonly<Record<string, string>>) => {
      write(bucket, objects)
      for (const [name, text] of Object.entries(objects)) gcs.put("docs", name, text)
    }
    const remove = (name: string) => {
      gcs.remove("docs", name)
      return Effect.promise(() => rm(join(bucket, name)))
    }
    const environment = { STORAGE_EMULATOR_HOST: gcs.origin }
    const ofStorage: ConnectorSet = { storage: (settings) => storage(settings, { environment }) }
    const pipeline = (changes: Partial<PipelineInput> = {}, connectors = ofStorage) =>
      pipelineOf(
        definePipeline({
          name: "handbook",
          engine: { vertex: { project: "p1", location: "us-central1", baseUrl: url } },
          corpus: { displayName: "Handbook" },
          sources: { bucket: { storage: { uris: ["gs://docs/hr/"] } } },
          chunking: { size: 128, overlap: 16 },
          stages: [{ retrieve: { topK: 3 } }],
          ...changes
        }),
        connectors
      )
    const engineAt = (baseUrl: string) =>
      Vertex.layer({ dataDir: join(folder, "client"), project: "p1", location: "us-central1", baseUrl, token: Redacted.make("t") })
    return { bucket, engine: engineAt(url), engineAt, folder, gcs, ofStorage, pipeline, put, remove }
  })
const setUp = setUpWith({})

const expectCounts = (report: Report, counts: Partial<Counts>) => {
  const seen = Object.fromEntries(Object.entries(report.totals).filter(([key, n]) => n !== 0 && key !== "listed"))
  assert.deepStrictEqual(seen, { ...counts }, JSON.stringify(report.notable))
  assert.isTrue(addsUp(report.totals))
}

const leave = "# Leave\n\nEmployees receive 28 days of paid annual leave each calendar year."
const travel = "# Travel\n\nThe hotel limit in Osaka is 120 EUR per night."

describe("cloud sources on the hosted engine, against a server", () => {
  it.live("a bucket is planned, imported by the service, reconciled with our listing, and followed", () =>
    Effect.gen(function*() {
      const { engine, gcs, pipeline, put, remove } = yield* setUp
      put({ "hr/leave.md": leave, "hr/sub/tr\u00e4vel 1.md": travel, "hr/broken.docx": "no document", "other/x.md": "# X" })
      const handbook = pipeline()
      yield* Effect.gen(function*() {
        const planned = yield* handbook.plan()
        assert.strictEqual(planned.totals.added, 3)
        const first = yield* handbook.run
        expectCounts(first, { added: 2, failed: 1 })
        assert.strictEqual(first.notable[0]?.path, "gs://docs/hr/broken.docx")
        assert.include(first.sources[0]?.note, "2 imported, 0 skipped, 1 failed")
        assert.isTrue(first.sources[0]?.complete)
        expectCounts(yield* handbook.run, { unchanged: 2, quarantined: 1 })

        put({ "hr/leave.md": leave.replace("28", "30") })
        yield* remove("hr/sub/tr\u00e4vel 1.md")
        expectCounts(yield* handbook.run, { changed: 1, quarantined: 1, deleted: 1 })
        const { contexts } = yield* handbook.retrieve("days of annual leave")
        assert.deepStrictEqual(contexts.map(({ sourceUri }) => sourceUri), ["gs://docs/hr/leave.md"])
        assert.include(contexts[0]?.text, "30 days")
        // Its bytes went from the bucket to the service, and never through here.
        assert.isFalse(gcs.asked.some(({ url }) => url.searchParams.get("alt") === "media"))
      }).pipe(Effect.provide(engine))
    }).pipe(Effect.scoped))

  it.live("a ledger that was lost is rebuilt from the addresses, and nothing is imported twice", () =>
    Effect.gen(function*() {
      const { engine, folder, pipeline, put } = yield* setUp
      put({ "hr/leave.md": leave, "hr/travel.md": travel })
      const handbook = pipeline()
      expectCounts(yield* handbook.run.pipe(Effect.provide(engine)), { added: 2 })
      yield* Effect.promise(() => rm(join(folder, "client"), { recursive: true }))
      const report = yield* handbook.run.pipe(Effect.provide(engine))
      expectCounts(report, { unchanged: 2 })
      assert.include(report.sources[0]?.note, "0 imported, 2 skipped, 0 failed")
    }).pipe(Effect.scoped))

  it.live("without a connector of ours it is imported whole, which the report says; results go to the sink", () =>
    Effect.gen(function*() {
      const { bucket, engine, gcs, pipeline, put } = yield* setUpWith({ allowRemote: true })
      gcs.put("results", "other", "")
      put({ "hr/leave.md": leave, "hr/travel #1?.md": travel, "hr/broken.docx": "no document" })
      const named: Array<string> = []
      const run = (resultSink: string) => {
        const handbook = pipeline({ import: { resultSink } }, {})
        return handbook.runWith({
          observe: (event) => Effect.sync(() => void (event.type === "file" && named.push(`${event.outcome} ${event.path}`)))
        }).pipe(Effect.provide(engine))
      }
      const first = yield* run("gs://docs/results/run.ndjson")
      expectCounts(first, { added: 2, failed: 1 })
      // What the service wrote is in its bucket, and not where we look for it.
      assert.match(first.sources[0]?.note ?? "", /^import-only: .*2 imported, 0 skipped, 1 failed; its result could not be read: /)
      assert.isFalse(first.sources[0]?.complete)
      assert.deepStrictEqual(named.splice(0), ["failed gs://docs/hr/broken.docx"])
      assert.strictEqual(readdirSync(join(bucket, "results")).length, 1)

      const second = yield* run("gs://results/run.ndjson")
      expectCounts(second, { unchanged: 2, failed: 1 })
      assert.match(second.sources[0]?.note ?? "", /0 imported, 2 skipped, 1 failed$/)
      assert.deepStrictEqual(named.toSorted(), [
        "failed gs://docs/hr/broken.docx",
        "unchanged gs://docs/hr/leave.md",
        "unchanged gs://docs/hr/travel #1?.md"
      ])
    }).pipe(Effect.scoped))

  it.live("files of this machine are staged in object storage, and imported from there", () =>
    Effect.gen(function*() {
      const { engineAt, folder, gcs, pipeline } = yield* setUp
      gcs.put("staging", "other", "")
      const environment = { STORAGE_EMULATOR_HOST: gcs.origin }
      yield* emulator(gcs.origin)
      const { url } = yield* serveEmbedded({
        dataDir: join(folder, "other"),
        version: "test",
        port: 0,
        storage: (config, context) => storage(config, { ...context, environment }),
        allowRemote: true
      })
      write(join(folder, "docs"), { "leave.md": leave, "trips/travel #1.md": travel })
      const staged = pipeline({
        engine: { vertex: { project: "p1", location: "us-central1", baseUrl: url } },
        sources: { docs: { local: { path: join(folder, "docs"), staging: "gs://staging/docs" } } }
      }, { local })
      yield* Effect.gen(function*() {
        expectCounts(yield* staged.run, { added: 2 })
        write(join(folder, "docs"), { "leave.md": leave.replace("28", "30") })
        const second = yield* staged.run
        expectCounts(second, { changed: 1, unchanged: 1 })
        assert.include(second.sources[0]?.note, "1 imported, 0 skipped, 0 failed")
        const { contexts } = yield* staged.retrieve("days of annual leave")
        assert.strictEqual(contexts.length, 2)
        assert.include(contexts[0]?.text, "30 days")
        assert.strictEqual(contexts[0]?.sourceDisplayName, "leave.md")
      }).pipe(Effect.provide(engineAt(url)))
      const uploads = gcs.asked.filter(({ url }) => url.pathname.startsWith("/upload/"))
      assert.strictEqual(uploads.length, 3)
      const removals = gcs.asked.filter(({ method }) => method === "DELETE").map(({ url }) => decodeURIComponent(url.pathname))
      assert.strictEqual(removals.length, 3)
      assert.isTrue(removals.every((path) => path.startsWith("/storage/v1/b/staging/o/docs/")))
      assert.isDefined(gcs.object("staging", "other"))
    }).pipe(Effect.scoped))

  it.live("what a parser of one's own reads is read here, and its Markdown put there or staged in its place", () =>
    Effect.gen(function*() {
      const { engine, folder, gcs, ofStorage, put } = yield* setUpWith({ allowRemote: true })
      gcs.put("staging", "other", "")
      put({ "hr/leave.md": leave, "hr/keys.call": "the keys hang in the lodge" })
      write(join(folder, "docs"), { "bikes.call": "bikes stand in the yard" })
      const calls = (version: number) =>
        defineParser({
          kind: "calls",
          description: "Calls.",
          version,
          extensions: ["call"],
          fields: {},
          make: () => Effect.succeed(({ content }) => Effect.succeed(`# Call ${version}\n\nSaid: ${Buffer.from(content).toString()}.`))
        })
      const { local: folderSource, storage: bucketSource } = definitionsOf({ ...ofStorage, local })
      const handbook = (version: number) =>
        Pipeline.make("handbook", {
          corpus: { displayName: "Handbook" },
          sources: {
            bucket: bucketSource!({ uris: ["gs://docs/hr/"] } as never) as Source,
            docs: folderSource!({ path: join(folder, "docs"), staging: "gs://staging/docs" } as never) as Source
          },
          parsers: [calls(version)({})]
        })
      yield* Effect.gen(function*() {
        assert.deepInclude((yield* handbook(1).plan()).totals, { added: 3 })
        expectCounts(yield* handbook(1).run, { added: 3 })
        expectCounts(yield* handbook(1).run, { unchanged: 3 })
        const texts = Effect.map(handbook(1).retrieve("keys in the lodge, bikes in the yard"), ({ contexts }) =>
          contexts.map(({ sourceDisplayName, text }) =>
            `${sourceDisplayName}: ${text}`
          ).filter((text) => text.includes("Call")).toSorted())
        assert.deepStrictEqual(yield* texts, [
          "bikes.call.md: Call 1\n\nSaid: bikes stand in the yard.",
          "keys.call.md: Call 1\n\nSaid: the keys hang in the lodge."
        ])
        expectCounts(yield* handbook(2).run, { changed: 2, unchanged: 1 })
        assert.deepStrictEqual((yield* texts).map((text) => text.includes("Call 2")), [true, true])
      }).pipe(Effect.provide(engine))
    }).pipe(Effect.scoped))

  it.live("one that the server cannot import fails, by name", () =>
    Effect.gen(function*() {
      const { engine, pipeline } = yield* setUp
      const drive = pipeline({ sources: { drive: { googleDrive: { folders: ["1AbC"] } } } }, {})
      const report = yield* Effect.provide(drive.run, engine)
      expectCounts(report, { failed: 1 })
      assert.include(report.notable[0]?.message, "google_drive_source")
    }).pipe(Effect.scoped))
})
