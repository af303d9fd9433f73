import { assert, describe, it } from "@effect/vitest"
import { spawnSync } from "node:child_process"
import { Effect } from "effect"
import { mkdirSync, readdirSync } from "node:fs"
import { join } from "node:path"
import { tempFolder, write } from "../support/TempFolder.ts"
import { removeAbandoned } from "../support/TemporaryFiles.ts"

describe("temporary files", () => {
  it.live("of a run whose process is gone are removed, and those of one that goes on stay", () =>
    Effect.gen(function*() {
      const folder = yield* tempFolder
      const { pid } = spawnSync(process.execPath, ["--version"])
      const kept = ["notes", `sluice-tests-${process.pid}-abc`, "sluice-tests-1-abc"]
      for (const name of kept) mkdirSync(join(folder, name))
      write(folder, { [`sluice-tests-${pid}-abc/corpus/segment`]: "bytes" })
      removeAbandoned(folder)
      assert.sameMembers(readdirSync(folder), kept)
    }).pipe(Effect.scoped))
})
