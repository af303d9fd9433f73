import { assert, describe, it } from "@effect/vitest"
import { Effect, Layer, Stream } from "effect"
import { defaultChunking } from "../../../src/domain/Chunking.ts"
import { SecretError, ServiceError } from "../../../src/domain/Errors.ts"
import { addsUp } from "../../../src/domain/Report.ts"
import { sync } from "../../../src/pipeline/sync/Sync.ts"
import type { Connector } from "../../../src/ports/Connector.ts"
import { LedgerWrites } from "../../../src/state/LedgerWrites.ts"
import * as SqliteLedger from "../../../src/state/SqliteLedger.ts"
import { State } from "../../../src/state/State.ts"
import { MemoryEngine } from "../../support/MemoryEngine.ts"
import { MemorySource } from "../../support/MemorySource.ts"
import { tempFolder } from "../../support/TempFolder.ts"

const setUp = Effect.gen(function*() {
  const dataDir = yield* tempFolder
  const engine = new MemoryEngine()
  const layer = Layer.merge(
    engine.layer,
    SqliteLedger.layer.pipe(Layer.provide(LedgerWrites.layerDirect), Layer.provide(State.layer(dataDir)))
  )
  const run = (sources: Readonly<Record<string, Connector>>) =>
    sync({
      pipeline: "test",
      corpus: { displayName: "Test", vectorDb: { _tag: "managed" } },
      chunking: defaultChunking,
      parsing: { _tag: "default" },
      sources: Object.entries(sources).map(([id, connector]) => ({ id, connector })),
      maxDelete: { percent: 10 },
      onFileError: "continue"
    }).pipe(Effect.provide(layer))
  return { engine, run }
})

const holding = (...texts: ReadonlyArray<string>): Connector => {
  const source = new MemorySource()
  source.items = Object.fromEntries(texts.map((text) => [text, { text }]))
  return source.connector
}
/** Some of the items of one place, under paths of the source's own. */
const view = (place: MemorySource, folder: string): Connector => {
  const inside = (path: string) => path.startsWith(folder)
  return {
    ...place.connector,
    list: () =>
      place.connector.list().pipe(
        Stream.filter((listed) => listed._tag !== "item" || inside(listed.item.path)),
        Stream.map((listed) =>
          listed._tag === "item" ? { ...listed, item: { ...listed.item, path: listed.item.path.slice(folder.length) } } : listed
        )
      ),
    read: (item, maxBytes) => place.connector.read({ ...item, path: item.uri.replace("memory:///", "") }, maxBytes)
  }
}
const away = new ServiceError({ code: "UNAVAILABLE", message: "Drive does not answer" })
const badToken = new ServiceError({ code: "UNAUTHENTICATED", message: "the token was refused", fix: "Store a new one." })
const noSecret = new SecretError({ version: "v", message: "the secret v was not found", fix: "Set it." })

describe("several sources", () => {
  it.effect("what is wrong with them is told together, before anything is done", () =>
    Effect.gen(function*() {
      const { engine, run } = yield* setUp
      const error = yield* Effect.flip(run({
        docs: holding("a"),
        issues: { ...holding("b"), check: Effect.fail(badToken) },
        chat: { ...holding("c"), check: Effect.fail(noSecret) }
      }))
      assert.strictEqual(error._tag, "ServiceError")
      assert.strictEqual(
        error.message,
        [
          "2 sources cannot be read:",
          "  chat: the secret v was not found (Set it.)",
          "  issues: the token was refused (Store a new one.)"
        ].join("\n")
      )
      assert.deepInclude(error, { code: "UNAUTHENTICATED" })
      assert.strictEqual(engine.corpora.size, 0)
      const one = yield* Effect.flip(run({ docs: holding("a"), issues: { ...holding(), check: Effect.fail(badToken) } }))
      assert.deepInclude(one, { code: badToken.code, message: "sources.issues: the token was refused" })
    }).pipe(Effect.scoped))

  it.effect("one that fails when it is listed, or is away, keeps none of the others", () =>
    Effect.gen(function*() {
      const { engine, run } = yield* setUp
      const whole = { docs: holding("a", "b"), drive: holding("c", "d"), chat: holding("e", "f") }
      assert.strictEqual((yield* run(whole)).totals.added, 6)
      const half = holding("c")
      const report = yield* run({
        docs: holding("a", "b changed"),
        // Listed in part, and then no more: what it did not name may still be there.
        drive: { ...half, check: Effect.fail(away), list: () => Stream.concat(Stream.take(half.list(), 1), Stream.fail(away)) },
        chat: holding("e", "g")
      })
      assert.isTrue(addsUp(report.totals))
      assert.deepInclude(report.totals, { unchanged: 3, added: 2, deleted: 2 })
      assert.deepInclude(report.sources.find(({ source }) => source === "drive"), { complete: false, error: away.message })
      assert.deepStrictEqual(Object.keys(engine.content), ["a", "b changed", "c", "d", "e", "g"])
      assert.strictEqual(report.ended, "incomplete")
    }).pipe(Effect.scoped))

  it.effect("put what both list once, and the other takes it over when the first lists it no more", () =>
    Effect.gen(function*() {
      const { engine, run } = yield* setUp
      const place = new MemorySource()
      place.items = { "top": { text: "top" }, "sub/a": { text: "a" }, "sub/b": { text: "b" } }
      const all = view(place, "")
      const sub = view(place, "sub/")
      const first = yield* run({ all, sub })
      assert.isTrue(addsUp(first.totals))
      assert.deepInclude(first.totals, { listed: 5, added: 3, skipped: 2 })
      assert.deepStrictEqual(first.reasons?.map(({ count, message, reason }) => ({ count, message, reason })), [{
        count: 2,
        message: "listed by source all",
        reason: "overlap"
      }])
      assert.strictEqual(
        first.sources.find(({ source }) => source === "sub")?.note,
        "2 files are listed by source all too, and stored once"
      )
      assert.deepInclude((yield* run({ all, sub })).totals, { unchanged: 3, skipped: 2 })

      // Broken off, the first does not say that its files are gone.
      place.cutShort = true
      const cut = { ...all, list: () => Stream.take(all.list(), 1) }
      assert.deepInclude((yield* run({ all: cut, sub })).totals, { unchanged: 1, skipped: 2, deleted: 0 })
      place.cutShort = false
      const taken = yield* run({ top: view(place, "to"), sub })
      assert.deepInclude(taken.totals, { moved: 3, added: 0, deleted: 0 })
      assert.strictEqual(engine.calls.uploads, 3)
      assert.strictEqual(engine.files.size, 3)

      // A source that comes before takes over what another had stored.
      assert.deepInclude((yield* run({ all, sub })).totals, { moved: 3, skipped: 2, deleted: 0 })
      assert.strictEqual(engine.calls.uploads, 3)
      assert.deepInclude((yield* run({ all, sub })).totals, { unchanged: 3, skipped: 2 })
    }).pipe(Effect.scoped))

  it.effect("whose files were put twice keep one of each", () =>
    Effect.gen(function*() {
      const { engine, run } = yield* setUp
      const place = new MemorySource()
      place.items = Object.fromEntries(Array.from({ length: 5 }, (_, n) => [`sub/${n}`, { text: `${n}` }]))
      const [all, sub] = [view(place, ""), view(place, "sub/")]
      yield* run({ all, sub: { ...sub, kind: "other" } })
      assert.strictEqual(engine.files.size, 10)
      const report = yield* run({ all, sub: sub })
      assert.deepInclude(report.totals, { unchanged: 5, skipped: 5, held: 5 })
      assert.include(report.sources.find(({ source }) => source === "sub")?.heldBecause, "all 5 files")
      assert.strictEqual((yield* run({ all, sub })).totals.held, 5)
    }).pipe(Effect.scoped))
})
