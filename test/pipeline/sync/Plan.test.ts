import { assert, describe, it } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { defaultChunking } from "../../../src/domain/Chunking.ts"
import { type Plan, plan, type PlanItem } from "../../../src/pipeline/sync/Plan.ts"
import { sync } from "../../../src/pipeline/sync/Sync.ts"
import type { SyncSpec } from "../../../src/pipeline/sync/Session.ts"
import { Engine } from "../../../src/ports/Engine.ts"
import { Ledger } from "../../../src/ports/Ledger.ts"
import { LedgerWrites } from "../../../src/state/LedgerWrites.ts"
import * as SqliteLedger from "../../../src/state/SqliteLedger.ts"
import { State } from "../../../src/state/State.ts"
import { TextPool } from "../../../src/text/TextPool.ts"
import { MemoryEngine } from "../../support/MemoryEngine.ts"
import { MemorySource } from "../../support/MemorySource.ts"
import { tempFolder } from "../../support/TempFolder.ts"

const setUp = Effect.gen(function*() {
  const dataDir = yield* tempFolder
  const engine = new MemoryEngine()
  const source = new MemorySource()
  const spec: SyncSpec = {
    pipeline: "test",
    corpus: { displayName: "Test", vectorDb: { _tag: "managed" } },
    chunking: defaultChunking,
    parsing: { _tag: "default" },
    sources: [{ id: "docs", connector: source.connector }],
    maxDelete: { percent: 10 },
    onFileError: "continue"
  }
  const on = (dataDir: string) =>
    Layer.mergeAll(
      engine.layer,
      TextPool.layerInline(),
      SqliteLedger.layer.pipe(Layer.provide(LedgerWrites.layerDirect), Layer.provide(State.layer(dataDir)))
    )
  const run = (changes: Partial<SyncSpec> = {}, machine = dataDir) => sync({ ...spec, ...changes }).pipe(Effect.provide(on(machine)))
  const look = (changes: Partial<SyncSpec> = {}, machine = dataDir) =>
    Effect.suspend(() => {
      const items: Array<PlanItem> = []
      return plan({ ...spec, ...changes }, {
        maxEmbeddingRequestsPerMinute: 60,
        observe: (item) => Effect.sync(() => void items.push(item))
      }).pipe(
        Effect.map((result) => ({ result, items: items.map(brief).toSorted() })),
        Effect.provide(on(machine))
      )
    })
  /** What the ledger of a machine holds. */
  const recorded = (machine: string) =>
    Effect.gen(function*() {
      const ledger = yield* Ledger
      const scope = `${(yield* Engine).target}#test`
      return { generations: yield* ledger.generations(scope), sources: yield* ledger.sources(scope), runs: yield* ledger.runs(scope, 1) }
    }).pipe(Effect.provide(on(machine)))
  return { engine, source, run, look, recorded }
})

const brief = (item: PlanItem): string =>
  item.type === "delete"
    ? `${item.held ? "held" : "delete"} ${item.path}`
    : `${item.outcome} ${item.path}${item.from === undefined ? "" : ` from ${item.from}`}${
      item.reason === undefined ? "" : ` ${item.reason}`
    }`

const counts = ({ totals }: Plan) => Object.fromEntries(Object.entries(totals).filter(([key, n]) => n > 0 && key !== "listed"))

describe("plan", () => {
  it.effect("says what the next run does, and changes nothing", () =>
    Effect.gen(function*() {
      const { engine, look, run, source } = yield* setUp
      source.items = { "a.md": { text: "one" }, "b.md": { text: "two" }, "c.md": { text: "three" }, "d.md": { text: "four" } }
      const first = yield* look()
      assert.strictEqual(first.result.corpus.action, "create")
      assert.deepStrictEqual(first.items, ["added a.md", "added b.md", "added c.md", "added d.md"])
      assert.strictEqual(first.result.chunks, 4)
      assert.isAbove(first.result.tokens, 3)
      assert.deepStrictEqual([engine.corpora.size, engine.files.size], [0, 0])

      yield* run()
      source.items = {
        "a.md": { text: "one" },
        "b.md": { text: "two, changed" },
        "moved/c.md": { text: "three" },
        "e.exe": { text: "\0\0\0" }
      }
      const next = yield* look()
      assert.deepStrictEqual(next.items, [
        "changed b.md content",
        "delete d.md",
        "moved moved/c.md from c.md",
        "skipped e.exe unsupported"
      ])
      assert.deepStrictEqual(counts(next.result), { changed: 1, deleted: 1, moved: 1, skipped: 1, unchanged: 1 })
      assert.deepStrictEqual(yield* look(), next)
      assert.deepStrictEqual(engine.calls, { uploads: 4, updates: 0, deletes: 0 })

      engine.refuse = () => undefined
      const report = yield* run()
      assert.deepInclude(report.totals, { changed: 1, moved: 1, deleted: 1, unchanged: 1 })
    }).pipe(Effect.scoped))

  it.effect("on another machine says what the next run does there, and writes nothing", () =>
    Effect.gen(function*() {
      const { engine, look, recorded, run, source } = yield* setUp
      source.items = { "a.md": { text: "one" }, "b.md": { text: "two" }, "c.md": { text: "three" }, "d.md": { text: "four" } }
      yield* run()
      source.items = { "a.md": { text: "one" }, "b.md": { text: "two, changed" }, "moved/c.md": { text: "three" } }
      const elsewhere = yield* tempFolder
      const first = yield* look({}, elsewhere)
      assert.deepStrictEqual(counts(first.result), { unchanged: 1, changed: 1, moved: 1, deleted: 1 })
      assert.deepStrictEqual(yield* look({}, elsewhere), first)
      assert.deepStrictEqual(yield* recorded(elsewhere), { generations: [], sources: [], runs: [] })
      const { totals: { changed, deleted, moved, unchanged } } = yield* run({}, elsewhere)
      assert.deepStrictEqual({ changed, deleted, moved, unchanged }, { changed: 1, deleted: 1, moved: 1, unchanged: 1 })
      assert.strictEqual(engine.corpora.size, 1)
    }).pipe(Effect.scoped))

  it.effect("counts embedding requests and minutes at the configured rate, where embedding is remote", () =>
    Effect.gen(function*() {
      const { engine, look, source } = yield* setUp
      source.items = Object.fromEntries(Array.from({ length: 120 }, (_, i) => [`f${i}.md`, { text: `text number ${i}` }]))
      assert.deepInclude((yield* look()).result, { embeddingRequests: 0, minutes: 0 })
      engine.remoteEmbedding = true
      const { result } = yield* look()
      assert.deepInclude(result, { embeddingRequests: 120, minutes: 2 })
    }).pipe(Effect.scoped))

  it.effect("says why a file is stored again", () =>
    Effect.gen(function*() {
      const { look, run, source } = yield* setUp
      source.items = { "a.md": { text: "one" }, "b.md": { text: "two" } }
      yield* run()
      source.items = { "a.md": { text: "one", metadata: { owner: "ann" } }, "b.md": { text: "two" } }
      assert.deepStrictEqual((yield* look()).items, ["changed a.md facts"])
      assert.deepStrictEqual((yield* look({ chunking: { ...defaultChunking, size: 99 } })).items, [
        "changed a.md settings",
        "changed b.md settings"
      ])
    }).pipe(Effect.scoped))

  it.effect("beside a run shows nothing of what that writes as deleted or changed", () =>
    Effect.gen(function*() {
      const { engine, look, run, source } = yield* setUp
      source.items = { "a.md": { text: "one" }, "b.md": { text: "two" } }
      yield* run()
      let writing = false
      engine.onList = Effect.suspend(() => {
        if (writing) return Effect.void
        writing = true
        // The plan has read the ledger, and lists the target now.
        source.items = { "a.md": { text: "one!" }, "b.md": { text: "two" }, "c.md": { text: "three" } }
        return Effect.orDie(Effect.asVoid(run()))
      })
      const { items, result } = yield* look()
      assert.isTrue(writing)
      assert.deepStrictEqual([items, result.warnings], [[], []])
    }).pipe(Effect.scoped))

  it.effect("shows what forces replacement, and that everything would be stored again", () =>
    Effect.gen(function*() {
      const { look, run, source } = yield* setUp
      source.items = { "a.md": { text: "one" } }
      yield* run()
      const { items, result } = yield* look({ corpus: { displayName: "Test", vectorDb: { _tag: "managed" }, embeddingModel: "other" } })
      assert.strictEqual(result.corpus.action, "replace")
      assert.deepInclude(result.corpus.changes[0], { field: "corpus.embedding.model", to: "other", forcesReplacement: true })
      assert.deepStrictEqual(items, ["added a.md"])
      assert.isUndefined(result.corpus.others)
    }).pipe(Effect.scoped))

  it.effect("warns that replacing a corpus found by its name deletes files of others", () =>
    Effect.gen(function*() {
      const { look, run, source } = yield* setUp
      source.items = { "a.md": { text: "one" } }
      yield* run()
      const other = { pipeline: "other", corpus: { displayName: "Test", vectorDb: { _tag: "managed" }, embeddingModel: "other" } } as const
      const { result } = yield* look(other)
      assert.deepStrictEqual([result.corpus.action, result.corpus.others], ["replace", { files: 1, pipelines: { test: 1 }, unmarked: 0 }])
      assert.include(result.warnings[0], "--replace deletes corpus \"Test\" with 1 file of others (1 of pipeline test)")
      const error = yield* Effect.flip(run(other))
      assert.include("fix" in error ? error.fix : "", "another displayName")
    }).pipe(Effect.scoped))

  it.effect("shows held deletes and listings that were cut short", () =>
    Effect.gen(function*() {
      const { look, run, source } = yield* setUp
      source.items = Object.fromEntries(Array.from({ length: 30 }, (_, i) => [`f${i}.md`, { text: `text ${i}` }]))
      yield* run()
      source.items = {}
      const held = yield* look()
      assert.deepStrictEqual(counts(held.result), { held: 30 })
      assert.match(held.result.warnings.join("\n"), /all 30 files|30 of 30.*--yes/)
      source.cutShort = true
      const cut = (yield* look()).result
      assert.deepStrictEqual([counts(cut), cut.incomplete], [{}, ["docs"]])
    }).pipe(Effect.scoped))
})
