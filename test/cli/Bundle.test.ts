import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { createHash } from "node:crypto"
import { chmodSync, copyFileSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync } from "node:fs"
import { join } from "node:path"
import { eventually } from "../support/Eventually.ts"
import { events } from "../support/Finished.ts"
import { command } from "../support/Command.ts"
import { sluice, start } from "../support/Sluice.ts"
import { write } from "../support/TempFolder.ts"
import { pipelineFile, project } from "./Project.ts"

/** Somebody whom permissions bind, where this process is root. */
const uid = process.getuid?.() === 0 ? { uid: 65_534 } : {}

describe("sluice export", () => {
  it.live("writes one file, which a folder that cannot be written is enough for to ask", () =>
    Effect.gen(function*() {
      const cwd = yield* project()
      const run = (...args: ReadonlyArray<string>) => Effect.promise(() => command(args, { cwd }))
      assert.strictEqual((yield* run("run")).code, 0)
      const exported = yield* run("export", "test.bundle")
      const sum = createHash("sha256").update(readFileSync(join(cwd, "test.bundle"))).digest("hex")
      assert.match(exported.stdout, /^test\.bundle: 3 files, 3 chunks, \d+ bytes, sha256 [0-9a-f]{64}\n$/)
      assert.include(exported.stdout, `sha256 ${sum}\n`, "as sha256sum tells it")
      assert.deepInclude(events(yield* run("export", "test.bundle", "--json"))[0], { type: "exported", file: "test.bundle", files: 3 })
      const away = join(cwd, "away")
      mkdirSync(away)
      copyFileSync(join(cwd, "test.bundle"), join(away, "test.bundle"))
      chmodSync(cwd, 0o755)
      chmodSync(away, 0o555)
      const there = (...args: ReadonlyArray<string>) => Effect.promise(() => sluice(args, { cwd: away, ...uid }))
      write(cwd, {
        "tests.yaml": `
- { question: How many days of leave carry over?, files: [leave.md], answer: { contains: [five] }, cites: [leave.md] }
- { question: Who won the cup in 1954?, refused: true }
`
      })
      for (
        const [args, says] of [
          [["ask", "How many days of leave carry over?", "--bundle", "test.bundle"], /Five unused days/],
          [["retrieve", "annual leave", "--pipeline", "test.bundle"], /leave\.md/],
          [["explain", "annual leave", "-p", "test.bundle"], /Looked for/],
          [["files", "list", "-p", "test.bundle"], /hotels\.md/],
          [["status", "test.bundle"], /^test\.bundle is a bundle of pipeline test: Test, 3 files$/m],
          [["eval", "test.bundle", "--tests", "../tests.yaml"], /^2 tests passed; /m]
        ] as const
      ) {
        const { code, stderr, stdout } = yield* there(...args)
        assert.strictEqual(code, 0, `${args.join(" ")}: ${stderr}`)
        assert.match(stdout, says)
      }
      if (process.platform === "linux") {
        const refused = yield* run("export", "/proc/test.bundle")
        assert.strictEqual(refused.code, 1)
        assert.match(refused.stderr, /^error: \/proc\/test\.bundle cannot be written in \/proc \(ENOENT\)\nfix: .* another folder\n$/)
      }
      const live = events(yield* run("retrieve", "annual leave", "--json"))[0] as {
        contexts: ReadonlyArray<{ score: number; text: string }>
      }
      const read = events(yield* there("retrieve", "annual leave", "-p", "test.bundle", "--json"))[0] as typeof live
      const told = ({ contexts }: typeof live) => contexts.map(({ score, text }) => ({ score, text }))
      assert.deepStrictEqual(told(read), told(live))
      const untested = yield* there("eval", "test.bundle")
      assert.strictEqual(untested.code, 1)
      assert.match(untested.stderr, /has no tests\n *fix: .*--tests/)
      const save = (...args: ReadonlyArray<string>) => there("eval", "test.bundle", "--tests", "../tests.yaml", "--save", ...args)
      const unsaved = yield* save()
      assert.strictEqual(unsaved.code, 5)
      // Said before anything is asked: nothing was found out that is lost now.
      assert.strictEqual(unsaved.stdout, "")
      assert.match(unsaved.stderr, /cannot be written; results are saved there\n *fix: .*--data-dir FOLDER/)
      const kept = join(cwd, "kept")
      mkdirSync(kept)
      chmodSync(kept, 0o777)
      assert.strictEqual((yield* save("--data-dir", kept)).code, 0)
      assert.match((yield* save("--data-dir", kept, "--against", "last")).stdout, /no test has another outcome/)
      // No write-ahead log, no index of one, no data directory.
      assert.deepStrictEqual(readdirSync(away), ["test.bundle"])
      chmodSync(away, 0o755)
      for (const name of ["run", "watch"]) {
        const refused = yield* Effect.promise(() => command([name, "test.bundle"], { cwd: away }))
        assert.strictEqual(refused.code, 1)
        assert.match(
          refused.stderr,
          /is a bundle: it has one generation, and is read-only\n *fix: run the pipeline that it was exported from/
        )
      }
      const named = yield* run("export", "test.db")
      assert.strictEqual(named.code, 4)
      assert.match(named.stderr, /test\.db is not the name of a bundle/)
    }).pipe(Effect.scoped))

  it.live("exports the generation that is named, and what of its pipeline reading needs", () =>
    Effect.gen(function*() {
      const cwd = yield* project()
      const run = (...args: ReadonlyArray<string>) => Effect.promise(() => command(args, { cwd, env: { SECRET_TOPIC: "swordfish" } }))
      const file = `${pipelineFile}    # \nimport: { maxDelete: 7% }\ntests: [{ question: "about \${SECRET_TOPIC}?", refused: true }]\n`
      write(cwd, { "pipeline.yaml": file })
      assert.strictEqual((yield* run("run")).code, 0)
      write(cwd, { "pipeline.yaml": file.replace("size: 60", "size: 20") })
      write(join(cwd, "docs"), { "more.md": "# More\n\nOne more file.\n" })
      assert.strictEqual((yield* run("run", "--candidate")).code, 0)
      assert.match((yield* run("export", "live.bundle")).stdout, /3 files/)
      assert.match((yield* run("export", "next.bundle", "--generation", "2")).stdout, /4 files/)
      const wrong = yield* run("export", "none.bundle", "--generation", "9")
      assert.strictEqual(wrong.code, 1)
      assert.match(wrong.stderr, /test has no generation 9, but 2, 1/)
      assert.isFalse(existsSync(join(cwd, "none.bundle")))
      const text = readFileSync(join(cwd, "next.bundle"), "latin1")
      for (const word of [cwd, "swordfish", "maxDelete", "\"local\""]) assert.isFalse(text.includes(word), word)
    }).pipe(Effect.scoped))

  it.live("killed on the way leaves nothing under the name, and the next takes away what it left", () =>
    Effect.gen(function*() {
      const many = Object.fromEntries(
        Array.from({ length: 400 }, (_, i) => [`docs/many/${i}.md`, `# File ${i}\n\n${`Sentence ${i} of a file of words. `.repeat(80)}\n`])
      )
      const cwd = yield* project(many)
      assert.strictEqual((yield* Effect.promise(() => command(["run"], { cwd }))).code, 0)
      const left = () => readdirSync(cwd).filter((name) => name.startsWith(".test.bundle."))
      // Where this process had to wait for its turn, the export was over before it was seen or killed.
      while (left().length === 0) {
        rmSync(join(cwd, "test.bundle"), { force: true })
        const { child, finished } = start(["export", "test.bundle"], { cwd })
        const ended = Effect.promise(() => finished)
        yield* Effect.raceFirst(eventually("the export began", Effect.sync(() => left().length > 0)), ended)
        child.kill("SIGKILL")
        yield* ended
      }
      assert.isFalse(existsSync(join(cwd, "test.bundle")))
      assert.lengthOf(left(), 1)
      const again = yield* Effect.promise(() => command(["export", "test.bundle"], { cwd }))
      assert.match(again.stdout, /403 files/)
      assert.lengthOf(left(), 0)
    }).pipe(Effect.scoped))
})
