import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { join } from "node:path"
import { DatabaseSync } from "node:sqlite"
import { events } from "../support/Finished.ts"
import { sluice, start } from "../support/Sluice.ts"
import { tempFolder, write } from "../support/TempFolder.ts"
import { seedsOf } from "../support/Seeds.ts"

const kills = seedsOf("SLUICE_KILL_SEEDS", 1, 20)
const files = 30

const documents = Object.fromEntries(
  Array.from(
    { length: files },
    (
      _,
      i
    ) => [`f${i}.md`, `# Valve ${i}\n\nValve ${i} opens at ${i} bar.\n\n# Pipe ${i}\n\nPipe ${i} holds ${i} litres of water a minute.\n`]
  )
)

const pipeline = (size: number) => `
name: kill
corpus: { displayName: Kill, keepGenerations: 0 }
sources: { docs: { local: { path: ./docs } } }
chunking: { strategy: structure, size: ${size}, overlap: 0 }
`

/** What the ledger and the store hold, as whoever comes next finds it. */
const state = (cwd: string) => {
  const db = new DatabaseSync(join(cwd, ".sluice/sluice.db"), { readOnly: true, timeout: 60_000 })
  try {
    assert.strictEqual(db.prepare("PRAGMA quick_check").get()?.["quick_check"], "ok")
    const roles = db.prepare("SELECT role, corpus FROM generations WHERE role != 'gone' ORDER BY number").all()
    const live = roles.filter(({ role }) => role === "live")
    assert.lengthOf(live, 1)
    const id = String(live[0]?.["corpus"]).split("/").at(-1) ?? ""
    return {
      roles: roles.map(({ role }) => String(role)),
      corpora: Number(db.prepare("SELECT count(*) AS n FROM corpora").get()?.["n"]),
      live: id,
      files: Number(db.prepare("SELECT files FROM corpora WHERE name = ?").get(id)?.["files"]),
      embeddings: Number(db.prepare("SELECT count(*) AS n FROM embeddings").get()?.["n"])
    }
  } finally {
    db.close()
  }
}

/** Files that a candidate has so far. */
const inCandidate = (cwd: string): number => {
  const db = new DatabaseSync(join(cwd, ".sluice/sluice.db"), { readOnly: true, timeout: 60_000 })
  try {
    const row = db.prepare("SELECT c.files FROM corpora c JOIN generations g ON g.corpus LIKE '%/' || c.name WHERE g.role = 'candidate'")
      .get()
    return Number(row?.["files"] ?? 0)
  } finally {
    db.close()
  }
}

describe("kill -9", () => {
  it.live(
    `at ${kills} points each of a candidate's build and of its promotion leaves the one or the other serving, and converges`,
    () =>
      Effect.gen(function*() {
        const cwd = yield* tempFolder
        write(join(cwd, "docs"), documents)
        const run = (...args: ReadonlyArray<string>) => Effect.promise(() => sluice(args, { cwd }))
        /** Kills a command after a while; answers whether it had ended by then. */
        const killed = Effect.fnUntraced(function*(after: number, ...args: ReadonlyArray<string>) {
          const { child, finished } = start(args, { cwd })
          const timer = setTimeout(() => child.kill("SIGKILL"), after)
          const { signal } = yield* Effect.promise(() => finished)
          clearTimeout(timer)
          return signal === null
        })
        write(cwd, { "pipeline.yaml": pipeline(20) })
        assert.strictEqual((yield* run("run")).code, 0)
        let embedded = state(cwd).embeddings
        for (let round = 0; round < kills; round++) {
          const before = state(cwd)
          assert.deepStrictEqual([before.roles, before.files], [["live"], files])
          write(cwd, { "pipeline.yaml": pipeline(40 + 40 * round) })
          const began = Date.now()
          const building = start(["run", "--candidate"], { cwd })
          const looking = setInterval(() => inCandidate(cwd) > round * 8 && building.child.kill("SIGKILL"), 2)
          yield* Effect.promise(() => building.finished)
          clearInterval(looking)
          // What serves has all its files, and answers.
          assert.deepInclude(state(cwd), { live: before.live, files })
          const [found] = events(yield* run("retrieve", "at what pressure does valve 7 open?", "--json"))
          assert.include(JSON.stringify(found), "Valve 7 opens at 7 bar")
          const committed = state(cwd).embeddings
          const built = yield* run("run", "--candidate", "--json")
          assert.strictEqual(built.code, 0, built.stderr)
          const report = events(built).at(-1)?.["report"] as { readonly embedded: number }
          // Nothing that was stored is embedded again.
          assert.strictEqual(state(cwd).embeddings, committed + report.embedded)
          const length = Date.now() - began
          // From its start to beyond its end: before the switch, in it, and while what served is deleted.
          for (let wait = length / 12; !(yield* killed(wait, "promote")); wait *= 1.25) {
            const now = state(cwd)
            assert.strictEqual(now.files, files)
            assert.strictEqual(now.roles.filter((role) => role === "live").length, 1)
            if (now.live !== before.live) break
          }
          assert.notStrictEqual(state(cwd).live, before.live)
          const settled = yield* run("run", "--json")
          assert.strictEqual(settled.code, 0, settled.stderr)
          assert.deepInclude(state(cwd), { roles: ["live"], corpora: 1, files })
          const last = events(settled).at(-1)?.["report"] as { readonly totals: Record<string, number> } | undefined
          assert.deepInclude(last?.totals, { unchanged: files, added: 0, changed: 0 })
          embedded = Math.max(embedded, state(cwd).embeddings)
        }
        assert.isAbove(embedded, files)
      }).pipe(Effect.scoped),
    240_000 + kills * 60_000
  )
})
