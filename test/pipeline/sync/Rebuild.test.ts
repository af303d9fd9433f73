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
import { findTarget } from "../../../src/pipeline/sync/Target.ts"
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
  /** The corpus that a reader finds, and how many files it holds. */
  const served = Effect.gen(function*() {
    const target = yield* findTarget("memory#test", spec("b").corpus)
    if (target._tag === "missing") return undefined
    const { embeddingModel, name } = target.corpus
    return { model: embeddingModel, files: [...engine.files.keys()].filter((file) => file.startsWith(`${name}/`)).length }
  }).pipe(Effect.provide(layer))
  return {
    engine,
    layer,
    plan: (model: string) => plan(spec(model), { maxEmbeddingRequestsPerMinute: 60 }).pipe(Effect.provide(layer)),
    run,
    served,
    source
  }
})

describe("a corpus that cannot be changed in place", () => {
  it.effect("is built beside the one that serves, which goes once the new one is whole", () =>
    Effect.gen(function*() {
      const { engine, plan, run, served, source } = yield* setUp
      yield* run("a")
      assert.include((yield* Effect.flip(run("b"))).message, "a -> b forces replacement")
      // The third file fails in a way that may pass.
      engine.refuse = (_, text) => text === "text 3" ? new ServiceError({ code: "UNAVAILABLE", message: "later" }) : undefined
      const half = yield* run("b", { replace: true })
      assert.deepStrictEqual([half.ended, half.totals.added, half.totals.failed], ["incomplete", 5, 1])
      assert.include(half.why, "serves on")
      assert.deepStrictEqual(yield* served, { model: "a", files: 6 })
      const planned = yield* plan("b")
      assert.deepStrictEqual([planned.corpus.action, planned.totals.added, planned.totals.unchanged], ["replace", 1, 5])
      engine.refuse = () => undefined
      const whole = yield* run("b", { replace: true })
      assert.deepStrictEqual([whole.ended, whole.totals.added, whole.totals.unchanged], ["done", 1, 5])
      assert.deepStrictEqual(yield* served, { model: "b", files: 6 })
      assert.deepStrictEqual([...engine.corpora.values()].map(({ displayName }) => displayName), ["Test"])
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

  it.effect("is not built any more once the declaration is taken back, or changed again", () =>
    Effect.gen(function*() {
      const { engine, run, served } = yield* setUp
      yield* run("a")
      engine.refuse = () => new ServiceError({ code: "UNAVAILABLE", message: "later" })
      yield* run("b", { replace: true })
      yield* run("c", { replace: true })
      assert.deepStrictEqual([...engine.corpora.values()].map(({ embeddingModel }) => embeddingModel), ["a", "c"])
      engine.refuse = () => undefined
      assert.deepInclude((yield* run("a")).totals, { unchanged: 6 })
      assert.strictEqual(engine.corpora.size, 1)
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
      assert.deepStrictEqual([...engine.corpora.values()].map(({ embeddingModel }) => embeddingModel), [undefined])
    }).pipe(Effect.scoped))

  it.effect("converges wherever it is cut off, and never serves half", () =>
    Effect.gen(function*() {
      // Every call that changes the target or the ledger, in turn, is the last that a run makes.
      for (let at = 1, over = false; !over; at++) {
        const { engine, layer, run, served } = yield* setUp
        yield* run("a")
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
                reset: cut(known.reset),
                write: cut(known.write),
                promote: cut(known.promote),
                setScope: cut(known.setScope)
              }))
          ).pipe(Layer.provide(layer))
        )
        const exit = yield* Effect.exit(run("b", { replace: true }, killed))
        over = exit._tag === "Success"
        const meanwhile = yield* served
        assert.strictEqual(meanwhile?.files, 6, `cut off at call ${at}`)
        const report = yield* run("b", { replace: true })
        assert.strictEqual(report.ended, "done", `cut off at call ${at}`)
        assert.deepStrictEqual(yield* served, { model: "b", files: 6 }, `cut off at call ${at}`)
        assert.deepStrictEqual([engine.corpora.size, engine.files.size], [1, 6], `cut off at call ${at}`)
      }
    }).pipe(Effect.scoped))
})
