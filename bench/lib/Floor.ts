/**
 * The floor of ingest: reads every file below a folder, and counts its tokens with the tokenizer of chunking. No ingest that
 * chunks by tokens can be faster on one core. `node bench/lib/Floor.ts FOLDER`
 */
import { readdirSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { countTokens } from "../../src/text/Tokens.ts"

const folder = process.argv[2] ?? "."
let tokens = 0
for (const entry of readdirSync(folder, { recursive: true, withFileTypes: true })) {
  if (entry.isFile()) tokens += countTokens(readFileSync(join(entry.parentPath, entry.name), "utf8"))
}
process.stdout.write(`${JSON.stringify({ tokens })}\n`)
