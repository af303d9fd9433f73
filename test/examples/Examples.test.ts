import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { spawn } from "node:child_process"
import { join } from "node:path"
import { tempFolder } from "../support/TempFolder.ts"

/** Runs an example as a user would, against the sources. */
const run = (example: string) =>
  Effect.gen(function*() {
    const cwd = yield* tempFolder
    return yield* Effect.promise(() =>
      new Promise<{ code: number | null; stdout: string; stderr: string }>((resolve) => {
        const child = spawn(process.execPath, ["--conditions=sluice-source", join(import.meta.dirname, "../../examples", example)], { cwd })
        let stdout = ""
        let stderr = ""
        child.stdout.on("data", (data) => void (stdout += data))
        child.stderr.on("data", (data) => void (stderr += data))
        child.on("close", (code) => resolve({ code, stdout, stderr }))
      })
    )
  })

describe("the examples", () => {
  it.live("ingest and ask: files in, a cited answer out", () =>
    Effect.gen(function*() {
      const { code, stderr, stdout } = yield* run("ingest-and-ask.ts")
      assert.strictEqual(code, 0, stderr)
      assert.match(stdout, /^2\d added, 0 unchanged, \d+ skipped, 0 failed\n/)
      assert.include(stdout, "five unused days")
      assert.include(stdout, "[1] people/leave-policy.md")
    }).pipe(Effect.scoped), 60_000)

  it.live("a custom stage composes with the built-in ones", () =>
    Effect.gen(function*() {
      const { code, stderr, stdout } = yield* run("custom-stage.ts")
      assert.strictEqual(code, 0, stderr)
      assert.match(stdout, /^\d+ files, one context each\n\S/)
    }).pipe(Effect.scoped), 60_000)

  it.live("a custom embedder takes the place of the built-in one", () =>
    Effect.gen(function*() {
      const { code, stderr, stdout } = yield* run("custom-embedder.ts")
      assert.strictEqual(code, 0, stderr)
      assert.match(stdout, /^[1-9]\d* chunks embedded\n(.+ at \d\.\d{3}\n){3}$/)
    }).pipe(Effect.scoped), 60_000)
})
