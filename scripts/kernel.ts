/**
 * `npm run kernel`: compiles the kernel that reads words and makes vectors to the bytes that are kept beside it. A test holds that
 * they are what its source compiles to.
 */
import { main } from "assemblyscript/asc"

const folder = "src/engines/embedded/kernel"

const options = ["--runtime", "stub", "--optimizeLevel", "3", "--converge", "--noAssert", "--enable", "simd"]
const { error, stderr } = await main([`${folder}/assembly/Kernel.ts`, "--outFile", process.argv[2] ?? `${folder}/kernel.wasm`, ...options])
if (error !== null) {
  console.error(stderr.toString())
  process.exitCode = 1
}
