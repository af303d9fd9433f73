import { createRequire } from "node:module"
import { join } from "node:path"
import { pathToFileURL } from "node:url"
import { Effect } from "effect"
import { ServiceError } from "../../domain/Errors.ts"
import { isOlder, unfit } from "../Chunks.ts"
import type { Arrow, Lance } from "./Library.ts"

/** The first version that supports the indexes that are made here. */
const leastVersion = [0, 39] as const

/** Loads the library once. It is large and native, so it is an optional package, loaded when a corpus uses it. */
export const libraryFrom = (
  folder: string
): Effect.Effect<{ readonly lance: Lance & { readonly version: string }; readonly arrow: Arrow }, ServiceError> =>
  Effect.tryPromise({
    try: () => loaded ??= load(folder),
    catch: (cause) => {
      loaded = undefined
      if (cause instanceof ServiceError) return cause
      const missing = cause instanceof Error && "code" in cause && cause.code === "MODULE_NOT_FOUND"
      return unfit(
        "lanceDb",
        missing
          ? "LanceDB is a separate package, and is not installed"
          : `the package @lancedb/lancedb cannot be loaded: ${cause instanceof Error ? cause.message.split("\n")[0] : "no details"}`,
        "npm install @lancedb/lancedb"
      )
    }
  })

let loaded: ReturnType<typeof load> | undefined
const load = async (folder: string) => {
  // By default it logs its retries to stderr.
  process.env["LANCEDB_LOG"] ??= "error"
  const require = createRequire(import.meta.url)
  const name = "@lancedb/lancedb"
  let path: string
  try {
    path = require.resolve(name)
  } catch {
    path = createRequire(pathToFileURL(join(folder, "package.json"))).resolve(name)
  }
  // It accepts only tables made by its own copy of Arrow.
  const near = createRequire(path)
  const lance = near(path) as Lance
  const { version } = near("../package.json") as { readonly version: string }
  if (isOlder(version, leastVersion)) {
    throw unfit(
      "lanceDb",
      `LanceDB ${version} is installed, and ${leastVersion.join(".")} is the first that can be used`,
      "npm install @lancedb/lancedb@latest"
    )
  }
  return { lance: { ...lance, version }, arrow: near("apache-arrow") as Arrow }
}
