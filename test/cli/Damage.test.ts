import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { join } from "node:path"
import { DatabaseSync } from "node:sqlite"
import { sumOf } from "../../src/engines/embedded/store/Checksum.ts"
import { command } from "../support/Command.ts"
import { project } from "./Project.ts"

const run = (cwd: string, ...args: ReadonlyArray<string>) => Effect.promise(() => command(args, { cwd }))

describe("damage in the database", () => {
  it.live("is named by a question and by doctor, and the next run reads the file again without embedding anything", () =>
    Effect.gen(function*() {
      const cwd = yield* project()
      assert.strictEqual((yield* run(cwd, "run")).code, 0)
      const question = ["retrieve", "hotel limit in Osaka"]
      const before = yield* run(cwd, ...question)
      const db = new DatabaseSync(join(cwd, ".sluice", "sluice.db"))
      db.exec(`UPDATE chunk_pages SET body = substr(body, 1, length(body) - 1) || X'00'
        WHERE file = (SELECT id FROM files WHERE display_name LIKE '%hotels.md')`)
      db.close()

      const asked = yield* run(cwd, ...question)
      assert.strictEqual(asked.code, 1)
      assert.match(asked.stderr, /^error: .*text of .*hotels\.md is damaged.*\nfix: run the pipeline again/)
      const doctor = yield* run(cwd, "doctor")
      assert.strictEqual(doctor.code, 1)
      assert.match(doctor.stdout.replaceAll(/\s+/g, " "), /1 of 3 files in \S+ are damaged: \S*hotels\.md \(its text\)/)

      const mended = yield* run(cwd, "run", "--json")
      assert.strictEqual(mended.code, 0, mended.stderr)
      const report = JSON.parse(mended.stdout.trimEnd().split("\n").at(-1) ?? "").report
      assert.deepStrictEqual([report.totals.changed, report.totals.unchanged, report.embedded], [1, 2, 0])
      assert.match(JSON.stringify(report), /1 file damaged in the corpus, to be read again/)
      assert.strictEqual((yield* run(cwd, "doctor")).code, 0)
      assert.strictEqual((yield* run(cwd, ...question)).stdout, before.stdout)
    }).pipe(Effect.scoped))
})

describe("an index that another version made", () => {
  it.live("answers, which is said beside the answers and not among them, until a run rebuilds it", () =>
    Effect.gen(function*() {
      const cwd = yield* project()
      assert.strictEqual((yield* run(cwd, "run")).code, 0)
      const question = ["retrieve", "hotel limit in Osaka"]
      const before = yield* run(cwd, ...question)
      const db = new DatabaseSync(join(cwd, ".sluice", "sluice.db"))
      for (const segment of db.prepare("SELECT * FROM segments").all()) {
        const row = { ...segment, analysis: "0" }
        db.prepare("UPDATE segments SET analysis = ?, sum = ? WHERE id = ?").run(
          row.analysis,
          sumOf("segments", row),
          Number(segment["id"])
        )
      }
      db.close()

      const asked = yield* run(cwd, ...question)
      assert.deepStrictEqual([asked.code, asked.stdout], [0, before.stdout])
      assert.match(asked.stderr, /index of corpus \d+ was made by another version of Sluice: it answers until it is rebuilt/)
      assert.match((yield* run(cwd, "run")).stderr, /is rebuilt now/)
      assert.deepStrictEqual(yield* run(cwd, ...question), before)
    }).pipe(Effect.scoped))
})
