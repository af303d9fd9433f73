const mebibyte = 1024 * 1024

/** Files of one import, at most, on the hosted service. */
export const mostFiles = 10_000

/** The largest file, in bytes, that the hosted service takes of the type that its name tells. */
export const serviceFileBytes = (name: string): number => {
  const extension = /\.([a-z0-9]+)$/i.exec(name)?.[1]?.toLowerCase()
  switch (extension) {
    case "pdf":
    case "docx":
      return 50 * mebibyte
    case "json":
    case "jsonl":
    case "ndjson":
      return mebibyte
    default:
      return 10 * mebibyte
  }
}

/** What this machine takes of one file where the service's limits are not enforced: its parsers' own bound. */
export const ownFileBytes = 256 * mebibyte
