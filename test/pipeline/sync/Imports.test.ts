import { assert, describe, it } from "@effect/vitest"
import { Deferred, Effect, Fiber, Layer, Stream } from "effect"
import { defaultChunking } from "../../../src/domain/Chunking.ts"
import { ServiceError } from "../../../src/domain/Errors.ts"
import { addsUp, type Counts, type Report, type SyncEvent } from "../../../src/domain/Report.ts"
import { plan, type PlanItem } from "../../../src/pipeline/sync/Plan.ts"
import { sync } from "../../../src/pipeline/sync/Sync.ts"
import type { SyncOptions, SyncSpec } from "../../../src/pipeline/sync/Session.ts"
import type { Connector, Listed } from "../../../src/ports/Connector.ts"
import { LedgerWrites } from "../../../src/state/LedgerWrites.ts"
import * as SqliteLedger from "../../../src/state/SqliteLedger.ts"
import { State } from "../../../src/state/State.ts"
import { TextPool } from "../../../src/text/TextPool.ts"
import { MemoryEngine } from "../../support/MemoryEngine.ts"
import { MemorySource } from "../../support/MemorySource.ts"
import { tempFolder } from "../../support/TempFolder.ts"

/** Lists the objects that the engine fetches; its bytes are never asked for. */
const bucket = (engine: MemoryEngine, state: { refused: ServiceError | undefined; cutShort: boolean }): Connector => ({
  kind: "storage",
  check: Effect.suspend(() => (state.refused === undefined ? Effect.void : Effect.fail(state.refused))),
  list: () =>
    Stream.suspend(() =>
      Stream.fromIterable<Listed>([
        ...Object.entries(engine.objects ?? {}).map(([uri, text]): Listed => ({
          _tag: "item",
          item: { path: uri, uri, displayName: uri.slice(uri.lastIndexOf("/") + 1), revision: `r-${text}`, size: text.length }
        })),
        ...(state.cutShort ? [] : [{ _tag: "complete" as const }])
      ])
    ),
  read: (item) => Stream.die(new Error(`${item.uri} was read`))
})

const setUp = Effect.gen(function*() {
  const dataDir = yield* tempFolder
  const engine = new MemoryEngine()
  const state: { refused: ServiceError | undefined; cutShort: boolean } = { refused: undefined, cutShort: false }
  const spec: SyncSpec = {
    pipeline: "test",
    corpus: { displayName: "Test", vectorDb: { _tag: "managed" } },
    chunking: defaultChunking,
    parsing: { _tag: "default" },
    sources: [{ id: "bucket", connector: bucket(engine, state), imports: { _tag: "storage", uris: ["gs://b/"] } }],
    maxDelete: { percent: 10 },
    onFileError: "continue",
    maxEmbeddingRequestsPerMinute: 900
  }
  const seen: Array<SyncEvent> = []
  const on = (data: string) =>
    Layer.mergeAll(
      engine.layer,
      TextPool.layerInline(),
      SqliteLedger.layer.pipe(Layer.provide(LedgerWrites.layerDirect), Layer.provide(State.layer(data)))
    )
  const run = (changes: Partial<SyncSpec> = {}, options: SyncOptions = {}, data = dataDir) =>
    Effect.suspend(() =>
      sync({ ...spec, ...changes }, { observe: (event) => Effect.sync(() => void seen.push(event)), ...options }).pipe(
        Effect.provide(on(data))
      )
    )
  return { dataDir, engine, on, run, seen, spec, state }
})

const expectCounts = (report: Report, counts: Partial<Counts>) => {
  const seen = Object.fromEntries(Object.entries(report.totals).filter(([key, n]) => n !== 0 && key !== "listed"))
  assert.deepStrictEqual(seen, { ...counts })
  assert.isTrue(addsUp(report.totals))
}

const noteOf = ({ sources }: Report) => sources[0]?.note ?? ""

describe("a source that the engine fetches by itself", () => {
  it.effect("is handed over, only what is new or changed, and what is gone is deleted", () =>
    Effect.gen(function*() {
      const { engine, run, seen } = yield* setUp
      engine.objects = { "gs://b/a.md": "one", "gs://b/b.md": "two", "gs://b/c.md": "three" }
      const first = yield* run()
      expectCounts(first, { added: 3 })
      assert.include(noteOf(first), "3 imported, 0 skipped, 0 failed")
      assert.deepStrictEqual(engine.imports.map(({ source }) => source), [{
        _tag: "storage",
        uris: ["gs://b/a.md", "gs://b/b.md", "gs://b/c.md"]
      }])
      assert.strictEqual(engine.imports[0]?.maxEmbeddingRequestsPerMinute, 900)
      assert.deepStrictEqual(seen.flatMap((e) => e.type === "importing" ? [[e.progress, e.files]] : []), [[0, 3], [100, 3]])

      engine.objects = { "gs://b/a.md": "one", "gs://b/b.md": "two!" }
      expectCounts(yield* run(), { changed: 1, unchanged: 1, deleted: 1 })
      assert.deepStrictEqual(engine.imports[1]?.source, { _tag: "storage", uris: ["gs://b/b.md"] })
      assert.deepStrictEqual(engine.content, { "a.md": "one", "b.md": "two!" })
      expectCounts(yield* run(), { unchanged: 2 })
      assert.strictEqual(engine.imports.length, 2)
      assert.strictEqual(engine.calls.uploads, 0)
    }).pipe(Effect.scoped))

  it.effect("is not asked for everything again when the ledger is lost, and still deleted from later", () =>
    Effect.gen(function*() {
      const { dataDir, engine, on, run, seen, spec } = yield* setUp
      engine.objects = { "gs://b/a.md": "one", "gs://b/b.md": "two" }
      yield* run()
      const elsewhere = yield* tempFolder
      const report = yield* run({}, {}, elsewhere)
      expectCounts(report, { unchanged: 2 })
      assert.include(noteOf(report), "0 imported, 2 skipped")
      // Nothing of it is somebody else's, though the service's files bear no mark.
      assert.deepStrictEqual(seen.filter(({ type }) => type === "joins"), [])
      const rebuilt = { ...spec, corpus: { ...spec.corpus, embeddingModel: "other" } }
      for (const data of [dataDir, elsewhere, yield* tempFolder]) {
        const planned = yield* plan(rebuilt, { maxEmbeddingRequestsPerMinute: 60 }).pipe(Effect.provide(on(data)))
        assert.deepStrictEqual([planned.corpus.action, planned.corpus.others], ["replace", undefined])
      }
      engine.objects = { "gs://b/a.md": "one" }
      expectCounts(yield* run({}, {}, elsewhere), { unchanged: 1, deleted: 1 })
    }).pipe(Effect.scoped))

  it.effect("has each failure at the file it names, and tries again only where that can help", () =>
    Effect.gen(function*() {
      const { engine, run } = yield* setUp
      engine.objects = { "gs://b/a": "x", "gs://b/a.md": "one", "gs://b/b c.md": "two", "gs://b/d.md": "four" }
      engine.refuseObject = (uri) =>
        uri === "gs://b/a"
          ? { code: "INVALID_ARGUMENT", message: `File does not have extension. processing ${uri}` }
          : uri === "gs://b/b c.md"
          ? { code: "RESOURCE_EXHAUSTED", message: `Quota exceeded processing ${uri}.` }
          : undefined
      const report = yield* run()
      expectCounts(report, { added: 2, failed: 2 })
      assert.deepStrictEqual(report.notable.map(({ path, reason }) => [path, reason]), [
        ["gs://b/a", "INVALID_ARGUMENT"],
        ["gs://b/b c.md", "RESOURCE_EXHAUSTED"]
      ])
      engine.refuseObject = () => undefined
      expectCounts(yield* run(), { added: 1, unchanged: 2, quarantined: 1 })
      assert.deepStrictEqual(engine.imports[1]?.source, { _tag: "storage", uris: ["gs://b/b c.md"] })
    }).pipe(Effect.scoped))

  it.effect("has each file's end from the result that the engine wrote, where it wrote one", () =>
    Effect.gen(function*() {
      const { engine, run } = yield* setUp
      const resultSink = "gs://b/results.ndjson"
      engine.objects = { "gs://b/a.md": "one", "gs://b/b.md": "two", "gs://b/c.md": "three" }
      engine.refuseObject = (uri) => uri === "gs://b/b.md" ? "silently" : undefined
      const first = yield* run({ resultSink })
      expectCounts(first, { added: 2, failed: 1 })
      assert.deepInclude(first.notable[0], { path: "gs://b/b.md", reason: "failed", message: "could not be read", retryable: true })
      assert.isTrue(engine.results.has(engine.imports[0]?.resultSink ?? ""))

      // The old versions are there, so that only the rows tell which of the two failed.
      engine.objects = { "gs://b/a.md": "one!", "gs://b/b.md": "two", "gs://b/c.md": "three!" }
      engine.refuseObject = (uri) => uri === "gs://b/c.md" ? "silently" : undefined
      const second = yield* run({ resultSink })
      expectCounts(second, { added: 1, changed: 1, failed: 1 })
      assert.deepInclude(second.notable[0], { path: "gs://b/c.md", reason: "failed" })
    }).pipe(Effect.scoped))

  it.effect("accounts for failures that the engine counts and does not name", () =>
    Effect.gen(function*() {
      const { engine, run } = yield* setUp
      engine.objects = { "gs://b/a.md": "one", "gs://b/b.md": "two", "gs://b/c.md": "three" }
      engine.refuseObject = (uri) => uri === "gs://b/b.md" ? "silently" : undefined
      const first = yield* run()
      expectCounts(first, { added: 2, failed: 1 })
      assert.deepInclude(first.notable[0], { path: "gs://b/b.md", reason: "unaccounted", retryable: true })
      // The old version of c.md is there, and so nothing but the count says that the new one is not.
      engine.objects = { "gs://b/a.md": "one", "gs://b/b.md": "two", "gs://b/c.md": "three!" }
      engine.refuseObject = (uri) => uri === "gs://b/c.md" ? "silently" : undefined
      const second = yield* run()
      expectCounts(second, { added: 1, unchanged: 1, failed: 1 })
      assert.deepInclude(second.notable[0], { path: "gs://b/c.md", reason: "unaccounted" })
      engine.refuseObject = (uri) =>
        uri === "gs://b/c.md" ? { code: "INVALID_ARGUMENT", message: "File does not have extension." } : undefined
      const third = yield* run()
      assert.match(third.notable[0]?.message ?? "", /; failures that name no file: INVALID_ARGUMENT: File does not have extension\.$/)
      engine.refuseObject = () => undefined
      expectCounts(yield* run(), { unchanged: 2, changed: 1 })
      assert.strictEqual(engine.content["c.md"], "three!")
    }).pipe(Effect.scoped))

  it.effect("is asked for in batches", () =>
    Effect.gen(function*() {
      const { engine, run } = yield* setUp
      engine.objects = Object.fromEntries(Array.from({ length: 10_003 }, (_, i) => [`gs://b/${String(i).padStart(5, "0")}.md`, "x"]))
      engine.pageSize = 1_000
      const report = yield* run()
      expectCounts(report, { added: 10_003 })
      assert.deepStrictEqual(
        engine.imports.map(({ source }) => source._tag === "storage" ? source.uris.length : 0).toSorted((a, b) => a - b),
        [3, 10_000]
      )
    }).pipe(Effect.scoped))

  it.effect("that a run was following when it was killed is followed by the next one, and not imported again", () =>
    Effect.gen(function*() {
      const { engine, run, seen } = yield* setUp
      engine.objects = { "gs://b/a.md": "one", "gs://b/b.md": "two" }
      engine.refuseObject = (uri) => uri === "gs://b/b.md" ? { code: "INVALID_ARGUMENT", message: `broken: ${uri}` } : undefined
      const looked = yield* Deferred.make<void>()
      engine.onLook = Effect.andThen(Deferred.succeed(looked, undefined), Effect.never)
      const fiber = yield* Effect.forkChild(run())
      yield* Deferred.await(looked)
      yield* Fiber.interrupt(fiber)
      engine.onLook = Effect.void
      seen.length = 0
      expectCounts(yield* run(), { unchanged: 1, quarantined: 1 })
      assert.strictEqual(engine.imports.length, 1)
      assert.isTrue(seen.some((event) => event.type === "importing"))
    }).pipe(Effect.scoped))

  it.effect("that a run had asked for and not heard of is asked for again, and nothing is there twice", () =>
    Effect.gen(function*() {
      const { engine, run } = yield* setUp
      engine.objects = { "gs://b/a.md": "one", "gs://b/b.md": "two" }
      const begun = yield* Deferred.make<void>()
      engine.onImport = Effect.andThen(Deferred.succeed(begun, undefined), Effect.never)
      const fiber = yield* Effect.forkChild(run())
      yield* Deferred.await(begun)
      yield* Fiber.interrupt(fiber)
      engine.onImport = Effect.void
      expectCounts(yield* run(), { added: 2 })
      expectCounts(yield* run(), { unchanged: 2 })
      assert.strictEqual(engine.files.size, 2)
    }).pipe(Effect.scoped))

  it.effect("fails as a whole where the import does, and stops the run where that concerns everything", () =>
    Effect.gen(function*() {
      const { engine, run } = yield* setUp
      engine.objects = { "gs://b/a.md": "one" }
      engine.refuseImport = () => new ServiceError({ code: "INTERNAL", message: "no luck" })
      const report = yield* run()
      expectCounts(report, { failed: 1 })
      assert.include(noteOf(report), "no luck")
      engine.refuseImport = () => new ServiceError({ code: "PERMISSION_DENIED", message: "no" })
      assert.deepInclude(yield* Effect.flip(run()), { code: "PERMISSION_DENIED" })
      engine.refuseImport = () => undefined
      expectCounts(yield* run(), { added: 1 })
    }).pipe(Effect.scoped))

  it.effect("is asked for again by the next run where the import ended with an error, even one that ends the run", () =>
    Effect.gen(function*() {
      const { engine, run, spec } = yield* setUp
      const drive: Partial<SyncSpec> = {
        sources: spec.sources.map(({ connector, id }) => ({
          id,
          connector,
          listing: "service",
          imports: { _tag: "googleDrive", resources: [{ kind: "folder", id: "f" }] }
        }))
      }
      for (const [uri, changes] of [["gs://b/a.md", {}], ["drive/1", drive]] as const) {
        engine.objects = { [uri]: "one" }
        engine.refuseObject = () => "silently"
        engine.onLook = Effect.sync(() => {
          for (const [name, operation] of engine.operations) {
            engine.operations.set(name, { ...operation, error: { code: "RESOURCE_EXHAUSTED", message: "no quota" } })
          }
        })
        const error = yield* Effect.flip(run(changes))
        assert.deepInclude(error, { code: "RESOURCE_EXHAUSTED" })
        assert.match(error.message, /^import \S+ failed: no quota$/)
        assert.include(error.fix, "maxEmbeddingRequestsPerMinute")
        engine.refuseObject = () => undefined
        engine.onLook = Effect.void
        assert.strictEqual((yield* run(changes)).totals.added, 1)
      }
    }).pipe(Effect.scoped))

  it.effect("loses nothing on the word of a listing that was cut short, nor more than the guard allows", () =>
    Effect.gen(function*() {
      const { engine, run, state } = yield* setUp
      const all = Object.fromEntries(Array.from({ length: 30 }, (_, i) => [`gs://b/${i}.md`, "x"]))
      engine.objects = all
      yield* run()
      state.cutShort = true
      engine.objects = { "gs://b/0.md": "x" }
      expectCounts(yield* run(), { unchanged: 1 })
      state.cutShort = false
      expectCounts(yield* run(), { unchanged: 1, held: 29 })
      expectCounts(yield* run({}, { yes: true }), { unchanged: 1, deleted: 29 })
    }).pipe(Effect.scoped))

  it.effect("is planned without being read", () =>
    Effect.gen(function*() {
      const { dataDir, engine, on, run, spec } = yield* setUp
      engine.objects = { "gs://b/a.md": "x".repeat(40_000), "gs://b/b.md": "two" }
      engine.remoteEmbedding = true
      const items: Array<PlanItem> = []
      const planned = yield* plan(spec, {
        maxEmbeddingRequestsPerMinute: 10,
        observe: (item) => Effect.sync(() => void items.push(item))
      }).pipe(Effect.provide(on(dataDir)))
      assert.strictEqual(planned.totals.added, 2)
      assert.strictEqual(items.length, 2)
      assert.strictEqual(planned.embeddingRequests, 14)
      assert.strictEqual(planned.minutes, 1.4)
      assert.include(planned.warnings[0], "2 files are fetched by the service itself")
      assert.strictEqual(engine.imports.length, 0)
      expectCounts(yield* run(), { added: 2 })
    }).pipe(Effect.scoped))
})

describe("a source that only the engine lists", () => {
  it.effect("is imported whole; the counts are the engine's, and nothing is ever deleted", () =>
    Effect.gen(function*() {
      const { engine, run, state } = yield* setUp
      engine.objects = { "gs://b/": "one", "gs://b/x": "two" }
      yield* run()
      state.refused = new ServiceError({ code: "UNAUTHENTICATED", message: "no credentials" })
      engine.objects = {}
      engine.refuseObject = (uri) => ({ code: "NOT_FOUND", message: `not found processing ${uri}` })
      const report = yield* run()
      expectCounts(report, { failed: 1 })
      assert.strictEqual(report.sources[0]?.complete, false)
      assert.match(noteOf(report), /import-only: it cannot be listed from here \(no credentials\)/)
      assert.strictEqual(report.notable[0]?.path, "gs://b/")
      assert.strictEqual(engine.files.size, 2)
      assert.deepStrictEqual(engine.imports.at(-1)?.source, { _tag: "storage", uris: ["gs://b/"] })
    }).pipe(Effect.scoped))

  it.effect("adds up whatever the engine counts, and its import is resumed", () =>
    Effect.gen(function*() {
      const { engine, run, spec } = yield* setUp
      const drive: Partial<SyncSpec> = {
        sources: spec.sources.map(({ connector, id }) => ({
          id,
          connector,
          listing: "service",
          imports: { _tag: "googleDrive", resources: [{ kind: "folder", id: "f" }] }
        }))
      }
      engine.objects = { "drive/1": "one", "drive/2": "two", "drive/3": "three" }
      engine.refuseObject = (uri) => uri === "drive/3" ? "silently" : undefined
      const looked = yield* Deferred.make<void>()
      engine.onLook = Effect.andThen(Deferred.succeed(looked, undefined), Effect.never)
      const fiber = yield* Effect.forkChild(run(drive))
      yield* Deferred.await(looked)
      yield* Fiber.interrupt(fiber)
      engine.onLook = Effect.void
      expectCounts(yield* run(drive), { added: 2, failed: 1 })
      assert.strictEqual(engine.imports.length, 1)
      expectCounts(yield* run(drive), { unchanged: 2, failed: 1 })
      assert.strictEqual(engine.imports.length, 2)
    }).pipe(Effect.scoped))
})

describe("files of this machine that are staged", () => {
  it.effect("are put where the engine fetches them, once, and imported in one go", () =>
    Effect.gen(function*() {
      const { engine, run: sync } = yield* setUp
      const source = new MemorySource()
      const run = (data?: string) => sync({ sources: [{ id: "docs", connector: source.connector, staging: "gs://b/staged/" }] }, {}, data)
      engine.objects = {}
      source.items = { "a.md": { text: "one" }, "sub/b.md": { text: "two" }, "c.md": { text: "three" } }
      engine.refuseObject = (uri) => uri.endsWith("/c.md") ? { code: "INVALID_ARGUMENT", message: `broken processing ${uri}` } : undefined
      const first = yield* run()
      expectCounts(first, { added: 2, failed: 1 })
      assert.strictEqual(first.notable[0]?.path, "c.md")
      assert.strictEqual(engine.imports.length, 1)
      const uris = engine.imports.flatMap(({ source }) => source._tag === "storage" ? source.uris : [])
      assert.isTrue(uris.length === 3 && uris.every((uri) => /^gs:\/\/b\/staged\/[0-9a-f]{32}\/[0-9a-f]{32}\/[abc]\.md$/.test(uri)))
      assert.deepStrictEqual(engine.objects, {})
      expectCounts(yield* run(), { unchanged: 2, quarantined: 1 })

      source.items = { "a.md": { text: "one!" }, "moved/b.md": { text: "two" } }
      expectCounts(yield* run(), { changed: 1, moved: 1 })
      assert.deepStrictEqual(engine.content, { "a.md": "one!", "moved/b.md": "two" })
      assert.deepStrictEqual([engine.calls.uploads, engine.puts], [0, 4])
    }).pipe(Effect.scoped))

  it.effect("are removed once they are imported, and nothing else is", () =>
    Effect.gen(function*() {
      const { engine, run: sync } = yield* setUp
      const source = new MemorySource()
      // Of kinds of their own: the same address of one kind is the same file.
      const staged = (id: string) => ({ id, connector: { ...source.connector, kind: id }, staging: "gs://b/staged" })
      const foreign = { "gs://b/staged/other.md": "not ours", "gs://b/c.md": "not ours either" }
      engine.objects = { ...foreign }
      source.items = { "a.md": { text: "one" }, "b.md": { text: "two" } }
      engine.refuseObject = (uri) => uri.endsWith("/b.md") ? { code: "UNAVAILABLE", message: `not now, processing ${uri}` } : undefined
      expectCounts(yield* sync({ sources: [staged("docs")] }), { added: 1, failed: 1 })
      const [kept, ...more] = Object.keys(engine.objects).filter((uri) => !(uri in foreign))
      assert.match(kept ?? "", /\/b\.md$/)
      assert.strictEqual(more.length, 0)

      // Another source with the same files has objects of its own, and a store that refuses costs a note.
      engine.refuseRemoval = new ServiceError({ code: "PERMISSION_DENIED", message: "storage.objects.delete is missing" })
      engine.refuseObject = () => undefined
      const refused = yield* sync({ sources: [staged("docs"), staged("twin")] })
      expectCounts(refused, { added: 3, unchanged: 1 })
      assert.isTrue(
        refused.sources.every(({ note }) => /staged objects? could not be removed: storage\.objects\.delete is missing$/.test(note ?? ""))
      )
      assert.strictEqual(Object.keys(engine.objects).length, 5)
    }).pipe(Effect.scoped))

  it.effect("are neither put nor imported again after a kill, and not imported again without the ledger", () =>
    Effect.gen(function*() {
      const { engine, run: sync } = yield* setUp
      const source = new MemorySource()
      const run = (data?: string) => sync({ sources: [{ id: "docs", connector: source.connector, staging: "gs://b/staged" }] }, {}, data)
      engine.objects = {}
      source.items = { "a.md": { text: "one" } }
      const looked = yield* Deferred.make<void>()
      engine.onLook = Effect.andThen(Deferred.succeed(looked, undefined), Effect.never)
      const fiber = yield* Effect.forkChild(run())
      yield* Deferred.await(looked)
      yield* Fiber.interrupt(fiber)
      engine.onLook = Effect.void
      expectCounts(yield* run(), { unchanged: 1 })
      assert.deepStrictEqual([engine.imports.length, engine.puts, engine.objects], [1, 1, {}])
      expectCounts(yield* run(yield* tempFolder), { unchanged: 1 })
      assert.deepStrictEqual([engine.puts, engine.files.size, engine.objects], [2, 1, {}])
    }).pipe(Effect.scoped))
})
