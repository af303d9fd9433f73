import { assert, describe, it } from "@effect/vitest"
import { Effect, Schema } from "effect"
import { rmSync } from "node:fs"
import { join } from "node:path"
import { DatabaseSync } from "node:sqlite"
import { Report } from "../../src/domain/Report.ts"
import { events } from "../support/Finished.ts"
import { sluice, start } from "../support/Sluice.ts"
import { tempFolder, write } from "../support/TempFolder.ts"
import { seedsOf } from "../support/Seeds.ts"

const seeds = seedsOf("SLUICE_KILL_SEEDS", 2, 20)
const files = 60

const random = (seed: number) => () => {
  seed = (seed * 1_664_525 + 1_013_904_223) >>> 0
  return seed / 2 ** 32
}

const words = "valve meter flow sensor pipe leak pressure report holiday allowance travel office safety cell battery".split(" ")

/** Documents of some chunks each; a few paragraphs are shared between files, so that content addressing has work. */
const corpus = (seed: number): Record<string, string> => {
  const next = random(seed)
  const sentence = () => Array.from({ length: 12 }, () => words[Math.floor(next() * words.length)]).join(" ")
  const shared = sentence()
  return Object.fromEntries(Array.from({ length: files }, (_, i) => [
    `folder${i % 5}/file${i}.md`,
    `# File ${i}\n\n${Array.from({ length: 8 }, sentence).join(".\n\n")}\n\n## Shared\n\n${shared}\n`
  ]))
}

const pipeline = `
name: kill
corpus: { displayName: Kill }
sources: { docs: { local: { path: ./docs } } }
chunking: { strategy: structure, size: 60, overlap: 0 }
`

/** What readers can see of a store, ids and times aside. */
const snapshot = (dataDir: string) => {
  const db = new DatabaseSync(join(dataDir, "sluice.db"), { readOnly: true, timeout: 60_000 })
  try {
    const integrity = db.prepare("PRAGMA integrity_check").get()
    assert.strictEqual(integrity?.["integrity_check"], "ok")
    return {
      files: db.prepare("SELECT display_name FROM files ORDER BY display_name").all().map((row) => row["display_name"]),
      ledger: db.prepare("SELECT path, state FROM ledger ORDER BY path").all().map((row) => `${row["path"]} ${row["state"]}`),
      embeddings: Number(db.prepare("SELECT count(*) AS n FROM embeddings").get()?.["n"])
    }
  } finally {
    db.close()
  }
}

const embeddingsIn = (dataDir: string): number => {
  try {
    return snapshot(dataDir).embeddings
  } catch {
    return 0
  }
}

const reportOf = (finished: Parameters<typeof events>[0]): Report => {
  const last = events(finished).at(-1)
  assert.strictEqual(last?.["type"], "report", finished.stderr)
  return Schema.decodeUnknownSync(Report)(last?.["report"])
}

const queries = ["leak pressure valve", "holiday allowance", "battery cell safety"]

const answers = async (cwd: string, dataDir: string) =>
  Promise.all(queries.map(async (query) => {
    const [found] = events(await sluice(["retrieve", query, "-p", "pipeline.yaml", "--data-dir", dataDir, "--json"], { cwd }))
    const contexts = found?.["contexts"]
    assert.isArray(contexts)
    return (contexts as ReadonlyArray<Record<string, unknown>>).map((
      { score, sourceDisplayName, text }
    ) => [sourceDisplayName, text, score])
  }))

describe("kill -9", () => {
  it.live(`at ${seeds} random points leaves a store that the next run completes, embedding nothing twice`, () =>
    Effect.gen(function*() {
      const cwd = yield* tempFolder
      write(cwd, { "pipeline.yaml": pipeline })
      write(join(cwd, "docs"), corpus(1))
      const run = (dataDir: string) => ["run", "pipeline.yaml", "--data-dir", dataDir, "--json"]

      const began = Date.now()
      const undisturbed = reportOf(yield* Effect.promise(() => sluice(run("calm"), { cwd })))
      const length = Date.now() - began
      assert.strictEqual(undisturbed.totals.added, files)
      const calm = snapshot(join(cwd, "calm"))
      const calmAnswers = yield* Effect.promise(() => answers(cwd, "calm"))

      for (let seed = 1; seed <= seeds; seed++) {
        const next = random(seed * 7919)
        const dataDir = `killed${seed}`
        const kills = 1 + Math.floor(next() * 2)
        for (let kill = 0; kill < kills; kill++) {
          const { child, finished } = start(run(dataDir), { cwd })
          const timer = setTimeout(() => child.kill("SIGKILL"), length * (0.25 + 0.75 * next()))
          yield* Effect.promise(() => finished)
          clearTimeout(timer)
        }
        const committed = embeddingsIn(join(cwd, dataDir))
        const report = reportOf(yield* Effect.promise(() => sluice(run(dataDir), { cwd })))
        const where = `seed ${seed}: ${JSON.stringify(report.totals)}`
        assert.strictEqual(report.totals.failed + report.totals.pending, 0, where)
        assert.strictEqual((report.embedded ?? 0) + committed, calm.embeddings, where)
        assert.deepStrictEqual(snapshot(join(cwd, dataDir)), calm, where)
        const after = reportOf(yield* Effect.promise(() => sluice(run(dataDir), { cwd })))
        assert.strictEqual(after.embedded, 0, where)
        assert.strictEqual(after.totals.unchanged, files, where)
        if (seed % 2 === 0) assert.deepStrictEqual(yield* Effect.promise(() => answers(cwd, dataDir)), calmAnswers, where)
        rmSync(join(cwd, dataDir), { recursive: true, force: true })
      }
    }).pipe(Effect.scoped), 240_000 + seeds * 15_000)
})
