import { assert, describe, it } from "@effect/vitest"
import { Effect, Exit, Fiber, Layer, Stream } from "effect"
import { TestClock } from "effect/testing"
import { writeFileSync } from "node:fs"
import { join } from "node:path"
import { local } from "../../../connectors/local/Local.ts"
import { defaultChunking } from "../../../src/domain/Chunking.ts"
import { DocumentError, ServiceError } from "../../../src/domain/Errors.ts"
import { RagFileName } from "../../../src/domain/RagFile.ts"
import { addsUp, type Counts, type Report, type SyncEvent } from "../../../src/domain/Report.ts"
import { sync } from "../../../src/pipeline/sync/Sync.ts"
import type { SyncOptions, SyncSpec } from "../../../src/pipeline/sync/Session.ts"
import type { Connector, Listed } from "../../../src/ports/Connector.ts"
import * as SqliteLedger from "../../../src/state/SqliteLedger.ts"
import { LedgerWrites } from "../../../src/state/LedgerWrites.ts"
import { State } from "../../../src/state/State.ts"
import { eventually } from "../../support/Eventually.ts"
import { MemoryEngine } from "../../support/MemoryEngine.ts"
import { MemorySource } from "../../support/MemorySource.ts"
import { settingsOf } from "../../support/Settings.ts"
import { tempFolder } from "../../support/TempFolder.ts"

const setUp = Effect.gen(function*() {
  const dataDir = yield* tempFolder
  const engine = new MemoryEngine()
  const source = new MemorySource()
  const other = new MemorySource()
  const spec: SyncSpec = {
    pipeline: "test",
    corpus: { displayName: "Test", vectorDb: { _tag: "managed" } },
    chunking: defaultChunking,
    parsing: { _tag: "default" },
    sources: [{ id: "docs", connector: source.connector }, { id: "more", connector: other.connector }],
    maxDelete: { percent: 10 },
    onFileError: "continue"
  }
  const run = (options: SyncOptions = {}, changes: Partial<SyncSpec> = {}, data = dataDir) =>
    sync({ ...spec, ...changes }, options).pipe(
      Effect.provide(
        Layer.mergeAll(engine.layer, SqliteLedger.layer.pipe(Layer.provide(LedgerWrites.layerDirect), Layer.provide(State.layer(data))))
      )
    )
  return { dataDir, engine, source, other, spec, run }
})

const expectCounts = (report: Report, counts: Partial<Counts>) => {
  const totals: Partial<Counts> = report.totals
  const seen = Object.fromEntries(Object.entries(totals).filter(([key, n]) => n !== 0 && key !== "listed"))
  assert.deepStrictEqual(seen, { ...counts })
  assert.isTrue(addsUp(report.totals), JSON.stringify(report.totals))
  for (const { counts: c } of report.sources) assert.isTrue(addsUp(c), JSON.stringify(c))
}

const failedAt = (path: string): Listed => ({ _tag: "failed", path, error: new ServiceError({ code: "PERMISSION_DENIED", message: path }) })

const numbered = (n: number) => Object.fromEntries(Array.from({ length: n }, (_, i) => [`f${i}`, { text: `text ${i}` }]))

describe("sync", () => {
  it.effect("adds, then finds nothing to do: no bytes read, nothing written", () =>
    Effect.gen(function*() {
      const { engine, run, source } = yield* setUp
      source.items = { "a.md": { text: "one" }, "b.md": { text: "two" } }
      expectCounts(yield* run(), { added: 2 })
      assert.deepStrictEqual(engine.content, { "a.md": "one", "b.md": "two" })
      const before = { reads: source.reads, ...engine.calls }
      expectCounts(yield* run(), { unchanged: 2 })
      assert.deepStrictEqual({ reads: source.reads, ...engine.calls }, before)
    }).pipe(Effect.scoped))

  it.live("reads a stored file again that is empty since just now, as a program empties it that saves it", () =>
    Effect.gen(function*() {
      const { engine, run, source, spec } = yield* setUp
      source.items = { "a.md": { text: "one" } }
      yield* run()
      const young: Connector = {
        ...source.connector,
        list: (cursor) =>
          Stream.map(
            source.connector.list(cursor),
            (listed) => listed._tag === "item" ? { ...listed, item: { ...listed.item, unsettled: true } } : listed
          ),
        read: (item, maxBytes) =>
          Stream.concat(
            source.connector.read(item, maxBytes),
            Stream.suspend(() => (source.items = { "a.md": { text: "two" } }, Stream.empty))
          )
      }
      source.items = { "a.md": { text: "" } }
      expectCounts(yield* run({}, { sources: [{ id: "docs", connector: young }, ...spec.sources.slice(1)] }), { changed: 1 })
      assert.deepStrictEqual(engine.content, { "a.md": "two" })
    }).pipe(Effect.scoped))

  it.effect("uploads what changed and nothing else, replacing the old version", () =>
    Effect.gen(function*() {
      const { engine, run, source } = yield* setUp
      source.items = { "a.md": { text: "one" }, "b.md": { text: "two" } }
      yield* run()
      source.items = { ...source.items, "b.md": { text: "two!" } }
      expectCounts(yield* run(), { changed: 1, unchanged: 1 })
      assert.deepStrictEqual(engine.content, { "a.md": "one", "b.md": "two!" })
      assert.strictEqual(engine.files.size, 2)
      assert.strictEqual(engine.calls.uploads, 3)
    }).pipe(Effect.scoped))

  it.effect("a new revision of the same bytes is unchanged, and is not read again", () =>
    Effect.gen(function*() {
      const { engine, run, source } = yield* setUp
      source.items = { a: { text: "one", revision: "1" } }
      yield* run()
      source.items = { a: { text: "one", revision: "2" } }
      expectCounts(yield* run(), { unchanged: 1 })
      const reads = source.reads
      expectCounts(yield* run(), { unchanged: 1 })
      assert.strictEqual(source.reads, reads)
      assert.strictEqual(engine.calls.uploads, 1)
    }).pipe(Effect.scoped))

  it.effect("a file that was young when it was listed, and no more when it was read, is not read again", () =>
    Effect.gen(function*() {
      const { run } = yield* setUp
      const path = yield* tempFolder
      writeFileSync(join(path, "a.md"), "one")
      yield* TestClock.setTime(Date.now())
      const files = local(settingsOf("local", { path }))
      let reads = 0
      const read: Connector["read"] = (...asked) => {
        reads++
        return files.read(...asked)
      }
      /** What a run finds, and how often it reads, where so many milliseconds pass before the first file is put. */
      const runOver = Effect.fnUntraced(function*(passing: number) {
        reads = 0
        const list: Connector["list"] = (cursor) => Stream.ensuring(files.list(cursor), TestClock.adjust(passing))
        const { totals: { added, changed, unchanged } } = yield* run({}, { sources: [{ id: "docs", connector: { ...files, list, read } }] })
        return { added, changed, unchanged, reads }
      })
      assert.deepStrictEqual(yield* runOver(0), { added: 1, changed: 0, unchanged: 0, reads: 1 })
      assert.deepStrictEqual(yield* runOver(3_000), { added: 0, changed: 0, unchanged: 1, reads: 1 }, "it was young when it was read")
      assert.deepStrictEqual(yield* runOver(0), { added: 0, changed: 0, unchanged: 1, reads: 0 })
      // As long, and within the clock's grain of the last look.
      writeFileSync(join(path, "a.md"), "two")
      yield* TestClock.setTime(Date.now())
      assert.deepStrictEqual(yield* runOver(0), { added: 0, changed: 1, unchanged: 0, reads: 1 })
      assert.deepStrictEqual(yield* runOver(0), { added: 0, changed: 0, unchanged: 1, reads: 1 })
    }).pipe(Effect.scoped))

  it.effect("an item with the path of another is not taken, and named", () =>
    Effect.gen(function*() {
      const { engine, run, source } = yield* setUp
      // More than are compared with the ledger in one go.
      source.items = numbered(600)
      const listed = (path: string, uri: string): Listed => ({
        _tag: "item",
        item: { path, uri, displayName: path, revision: `r-${uri}` }
      })
      // The last is an item that is listed a second time.
      source.extra = [listed("f0", "memory:///other/f0"), listed("f599", "memory:///other/f599"), listed("f1", "memory:///f1")]
      const report = yield* run()
      expectCounts(report, { added: 600, skipped: 2 })
      const named = [
        ["f0", "memory:///other/f0 has the path of another item that was listed before it"],
        ["f599", "memory:///other/f599 has the path of another item that was listed before it"]
      ]
      const duplicates = ({ notable }: Report) =>
        notable.flatMap(({ message, path, reason }) => reason === "duplicate" ? [[path, message?.split(";")[0]]] : [])
      assert.deepStrictEqual(duplicates(report), named)
      assert.deepStrictEqual(duplicates(yield* run()), named)
      assert.strictEqual(engine.content["f0"], "text 0")
      assert.strictEqual(engine.content["f599"], "text 599")
    }).pipe(Effect.scoped))

  it.effect("a moved file is renamed, not uploaded", () =>
    Effect.gen(function*() {
      const { engine, run, source } = yield* setUp
      source.items = { "old/a": { text: "one" }, "old/b": { text: "two" }, c: { text: "three" } }
      yield* run()
      source.items = { "new/a": { text: "one" }, "new/b": { text: "two" }, c: { text: "three" } }
      expectCounts(yield* run(), { moved: 2, unchanged: 1 })
      assert.deepStrictEqual(engine.content, { c: "three", "new/a": "one", "new/b": "two" })
      assert.strictEqual(engine.calls.uploads, 3)
      expectCounts(yield* run(), { unchanged: 3 })
    }).pipe(Effect.scoped))

  it.effect("a file renamed to another format's name is read again, and stored once", () =>
    Effect.gen(function*() {
      const { engine, run, source } = yield* setUp
      source.items = { "a.txt": { text: "# One" }, "b.MD": { text: "# Two" }, Makefile: { text: "all:" } }
      yield* run()
      source.items = { "a.md": { text: "# One" }, "b.md": { text: "# Two" }, Notes: { text: "all:" } }
      expectCounts(yield* run(), { changed: 2, moved: 1 })
      assert.strictEqual(engine.calls.uploads, 5)
      assert.deepStrictEqual(engine.content, { "a.md": "# One", "b.md": "# Two", Notes: "all:" })
      expectCounts(yield* run(), { unchanged: 3 })
    }).pipe(Effect.scoped))

  it.effect("a file moved from one source to another is a move too", () =>
    Effect.gen(function*() {
      const { engine, other, run, source } = yield* setUp
      source.items = { a: { text: "one" } }
      yield* run()
      source.items = {}
      other.items = { z: { text: "one" } }
      expectCounts(yield* run(), { moved: 1 })
      assert.strictEqual(engine.calls.uploads, 1)
      assert.deepStrictEqual(engine.content, { z: "one" })
    }).pipe(Effect.scoped))

  it.effect("a copy is added, and its original stays", () =>
    Effect.gen(function*() {
      const { engine, run, source } = yield* setUp
      source.items = { a: { text: "one" } }
      yield* run()
      source.items = { a: { text: "one" }, b: { text: "one" } }
      expectCounts(yield* run(), { added: 1, unchanged: 1 })
      assert.deepStrictEqual(engine.content, { a: "one", b: "one" })
    }).pipe(Effect.scoped))

  it.effect("permissions and metadata change without an upload", () =>
    Effect.gen(function*() {
      const { engine, run, source } = yield* setUp
      source.items = { a: { text: "one", permissions: { public: true, principals: [] } } }
      yield* run()
      source.items = { a: { text: "one", permissions: { public: false, principals: ["user:ann@example.com"] } } }
      expectCounts(yield* run(), { changed: 1 })
      assert.strictEqual(engine.calls.uploads, 1)
      assert.deepStrictEqual([...engine.files.values()][0]?.file.permissions, {
        public: false,
        principals: ["user:ann@example.com"]
      })
      expectCounts(yield* run(), { unchanged: 1 })
      // Withdrawn, they do not stay behind.
      source.items = { a: { text: "one" } }
      expectCounts(yield* run(), { changed: 1 })
      assert.notProperty([...engine.files.values()][0]?.file, "permissions")
    }).pipe(Effect.scoped))

  it.effect("two at once over one ledger do not disturb each other", () =>
    Effect.gen(function*() {
      const { dataDir, engine, other, source, spec } = yield* setUp
      const services = yield* Layer.build(
        Layer.mergeAll(engine.layer, SqliteLedger.layer.pipe(Layer.provide(LedgerWrites.layerDirect), Layer.provide(State.layer(dataDir))))
      )
      const second = sync({ ...spec, pipeline: "second", sources: [{ id: "more", connector: other.connector }] }).pipe(
        Effect.provide(services)
      )
      // The second begins and ends while the first has listed its source and reads from it.
      const connector: Connector = {
        ...source.connector,
        read: (...asked) => Stream.concat(Stream.drain(Stream.fromEffect(Effect.orDie(second))), source.connector.read(...asked))
      }
      const first = sync({ ...spec, sources: [{ id: "docs", connector }] }).pipe(Effect.provide(services))
      source.items = { a: { text: "one" }, b: { text: "two" } }
      other.items = { c: { text: "three" } }
      expectCounts(yield* first, { added: 2 })
      source.items = { a: { text: "one" }, b: { text: "two!" } }
      other.items = { c: { text: "three" }, d: { text: "four" } }
      expectCounts(yield* first, { changed: 1, unchanged: 1 })
      assert.deepStrictEqual(engine.content, { a: "one", b: "two!", c: "three", d: "four" })
    }).pipe(Effect.scoped))

  it.effect("other settings store everything again", () =>
    Effect.gen(function*() {
      const { engine, run, source } = yield* setUp
      source.items = { a: { text: "one" } }
      yield* run()
      expectCounts(yield* run({}, { chunking: { ...defaultChunking, size: 512 } }), { changed: 1 })
      assert.strictEqual(engine.calls.uploads, 2)
      assert.strictEqual(engine.files.size, 1)
    }).pipe(Effect.scoped))

  it.effect("a file that vanishes between listing and reading is skipped", () =>
    Effect.gen(function*() {
      const { run, source } = yield* setUp
      source.items = { a: { text: "one" } }
      source.extra = [{ _tag: "item", item: { path: "ghost", uri: "memory:///ghost", displayName: "ghost", revision: "1" } }]
      const report = yield* run()
      expectCounts(report, { added: 1, skipped: 1 })
      assert.strictEqual(report.notable[0]?.reason, "gone")
    }).pipe(Effect.scoped))
})

describe("deletes", () => {
  it.effect("follow a complete listing", () =>
    Effect.gen(function*() {
      const { engine, run, source } = yield* setUp
      source.items = { a: { text: "one" }, b: { text: "two" } }
      yield* run()
      source.items = { a: { text: "one" } }
      expectCounts(yield* run(), { unchanged: 1, deleted: 1 })
      assert.deepStrictEqual(engine.content, { a: "one" })
    }).pipe(Effect.scoped))

  it.effect("never follow a listing that was cut short, or that had an error", () =>
    Effect.gen(function*() {
      const { engine, run, source } = yield* setUp
      source.items = { a: { text: "one" }, b: { text: "two" } }
      yield* run()
      source.items = { a: { text: "one" } }
      source.cutShort = true
      expectCounts(yield* run(), { unchanged: 1 })
      source.cutShort = false
      source.extra = [failedAt("somewhere")]
      expectCounts(yield* run(), { unchanged: 1, failed: 1 })
      assert.strictEqual(engine.files.size, 2)
    }).pipe(Effect.scoped))

  it.effect("of what is under a folder that cannot be listed wait, the others go on", () =>
    Effect.gen(function*() {
      const { engine, run, source } = yield* setUp
      source.items = {
        a: { text: "one" },
        b: { text: "two" },
        "locked/c": { text: "three" },
        "locked/d/e": { text: "four" },
        lockedf: { text: "five" }
      }
      yield* run()
      source.items = { a: { text: "one" } }
      source.extra = [failedAt("locked/")]
      const report = yield* run()
      expectCounts(report, { unchanged: 1, failed: 1, deleted: 2 })
      assert.deepStrictEqual(engine.content, { a: "one", "locked/c": "three", "locked/d/e": "four" })
      assert.include(report.sources[0]?.note, "locked/ stays")
      assert.strictEqual(report.ended, "done")
    }).pipe(Effect.scoped))

  it.effect("of what the service hides for now are left out, and the run says so", () =>
    Effect.gen(function*() {
      const { engine, run, source } = yield* setUp
      const hidden = (path: string, before?: string): Listed => ({
        _tag: "skipped",
        path,
        reason: "hidden",
        detail: "older than is shown",
        ...(before === undefined ? {} : { before })
      })
      source.items = {
        "C/1": { text: "one" },
        "C/2": { text: "two" },
        "C/3": { text: "three" },
        "D/1": { text: "four" },
        E: { text: "five" }
      }
      yield* run()
      source.items = {}
      source.extra = [hidden("C/", "C/2"), hidden("E")]
      const report = yield* run({ yes: true })
      expectCounts(report, { skipped: 2, deleted: 3 })
      assert.deepStrictEqual(engine.content, { "C/1": "one", E: "five" })
    }).pipe(Effect.scoped))

  it.effect("a source that cannot be listed makes the run incomplete, and the others are synced", () =>
    Effect.gen(function*() {
      const { engine, other, run, source, spec } = yield* setUp
      source.items = { a: { text: "one" } }
      yield* run()
      other.items = { b: { text: "two" } }
      const gone = {
        ...source.connector,
        list: () => Stream.fail(new ServiceError({ code: "PERMISSION_DENIED", message: "/mnt: may not be read" }))
      }
      const report = yield* run({}, { sources: [{ id: "docs", connector: gone }, ...spec.sources.slice(1)] })
      assert.strictEqual(report.ended, "incomplete")
      assert.include(report.sources[0]?.error, "/mnt")
      assert.deepStrictEqual(engine.content, { a: "one", b: "two" })
    }).pipe(Effect.scoped))

  it.effect("are a share of what was known before the run, whatever it adds", () =>
    Effect.gen(function*() {
      const { engine, run, source } = yield* setUp
      source.items = numbered(40)
      yield* run()
      source.items = {
        f0: { text: "text 0" },
        ...Object.fromEntries(Array.from({ length: 400 }, (_, i) => [`g${i}`, { text: `other ${i}` }]))
      }
      expectCounts(yield* run(), { unchanged: 1, added: 400, held: 39 })
      assert.strictEqual(engine.files.size, 440)
    }).pipe(Effect.scoped))

  it.effect("of all that a source had are held, however few", () =>
    Effect.gen(function*() {
      const { engine, run, source } = yield* setUp
      source.items = numbered(18)
      yield* run()
      source.items = {}
      const report = yield* run()
      expectCounts(report, { held: 18 })
      assert.include(report.sources[0]?.heldBecause, "all 18 files are gone")
      assert.strictEqual(report.sources[0]?.heldPaths?.length, 18)
      assert.include(report.sources[0]?.warning, "it is empty")
      assert.strictEqual(engine.files.size, 18)
      const strict = yield* Effect.flip(run({ strict: true, yes: true }))
      assert.include(strict.message, "sources.docs: it is empty")
      assert.strictEqual(engine.files.size, 18)
      expectCounts(yield* run({ yes: true }), { deleted: 18 })
    }).pipe(Effect.scoped))

  it.effect("above the guard are held and shown, the rest proceeds, yes releases them", () =>
    Effect.gen(function*() {
      const { engine, run, source } = yield* setUp
      source.items = numbered(40)
      yield* run()
      source.items = { fresh: { text: "fresh" } }
      const events: Array<SyncEvent> = []
      const report = yield* run({ observe: (event) => Effect.sync(() => void events.push(event)) })
      expectCounts(report, { added: 1, held: 40 })
      assert.include(report.sources[0]?.heldBecause, "--yes")
      assert.isTrue(events.some((event) => event.type === "held" && event.count === 40))
      assert.strictEqual(engine.files.size, 41)
      expectCounts(yield* run({ yes: true }), { unchanged: 1, deleted: 40 })
      assert.deepStrictEqual(engine.content, { fresh: "fresh" })
    }).pipe(Effect.scoped))

  it.effect("up to twenty are free", () =>
    Effect.gen(function*() {
      const { run, source } = yield* setUp
      source.items = numbered(21)
      yield* run()
      source.items = numbered(1)
      expectCounts(yield* run({}, { maxDelete: { count: 0 } }), { unchanged: 1, deleted: 20 })
    }).pipe(Effect.scoped))

  it.effect("that the target refuses are named, and hold up no others; after many of them no more are tried", () =>
    Effect.gen(function*() {
      const { engine, run, source } = yield* setUp
      source.items = numbered(100)
      yield* run()
      source.items = { "f0": { text: "text 0" } }
      const stuck = [...engine.files.values()].find(({ text }) => text === "text 7")?.file.name
      engine.refuseDelete = (name) => name === stuck ? new ServiceError({ code: "INTERNAL", message: "it is stuck" }) : undefined
      const report = yield* run({ yes: true })
      expectCounts(report, { unchanged: 1, deleted: 98 })
      assert.deepInclude(report, { ended: "incomplete" })
      assert.deepInclude(report.sources[0], { note: "1 file could not be deleted: f7: it is stuck" })
      assert.deepStrictEqual(Object.keys(engine.content), ["f0", "f7"])
      engine.refuseDelete = () => undefined
      expectCounts(yield* run({ yes: true }), { unchanged: 1, deleted: 1 })

      source.items = numbered(100)
      yield* run()
      source.items = { "f0": { text: "text 0" } }
      engine.refuseDelete = () => new ServiceError({ code: "INTERNAL", message: "no" })
      const before = engine.calls.deletes
      assert.match(
        (yield* run({ yes: true })).sources[0]?.note ?? "",
        /^\d+ files could not be deleted, and no others were tried: f\d+: no$/
      )
      assert.isBelow(engine.calls.deletes - before, 40)
      engine.refuseDelete = () => new ServiceError({ code: "PERMISSION_DENIED", message: "no" })
      assert.deepInclude(yield* Effect.flip(run({ yes: true })), { code: "PERMISSION_DENIED" })
      engine.refuseDelete = () => undefined
      expectCounts(yield* run({ yes: true }), { unchanged: 1, deleted: 99 })
    }).pipe(Effect.scoped))

  it.effect("include a source that left the pipeline", () =>
    Effect.gen(function*() {
      const { engine, other, run, source } = yield* setUp
      source.items = { a: { text: "one" } }
      other.items = { b: { text: "two" } }
      yield* run()
      expectCounts(yield* run({}, { sources: [{ id: "docs", connector: source.connector }] }), { unchanged: 1, deleted: 1 })
      assert.deepStrictEqual(engine.content, { a: "one" })
    }).pipe(Effect.scoped))

  it.effect("leave alone what we did not put there", () =>
    Effect.gen(function*() {
      const { engine, run, source } = yield* setUp
      source.items = { a: { text: "one" } }
      const { corpus } = yield* run()
      const ours = [...engine.files.values()][0]
      assert.isDefined(ours)
      const { marker: _, ...theirs } = ours.file
      const name = RagFileName.make(`${corpus}/ragFiles/x`)
      engine.files.set(name, { file: { ...theirs, name }, text: "theirs" })
      source.items = {}
      yield* run({ yes: true })
      assert.deepStrictEqual([...engine.files.values()].map(({ text }) => text), ["theirs"])
    }).pipe(Effect.scoped))
})

describe("failures", () => {
  it.effect("a bad file costs itself, is quarantined, and comes back when its bytes change", () =>
    Effect.gen(function*() {
      const { engine, run, source } = yield* setUp
      engine.refuse = (_, text) => text.includes("bad") ? new DocumentError({ problem: "corrupt", message: "not a document" }) : undefined
      source.items = { a: { text: "good" }, b: { text: "bad" } }
      const report = yield* run()
      expectCounts(report, { added: 1, failed: 1 })
      assert.deepInclude(report.notable[0], { path: "b", reason: "corrupt", retryable: false })
      expectCounts(yield* run(), { unchanged: 1, quarantined: 1 })
      assert.strictEqual(engine.calls.uploads, 2)
      expectCounts(yield* run({ retryFailed: true }), { unchanged: 1, failed: 1 })
      source.items = { a: { text: "good" }, b: { text: "mended" } }
      expectCounts(yield* run(), { unchanged: 1, added: 1 })
    }).pipe(Effect.scoped))

  it.effect("what may pass is tried again by the next run", () =>
    Effect.gen(function*() {
      const { engine, run, source } = yield* setUp
      source.items = { a: { text: "one" } }
      engine.refuse = () => new ServiceError({ code: "UNAVAILABLE", message: "later" })
      const report = yield* run()
      expectCounts(report, { failed: 1 })
      assert.isTrue(report.notable[0]?.retryable)
      engine.refuse = () => undefined
      expectCounts(yield* run(), { added: 1 })
    }).pipe(Effect.scoped))

  it.effect("a new version that cannot be read leaves the old one in place", () =>
    Effect.gen(function*() {
      const { engine, run, source } = yield* setUp
      source.items = { a: { text: "one" } }
      yield* run()
      source.items = { a: { text: "broken" } }
      engine.refuse = () => new DocumentError({ problem: "corrupt", message: "no" })
      expectCounts(yield* run(), { failed: 1 })
      assert.deepStrictEqual(engine.content, { a: "one" })
      source.items = {}
      expectCounts(yield* run({ yes: true }), { deleted: 1 })
      assert.strictEqual(engine.files.size, 0)
    }).pipe(Effect.scoped))

  it.effect("a new version that is not taken removes the old one", () =>
    Effect.gen(function*() {
      const { engine, run, source } = yield* setUp
      source.items = { a: { text: "one" } }
      yield* run()
      source.items = { a: { text: "" } }
      engine.refuse = () => new DocumentError({ problem: "empty", message: "no text" })
      expectCounts(yield* run(), { skipped: 1 })
      assert.strictEqual(engine.files.size, 0)
      const uploads = engine.calls.uploads
      expectCounts(yield* run(), { skipped: 1 })
      assert.strictEqual(engine.calls.uploads, uploads)
    }).pipe(Effect.scoped))

  it.effect("lost credentials end the run; what was not reached is pending and comes next", () =>
    Effect.gen(function*() {
      const { engine, run, source } = yield* setUp
      source.items = numbered(50)
      engine.refuse = () => engine.calls.uploads > 10 ? new ServiceError({ code: "UNAUTHENTICATED", message: "token expired" }) : undefined
      const reports: Array<Report> = []
      const exit = yield* run({ observe: (e) => Effect.sync(() => e.type === "report" && void reports.push(e.report)) }).pipe(Effect.exit)
      assert.isTrue(Exit.isFailure(exit))
      const report = reports[0]
      assert.isDefined(report)
      assert.isTrue(addsUp(report.totals))
      assert.isAbove(report.totals.pending, 0)
      engine.refuse = () => undefined
      const next = yield* run()
      assert.strictEqual(next.totals.added + next.totals.unchanged, 50)
      assert.strictEqual(engine.files.size, 50)
    }).pipe(Effect.scoped))

  it.effect("with onFileError stop, a failure ends the run and the rest is pending", () =>
    Effect.gen(function*() {
      const { engine, run, source } = yield* setUp
      source.items = { a: { text: "one" } }
      yield* run()
      engine.refuse = (_, text) => text === "text 3" ? new DocumentError({ problem: "corrupt", message: "no" }) : undefined
      source.items = numbered(6)
      const report = yield* run({}, { onFileError: "stop", concurrency: 1 })
      assert.strictEqual(report.ended, "stopped")
      expectCounts(report, { added: 3, failed: 1, pending: 2 })
    }).pipe(Effect.scoped))

  it.effect("a stretch of failures that may pass stops the run, which says why", () =>
    Effect.gen(function*() {
      const { engine, run, source } = yield* setUp
      source.items = numbered(80)
      engine.refuse = () => new ServiceError({ code: "UNAVAILABLE", message: "the service is away" })
      const stops: Array<string> = []
      const report = yield* run({ observe: (event) => Effect.sync(() => event.type === "stopped" && stops.push(event.why)) }, {
        concurrency: 4
      })
      assert.strictEqual(report.ended, "stopped")
      assert.isAtMost(report.totals.failed, 28)
      assert.isAtLeast(report.totals.pending, 52)
      assert.match(report.why ?? "", /^25 files in a row failed, the last one with: the service is away/)
      assert.deepStrictEqual(stops, [report.why])
    }).pipe(Effect.scoped))

  it.effect("the token budget stops a run, and the next one goes on", () =>
    Effect.gen(function*() {
      const { engine, run, source } = yield* setUp
      source.items = numbered(9)
      const report = yield* run({}, { budget: { tokens: 18 }, concurrency: 1 })
      assert.strictEqual(report.ended, "budget")
      expectCounts(report, { added: 3, pending: 6 })
      expectCounts(yield* run({}, { budget: { tokens: 36 } }), { added: 6, unchanged: 3 })
      assert.strictEqual(engine.files.size, 9)
    }).pipe(Effect.scoped))
})

describe("crashes", () => {
  it.effect("a reply lost after the target stored the file is found again, not sent again", () =>
    Effect.gen(function*() {
      const { engine, run, source } = yield* setUp
      source.items = { a: { text: "one" } }
      engine.afterStore = Effect.never
      const fiber = yield* run().pipe(Effect.forkChild)
      while (engine.files.size === 0) yield* Effect.yieldNow
      yield* Fiber.interrupt(fiber)
      engine.afterStore = Effect.void
      expectCounts(yield* run(), { unchanged: 1 })
      assert.strictEqual(engine.calls.uploads, 1)
      assert.strictEqual(engine.files.size, 1)
    }).pipe(Effect.scoped))

  it.effect("a replacement cut off half way leaves one version", () =>
    Effect.gen(function*() {
      const { engine, run, source } = yield* setUp
      source.items = { a: { text: "one" } }
      yield* run()
      source.items = { a: { text: "two" } }
      engine.refuse = () => undefined
      engine.afterStore = Effect.never
      const fiber = yield* run().pipe(Effect.forkChild)
      while (engine.calls.uploads < 2) yield* Effect.yieldNow
      yield* Fiber.interrupt(fiber)
      engine.afterStore = Effect.void
      yield* run()
      assert.deepStrictEqual(engine.content, { a: "two" })
      assert.strictEqual(engine.files.size, 1)
      assert.strictEqual(engine.calls.uploads, 2)
    }).pipe(Effect.scoped))

  it.effect("a lost ledger is rebuilt from the target's markers", () =>
    Effect.gen(function*() {
      const { engine, run, source } = yield* setUp
      source.items = { a: { text: "one" }, b: { text: "two" }, c: { text: "three" } }
      yield* run()
      source.items = { a: { text: "one" }, b: { text: "two!" } }
      const elsewhere = yield* tempFolder
      expectCounts(yield* run({}, {}, elsewhere), { unchanged: 1, changed: 1, deleted: 1 })
      assert.deepStrictEqual(engine.content, { a: "one", b: "two!" })
      assert.strictEqual(engine.corpora.size, 1)
      expectCounts(yield* run({}, {}, elsewhere), { unchanged: 2 })
    }).pipe(Effect.scoped))

  it.effect("a run without its ledger repairs what is broken in the target, and deletes what is there twice", () =>
    Effect.gen(function*() {
      const { engine, run, source } = yield* setUp
      source.items = { a: { text: "one" }, b: { text: "two" } }
      yield* run()
      const [a, b] = [...engine.files.values()]
      if (a === undefined || b === undefined) return assert.fail("two files were stored")
      engine.files.set(a.file.name, { ...a, file: { ...a.file, state: "ERROR" } })
      const twin = RagFileName.make(`${b.file.name}9`)
      engine.files.set(twin, { ...b, file: { ...b.file, name: twin } })
      const report = yield* run({}, {}, yield* tempFolder)
      expectCounts(report, { unchanged: 1, changed: 1, deleted: 1 })
      assert.include(report.sources[0]?.note, "1 file damaged in the corpus")
      assert.deepStrictEqual([...engine.files.values()].map(({ file, text }) => [file.state, text]).toSorted(), [
        ["ACTIVE", "one"],
        ["ACTIVE", "two"]
      ])
    }).pipe(Effect.scoped))

  it.effect("an interrupted run is recorded, and adds up", () =>
    Effect.gen(function*() {
      const { engine, run, source } = yield* setUp
      source.items = numbered(30)
      engine.afterStore = Effect.suspend(() => engine.files.size < 10 ? Effect.void : Effect.never)
      const reports: Array<Report> = []
      const fiber = yield* run({ observe: (e) => Effect.sync(() => e.type === "report" && void reports.push(e.report)) }).pipe(
        Effect.forkChild
      )
      while (engine.files.size < 15) yield* Effect.yieldNow
      yield* Fiber.interrupt(fiber)
      const report = reports[0]
      assert.isDefined(report)
      assert.strictEqual(report.ended, "interrupted")
      assert.isTrue(addsUp(report.totals))
      assert.isAbove(report.totals.pending, 0)
    }).pipe(Effect.scoped))
})

describe("what is in progress at once", () => {
  /** Fails unless so many uploads come to be under way at once, of files that are said to be so large, and no more. */
  const expectAtOnce = Effect.fnUntraced(function*(expected: number, files: number, size: number | undefined) {
    const { engine, run, source } = yield* setUp
    source.items = numbered(files)
    let now = 0
    let most = 0
    let met = false
    engine.afterStore = Effect.gen(function*() {
      most = Math.max(most, ++now)
      yield* eventually(`${expected} uploads at once`, Effect.sync(() => met ||= now === expected))
      // Whoever is not held up comes meanwhile.
      yield* Effect.promise(() => new Promise((resolve) => setTimeout(resolve, 20)))
      now--
    })
    const list: Connector["list"] = (cursor) =>
      Stream.map(source.connector.list(cursor), (listed) => listed._tag === "item" ? { ...listed, item: { ...listed.item, size } } : listed)
    expectCounts(yield* run({}, { concurrency: 300, sources: [{ id: "docs", connector: { ...source.connector, list } }] }), {
      added: files
    })
    assert.strictEqual(most, expected)
  }, Effect.scoped)

  it.live("is bounded by the bytes of the files, and a file that is larger goes alone", () =>
    Effect.gen(function*() {
      yield* expectAtOnce(300, 300, 5_000)
      yield* expectAtOnce(128, 150, undefined)
      yield* expectAtOnce(32, 50, 1024 * 1024)
      yield* expectAtOnce(1, 3, 100 * 1024 * 1024)
    }))
})

describe("the corpus", () => {
  it.effect("an immutable change is refused, and with replace is built anew beside the old one", () =>
    Effect.gen(function*() {
      const { engine, run, source } = yield* setUp
      source.items = { a: { text: "one" } }
      yield* run()
      const corpus = { displayName: "Test", vectorDb: { _tag: "managed" }, embeddingModel: "other" } as const
      const refused = yield* run({}, { corpus }).pipe(Effect.flip)
      assert.include(refused.message, "forces replacement")
      expectCounts(yield* run({ replace: true }, { corpus }), { added: 1 })
      assert.deepStrictEqual(
        [...engine.corpora.values()].map(({ displayName, embeddingModel }) => [displayName, embeddingModel]),
        [["Test (generation 1)", undefined], ["Test", "other"]]
      )
      assert.strictEqual(engine.files.size, 2)
    }).pipe(Effect.scoped))

  it.effect("a new display name is an update", () =>
    Effect.gen(function*() {
      const { engine, run, source } = yield* setUp
      source.items = { a: { text: "one" } }
      yield* run()
      expectCounts(yield* run({}, { corpus: { displayName: "Renamed", vectorDb: { _tag: "managed" } } }), { unchanged: 1 })
      assert.deepStrictEqual([...engine.corpora.values()].map((c) => c.displayName), ["Renamed"])
    }).pipe(Effect.scoped))
})
