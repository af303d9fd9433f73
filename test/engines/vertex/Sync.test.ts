import { assert, describe, it } from "@effect/vitest"
import { Effect, Fiber, Layer } from "effect"
import { defaultChunking } from "../../../src/domain/Chunking.ts"
import { addsUp, type Counts, type Report } from "../../../src/domain/Report.ts"
import { maxUploadBytes } from "../../../src/engines/vertex/HostedFiles.ts"
import { sync } from "../../../src/pipeline/sync/Sync.ts"
import type { SyncSpec } from "../../../src/pipeline/sync/Session.ts"
import { Engine } from "../../../src/ports/Engine.ts"
import { LedgerWrites } from "../../../src/state/LedgerWrites.ts"
import * as SqliteLedger from "../../../src/state/SqliteLedger.ts"
import { State } from "../../../src/state/State.ts"
import { type Call, fakeVertex } from "../../fakes/Vertex.ts"
import { MemorySource } from "../../support/MemorySource.ts"
import { tempFolder } from "../../support/TempFolder.ts"
import { hosted } from "./Engine.ts"

const engine = Layer.succeed(Engine, {
  name: "vertex",
  parent: "projects/p1/locations/us-central1",
  target: "fake",
  signature: "vertex",
  maxFileBytes: maxUploadBytes,
  immutableFiles: true,
  remoteEmbedding: true,
  concurrency: 4
})

const setUp = Effect.gen(function*() {
  const fake = yield* fakeVertex
  const dataDir = yield* tempFolder
  const source = new MemorySource()
  const spec: SyncSpec = {
    pipeline: "test",
    corpus: { displayName: "Test", vectorDb: { _tag: "managed" } },
    chunking: defaultChunking,
    parsing: { _tag: "default" },
    sources: [{ id: "docs", connector: source.connector }],
    maxDelete: { percent: 100 },
    onFileError: "continue"
  }
  const run = (data = dataDir) =>
    sync(spec).pipe(Effect.provide(Layer.mergeAll(
      hosted(fake.baseUrl),
      engine,
      SqliteLedger.layer.pipe(Layer.provide(LedgerWrites.layerDirect), Layer.provide(State.layer(data)))
    )))
  const content = () => Object.fromEntries([...fake.files.values()].map((file) => [file.displayName, file.content]).toSorted())
  return { content, dataDir, fake, run, source }
})

const expectCounts = (report: Report, counts: Partial<Counts>) => {
  const seen = Object.fromEntries(Object.entries(report.totals).filter(([key, n]) => n !== 0 && key !== "listed"))
  assert.deepStrictEqual(seen, { ...counts })
  assert.isTrue(addsUp(report.totals))
}

const isUpload = ({ path }: Pick<Call, "path">) => path.startsWith("/upload/")

describe("sync with the hosted engine", () => {
  it.live("adds, changes and deletes; a run with nothing to do writes nothing", () =>
    Effect.gen(function*() {
      const { content, fake, run, source } = yield* setUp
      source.items = { "a.md": { text: "one" }, "b.md": { text: "two" }, "c.md": { text: "three" } }
      expectCounts(yield* run(), { added: 3 })
      source.items = { "a.md": { text: "one" }, "b.md": { text: "two!" } }
      expectCounts(yield* run(), { changed: 1, unchanged: 1, deleted: 1 })
      assert.deepStrictEqual(content(), { "a.md": "one", "b.md": "two!" })
      const before = fake.calls.length
      expectCounts(yield* run(), { unchanged: 2 })
      // The corpus, and its files.
      assert.deepStrictEqual(fake.calls.slice(before).map(({ method }) => method), ["GET", "GET"])
    }).pipe(Effect.scoped))

  it.live("uploads a renamed file anew, and deletes it under its old name", () =>
    Effect.gen(function*() {
      const { content, fake, run, source } = yield* setUp
      source.items = { "old.md": { text: "one" } }
      yield* run()
      source.items = { "new.md": { text: "one" } }
      expectCounts(yield* run(), { changed: 1 })
      assert.deepStrictEqual(content(), { "new.md": "one" })
      assert.strictEqual(fake.files.size, 1)
      expectCounts(yield* run(), { unchanged: 1 })
    }).pipe(Effect.scoped))

  it.live("leaves a file alone when only facts change that the service does not keep", () =>
    Effect.gen(function*() {
      const { fake, run, source } = yield* setUp
      source.items = { "a.md": { text: "one", permissions: { public: true, principals: [] } } }
      yield* run()
      source.items = { "a.md": { text: "one", permissions: { public: false, principals: ["user:a@b.c"] } } }
      expectCounts(yield* run(), { unchanged: 1 })
      assert.strictEqual(fake.calls.filter(isUpload).length, 1)
    }).pipe(Effect.scoped))

  it.live("rebuilds a lost ledger from the markers, and uploads nothing again", () =>
    Effect.gen(function*() {
      const { fake, run, source } = yield* setUp
      source.items = { "a.md": { text: "one" }, "b.md": { text: "two" } }
      yield* run()
      expectCounts(yield* run(yield* tempFolder), { unchanged: 2 })
      assert.strictEqual(fake.calls.filter(isUpload).length, 2)
    }).pipe(Effect.scoped))

  it.live("an upload that was killed before its answer is found, not sent again", () =>
    Effect.gen(function*() {
      const { content, fake, run, source } = yield* setUp
      source.items = { "a.md": { text: "one" } }
      let stored: () => void = () => undefined
      const acted = new Promise<void>((resolve) => (stored = resolve))
      fake.handle = (call) => {
        if (!isUpload(call)) return false
        fake.act(call)
        stored()
        return true
      }
      const fiber = yield* Effect.forkChild(run())
      yield* Effect.promise(() => acted)
      yield* Fiber.interrupt(fiber)
      fake.handle = () => false
      expectCounts(yield* run(), { unchanged: 1 })
      assert.deepStrictEqual(content(), { "a.md": "one" })
      assert.strictEqual(fake.files.size, 1)
      assert.strictEqual(fake.calls.filter(isUpload).length, 1)
    }).pipe(Effect.scoped))

  it.live("an upload whose outcome nobody knows stays open, and the next run looks", () =>
    Effect.gen(function*() {
      const { fake, run, source } = yield* setUp
      source.items = { "a.md": { text: "one" } }
      let down = false
      fake.fault = (call) => {
        if (isUpload(call)) down = true
        return isUpload(call) ? "lose" : down ? { status: 503 } : undefined
      }
      const report = yield* run()
      expectCounts(report, { failed: 1 })
      assert.strictEqual(report.notable[0]?.reason, "UNKNOWN")
      fake.fault = () => undefined
      expectCounts(yield* run(), { unchanged: 1 })
      assert.strictEqual(fake.files.size, 1)
      assert.strictEqual(fake.calls.filter(isUpload).length, 1)
    }).pipe(Effect.scoped))

  it.live("an old version that could not be deleted is deleted by the next run", () =>
    Effect.gen(function*() {
      const { content, fake, run, source } = yield* setUp
      source.items = { "a.md": { text: "one" } }
      yield* run()
      source.items = { "a.md": { text: "two" } }
      fake.fault = ({ method }) => method === "DELETE" ? { status: 503 } : undefined
      expectCounts(yield* run(), { failed: 1 })
      fake.fault = () => undefined
      expectCounts(yield* run(), { unchanged: 1 })
      assert.deepStrictEqual(content(), { "a.md": "two" })
      assert.strictEqual(fake.files.size, 1)
    }).pipe(Effect.scoped))
})
