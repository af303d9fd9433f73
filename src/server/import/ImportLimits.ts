const mebibyte = 1024 * 1024

/** Most files of one import on the hosted service. */
export const mostFiles = 10_000

/** Most bytes of a file on the hosted service, by the type that its name has. */
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

/** Most bytes of a file where the service's limits are not enforced: the bound of the parsers. */
export const ownFileBytes = 256 * mebibyte
