import { resolve, sep } from "node:path"

/** Where an address leads on this machine. */
export interface BucketPath {
  readonly bucket: string
  /** The folder that stands for the bucket. */
  readonly root: string
  /** The object's name; empty for the bucket itself. */
  readonly key: string
  /** Absent where the name leads out of the bucket: `..` is a name in a bucket, and a way out of a folder. */
  readonly path?: string
}

/** What `gs://{bucket}/{key}` is among folders that stand for buckets; undefined for any other address. */
export const bucketPath = (buckets: ReadonlyMap<string, string>, uri: string): BucketPath | undefined => {
  const [, bucket = "", key = ""] = /^gs:\/\/([^/]+)\/?(.*)$/s.exec(uri) ?? []
  const folder = buckets.get(bucket)
  if (folder === undefined) return undefined
  const root = resolve(folder)
  const path = pathIn(root, key)
  return { bucket, root, key, ...(path === undefined ? {} : { path }) }
}

/** `/`-separated `key` as a path in `root`, where it is in it. */
export const pathIn = (root: string, key: string): string | undefined => {
  const path = resolve(root, ...key.split("/").filter((part) => part !== ""))
  const within = root.endsWith(sep) ? root : root + sep
  return (path === root || path.startsWith(within)) && !path.includes("\0") ? path : undefined
}
