import { assert, describe, it } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { TestClock } from "effect/testing"
import { defaultChunking } from "../../../src/domain/Chunking.ts"
import { DocumentError, ServiceError } from "../../../src/domain/Errors.ts"
import { addsUp, type Report } from "../../../src/domain/Report.ts"
import { plan } from "../../../src/pipeline/sync/Plan.ts"
import { fileParser } from "../../../src/pipeline/sync/Parsers.ts"
import { sync } from "../../../src/pipeline/sync/Sync.ts"
import type { SyncOptions, SyncSpec } from "../../../src/pipeline/sync/Session.ts"
import { LedgerWrites } from "../../../src/state/LedgerWrites.ts"
import * as SqliteLedger from "../../../src/state/SqliteLedger.ts"
import { State } from "../../../src/state/State.ts"
import { TextPool } from "../../../src/text/TextPool.ts"
import { random } from "../../engines/embedded/support/Random.ts"
import { FeedSource } from "../../support/FeedSource.ts"
import { MemoryEngine } from "../../support/MemoryEngine.ts"
import { tempFolder } from "../../support/TempFolder.ts"
import { seedsOf } from "../../support/Seeds.ts"

const seeds = seedsOf("SLUICE_FEED_SEEDS", 6, 60)

const setUp = Effect.gen(function*() {
  const dataDir = yield* tempFolder
  const engine = new MemoryEngine()
  const source = new FeedSource()
  const specOf = (changes: Partial<SyncSpec> = {}): SyncSpec => ({
    pipeline: "test",
    corpus: { displayName: "Test", vectorDb: { _tag: "managed" } },
    chunking: defaultChunking,
    parsing: { _tag: "default" },
    sources: [{ id: "feed", connector: source.connector, settings: "1" }],
    maxDelete: { percent: 100 },
    onFileError: "continue",
    ...changes
  })
  const layer = Layer.mergeAll(
    engine.layer,
    TextPool.layerInline(),
    SqliteLedger.layer.pipe(Layer.provide(LedgerWrites.layerDirect), Layer.provide(State.layer(dataDir)))
  )
  return {
    engine,
    source,
    run: (options: SyncOptions = {}, changes: Partial<SyncSpec> = {}) => sync(specOf(changes), options).pipe(Effect.provide(layer)),
    plan: Effect.suspend(() => plan(specOf(), { maxEmbeddingRequestsPerMinute: 60 }).pipe(Effect.provide(layer))),
    /** What readers of the target would find, and who may. */
    target: () =>
      [...engine.files.values()].map(({ file, text }) => [file.displayName, text, file.permissions?.principals]).toSorted(byPath),
    wanted: () => [...source.items].map(([path, { permissions, text }]) => [path, text, permissions.principals]).toSorted(byPath)
  }
})

const byPath = ([a]: ReadonlyArray<unknown>, [b]: ReadonlyArray<unknown>): number => String(a) < String(b) ? -1 : 1
const counts = ({ totals }: Pick<Report, "totals">) => {
  assert.isTrue(addsUp(totals), JSON.stringify(totals))
  return Object.fromEntries(Object.entries(totals).filter(([, n]) => n > 0))
}
const unavailable = new ServiceError({ code: "UNAVAILABLE", message: "later" })

describe("sync of a source that tells its changes", () => {
  it.effect("lists changes only, and counts the rest from what it knows", () =>
    Effect.gen(function*() {
      const { engine, plan, run, source, target, wanted } = yield* setUp
      for (const name of ["a", "b", "c", "d"]) source.put(name, `text ${name}`)
      assert.deepStrictEqual(counts(yield* run()), { listed: 4, added: 4 })
      const before = { reads: source.reads, ...engine.calls }
      assert.deepStrictEqual(counts(yield* run()), { listed: 4, unchanged: 4 })
      assert.deepStrictEqual({ reads: source.reads, ...engine.calls }, before)

      source.put("a", "other text")
      source.remove("b")
      source.move("c", "c2")
      source.put("d", "text d", ["user:ann@acme.com"])
      source.put("e", "text e")
      source.remove("e")
      assert.deepStrictEqual(counts(yield* plan), { listed: 3, changed: 2, moved: 1, deleted: 1 })
      assert.deepStrictEqual(counts(yield* run()), { listed: 3, changed: 2, moved: 1, deleted: 1 })
      assert.deepStrictEqual(target(), wanted())
      assert.strictEqual(engine.calls.uploads, 5)
      assert.deepStrictEqual(source.listings, { whole: 1, changes: 3 })
    }).pipe(Effect.scoped))

  it.effect("what is no longer offered goes, as it would from a whole listing", () =>
    Effect.gen(function*() {
      const { engine, run, source } = yield* setUp
      for (const name of ["a", "b"]) source.put(name, `text ${name}`)
      yield* run()
      source.large.add("a")
      source.put("a", "grown")
      assert.deepStrictEqual(counts(yield* run()), { listed: 2, unchanged: 1, skipped: 1, deleted: 1 })
      assert.deepStrictEqual(engine.content, { b: "text b" })
      // Moved twice between two runs: where it was in between is no longer worked on.
      source.large.clear()
      source.move("b", "c")
      for (let i = 0; i < 600; i++) source.put("a", `text ${i}`)
      source.move("c", "d")
      yield* run()
      assert.deepStrictEqual(engine.content, { a: "text 599", d: "text b" })
      assert.strictEqual(source.listings.whole, 1)
    }).pipe(Effect.scoped))

  it.effect("lists everything again after a day, under other settings, and where a cursor is refused", () =>
    Effect.gen(function*() {
      const { run, source, target, wanted } = yield* setUp
      for (const name of ["a", "b", "c"]) source.put(name, `text ${name}`)
      yield* run()
      yield* run()
      assert.deepStrictEqual(source.listings, { whole: 1, changes: 1 })
      assert.deepStrictEqual(counts(yield* run({}, { chunking: { ...defaultChunking, size: 512 } })), { listed: 3, changed: 3 })
      assert.deepStrictEqual(
        counts(
          yield* run({}, {
            chunking: { ...defaultChunking, size: 512 },
            sources: [{ id: "feed", connector: source.connector, settings: "2" }]
          })
        ),
        { listed: 3, unchanged: 3 }
      )
      assert.strictEqual(source.listings.whole, 3)
      yield* run()
      yield* TestClock.adjust("23 hours")
      yield* run()
      assert.strictEqual(source.listings.whole, 4)
      yield* TestClock.adjust("1 hour")
      yield* run()
      assert.strictEqual(source.listings.whole, 5)
      yield* run({ retryFailed: true })
      assert.strictEqual(source.listings.whole, 6)

      source.refuses = true
      source.put("a", "new")
      source.put("x", "new too")
      source.remove("x")
      source.remove("b")
      assert.deepStrictEqual(counts(yield* run()), { listed: 2, changed: 1, unchanged: 1, deleted: 1 })
      assert.deepStrictEqual(target(), wanted())
    }).pipe(Effect.scoped))

  it.effect("lists everything again where a parser of one's own is another, or reads other files", () =>
    Effect.gen(function*() {
      const { engine, run, source } = yield* setUp
      for (const name of ["a.call", "b.call", "c.txt"]) source.put(name, `text ${name}`)
      const with_ = (version: number, extensions = ["call"]) =>
        run({}, {
          parsers: [fileParser(
            { kind: "calls", version, unversioned: [] },
            { extensions, mimeTypes: [], maxSeconds: 60 },
            ({ content }) => Effect.succeed(`${version}: ${Buffer.from(content).toString()}`)
          )]
        })
      assert.deepStrictEqual(counts(yield* run()), { listed: 3, added: 3 })
      assert.deepStrictEqual(counts(yield* with_(1)), { listed: 3, changed: 2, unchanged: 1 })
      const { uploads } = engine.calls
      const { reads } = source
      assert.deepStrictEqual(counts(yield* with_(1)), { listed: 3, unchanged: 3 })
      assert.deepStrictEqual({ reads: source.reads, uploads: engine.calls.uploads }, { reads, uploads })
      assert.deepStrictEqual(counts(yield* with_(2)), { listed: 3, changed: 2, unchanged: 1 })
      assert.deepStrictEqual(counts(yield* with_(2, ["txt", "call"])), { listed: 3, changed: 1, unchanged: 2 })
      assert.strictEqual(engine.content["c.txt"], "2: text c.txt")
    }).pipe(Effect.scoped))

  it.effect("connectors whose cursors miss something are listed whole, unless that may wait", () =>
    Effect.gen(function*() {
      const { run, source } = yield* setUp
      source.put("a", "text")
      const sources = [{ id: "feed", connector: { ...source.connector, cursorMisses: ["permissions"] as const }, settings: "1" }]
      yield* run({}, { sources })
      yield* run({}, { sources })
      assert.deepStrictEqual(source.listings, { whole: 2, changes: 0 })
      const report = yield* run({ missesFor: 60_000 }, { sources })
      assert.match(report.sources[0]?.note ?? "", /permissions/)
      yield* TestClock.adjust("1 minute")
      yield* run({ missesFor: 60_000 }, { sources })
      assert.deepStrictEqual(source.listings, { whole: 3, changes: 1 })
    }).pipe(Effect.scoped))

  it.effect("what could not be taken is tried again, though no listing names it", () =>
    Effect.gen(function*() {
      const { engine, run, source, target, wanted } = yield* setUp
      source.put("a", "text")
      yield* run()
      engine.refuse = (_, text) =>
        text === "bad" ? unavailable : text === "broken" ? new DocumentError({ problem: "corrupt", message: "no" }) : undefined
      source.put("b", "bad")
      source.put("c", "bad")
      source.put("d", "broken")
      assert.deepStrictEqual(counts(yield* run()), { listed: 4, unchanged: 1, failed: 3 })
      assert.deepStrictEqual(counts(yield* run()), { listed: 4, unchanged: 1, failed: 2, quarantined: 1 })
      source.remove("b")
      assert.deepStrictEqual(counts(yield* run()), { listed: 3, unchanged: 1, failed: 1, quarantined: 1 })
      engine.refuse = () => undefined
      assert.deepStrictEqual(counts(yield* run()), { listed: 3, unchanged: 1, added: 1, quarantined: 1 })
      source.put("d", "mended")
      yield* run()
      assert.deepStrictEqual(target(), wanted())
      assert.strictEqual(source.listings.whole, 1)
    }).pipe(Effect.scoped))

  it.effect("a delete that is held, a budget that ends and a listing that breaks off leave the cursor where it was", () =>
    Effect.gen(function*() {
      const { run, source, target, wanted } = yield* setUp
      for (let i = 0; i < 30; i++) source.put(`f${i}`, `text ${i}`)
      yield* run()
      for (let i = 0; i < 25; i++) source.remove(`f${i}`)
      const guarded = { maxDelete: { percent: 10 } }
      assert.deepStrictEqual(counts(yield* run({}, guarded)), { listed: 5, unchanged: 5, held: 25 })
      assert.deepStrictEqual(counts(yield* run({}, guarded)), { listed: 5, unchanged: 5, held: 25 })
      assert.deepStrictEqual(counts(yield* run({ yes: true }, guarded)), { listed: 5, unchanged: 5, deleted: 25 })

      source.put("x", "a text")
      source.put("y", "another text")
      const stopped = yield* run({}, { budget: { tokens: 1 }, concurrency: 1 })
      assert.strictEqual(stopped.ended, "budget")
      assert.strictEqual(stopped.totals.pending, 1)
      assert.deepStrictEqual(counts(yield* run()), { listed: 7, unchanged: 6, added: 1 })
      source.put("x", "changed")
      source.put("z", "new")
      source.remove("y")
      source.cutShort = true
      assert.strictEqual((yield* run()).totals.deleted, 0)
      source.cutShort = false
      yield* run()
      assert.deepStrictEqual(target(), wanted())
      assert.strictEqual(source.listings.whole, 1)
    }).pipe(Effect.scoped))

  it.effect("is met whole where somebody else touched the target", () =>
    Effect.gen(function*() {
      const { engine, run, source, target, wanted } = yield* setUp
      for (const name of ["a", "b"]) source.put(name, `text ${name}`)
      yield* run()
      const [lost] = [...engine.files.keys()]
      engine.files.delete(lost ?? "")
      yield* run()
      assert.deepStrictEqual(target(), wanted())
      assert.strictEqual(source.listings.whole, 2)
    }).pipe(Effect.scoped))

  it.effect(`whatever happens, changes alone lead where a whole listing leads (${seeds} seeds)`, () =>
    Effect.gen(function*() {
      for (let seed = 1; seed <= seeds; seed++) {
        const { engine, run, source, target, wanted } = yield* setUp
        const next = random(seed)
        const some = (n: number) => Math.floor(next() * n)
        const path = () => `f${some(8)}`
        let version = 0
        for (let round = 0; round < 12; round++) {
          for (let edits = some(5); edits > 0; edits--) {
            const kind = some(10)
            if (kind < 4) source.put(path(), `text ${++version}`)
            else if (kind < 6) source.remove(path())
            else if (kind < 8) source.move(path(), path())
            else {
              const at = path()
              const item = source.items.get(at)
              if (item !== undefined) source.put(at, item.text, [`user:${some(3)}@acme.com`])
            }
          }
          const trouble = some(6)
          source.refuses = trouble === 0
          source.cutShort = trouble === 1
          engine.refuse = trouble === 2 ? () => next() < 0.5 ? unavailable : undefined : () => undefined
          engine.afterStore = trouble === 3
            ? Effect.suspend(() => next() < 0.5 ? Effect.die("the machine stops") : Effect.void)
            : Effect.void
          const report = yield* run(trouble === 4 ? { missesFor: 0 } : {}).pipe(
            Effect.catchCause(() => Effect.undefined)
          )
          if (report !== undefined) assert.isTrue(addsUp(report.totals), `seed ${seed} round ${round}: ${JSON.stringify(report.totals)}`)
        }
        source.refuses = false
        source.cutShort = false
        engine.refuse = () => undefined
        engine.afterStore = Effect.void
        const report = yield* run()
        assert.deepStrictEqual(target(), wanted(), `seed ${seed}`)
        assert.strictEqual(report.totals.listed, source.items.size, `seed ${seed}`)
        assert.isAbove(source.listings.changes, 0)
      }
    }).pipe(Effect.scoped), 240_000 + seeds * 5_000)
})
