import { assert, describe, it } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { defaultChunking } from "../../../src/domain/Chunking.ts"
import { ServiceError } from "../../../src/domain/Errors.ts"
import { Corpora } from "../../../src/ports/Corpora.ts"
import { Engine } from "../../../src/ports/Engine.ts"
import { Ledger } from "../../../src/ports/Ledger.ts"
import { plan } from "../../../src/pipeline/sync/Plan.ts"
import { sync } from "../../../src/pipeline/sync/Sync.ts"
import type { SyncOptions, SyncSpec } from "../../../src/pipeline/sync/Session.ts"
import { dropCandidate, findGenerations, promote, rollback } from "../../../src/pipeline/sync/Generations.ts"
import { LedgerWrites } from "../../../src/state/LedgerWrites.ts"
import * as SqliteLedger from "../../../src/state/SqliteLedger.ts"
import { State } from "../../../src/state/State.ts"
import { TextPool } from "../../../src/text/TextPool.ts"
import { MemoryEngine } from "../../support/MemoryEngine.ts"
import { MemorySource } from "../../support/MemorySource.ts"
import { tempFolder } from "../../support/TempFolder.ts"

const numbered = (n: number) => Object.fromEntries(Array.from({ length: n }, (_, i) => [`f${i}`, { text: `text ${i}` }]))

const setUp = Effect.gen(function*() {
  const dataDir = yield* tempFolder
  const engine = new MemoryEngine()
  const source = new MemorySource()
  source.items = numbered(6)
  const spec = (embeddingModel?: string): SyncSpec => ({
    pipeline: "test",
    corpus: { displayName: "Test", vectorDb: { _tag: "managed" }, ...(embeddingModel === undefined ? {} : { embeddingModel }) },
    chunking: defaultChunking,
    parsing: { _tag: "default" },
    sources: [{ id: "docs", connector: source.connector }],
    maxDelete: { percent: 10 },
    onFileError: "continue"
  })
  const ledger = SqliteLedger.layer.pipe(Layer.provide(LedgerWrites.layerDirect), Layer.provide(State.layer(dataDir)))
  const layer = Layer.mergeAll(engine.layer, ledger, TextPool.layerInline())
  const run = (model: string | undefined, options: SyncOptions = {}, services: typeof layer = layer) =>
    sync(spec(model), options).pipe(Effect.provide(services))
  const named = { pipeline: "test", corpus: { displayName: "Test" } }
  const rules = { maxDelete: { percent: 10 }, sources: ["docs"], yes: false }
  /** The corpus that a reader finds, and how many files it holds. */
  const served = Effect.gen(function*() {
    const { live } = yield* findGenerations(named)
    if (live === undefined) return undefined
    const { displayName, embeddingModel } = yield* (yield* Corpora).get(live.corpus)
    assert.strictEqual(displayName, "Test")
    return { model: embeddingModel, files: [...engine.files.keys()].filter((file) => file.startsWith(`${live.corpus}/`)).length }
  }).pipe(Effect.provide(layer))
  /** What is in the target, by name: the model of each. */
  const there = () =>
    Object.fromEntries([...engine.corpora.values()].map(({ displayName, embeddingModel }) => [displayName, embeddingModel]))
  return {
    engine,
    layer,
    plan: (model: string) => plan(spec(model), { maxEmbeddingRequestsPerMinute: 60 }).pipe(Effect.provide(layer)),
    promote: (keep?: number, services: typeof layer = layer) => promote({ ...named, keep }, rules).pipe(Effect.provide(services)),
    rollback: rollback(named).pipe(Effect.provide(layer)),
    drop: dropCandidate(named).pipe(Effect.provide(layer)),
    run,
    served,
    source,
    there
  }
})

describe("a corpus that cannot be changed in place", () => {
  it.effect("is built beside the one that serves, which gives way once the new one is whole", () =>
    Effect.gen(function*() {
      const { engine, plan, run, served, source, there } = yield* setUp
      yield* run("a")
      assert.include((yield* Effect.flip(run("b"))).message, "a -> b forces replacement")
      // The third file fails in a way that may pass.
      engine.refuse = (_, text) => text === "text 3" ? new ServiceError({ code: "UNAVAILABLE", message: "later" }) : undefined
      const half = yield* run("b", { replace: true })
      assert.deepStrictEqual([half.ended, half.totals.added, half.totals.failed], ["incomplete", 5, 1])
      assert.include(half.why, "stays live")
      assert.deepStrictEqual(yield* served, { model: "a", files: 6 })
      const planned = yield* plan("b")
      assert.deepStrictEqual([planned.corpus.action, planned.totals.added, planned.totals.unchanged], ["replace", 1, 5])
      engine.refuse = () => undefined
      const whole = yield* run("b", { replace: true })
      assert.deepStrictEqual([whole.ended, whole.totals.added, whole.totals.unchanged], ["done", 1, 5])
      assert.deepStrictEqual(yield* served, { model: "b", files: 6 })
      assert.deepStrictEqual(there(), { Test: "b", "Test (generation 1)": "a" })
      source.items = { ...source.items, more: { text: "more" } }
      assert.deepInclude((yield* run("b")).totals, { unchanged: 6, added: 1 })
    }).pipe(Effect.scoped))

  it.effect("does not give way to one that has lost its files", () =>
    Effect.gen(function*() {
      const { run, served, source } = yield* setUp
      yield* run("a")
      source.items = {}
      const report = yield* run("b", { replace: true })
      assert.strictEqual(report.ended, "incomplete")
      assert.include(report.why, "all 6 files are gone at the source")
      assert.deepStrictEqual(yield* served, { model: "a", files: 6 })
      assert.strictEqual((yield* run("b", { replace: true, yes: true })).ended, "done")
      assert.deepStrictEqual(yield* served, { model: "b", files: 0 })
    }).pipe(Effect.scoped))

  it.effect("is built anew where the declaration changes again, and given up where it is told so", () =>
    Effect.gen(function*() {
      const { drop, engine, run, served, there } = yield* setUp
      yield* run("a")
      engine.refuse = () => new ServiceError({ code: "UNAVAILABLE", message: "later" })
      yield* run("b", { replace: true })
      yield* run("c", { replace: true })
      assert.deepStrictEqual(there(), { Test: "a", "Test (candidate)": "c" })
      engine.refuse = () => undefined
      assert.deepInclude((yield* run("a")).totals, { unchanged: 6 })
      assert.deepStrictEqual(there(), { Test: "a", "Test (candidate)": "c" })
      yield* drop
      assert.deepStrictEqual(there(), { Test: "a" })
      assert.include((yield* Effect.flip(drop)).message, "test has no candidate")
      assert.deepStrictEqual(yield* served, { model: "a", files: 6 })
    }).pipe(Effect.scoped))

  it.effect("is found though no model is named any more, by what its vectors are of", () =>
    Effect.gen(function*() {
      const { engine, layer, run } = yield* setUp
      yield* run("a")
      for (const [name, corpus] of engine.corpora) engine.corpora.set(name, { ...corpus, embedder: "server/a/2" })
      const offline = Layer.merge(
        layer,
        Layer.effect(Engine, Effect.map(Engine, (known) => Engine.of({ ...known, embedder: "hash/1" }))).pipe(Layer.provide(layer))
      )
      assert.include((yield* Effect.flip(run(undefined, {}, offline))).message, "corpus.embedding server/a/2 -> hash/1 forces replacement")
      assert.strictEqual((yield* run(undefined, { replace: true }, offline)).ended, "done")
      assert.deepStrictEqual([...engine.corpora.values()].map(({ embeddingModel }) => embeddingModel), ["a", undefined])
    }).pipe(Effect.scoped))

  it.effect("converges wherever it is cut off, and never serves half", () =>
    Effect.gen(function*() {
      // Every call that changes the target or the ledger, in turn, is the last that a run makes.
      for (let at = 1, over = false; !over; at++) {
        const { engine, layer, run, served, there } = yield* setUp
        yield* run("z")
        yield* run("a", { replace: true })
        let calls = 0
        const cut = <A extends ReadonlyArray<unknown>, B, E>(call: (...args: A) => Effect.Effect<B, E>) => (...args: A) =>
          Effect.suspend(() => ++calls === at ? Effect.die("killed") : call(...args))
        const killed = Layer.mergeAll(
          layer,
          Layer.effect(
            Corpora,
            Effect.map(
              Corpora,
              (known) => Corpora.of({ ...known, create: cut(known.create), update: cut(known.update), delete: cut(known.delete) })
            )
          ).pipe(Layer.provide(layer)),
          Layer.effect(
            Ledger,
            Effect.map(Ledger, (known) =>
              Ledger.of({
                ...known,
                beginGeneration: cut(known.beginGeneration),
                noteGeneration: cut(known.noteGeneration),
                write: cut(known.write),
                assign: cut(known.assign),
                retire: cut(known.retire)
              }))
          ).pipe(Layer.provide(layer))
        )
        const exit = yield* Effect.exit(run("b", { replace: true }, killed))
        over = exit._tag === "Success"
        const { live } = yield* findGenerations({ pipeline: "test" }).pipe(Effect.provide(layer))
        assert.strictEqual(
          [...engine.files.keys()].filter((file) => file.startsWith(`${live?.corpus}/`)).length,
          6,
          `cut off at call ${at}`
        )
        const report = yield* run("b", { replace: true })
        assert.strictEqual(report.ended, "done", `cut off at call ${at}`)
        assert.deepStrictEqual(yield* served, { model: "b", files: 6 }, `cut off at call ${at}`)
        assert.deepStrictEqual(there(), { Test: "b", "Test (generation 2)": "a" }, `cut off at call ${at}`)
        assert.strictEqual(engine.files.size, 12, `cut off at call ${at}`)
      }
    }).pipe(Effect.scoped))
})

describe("a candidate", () => {
  it.effect("is built whatever differs, promoted in one step, and what served before can be gone back to", () =>
    Effect.gen(function*() {
      const { promote, rollback, run, served, source, there } = yield* setUp
      yield* run("a")
      assert.include((yield* Effect.flip(promote())).message, "no candidate")
      assert.include((yield* Effect.flip(rollback)).message, "no earlier generation")
      // Nothing of its settings differs: it is built beside the other all the same.
      assert.deepInclude((yield* run("a", { candidate: true })).totals, { added: 6 })
      assert.deepInclude((yield* run("a", { candidate: true })).totals, { unchanged: 6 })
      assert.deepStrictEqual(there(), { Test: "a", "Test (candidate)": "a" })
      assert.deepInclude((yield* run("b", { candidate: true })).totals, { added: 6 })
      assert.deepStrictEqual(there(), { Test: "a", "Test (candidate)": "b" })
      // The one that serves goes on being kept up to date.
      source.items = { ...source.items, more: { text: "more" } }
      assert.deepInclude((yield* run("a")).totals, { added: 1, unchanged: 6 })
      const { before, deleted, live } = yield* promote()
      assert.deepStrictEqual([live.number, before?.number, deleted], [3, 1, []])
      assert.deepStrictEqual(yield* served, { model: "b", files: 6 })
      assert.deepStrictEqual(there(), { Test: "b", "Test (generation 1)": "a" })
      assert.deepInclude((yield* run("b")).totals, { added: 1, unchanged: 6 })
      yield* rollback
      assert.deepStrictEqual(there(), { Test: "a", "Test (candidate)": "b" })
      assert.deepStrictEqual(yield* served, { model: "a", files: 7 })
      yield* promote(0)
      assert.deepStrictEqual(there(), { Test: "b" })
    }).pipe(Effect.scoped))

  it.effect("is not promoted before it is whole, nor with fewer files than the other", () =>
    Effect.gen(function*() {
      const { engine, promote, run, served, source } = yield* setUp
      yield* run("a")
      engine.refuse = (_, text) => text === "text 3" ? new ServiceError({ code: "UNAVAILABLE", message: "later" }) : undefined
      const half = yield* run("b", { candidate: true })
      assert.include(half.why, "1 file could not be stored")
      assert.include((yield* Effect.flip(promote())).message, "is not complete")
      engine.refuse = () => undefined
      yield* run("b", { candidate: true })
      const all = source.items
      source.items = {}
      yield* run("b", { candidate: true, yes: true })
      const held = yield* Effect.flip(promote())
      assert.include(held._tag === "Held" ? held.why : "", "all 6 files are gone")
      assert.deepStrictEqual(yield* served, { model: "a", files: 6 })
      source.items = all
      yield* run("b", { candidate: true })
      yield* promote()
      assert.deepStrictEqual(yield* served, { model: "b", files: 6 })
    }).pipe(Effect.scoped))

  it.effect("can be the first corpus of its pipeline", () =>
    Effect.gen(function*() {
      const { promote, run, served, there } = yield* setUp
      yield* run("a", { candidate: true })
      assert.isUndefined(yield* served)
      yield* promote()
      assert.deepStrictEqual(there(), { Test: "a" })
      assert.deepInclude((yield* run("a")).totals, { unchanged: 6 })
    }).pipe(Effect.scoped))
})
