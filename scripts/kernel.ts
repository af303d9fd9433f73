/**
 * Compiles what is written in AssemblyScript to the bytes that are kept beside it, or in another folder. A test holds that
 * they are what their sources compile to.
 *
 * Usage: node scripts/kernel.ts [<folder>]
 */
import { basename, join } from "node:path"
import { main } from "assemblyscript/asc"

/** Bytes that are kept, and what they are compiled from; options that are not those of all. */
const kernels: Readonly<Record<string, ReadonlyArray<string>>> = {
  "src/engines/embedded/kernel/kernel.wasm": ["src/engines/embedded/kernel/assembly/Kernel.ts"],
  // Their memory is their caller's to give out.
  "src/engines/embedded/kernel/postings.wasm": ["src/engines/embedded/kernel/assembly/Postings.ts", "--importMemory"],
  "src/engines/embedded/kernel/scores.wasm": ["src/engines/embedded/kernel/assembly/Scores.ts", "--importMemory"],
  "src/text/tokens/tokens.wasm": ["src/text/tokens/assembly/Tokens.ts"]
}
const options = ["--runtime", "stub", "--optimizeLevel", "3", "--converge", "--noAssert", "--enable", "simd"]

const [, , folder] = process.argv
for (const [kept, own] of Object.entries(kernels)) {
  const { error, stderr } = await main([...own, "--outFile", folder === undefined ? kept : join(folder, basename(kept)), ...options])
  if (error === null) continue
  console.error(stderr.toString())
  process.exitCode = 1
}
