import { assert, describe, it } from "@effect/vitest"
import { Clock, Deferred, Effect, Exit, Fiber, Layer, Queue, Stream } from "effect"
import { TestClock } from "effect/testing"
import { defaultChunking } from "../../../src/domain/Chunking.ts"
import { ServiceError } from "../../../src/domain/Errors.ts"
import { resting } from "../../../src/pipeline/watch/Attention.ts"
import { watch } from "../../../src/pipeline/watch/Watch.ts"
import type { SyncSource } from "../../../src/pipeline/sync/Session.ts"
import type { WatchEvent } from "../../../src/pipeline/watch/WatchEvent.ts"
import type { Connector, Hint } from "../../../src/ports/Connector.ts"
import { LedgerWrites } from "../../../src/state/LedgerWrites.ts"
import * as SqliteLedger from "../../../src/state/SqliteLedger.ts"
import { State } from "../../../src/state/State.ts"
import { MemoryEngine } from "../../support/MemoryEngine.ts"
import { MemorySource } from "../../support/MemorySource.ts"
import { tempFolder } from "../../support/TempFolder.ts"

/** A folder that tells of its changes, and a remote source that does not; both in memory, and listings counted. */
const setUpWith = Effect.fnUntraced(function*(more: ReadonlyArray<SyncSource>, objects?: Record<string, string>) {
  const dataDir = yield* tempFolder
  const engine = new MemoryEngine()
  engine.objects = objects
  const docs = new MemorySource()
  const drive = new MemorySource()
  docs.items = { a: { text: "one" } }
  drive.items = { d: { text: "drive" } }
  const hints = yield* Queue.unbounded<Hint>()
  const events = yield* Queue.unbounded<WatchEvent>()
  const releases = yield* Queue.unbounded<void>()
  const listings = { docs: 0, drive: 0 }
  let gone: ServiceError | undefined
  let young = false
  const counted = (id: "docs" | "drive", connector: Connector): Connector => ({
    ...connector,
    check: Effect.suspend(() => id === "docs" && gone !== undefined ? Effect.fail(gone) : Effect.void),
    list: (cursor) =>
      Stream.suspend(() => {
        listings[id] += 1
        return connector.list(cursor).pipe(
          Stream.map((listed) => listed._tag === "item" && young ? { ...listed, item: { ...listed.item, unsettled: true } } : listed)
        )
      })
  })
  const timers = yield* Clock.Clock
  let slept = 0
  const now = Effect.map(timers.currentTimeMillis, (ms) => ms + slept)
  /** Timers stand still while a laptop sleeps; the time of day does not. */
  const wall: Clock.Clock = {
    currentTimeMillisUnsafe: () => timers.currentTimeMillisUnsafe() + slept,
    currentTimeMillis: now,
    currentTimeNanosUnsafe: () => timers.currentTimeNanosUnsafe(),
    currentTimeNanos: timers.currentTimeNanos,
    monotonicTimeNanosUnsafe: () => timers.monotonicTimeNanosUnsafe(),
    monotonicTimeNanos: timers.monotonicTimeNanos,
    sleep: (duration) => timers.sleep(duration)
  }
  const fiber = yield* watch({
    pipeline: "test",
    corpus: { displayName: "Test", vectorDb: { _tag: "managed" } },
    chunking: defaultChunking,
    parsing: { _tag: "default" },
    sources: [
      { id: "docs", connector: { ...counted("docs", docs.connector), hints: Stream.fromQueue(hints) } },
      { id: "drive", connector: counted("drive", drive.connector) },
      ...more
    ],
    maxDelete: { percent: 10 },
    onFileError: "continue"
  }, {
    interval: (source) => source === "drive" ? 60_000 : undefined,
    release: Stream.fromQueue(releases),
    observe: (event) => Queue.offer(events, event)
  }).pipe(
    Effect.provide(Layer.mergeAll(
      engine.layer,
      SqliteLedger.layer.pipe(Layer.provide(LedgerWrites.layerDirect), Layer.provide(State.layer(dataDir)))
    )),
    Effect.provideService(Clock.Clock, wall),
    Effect.forkScoped
  )

  /** The next event of a kind. */
  const next = <T extends WatchEvent["type"]>(type: T): Effect.Effect<Extract<WatchEvent, { readonly type: T }>> =>
    Effect.gen(function*() {
      for (;;) {
        const event = yield* Queue.take(events)
        if (isOf(event, type)) return event
      }
    })

  return {
    engine,
    docs,
    drive,
    listings,
    fiber,
    next,
    tell: (hint: Hint = { _tag: "changed" }) => Queue.offer(hints, hint),
    release: Queue.offer(releases, undefined),
    /** Every hint told has arrived; the clock does not move meanwhile. */
    heard: Effect.repeat(Effect.andThen(Effect.yieldNow, Queue.size(hints)), { until: (waiting) => waiting === 0 }),
    /** Whether items are too young for their revisions to be trusted. */
    isYoung: (is: boolean) => void (young = is),
    sleepFor: (ms: number) => void (slept += ms),
    vanish: (error: ServiceError | undefined) => void (gone = error)
  }
})

const setUp = setUpWith([])

const isOf = <T extends WatchEvent["type"]>(event: WatchEvent, type: T): event is Extract<WatchEvent, { readonly type: T }> =>
  event.type === type

describe("watch", () => {
  it.effect("syncs, then lists again only the source that tells of a change", () =>
    Effect.gen(function*() {
      const { docs, engine, listings, next, tell } = yield* setUp
      const first = yield* next("batch")
      assert.deepStrictEqual(first.sources, ["docs", "drive"])
      yield* next("quiet")
      docs.items = { a: { text: "two" } }
      yield* tell()
      yield* TestClock.adjust("1 second")
      const second = yield* next("batch")
      assert.deepStrictEqual(second.sources, ["docs"])
      assert.deepStrictEqual(second.report.sources.map(({ source }) => source), ["docs"])
      assert.strictEqual(second.report.totals.changed, 1)
      assert.deepStrictEqual(engine.content, { a: "two", d: "drive" })
      assert.deepStrictEqual(listings, { docs: 2, drive: 1 })
    }).pipe(Effect.scoped))

  it.effect("counts what a source loses over many batches together, and holds it until it is released", () =>
    Effect.gen(function*() {
      const { docs, engine, next, release, tell } = yield* setUp
      const files = (from: number, to = 60) =>
        Object.fromEntries(Array.from({ length: to - from }, (_, i) => [`f${from + i}`, { text: `${from + i}` }]))
      const stored = () => Object.keys(engine.content).filter((path) => path.startsWith("f")).length
      const batch = Effect.gen(function*() {
        yield* tell()
        yield* TestClock.adjust("1 second")
        const { report } = yield* next("batch")
        return [report.totals.deleted, report.totals.held]
      })
      docs.items = files(0)
      yield* next("batch")
      assert.strictEqual(stored(), 60)
      docs.items = files(10)
      assert.deepStrictEqual(yield* batch, [10, 0])
      // Replaced files are no loss.
      docs.items = files(20, 70)
      assert.deepStrictEqual(yield* batch, [10, 0])
      docs.items = files(30, 70)
      assert.deepStrictEqual(yield* batch, [10, 0])
      docs.items = files(31, 70)
      yield* tell()
      yield* TestClock.adjust("1 second")
      const { report } = yield* next("batch")
      assert.strictEqual(
        report.sources[0]?.heldBecause,
        "1 of 40 files are gone at the source, and 20 more within the last hour, more than maxDelete allows (20); --yes deletes them"
      )
      // What is held stays so.
      yield* TestClock.adjust("61 minutes")
      assert.strictEqual(stored(), 40)
      yield* next("batch")
      yield* release
      yield* TestClock.adjust("1 second")
      yield* TestClock.adjust("1 second")
      assert.strictEqual(stored(), 39)
    }).pipe(Effect.scoped))

  it.effect("makes deletes that are released while a batch is in hand", () =>
    Effect.gen(function*() {
      const { docs, engine, next, release, tell } = yield* setUp
      const files = (to: number) => Object.fromEntries(Array.from({ length: to }, (_, i) => [`f${i}`, { text: `${i}` }]))
      docs.items = files(60)
      yield* next("batch")
      docs.items = files(20)
      yield* tell()
      yield* TestClock.adjust("1 second")
      assert.strictEqual((yield* next("batch")).report.totals.held, 40)
      const stored = yield* Deferred.make<void>()
      const goOn = yield* Deferred.make<void>()
      engine.afterStore = Effect.andThen(Deferred.succeed(stored, undefined), Deferred.await(goOn))
      docs.items = { ...docs.items, f0: { text: "edited" } }
      yield* tell()
      yield* TestClock.adjust("1 second")
      yield* Deferred.await(stored)
      yield* release
      yield* TestClock.adjust("1 second")
      yield* Deferred.succeed(goOn, undefined)
      assert.deepInclude((yield* next("batch")).report.totals, { changed: 1, held: 40, deleted: 0 })
      assert.deepInclude((yield* next("batch")).report.totals, { held: 0, deleted: 40 })
    }).pipe(Effect.scoped))

  it.effect("ten thousand hints are one batch", () =>
    Effect.gen(function*() {
      const { heard, listings, next, tell } = yield* setUp
      yield* next("batch")
      yield* Effect.forEach(Array.from({ length: 10_000 }), () => tell(), { discard: true })
      yield* heard
      yield* TestClock.adjust("20 seconds")
      yield* next("batch")
      assert.deepStrictEqual(listings, { docs: 2, drive: 1 })
    }).pipe(Effect.scoped))

  it.effect("a source without hints is listed at its interval, and one with them in the end too", () =>
    Effect.gen(function*() {
      const { drive, listings, next } = yield* setUp
      drive.items = { d: { text: "drive" }, e: { text: "more" } }
      yield* next("batch")
      drive.items = { d: { text: "drive" } }
      yield* TestClock.adjust("60 seconds")
      const polled = yield* next("batch")
      assert.deepStrictEqual(polled.sources, ["drive"])
      assert.strictEqual(polled.report.totals.deleted, 1)
      assert.deepStrictEqual(listings, { docs: 1, drive: 2 })
      yield* TestClock.adjust("5 minutes")
      assert.strictEqual(listings.docs, 2)
    }).pipe(Effect.scoped))

  it.effect("a source that only the engine can list is imported again once an hour", () =>
    Effect.gen(function*() {
      const { connector } = new MemorySource()
      const imports = { _tag: "googleDrive" as const, resources: [{ kind: "folder" as const, id: "f1" }] }
      const { engine, listings, next } = yield* setUpWith([{ id: "shared", connector, imports, listing: "service" }], {
        "gs://drive/x.md": "text"
      })
      assert.deepStrictEqual((yield* next("batch")).sources, ["docs", "drive", "shared"])
      assert.strictEqual(engine.imports.length, 1)
      yield* TestClock.adjust("59 minutes")
      assert.strictEqual(engine.imports.length, 1)
      assert.isAbove(listings.docs, 5)
      yield* TestClock.adjust("1 minute")
      assert.strictEqual(engine.imports.length, 2)
      yield* TestClock.adjust("1 hour")
      assert.strictEqual(engine.imports.length, 3)
    }).pipe(Effect.scoped))

  it.effect("what somebody else deleted in the corpus is put back within the hour", () =>
    Effect.gen(function*() {
      const { engine, next, tell } = yield* setUp
      yield* next("quiet")
      for (const [name, { file }] of engine.files) if (file.displayName === "a") engine.files.delete(name)
      yield* tell()
      yield* TestClock.adjust("30 minutes")
      assert.deepStrictEqual(engine.content, { d: "drive" })
      yield* TestClock.adjust("30 minutes")
      assert.deepStrictEqual(engine.content, { a: "one", d: "drive" })
    }).pipe(Effect.scoped))

  it("a source that rests is neither listed nor fetched by the engine, and is known by where it was staged", () => {
    const { connector } = new MemorySource()
    const rests = resting({ id: "docs", connector, staging: "gs://stage/docs", imports: { _tag: "storage", uris: ["gs://b/"] } })
    assert.deepStrictEqual([rests.staging, rests.imports], ["gs://stage/docs", undefined])
  })

  it.effect("looks again, untold, at what was too young to be trusted", () =>
    Effect.gen(function*() {
      const { docs, engine, isYoung, next, tell } = yield* setUp
      yield* next("quiet")
      isYoung(true)
      docs.items = { a: { text: "half", revision: "2" } }
      yield* tell()
      yield* TestClock.adjust("1 second")
      yield* next("batch")
      // Written on within the clock's grain: the revision is the same, and nothing was told of it.
      docs.items = { a: { text: "half and half", revision: "2" } }
      isYoung(false)
      yield* TestClock.adjust("2 seconds")
      yield* next("quiet")
      assert.deepStrictEqual(engine.content, { a: "half and half", d: "drive" })
    }).pipe(Effect.scoped))

  for (const [what, ms] of [["the machine slept", 45_000], ["the clock was set back", -3_600_000]] as const) {
    it.effect(`everything is listed after ${what}`, () =>
      Effect.gen(function*() {
        const { listings, next, sleepFor } = yield* setUp
        yield* next("quiet")
        sleepFor(ms)
        yield* TestClock.adjust("15 seconds")
        assert.deepStrictEqual((yield* next("batch")).sources, ["docs", "drive"])
        assert.deepStrictEqual(listings, { docs: 2, drive: 2 })
      }).pipe(Effect.scoped))
  }

  it.effect("what rests is not deleted", () =>
    Effect.gen(function*() {
      const { docs, engine, next, tell } = yield* setUp
      docs.items = { a: { text: "one" }, b: { text: "two" } }
      yield* next("batch")
      docs.items = { b: { text: "two" } }
      yield* tell()
      yield* TestClock.adjust("1 second")
      const { report } = yield* next("batch")
      assert.strictEqual(report.totals.deleted, 1)
      assert.deepStrictEqual([report.ended, report.sources.map(({ source }) => source)], ["done", ["docs"]])
      assert.deepStrictEqual(engine.content, { b: "two", d: "drive" })
    }).pipe(Effect.scoped))

  it.effect("a source that is away loses nothing, and is in order once it is back", () =>
    Effect.gen(function*() {
      const { docs, engine, next, tell, vanish } = yield* setUp
      yield* next("batch")
      vanish(new ServiceError({ code: "NOT_FOUND", message: "docs is not there" }))
      docs.items = {}
      yield* tell({ _tag: "blind", message: "the folder is gone" })
      assert.include((yield* next("trouble")).message, "gone")
      yield* TestClock.adjust("30 minutes")
      assert.deepStrictEqual(engine.content, { a: "one", d: "drive" })
      vanish(undefined)
      docs.items = { a: { text: "one" }, b: { text: "new" } }
      yield* tell({ _tag: "watching" })
      yield* TestClock.adjust("2 minutes")
      assert.strictEqual((yield* next("recovered")).source, "docs")
      assert.deepStrictEqual(engine.content, { a: "one", b: "new", d: "drive" })
    }).pipe(Effect.scoped))

  it.effect("an error of a whole run is told once, tried again, and ends nothing", () =>
    Effect.gen(function*() {
      const { docs, engine, next, tell } = yield* setUp
      yield* next("batch")
      engine.refuse = () => new ServiceError({ code: "UNAUTHENTICATED", message: "token expired" })
      docs.items = { a: { text: "two" } }
      yield* tell()
      yield* TestClock.adjust("1 second")
      const trouble = yield* next("trouble")
      assert.deepInclude(trouble, { message: "token expired", retrySeconds: 1 })
      yield* TestClock.adjust("10 seconds")
      engine.refuse = () => undefined
      yield* TestClock.adjust("1 minute")
      yield* next("recovered")
      yield* next("quiet")
      assert.deepStrictEqual(engine.content, { a: "two", d: "drive" })
    }).pipe(Effect.scoped))

  it.effect("a file's passing failure is tried again without a hint", () =>
    Effect.gen(function*() {
      const { docs, engine, next, tell } = yield* setUp
      yield* next("quiet")
      engine.refuse = () => new ServiceError({ code: "UNAVAILABLE", message: "later" })
      docs.items = { a: { text: "two" } }
      yield* tell()
      yield* TestClock.adjust("1 second")
      assert.strictEqual((yield* next("batch")).report.totals.failed, 1)
      engine.refuse = () => undefined
      yield* TestClock.adjust("2 seconds")
      yield* next("quiet")
      assert.deepStrictEqual(engine.content, { a: "two", d: "drive" })
    }).pipe(Effect.scoped))

  it.effect("ends with an error of the first sync that trying again cannot mend", () =>
    Effect.gen(function*() {
      const { engine, fiber } = yield* setUp
      engine.refuse = () => new ServiceError({ code: "PERMISSION_DENIED", message: "no" })
      assert.isTrue(Exit.isFailure(yield* Fiber.await(fiber)))
    }).pipe(Effect.scoped))

  it.effect("an interrupt waits for the batch in hand, and says so", () =>
    Effect.gen(function*() {
      const { docs, engine, fiber, next, tell } = yield* setUp
      yield* next("quiet")
      const begun = yield* Deferred.make<void>()
      const go = yield* Deferred.make<void>()
      engine.afterStore = Effect.andThen(Deferred.succeed(begun, undefined), Deferred.await(go))
      docs.items = { a: { text: "two" } }
      yield* tell()
      yield* TestClock.adjust("1 second")
      yield* Deferred.await(begun)
      const interrupting = yield* Effect.forkChild(Fiber.interrupt(fiber))
      yield* next("stopping")
      assert.isUndefined(fiber.pollUnsafe())
      yield* Deferred.succeed(go, undefined)
      yield* Fiber.join(interrupting)
      assert.strictEqual((yield* next("batch")).report.totals.changed, 1)
      assert.deepStrictEqual(engine.content, { a: "two", d: "drive" })
    }).pipe(Effect.scoped))
})
