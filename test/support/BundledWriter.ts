import { mkdirSync, renameSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { pathToFileURL } from "node:url"
import { build } from "rolldown"
import type { Plugin } from "vitest/config"
import { root } from "./Root.ts"

const starter = "src/engines/embedded/store/Writer.ts"
const entry = "src/engines/embedded/store/writer.worker.ts"
const named = `"./writer.worker.ts"`

/** The writer's thread and all it imports, as one file: put in its place whole, since another run may be reading it. */
const bundle = async (): Promise<URL> => {
  const { output: [{ code }] } = await build({ input: join(root, entry), platform: "node", write: false, output: { format: "esm" } })
  const folder = join(root, "node_modules/.cache/writer")
  const fresh = join(folder, `${process.pid}.js`)
  const file = join(folder, "writer.js")
  mkdirSync(folder, { recursive: true })
  writeFileSync(fresh, code)
  renameSync(fresh, file)
  return pathToFileURL(file)
}

let made: Promise<URL> | undefined

/**
 * Starts the store's writer from a bundle of the source, as the package does. Every engine of a test has a thread of its
 * own, and loading 250 modules again for each was the largest part of the suite's processor time.
 */
export const bundledWriter: Plugin = {
  name: "bundled-writer",
  async transform(code, id) {
    if (id !== join(root, starter)) return undefined
    if (!code.includes(named)) throw new Error(`${starter} does not name ${named}: ${import.meta.filename} is to be told the new name`)
    return code.replace(named, JSON.stringify((await (made ??= bundle())).href))
  }
}
