import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { chmodSync, readdirSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { sluice } from "../support/Sluice.ts"
import { project } from "./Project.ts"

/** Somebody whom permissions bind, where this process is root. */
const uid = process.getuid?.() === 0 ? { uid: 65_534 } : {}

const modes = (folder: string, directory: number, file: number): void => {
  for (const entry of readdirSync(folder, { recursive: true, withFileTypes: true })) {
    chmodSync(join(entry.parentPath, entry.name), entry.isDirectory() ? directory : file)
  }
  chmodSync(folder, directory)
}

describe("a data directory that cannot be written", () => {
  it.live("is read by every command that only reads, takes no lock, and stays as it is", () =>
    Effect.gen(function*() {
      const cwd = yield* project()
      const run = (...args: ReadonlyArray<string>) => Effect.promise(() => sluice(args, { cwd, ...uid }))
      assert.strictEqual((yield* Effect.promise(() => sluice(["run"], { cwd }))).code, 0)
      const dataDir = join(cwd, ".sluice")
      chmodSync(cwd, 0o755)
      modes(dataDir, 0o555, 0o444)
      const before = readdirSync(dataDir).toSorted()
      for (
        const [args, says] of [
          [["retrieve", "annual leave"], /leave\.md/],
          [["ask", "How many days of leave carry over?"], /Five unused days/],
          [["explain", "annual leave"], /Looked for/],
          [["plan"], /3 unchanged/],
          [["status"], /3 done/],
          [["corpora", "list"], /Test/]
        ] as const
      ) {
        const { code, stderr, stdout } = yield* run(...args)
        assert.strictEqual(code, 0, `${args.join(" ")}: ${stderr}`)
        assert.match(stdout, says)
      }
      const written = yield* run("run")
      assert.strictEqual(written.code, 1)
      assert.match(written.stderr, /\.sluice: cannot be written.*\nfix: make the directory writable/)
      assert.deepStrictEqual(readdirSync(dataDir).toSorted(), before)
      modes(dataDir, 0o755, 0o644)
    }).pipe(Effect.scoped))

  it.live("is refused where its last writer did not close it, instead of being read without the last changes", () =>
    Effect.gen(function*() {
      const cwd = yield* project()
      assert.strictEqual((yield* Effect.promise(() => sluice(["run"], { cwd }))).code, 0)
      const dataDir = join(cwd, ".sluice")
      writeFileSync(join(dataDir, "sluice.db-wal"), "frames")
      chmodSync(cwd, 0o755)
      modes(dataDir, 0o555, 0o444)
      const { code, stderr } = yield* Effect.promise(() => sluice(["status"], { cwd, ...uid }))
      assert.strictEqual(code, 1)
      assert.match(stderr, /was not closed by its last writer/)
      modes(dataDir, 0o755, 0o644)
    }).pipe(Effect.scoped))
})
