import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { spawn } from "node:child_process"
import { once } from "node:events"
import { join } from "node:path"
import * as Lock from "../../src/state/Lock.ts"
import { tempFolder } from "../support/TempFolder.ts"

/** Another process that holds the lock until it is killed. */
const holder = (dataDir: string) =>
  Effect.promise(async () => {
    const child = spawn(
      process.execPath,
      [
        "--input-type=module",
        "-e",
        `
        import { Effect } from "effect"
        import * as Lock from ${JSON.stringify(join(import.meta.dirname, "../../src/state/Lock.ts"))}
        await Effect.runPromise(Effect.scoped(Effect.gen(function*() {
          yield* Lock.acquire(${JSON.stringify(dataDir)}, "sluice run other.yaml")
          console.log("held")
          yield* Effect.sleep(60_000)
        })))
      `
      ],
      { stdio: ["ignore", "pipe", "inherit"] }
    )
    await once(child.stdout, "data")
    return child
  })

describe("the lock", () => {
  it.live("says who holds it, and is free once the holder is dead, however it died", () =>
    Effect.gen(function*() {
      const dir = yield* tempFolder
      const child = yield* holder(dir)
      const refused = yield* Lock.acquire(dir, "test").pipe(Effect.flip)
      assert.strictEqual(refused.problem, "locked")
      assert.include(refused.message, "sluice run other.yaml")
      assert.include(refused.message, String(child.pid))
      yield* Effect.promise(async () => {
        child.kill("SIGKILL")
        await once(child, "exit")
      })
      yield* Lock.acquire(dir, "test")
    }).pipe(Effect.scoped))

  it.live("can be waited for", () =>
    Effect.gen(function*() {
      const dir = yield* tempFolder
      const child = yield* holder(dir)
      const told: Array<string> = []
      yield* Lock.acquire(dir, "test", 60_000, ({ message }) =>
        Effect.sync(() => {
          told.push(message)
          child.kill("SIGKILL")
        }))
      assert.strictEqual(told.length, 1)
      assert.include(told[0], "sluice run other.yaml")
    }).pipe(Effect.scoped))
})
