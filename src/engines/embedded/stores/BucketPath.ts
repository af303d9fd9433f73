import { lstatSync, realpathSync } from "node:fs"
import { basename, dirname, join, relative, resolve, sep } from "node:path"
import { ServiceError } from "../../../domain/Errors.ts"

export interface BucketFolders {
  /** Folders by the names of the buckets that they stand for. */
  readonly buckets: ReadonlyMap<string, string>
  /** A folder that no bucket may give access to, unless the bucket's own folder is inside it: the data directory. */
  readonly closed?: string
}

/** The file or folder on this machine that an address stands for. */
export interface BucketPath {
  readonly bucket: string
  /** The object's name without `.`, `..` and empty parts, with a final `/` if the address has one; empty for the bucket itself. */
  readonly key: string
  /** The bucket's folder, with links resolved. */
  readonly root: string
  /** The address's file or folder, with links resolved. It need not exist. */
  readonly path: string
}

/**
 * The file or folder that `gs://{bucket}/{key}` stands for; undefined for any other address. `..` and symbolic links are resolved first: an
 * address that leads out of its bucket's folder, or into the closed one, is `PERMISSION_DENIED`. The returned path must be opened without
 * following links.
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

/** Path of the `/`-separated `key` under `root` (a real path), with links resolved; undefined where it is not under `root`. */
export const pathIn = (root: string, key: string): string | undefined => {
  if (key.includes("\0")) return undefined
  const path = lexical(root, key)
  // Checked before anything outside is accessed, even to find out whether it exists.
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

/** The path with links resolved; its last parts need not exist. Undefined for a dangling link, and where a folder cannot be read. */
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

/** Whether a path exists; also true where that cannot be found out. */
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
