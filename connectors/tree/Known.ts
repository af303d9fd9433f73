import { Schema } from "effect"
import { ServiceError } from "../../src/domain/Errors.ts"

/** More files than this, and a cursor does not remember them: about a megabyte. */
const maxFiles = 10_000

/**
 * What a listing found, as its cursor remembers it, because a change feed names what changed by id and not by where
 * it was: `[id, path]`. Without `files`, only "nothing changed" can be told from a feed.
 */
export const KnownFiles = Schema.Array(Schema.Tuple([Schema.String, Schema.String]))

/** Paths of files by id, and back. */
export interface Known {
  /** False once there were too many, or from the start if they were not known. */
  readonly remembers: () => boolean
  readonly pathOf: (id: string) => string | undefined
  readonly idAt: (path: string) => string | undefined
  readonly add: (id: string, path: string) => void
  readonly remove: (id: string) => void
  /** Ids of the files in a folder and below. */
  readonly under: (folder: string) => ReadonlyArray<string>
  /** For the cursor; absent where nothing is remembered. */
  readonly entries: () => ReadonlyArray<readonly [id: string, path: string]> | undefined
}

/** `from` is what a cursor remembers; absent, nothing is known and nothing will be. */
export const makeKnown = (from: ReadonlyArray<readonly [string, string]> | undefined): Known => {
  let paths = from === undefined ? undefined : new Map(from)
  let ids = paths === undefined ? undefined : new Map([...paths].map(([id, path]) => [path, id]))
  return {
    remembers: () => paths !== undefined,
    pathOf: (id) => paths?.get(id),
    idAt: (path) => ids?.get(path),
    add: (id, path) => {
      paths?.set(id, path)
      ids?.set(path, id)
      if (paths !== undefined && paths.size > maxFiles) paths = ids = undefined
    },
    remove: (id) => {
      const path = paths?.get(id)
      if (path === undefined) return
      paths?.delete(id)
      if (ids?.get(path) === id) ids.delete(path)
    },
    under: (folder) => [...paths ?? []].flatMap(([id, path]) => path.startsWith(`${folder}/`) ? [id] : []),
    entries: () => paths === undefined ? undefined : [...paths]
  }
}

/** The answer to a cursor from which changes cannot be told: whoever gave it lists from the start, without one. */
export const listFromStart = (why: string): ServiceError => ServiceError.invalid("cursor", why, "List from the start.")
