import { appendFileSync, cpSync, globSync, mkdtempSync, readFileSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { describe, expect, it, onTestFinished } from "vitest"
import { hashes, noted } from "../../scripts/kernel.ts"
import { root } from "../support/Root.ts"

describe("kernels in WebAssembly", () => {
  it("are compiled from their sources as they are now", () => {
    expect(Object.keys(hashes()).toSorted()).toEqual(globSync("src/**/*.wasm", { cwd: root }).toSorted())
    expect(hashes(), "npm run kernel compiles them again").toEqual(JSON.parse(readFileSync(join(root, noted), "utf8")))
  })

  for (const file of ["kernel.wasm", "assembly/Memory.ts"]) {
    it(`are to be compiled again when ${file} changes`, () => {
      const folder = mkdtempSync(join(tmpdir(), "sluice-"))
      onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
      const kernel = "src/engines/embedded/kernel"
      for (const path of ["package.json", kernel, "src/text/tokens"]) cpSync(join(root, path), join(folder, path), { recursive: true })
      expect(hashes(folder)).toEqual(hashes())
      appendFileSync(join(folder, kernel, file), " ")
      expect(hashes(folder)[`${kernel}/kernel.wasm`]).not.toBe(hashes()[`${kernel}/kernel.wasm`])
    })
  }
})
