import { assert, describe, expect, it } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { defaultChunking } from "../../../src/domain/Chunking.ts"
import { ServiceError } from "../../../src/domain/Errors.ts"
import { RagFileName } from "../../../src/domain/RagFile.ts"
import { diff, type Difference } from "../../../src/pipeline/sync/Diff.ts"
import { sync } from "../../../src/pipeline/sync/Sync.ts"
import type { SyncSpec } from "../../../src/pipeline/sync/Session.ts"
import { LedgerWrites } from "../../../src/state/LedgerWrites.ts"
import * as SqliteLedger from "../../../src/state/SqliteLedger.ts"
import { State } from "../../../src/state/State.ts"
import { MemoryEngine } from "../../support/MemoryEngine.ts"
import { MemorySource } from "../../support/MemorySource.ts"
import { tempFolder } from "../../support/TempFolder.ts"

const none = { missing: 0, differs: 0, stray: 0, foreign: 0, open: 0 }

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
  const layerAt = (data: string) =>
    Layer.mergeAll(
      engine.layer,
      SqliteLedger.layer.pipe(Layer.provide(LedgerWrites.layerDirect), Layer.provide(State.layer(data)))
    )
  const compare = Effect.fnUntraced(function*(data: string = dataDir) {
    const seen: Array<Difference> = []
    const found = yield* diff(spec, (difference) => Effect.sync(() => void seen.push(difference))).pipe(Effect.provide(layerAt(data)))
    return { ...found, seen }
  })
  source.items = { a: { text: "one" }, b: { text: "two" }, c: { text: "three" } }
  return { engine, source, run: sync(spec).pipe(Effect.provide(layerAt(dataDir))), compare }
})

const firstOf = (engine: MemoryEngine, path: string) => {
  const found = [...engine.files.values()].find(({ file }) => file.displayName === path)
  assert.isDefined(found)
  return found
}

describe("diff", () => {
  it.effect("finds nothing before and after a run", () =>
    Effect.gen(function*() {
      const { compare, run } = yield* setUp
      expect(yield* compare()).toEqual({ corpus: "missing", same: 0, differences: none, seen: [] })
      yield* run
      expect(yield* compare()).toEqual({ corpus: "found", same: 3, differences: none, seen: [] })
    }).pipe(Effect.scoped))

  it.effect("tells what is missing, what differs, what is ours and unknown, and what is not ours", () =>
    Effect.gen(function*() {
      const { compare, engine, run } = yield* setUp
      const { corpus } = yield* run
      engine.files.delete(firstOf(engine, "a").file.name)
      const b = firstOf(engine, "b")
      assert.isDefined(b.file.marker)
      engine.files.set(b.file.name, { ...b, file: { ...b.file, marker: { ...b.file.marker, fingerprint: "x.y.z" } } })
      const { marker, ...plain } = firstOf(engine, "c").file
      assert.isDefined(marker)
      const stray = RagFileName.make(`${corpus}/ragFiles/stray`)
      const foreign = RagFileName.make(`${corpus}/ragFiles/foreign`)
      const other = RagFileName.make(`${corpus}/ragFiles/other`)
      engine.files.set(stray, { text: "", file: { ...plain, name: stray, displayName: "stray", marker } })
      engine.files.set(foreign, { text: "", file: { ...plain, name: foreign, displayName: "foreign" } })
      engine.files.set(other, {
        text: "",
        file: { ...plain, name: other, displayName: "other", marker: { ...marker, source: "tests/docs" } }
      })
      const { differences, same, seen } = yield* compare()
      assert.strictEqual(same, 1)
      assert.deepStrictEqual(differences, { ...none, missing: 1, differs: 1, stray: 1, foreign: 2 })
      assert.sameMembers(seen.map((d) => `${d.type} ${"path" in d ? d.path : d.displayName}`), [
        "missing a",
        "differs b",
        "stray stray",
        "foreign foreign",
        "foreign other"
      ])
    }).pipe(Effect.scoped))

  it.effect("shows a write that nobody confirmed", () =>
    Effect.gen(function*() {
      const { compare, engine, run } = yield* setUp
      engine.afterStore = Effect.fail(new ServiceError({ code: "UNKNOWN", message: "the reply was lost" }))
      yield* run
      const { differences } = yield* compare()
      assert.deepStrictEqual(differences, { ...none, open: 3, stray: 3 })
    }).pipe(Effect.scoped))

  it.effect("without a ledger, what carries our mark is unknown", () =>
    Effect.gen(function*() {
      const { compare, run } = yield* setUp
      yield* run
      const { differences } = yield* compare(yield* tempFolder)
      assert.deepStrictEqual(differences, { ...none, stray: 3 })
    }).pipe(Effect.scoped))
})
