/**
 * Compiles the AssemblyScript kernels to the WebAssembly files that are kept in git, and records in `kernels.json` the hashes of
 * what they were compiled from. With `--check` nothing is written: the command fails where the kept files differ.
 */
import { createHash } from "node:crypto"
import { globSync, readFileSync, writeFileSync } from "node:fs"
import { dirname, join, resolve } from "node:path"

const root = resolve(import.meta.dirname, "..")

/** The kernels by their compiled file: each with its source, and options beyond the common ones. */
const kernels: Readonly<Record<string, ReadonlyArray<string>>> = {
  "src/engines/embedded/kernel/kernel.wasm": ["src/engines/embedded/kernel/assembly/Kernel.ts"],
  // The caller allocates their memory.
  "src/engines/embedded/kernel/postings.wasm": ["src/engines/embedded/kernel/assembly/Postings.ts", "--importMemory"],
  "src/engines/embedded/kernel/scores.wasm": ["src/engines/embedded/kernel/assembly/Scores.ts", "--importMemory"],
  "src/text/tokens/tokens.wasm": ["src/text/tokens/assembly/Tokens.ts"]
}
const options = ["--runtime", "stub", "--optimizeLevel", "3", "--converge", "--noAssert", "--enable", "simd"]

/** File with the hashes of the last compilation. Comparing them is much faster than compiling again. */
export const noted = "scripts/kernels.json"

/** Hash of each kernel: over its compiled file, compiler, options, and the folder of its sources. */
export const hashes = (folder = root): Readonly<Record<string, string>> => {
  const { devDependencies: { assemblyscript } } = JSON.parse(readFileSync(join(folder, "package.json"), "utf8"))
  return Object.fromEntries(
    Object.entries(kernels).map(([kept, own]) => {
      const hash = createHash("sha256").update(JSON.stringify([assemblyscript, own, options]))
      const [entry = ""] = own
      const sources = globSync(join(dirname(entry), "*.ts"), { cwd: folder }).toSorted()
      for (const file of [...sources, kept]) hash.update(`\0${file}\0`).update(readFileSync(join(folder, file)))
      return [kept, hash.digest("hex")]
    })
  )
}

if (import.meta.main) {
  const { main } = await import("assemblyscript/asc")
  const checks = process.argv.includes("--check")
  for (const [kept, own] of Object.entries(kernels)) {
    const writeFile = (file: string, bytes: Uint8Array | string): void => {
      if (!checks) return writeFileSync(file, bytes)
      if (readFileSync(file).equals(Buffer.from(bytes))) return
      console.error(`${file} is not what its sources compile to: npm run kernel`)
      process.exitCode = 1
    }
    const { error, stderr } = await main([...own, "--outFile", kept, ...options], { writeFile })
    if (error === null) continue
    console.error(stderr.toString())
    process.exitCode = 1
  }
  if (!checks) writeFileSync(noted, `${JSON.stringify(hashes(), undefined, 2)}\n`)
}
