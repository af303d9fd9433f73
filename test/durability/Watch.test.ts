import { assert, describe, it, layer } from "@effect/vitest"
import { Effect } from "effect"
import { mkdirSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { storage } from "../../connectors/storage/Storage.ts"
import { serveEmbedded } from "../../src/compose/Server.ts"
import { definePipeline } from "../../src/pipeline/definition/DefinePipeline.ts"
import { defaultTiming } from "../../src/pipeline/watch/Agenda.ts"
import { watchPipeline } from "../../src/pipeline/watch/WatchPipeline.ts"
import { folderHolds, operate, random, targetHolds } from "../support/FolderLife.ts"
import { Rig, rigOf } from "../support/Rigs.ts"
import { tempFolder, write } from "../support/TempFolder.ts"
import { Watching } from "../support/Watching.ts"
import { WatchLog } from "../support/WatchLog.ts"
import { seedsOf } from "../support/Seeds.ts"

const seeds = Array.from({ length: seedsOf("SLUICE_WATCH_SEEDS", 6, 60) }, (_, i) => i + 1)
/** These have processes of their own to watch them, which are killed. To watch within this one costs less, and is the same. */
const killed = seeds.filter((seed) => seed % 3 === 0)
const running = { embedded: seeds.filter((seed) => seed % 3 !== 0), hosted: seeds.slice(0, Math.ceil(seeds.length / 4)) }
/** They mostly wait. */
const concurrency = 20

const beginning = { ".sluiceignore": "ignored/\n", "a/one.txt": "word0\n", "a/b/two.txt": "word0 word0\n", "three.txt": "word9999\n" }

const sources = (path: string) => ({ docs: { local: { path, exclude: ["**/*.bak"] } } })

const pipeline = (engine: object | string) =>
  JSON.stringify({
    name: "watched",
    engine,
    corpus: { displayName: "Watched" },
    sources: sources("./docs"),
    import: { maxDelete: "100%" }
  })

/** A watch in a process of its own, which is killed in each round. */
const killing = (seed: number, operations: number, engine: "embedded" | "hosted") =>
  Effect.gen(function*() {
    const cwd = yield* tempFolder
    const served = join(cwd, "served")
    const url = engine === "embedded" ? "" : (yield* serveEmbedded({ dataDir: served, version: "test", port: 0, storage })).url
    const docs = join(cwd, "docs")
    const next = random(seed * 7919)
    let names = 0
    const name = () => String(++names)
    write(cwd, {
      "pipeline.yaml": pipeline(engine === "embedded" ? engine : { vertex: { project: "p1", location: "us-central1", baseUrl: url } })
    })
    write(docs, beginning)
    const launch = Effect.acquireRelease(Effect.sync(() => new Watching(cwd)), (watching) => Effect.promise(() => watching.kill("SIGKILL")))
    let watching = yield* launch
    const log: Array<string> = []

    for (let round = 1; round <= 1 + seed % 2; round++) {
      // Some rounds begin before the first sync is over.
      if (next() < 0.7) yield* Effect.promise(() => watching.until((line) => line["type"] === "batch"))
      const killAt = Math.floor(next() * operations)
      for (let n = 0; n < operations; n++) {
        log.push(operate(docs, next, name))
        if (n === killAt) {
          yield* Effect.promise(() => watching.kill("SIGKILL"))
          log.push("kill -9")
          watching = yield* launch
        }
        // Spread over several batches, which is what the order of things depends on.
        if (next() < 0.2) yield* Effect.sleep(600 * next())
      }
      const last = `last${round}.txt`
      writeFileSync(join(docs, last), `word${name()}\n`)
      yield* Effect.promise(() => watching.settledAfter(last))
      const where = `seed ${seed}, round ${round}:\n${log.join("\n")}`
      assert.deepStrictEqual(targetHolds(engine === "embedded" ? join(cwd, ".sluice") : served, "Watched"), folderHolds(docs), where)
    }
    const { code, stderr } = yield* Effect.promise(() => watching.kill("SIGINT"))
    assert.strictEqual(code, 130, stderr)
  }).pipe(Effect.scoped)

describe.concurrent("a watched folder", () => {
  it.live(
    `is what the target holds once it is quiet, after kill -9 (${killed.length} random sequences)`,
    () => Effect.forEach(killed, (seed) => killing(seed, 15, "embedded"), { concurrency: 8, discard: true }),
    240_000 + killed.length * 20_000
  )

  // Few changes: it keeps to the service's 60 requests a minute.
  it.live("is what a remote target holds, also after kill -9", () => killing(3, 8, "hosted"), 360_000)
})

/** As the service does on a bad day: it refuses, does what it does not confirm, and goes away. */
const faults = `faults:
  - { method: uploadRagFile, every: 6, error: UNAVAILABLE }
  - { method: uploadRagFile, every: 7, drop: reply }
  - { method: uploadRagFile, every: 11, error: RESOURCE_EXHAUSTED, retryAfter: 0.1 }
  - { method: uploadRagFile, every: 13, error: INTERNAL }
  - { method: deleteRagFile, every: 5, drop: reply }
  - { method: deleteRagFile, every: 7, error: UNAVAILABLE }
  - { method: listRagFiles, every: 5, drop: middle }
  - { method: getRagCorpus, every: 9, error: UNAVAILABLE }
`

/** A watch in this process. */
const watched = Effect.fnUntraced(function*(seed: number) {
  const rig = yield* Rig
  const docs = join(yield* tempFolder, "docs")
  const next = random(seed * 104_729)
  let names = 0
  const name = () => String(++names)
  write(docs, beginning)
  const corpus = `Watched ${seed}`
  const pipeline = definePipeline({
    name: `watched${seed}`,
    engine: rig.settings,
    corpus: { displayName: corpus },
    sources: sources(docs),
    import: { maxDelete: "100%" }
  })
  const watching = new WatchLog()
  yield* rig.on(
    watchPipeline(pipeline, {
      timing: { ...defaultTiming, retry: 100, maxRetry: 2_000 },
      observe: (event) => Effect.sync(() => watching.add({ ...event }))
    }),
    rig.engine === "embedded" ? undefined : `machine${seed}`
  ).pipe(
    Effect.onExit((exit) => Effect.sync(() => watching.end(async () => String(exit)))),
    Effect.forkScoped
  )
  const log: Array<string> = []
  for (let round = 1; round <= 2; round++) {
    const from = watching.lines.length
    for (let n = 0; n < 12; n++) {
      log.push(operate(docs, next, name))
      if (next() < 0.2) yield* Effect.sleep(600 * next())
    }
    const last = `last${round}.txt`
    mkdirSync(docs, { recursive: true })
    writeFileSync(join(docs, last), `word${name()}\n`)
    yield* Effect.promise(() => watching.settledAfter(last, from))
    assert.deepStrictEqual(targetHolds(rig.store, corpus), folderHolds(docs), `seed ${seed}, round ${round}:\n${log.join("\n")}`)
  }
}, Effect.scoped)

for (const engine of ["embedded", "hosted"] as const) {
  layer(rigOf(engine, faults), { excludeTestServices: true })(`a watched folder, on the ${engine} engine`, (it) => {
    it.effect(
      `is what the corpus holds once it is quiet (${running[engine].length} random sequences)`,
      () => Effect.forEach(running[engine], watched, { concurrency, discard: true }),
      240_000 + running[engine].length * 8_000
    )
  })
}
