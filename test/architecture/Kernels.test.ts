import { execFileSync } from "node:child_process"
import { globSync, mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { basename, join } from "node:path"
import { describe, expect, it, onTestFinished } from "vitest"
import { root } from "../support/Root.ts"

describe("kernels in WebAssembly", () => {
  it("are what their sources compile to", { timeout: 240_000 }, () => {
    const folder = mkdtempSync(join(tmpdir(), "sluice-"))
    onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
    execFileSync(process.execPath, ["scripts/kernel.ts", folder], { cwd: root })
    const kept = globSync("src/**/*.wasm", { cwd: root })
    expect(readdirSync(folder).sort()).toEqual(kept.map((path) => basename(path)).sort())
    for (const path of kept) {
      const isSame = readFileSync(join(folder, basename(path))).equals(readFileSync(join(root, path)))
      expect([path, isSame], "npm run kernel compiles it again").toEqual([path, true])
    }
  })
})
