import { assert, describe, it } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { defaultChunking } from "../../src/domain/Chunking.ts"
import { addsUp } from "../../src/domain/Report.ts"
import { layer as httpLayer } from "../../src/net/Http.ts"
import { sync } from "../../src/pipeline/sync/Sync.ts"
import type { SyncOptions } from "../../src/pipeline/sync/Session.ts"
import type { Connector } from "../../src/ports/Connector.ts"
import { LedgerWrites } from "../../src/state/LedgerWrites.ts"
import * as SqliteLedger from "../../src/state/SqliteLedger.ts"
import { State } from "../../src/state/State.ts"
import { random } from "../engines/embedded/support/Random.ts"
import { MemoryEngine } from "../support/MemoryEngine.ts"
import { tempFolder } from "../support/TempFolder.ts"
import { vendors } from "./Vendors.ts"
import { seedsOf } from "../support/Seeds.ts"

const seeds = seedsOf("SLUICE_FEED_SEEDS", 2, 60)

/** A target and the ledger of a machine that fills it. */
const machine = Effect.fnUntraced(function*(connector: Connector) {
  const engine = new MemoryEngine()
  engine.pageSize = 100
  const dataDir = yield* tempFolder
  const layer = Layer.merge(
    engine.layer,
    SqliteLedger.layer.pipe(Layer.provide(LedgerWrites.layerDirect), Layer.provide(State.layer(dataDir)))
  )
  return {
    engine,
    run: (options: SyncOptions = {}) =>
      sync({
        pipeline: "test",
        corpus: { displayName: "Test", vectorDb: { _tag: "managed" } },
        chunking: defaultChunking,
        parsing: { _tag: "default" },
        sources: [{ id: "s", connector, settings: "1" }],
        maxDelete: { percent: 100 },
        onFileError: "continue"
      }, options).pipe(Effect.provide(layer)),
    /** What readers find and who may, whatever path it has. */
    holds: () =>
      [...engine.files.values()].map(({ file, text }) => JSON.stringify([file.sourceUri, file.displayName, text, file.permissions]))
        .toSorted()
  }
})

describe("sync over the connectors", () => {
  it.layer(httpLayer(), { excludeTestServices: true })((it) => {
    for (const [name, make] of Object.entries(vendors)) {
      it.effect(`${name}: nothing changed reads no content, stores nothing, writes nothing`, () =>
        Effect.gen(function*() {
          const { connector, edit, files, lists, reads, server } = yield* make
          const { engine, run } = yield* machine(connector)
          const first = yield* run()
          assert.isAbove(first.totals.added, 1)
          assert.strictEqual(first.totals.added, first.totals.listed, JSON.stringify(first.notable))
          for (const options of [{}, { missesFor: Infinity }]) {
            const before = { ...engine.calls }
            const seen = server.asked.length
            const read = files?.asked.length ?? 0
            const { totals } = yield* run(options)
            assert.strictEqual(totals.unchanged, first.totals.added)
            assert.deepStrictEqual(engine.calls, before)
            if (files === undefined) assert.deepStrictEqual(server.asked.slice(seen).filter(reads).map(({ url }) => url.href), [])
            assert.strictEqual(files?.asked.length ?? 0, read)
            // Sources that tell their changes are asked for nothing else.
            if (edit !== undefined && "missesFor" in options) assert.isFalse(server.asked.slice(seen).some(lists))
          }
        }).pipe(Effect.scoped))
    }

    for (const [name, make] of Object.entries(vendors).filter(([name]) => ["googleDrive", "sharePoint", "jira"].includes(name))) {
      it.effect(`${name}: what changed, taken in bit by bit, is what a whole listing finds (${seeds} seeds)`, () =>
        Effect.gen(function*() {
          for (let seed = 1; seed <= seeds; seed++) {
            const { connector, edit } = yield* make
            const next = random(seed)
            const bitByBit = yield* machine(connector)
            yield* bitByBit.run()
            for (let round = 0; round < 6; round++) {
              for (let edits = Math.floor(next() * 4); edits >= 0; edits--) edit?.(next)
              const report = yield* bitByBit.run({ missesFor: Infinity })
              assert.isTrue(addsUp(report.totals), `seed ${seed}: ${JSON.stringify(report.totals)}`)
              assert.strictEqual(report.totals.failed, 0, JSON.stringify(report.notable))
            }
            const anew = yield* machine(connector)
            yield* anew.run()
            assert.deepStrictEqual(bitByBit.holds(), anew.holds(), `seed ${seed}`)
          }
        }).pipe(Effect.scoped), 240_000 + seeds * 30_000)
    }
  })
})
