import { access, constants, stat, statfs } from "node:fs/promises"
import { dirname } from "node:path"
import { fileURLToPath } from "node:url"
import { Effect } from "effect"
import type { ServiceError } from "../../domain/Errors.ts"
import { unfit } from "../Chunks.ts"

/** Least free bytes on the disk of a folder that is written to. */
const leastFree = 16 * 1024 * 1024

/** The folder of an address; undefined for object storage. */
export const folderOf = (uri: string): string | undefined =>
  uri.startsWith("file:") ? fileURLToPath(uri) : /^[a-z][a-z0-9+]+:\/\//i.test(uri) ? undefined : uri

/** Whether a file or folder exists. */
export const isThere = (path: string): Effect.Effect<boolean> => Effect.promise(() => access(path).then(() => true, () => false))

/** Fails where a folder cannot be made, or cannot hold a database that is written to. */
export const usable = Effect.fnUntraced(function*(folder: string): Effect.fn.Return<void, ServiceError> {
  let at = folder
  while (!(yield* isThere(at)) && dirname(at) !== at) at = dirname(at)
  const isFolder = yield* Effect.promise(() => stat(at).then((found) => found.isDirectory(), () => false))
  if (!isFolder) return yield* unfit("lanceDb.uri", `${at} is not a folder`, "name a folder, or one that can be made")
  const writable = yield* Effect.promise(() => access(at, constants.W_OK | constants.X_OK).then(() => true, () => false))
  if (!writable) return yield* unfit("lanceDb.uri", `${at} is read-only for this user`, "name a folder that may be written to")
  const room = yield* Effect.promise(() => statfs(at).then(({ bavail, bsize }) => bavail * bsize, () => Infinity))
  if (room < leastFree) {
    return yield* unfit(
      "lanceDb.uri",
      `the disk of ${at} is full: ${Math.floor(room / 1024)} kB are free`,
      "make room on it, or name another folder"
    )
  }
})
