import { Effect, Queue, Stream } from "effect"
import { accessSync, constants, realpathSync, statSync } from "node:fs"
import { basename, relative, sep } from "node:path"
import type { SettingsOf } from "../../src/domain/sources/BuiltInSources.ts"
import type { Hint } from "../../src/ports/Connector.ts"
import { asServiceError, defaultIgnoreFile, type IgnoreFiles, makeRules, realIfThere, type Rules } from "./Walk.ts"

/** How often the folder itself is checked: a watcher reports what happens in it, but not its own deletion or return. */
const rootEvery = "1 second"

/** Most hints that wait to be read; more would add nothing. */
const waiting = 1_024

const changed: Hint = { _tag: "changed" }

/**
 * Hints about changes in a folder, from one watch for each folder and none for files: it only matters that something happened, and a tree
 * of 50,000 files then costs no more than its folders. Follows the folder when it disappears and comes back.
 */
export const watchFolder = (config: SettingsOf<"local">, context: { readonly dataDir?: string }): Stream.Stream<Hint> =>
  Stream.callback<Hint>(
    Effect.fnUntraced(function*(queue) {
      // Loaded by the first watch: most commands need none.
      const chokidar = yield* Effect.promise(() => import("chokidar"))
      const tell = (hint: Hint) => void Queue.offerUnsafe(queue, hint)
      let open: { readonly root: string; readonly close: () => Promise<void> } | undefined
      let told: string | undefined
      /** Folders that may not be read, and so cannot be watched: another watcher is opened once one of them may be. */
      const closed = new Set<string>()
      const isClosed = (path: string) => {
        if (mayBeRead(path)) return false
        closed.add(path)
        return true
      }
      const close = Effect.suspend(() => {
        const closing = open
        open = undefined
        return closing === undefined ? Effect.void : Effect.promise(closing.close)
      })
      yield* Effect.addFinalizer(() => close)

      const start = (at: string, root: string) => {
        closed.clear()
        const rules = makeRules(config)
        const ignoreFile = config.ignoreFile ?? defaultIgnoreFile
        const dataDir = context.dataDir === undefined ? undefined : realIfThere(context.dataDir)
        const watcher = chokidar.watch(at, {
          ignoreInitial: true,
          ignorePermissionErrors: true,
          followSymlinks: config.followLinks,
          atomic: false,
          ignored: (path, stats) =>
            stats !== undefined && path !== at &&
            (!stats.isDirectory() || path === dataDir || folderRejected(rules, relative(at, path)) || isClosed(path))
        })
        let whole = true
        /** Closes the watcher; the next check of the root opens another one. */
        const beginAnew = () => {
          if (open?.root === root) open = { ...open, root: "" }
        }
        open = { root, close: () => watcher.close() }
        watcher.on("ready", () => tell(whole ? { _tag: "watching" } : changed))
        watcher.on("all", () => tell(changed))
        // The root may be back before its absence is noticed; its watches are not.
        watcher.on("unlinkDir", (path) => path === at && beginAnew())
        // Reports every event of a watched folder, including its files, which have no watch themselves.
        watcher.on("raw", (_event, name) => {
          if (name === ignoreFile) {
            // Other folders must be watched now.
            beginAnew()
            return tell(changed)
          }
          if (name === null || name === undefined || nameMatters(config, basename(name))) tell(changed)
        })
        watcher.on("error", (cause) => {
          whole = false
          tell({ _tag: "blind", message: `not every folder can be watched: ${asServiceError(cause, config.path).message}` })
        })
      }

      return yield* Effect.gen(function*() {
        const found = identityOf(config.path)
        if ("missing" in found) {
          yield* close
          if (told !== found.missing) tell({ _tag: "blind", message: found.missing })
          told = found.missing
        } else if (found.root !== open?.root || [...closed].some(mayBeRead)) {
          yield* close
          told = undefined
          start(found.at, found.root)
        }
        yield* Effect.sleep(rootEvery)
      }).pipe(Effect.forever)
    }),
    { bufferSize: waiting, strategy: "sliding" }
  )

/** The folder behind the path: if another folder takes its place, that is watched instead. */
const identityOf = (path: string): { readonly at: string; readonly root: string } | { readonly missing: string } => {
  try {
    const at = realpathSync(path)
    const stats = statSync(at, { bigint: true })
    if (!stats.isDirectory()) return { missing: `${path} is not a folder any more` }
    return mayBeRead(at)
      ? { at, root: `${at}\n${stats.dev}:${stats.ino}` }
      : { missing: `${path} may not be read; nothing is deleted, and watching goes on when it may be` }
  } catch {
    return { missing: `${path} is not there any more; nothing is deleted, and watching goes on when it is back` }
  }
}

const mayBeRead = (folder: string): boolean => {
  try {
    accessSync(folder, constants.R_OK | constants.X_OK)
    return true
  } catch {
    return false
  }
}

/** Whether a listing would not enter the folder, or one above it. One whose ignore file cannot be read now is watched. */
const folderRejected = (rules: Rules, path: string): boolean => {
  try {
    let ignores: IgnoreFiles = rules.enter("", [])
    let above = ""
    for (const name of path.split(sep)) {
      const here = above === "" ? name : `${above}/${name}`
      if (rules.reject(here, name, true, ignores) !== undefined) return true
      ignores = rules.enter(here, ignores)
      above = here
    }
    return false
  } catch {
    return false
  }
}

/** Whether changes to this name matter. Editors keep hidden files beside the ones they edit. */
const nameMatters = (config: SettingsOf<"local">, name: string): boolean => config.hidden || !name.startsWith(".")
