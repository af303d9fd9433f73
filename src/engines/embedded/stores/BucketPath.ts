import { lstatSync, realpathSync } from "node:fs"
import { basename, dirname, join, relative, resolve, sep } from "node:path"
import { ServiceError } from "../../../domain/Errors.ts"

export interface BucketFolders {
  /** Folders by the name of the bucket they stand for. */
  readonly buckets: ReadonlyMap<string, string>
  /** A folder that no bucket gives access to, unless the bucket's own folder lies in it: the data directory. */
  readonly closed?: string
}

/** Where an address leads on this machine. */
export interface BucketPath {
  readonly bucket: string
  /** The object's name without `.`, `..` and empty parts, with a `/` at the end where the address has one; empty for the bucket itself. */
  readonly key: string
  /** The folder that stands for the bucket, links resolved. */
  readonly root: string
  /** The file or folder of the address, links resolved. It need not exist. */
  readonly path: string
}

/**
 * What `gs://{bucket}/{key}` is among folders that stand for buckets; undefined for any other address. `..` and symbolic
 * links are resolved first: an address that leads out of its bucket's folder, or into the closed one, is
 * `PERMISSION_DENIED`. Files at the path given are to be opened without following a link.
 */
export const bucketPath = ({ buckets, closed }: BucketFolders, uri: string): BucketPath | ServiceError | undefined => {
  const [, bucket = "", given = ""] = /^gs:\/\/([^/]+)\/?(.*)$/s.exec(uri) ?? []
  const folder = buckets.get(bucket)
  if (folder === undefined) return undefined
  const root = realPath(resolve(folder))
  const path = root === undefined ? undefined : pathIn(root, given)
  if (root === undefined || path === undefined) return denied(uri, "leads out of its bucket")
  const data = closed === undefined ? undefined : realPath(resolve(closed))
  return data !== undefined && isIn(data, path) && !isIn(data, root)
    ? denied(uri, "is in the data directory")
    : { bucket, key: nameIn(root, given), root, path }
}

/** `/`-separated `key` under `root` (a real path), links resolved; undefined where that is not under it. */
export const pathIn = (root: string, key: string): string | undefined => {
  if (key.includes("\0")) return undefined
  const path = lexical(root, key)
  // Before anything outside is looked at, even to find out whether it exists.
  if (!isIn(root, path)) return undefined
  const real = realPath(path)
  return real !== undefined && isIn(root, real) ? real : undefined
}

const lexical = (root: string, key: string): string => resolve(root, ...key.split("/").filter((part) => part !== ""))

const nameIn = (root: string, key: string): string => {
  const name = relative(root, lexical(root, key)).split(sep).join("/")
  return name !== "" && key.endsWith("/") ? `${name}/` : name
}

const isIn = (folder: string, path: string): boolean => path === folder || path.startsWith(folder.endsWith(sep) ? folder : folder + sep)

/** The path without links, whose last parts need not exist. Undefined for a link that leads nowhere, and where a folder cannot be read. */
const realPath = (path: string): string | undefined => {
  const missing: Array<string> = []
  for (let at = path;; at = dirname(at)) {
    try {
      return join(realpathSync(at), ...missing)
    } catch {
      if (isThere(at) || dirname(at) === at) return undefined
      missing.unshift(basename(at))
    }
  }
}

/** Also where that cannot be found out. */
const isThere = (path: string): boolean => {
  try {
    return lstatSync(path, { throwIfNoEntry: false }) !== undefined
  } catch (cause) {
    return !(cause instanceof Error && "code" in cause && cause.code === "ENOTDIR")
  }
}

const denied = (uri: string, description: string): ServiceError =>
  new ServiceError({
    code: "PERMISSION_DENIED",
    message: `uri: ${uri} ${description}`,
    violations: [{ field: "uri", description: `${description}: links and .. are followed only within the bucket's folder` }]
  })
