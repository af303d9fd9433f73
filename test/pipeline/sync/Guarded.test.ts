import { assert, describe, it } from "@effect/vitest"
import { Effect, Layer, Stream } from "effect"
import { defaultChunking } from "../../../src/domain/Chunking.ts"
import { addsUp } from "../../../src/domain/Report.ts"
import { makeConnectors } from "../../../src/pipeline/Open.ts"
import type { SyncSpec } from "../../../src/pipeline/sync/Session.ts"
import { sync } from "../../../src/pipeline/sync/Sync.ts"
import type { Listed, SourceItem } from "../../../src/ports/Connector.ts"
import { Secrets } from "../../../src/ports/Secrets.ts"
import { defineConnector } from "../../../src/ports/Source.ts"
import * as SqliteLedger from "../../../src/state/SqliteLedger.ts"
import { LedgerWrites } from "../../../src/state/LedgerWrites.ts"
import { State } from "../../../src/state/State.ts"
import { MemoryEngine } from "../../support/MemoryEngine.ts"
import { MemorySource } from "../../support/MemorySource.ts"
import { tempFolder } from "../../support/TempFolder.ts"

/** A source that is sound, beside one that is not. */
const setUp = Effect.gen(function*() {
  const dataDir = yield* tempFolder
  const engine = new MemoryEngine()
  const sound = new MemorySource()
  sound.items = { "sound.md": { text: "sound" } }
  const source = new MemorySource()
  const spec: Omit<SyncSpec, "sources"> = {
    pipeline: "test",
    corpus: { displayName: "Test", vectorDb: { _tag: "managed" } },
    chunking: defaultChunking,
    parsing: { _tag: "default" },
    maxDelete: { percent: 10 },
    onFileError: "continue"
  }
  const sources = (faults: object) => [
    { id: "own", connector: { ...source.connector, ...faults } },
    { id: "docs", connector: sound.connector }
  ]
  const layer = Layer.mergeAll(
    engine.layer,
    SqliteLedger.layer.pipe(Layer.provide(LedgerWrites.layerDirect), Layer.provide(State.layer(dataDir)))
  )
  return { engine, source, run: (faults: object) => sync({ ...spec, sources: sources(faults) }).pipe(Effect.provide(layer)) }
})

const boom = (): never => {
  throw new Error("boom")
}

const fix = " (mend the connector, or have it fail with a ServiceError where the source is at fault)"
/** A message of a report without the fix, which every one of them names. */
const withoutFix = (message = ""): string => {
  assert.include(message, fix)
  return message.replace(fix, "")
}

describe("what a connector of one's own does wrong", () => {
  it.effect("costs the item that it reads", () =>
    Effect.gen(function*() {
      const { run, source } = yield* setUp
      source.items = { "a.md": { text: "one" }, "b.md": { text: "two" } }
      const failing = (read: (item: SourceItem, maxBytes: number) => unknown) =>
        Effect.map(
          run({
            read: (item: SourceItem, maxBytes: number) =>
              item.path === "a.md" ? read(item, maxBytes) : source.connector.read(item, maxBytes)
          }),
          ({ ended, notable, totals }) => {
            assert.strictEqual(ended, "done")
            assert.isTrue(addsUp(totals) && totals.failed === 1)
            return notable.map(({ message, path, source }) => `${source} ${path} ${withoutFix(message)}`)
          }
        )
      assert.deepStrictEqual(yield* failing(boom), ["own a.md connector memory: read threw: boom"])
      assert.deepStrictEqual(yield* failing(() => Stream.die("boom")), ["own a.md connector memory: read threw: boom"])
      assert.deepStrictEqual(yield* failing(() => Stream.fail(new Error("boom"))), ["own a.md connector memory: read failed: boom"])
      assert.deepStrictEqual(yield* failing(() => Stream.make("text")), [
        "own a.md connector memory: read threw: it gave a string where bytes are wanted, a Uint8Array"
      ])
      assert.deepStrictEqual(yield* failing(() => Promise.resolve(new Uint8Array(1))), [
        "own a.md connector memory: read threw: it gave a value of class Promise where a Stream is wanted"
      ])
    }).pipe(Effect.scoped))

  it.effect("costs the source that it lists", () =>
    Effect.gen(function*() {
      const { engine, run, source } = yield* setUp
      source.items = { "a.md": { text: "one" } }
      yield* run({})
      const broken = (list: () => unknown) =>
        Effect.map(run({ list }), ({ ended, sources, totals }) => {
          assert.strictEqual(ended, "incomplete")
          assert.isTrue(addsUp(totals))
          assert.strictEqual(engine.content["a.md"], "one")
          return sources.map(({ error, source }) => [source, error === undefined ? error : withoutFix(error)])
        })
      const events = (...listed: ReadonlyArray<unknown>) => () => Stream.fromIterable(listed)
      assert.deepStrictEqual(yield* broken(boom), [["own", "connector memory: list threw: boom"], ["docs", undefined]])
      assert.deepStrictEqual((yield* broken(() => Stream.die("boom")))[0], ["own", "connector memory: list threw: boom"])
      assert.deepStrictEqual((yield* broken(async () => {}))[0], [
        "own",
        "connector memory: list threw: it gave a value of class Promise where a Stream is wanted"
      ])
      assert.deepStrictEqual((yield* broken(events({ _tag: "done" })))[0], [
        "own",
        "connector memory: list threw: it gave an object where an event of a listing is wanted, with a _tag of item, skipped, failed, deleted, checkpoint, complete"
      ])
      // What it names cannot be known: something of the corpus may be it.
      assert.match(
        String((yield* broken(events({ _tag: "item", item: {} }, { _tag: "complete" })))[0]?.[1]),
        /path is undefined, not a text/
      )
    }).pipe(Effect.scoped))

  it.effect("costs the item that it lists wrongly, of which an earlier version stays", () =>
    Effect.gen(function*() {
      const { engine, run, source } = yield* setUp
      source.items = { "a.md": { text: "one" }, "b.md": { text: "two" } }
      yield* run({})
      const item = { path: "a.md", uri: "memory:///a.md", displayName: "a.md", revision: "2" }
      const flawOf = (flawed: object) => {
        const listed: ReadonlyArray<unknown> = [
          { _tag: "item", item: { ...item, ...flawed } },
          { _tag: "item", item: { ...item, path: "b.md", displayName: "b.md", revision: "r-two" } },
          { _tag: "complete" }
        ]
        return Effect.map(run({ list: () => Stream.fromIterable(listed as ReadonlyArray<Listed>) }), ({ ended, notable, totals }) => {
          assert.strictEqual(ended, "done")
          assert.isTrue(addsUp(totals) && totals.failed === 1)
          assert.strictEqual(engine.content["a.md"], "one")
          const [{ message, path, source } = {}] = notable
          return `${source} ${path} ${withoutFix(message)}`
        })
      }
      for (
        const [flawed, says] of [
          [{ permissions: { public: true } }, "permissions.principals is no list of texts"],
          [{ permissions: ["user:a"] }, "permissions.public is undefined, not true or false"],
          [{ revision: 7 }, "revision is a number, not a text"],
          [{ uri: undefined }, "uri is undefined, not a text"],
          [{ size: Number.NaN }, "size is NaN, not a number of bytes"],
          [{ metadata: { year: 2024 } }, "metadata.year is a number, not a text"]
        ] as const
      ) assert.strictEqual(yield* flawOf(flawed), `own a.md the connector listed it wrongly: ${says}`)
    }).pipe(Effect.scoped))

  it.effect("is named where it is checked", () =>
    Effect.gen(function*() {
      const { run } = yield* setUp
      const refused = (check: unknown) => Effect.map(Effect.flip(run({ check })), ({ _tag, message }) => `${_tag} ${message}`)
      assert.strictEqual(yield* refused(Effect.sync(boom)), "ServiceError sources.own: connector memory: check threw: boom")
      assert.strictEqual(
        yield* refused(() => {}),
        "ServiceError sources.own: connector memory: check threw: it gave a function where an Effect is wanted"
      )
      const own = defineConnector({ kind: "own", description: "Throws.", fields: {}, connect: boom })
      const secrets = Secrets.of({ resolve: () => Effect.die("there are none") })
      const made = makeConnectors({ own }, { secrets, dataDir: "" }).make({ _tag: "own", kind: "own", settings: {} })
      assert.strictEqual((yield* Effect.flip(made)).message, "connector own: connect threw: boom")
    }).pipe(Effect.scoped))
})
