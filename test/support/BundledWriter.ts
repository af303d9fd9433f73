import { mkdirSync, renameSync, writeFileSync } from "node:fs"
import { dirname, join } from "node:path"
import { pathToFileURL } from "node:url"
import { build } from "rolldown"
import type { Plugin } from "vitest/config"
import { root } from "./Root.ts"

const starter = "src/engines/embedded/store/Writer.ts"
const entry = "src/engines/embedded/store/writer.worker.ts"
const named = `"./writer.worker.ts"`

/** The writer's thread and all it imports, as one file. */
export const writer = join(root, "node_modules/.cache/writer/writer.js")

/** Makes {@link writer} of the source, and puts it in its place whole: another run may be reading it. */
export const bundleWriter = async (): Promise<void> => {
  const { output: [{ code }] } = await build({ input: join(root, entry), platform: "node", write: false, output: { format: "esm" } })
  const fresh = `${writer}-${process.pid}`
  mkdirSync(dirname(writer), { recursive: true })
  writeFileSync(fresh, code)
  renameSync(fresh, writer)
}

/**
 * Starts the store's writer from a bundle of the source, as the package does. Every engine of a test has a thread of its
 * own, and loading 250 modules again for each was the largest part of the suite's processor time.
 */
export const bundledWriter: Plugin = {
  name: "bundled-writer",
  transform(code, id) {
    if (id !== join(root, starter)) return undefined
    if (!code.includes(named)) throw new Error(`${starter} does not name ${named}: ${import.meta.filename} is to be told the new name`)
    return code.replace(named, JSON.stringify(pathToFileURL(writer).href))
  }
}
