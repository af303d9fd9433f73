import { extensionOf, formatOfMimeType, formatOfName } from "../parse/Formats.ts"

const archiveExtensions = new Set(
  "zip tar gz tgz taz zst tzst xz txz bz2 tbz tbz2 7z rar mbox pst ost".split(" ")
)
const archiveTypes = new Set([
  "application/zip",
  "application/x-zip-compressed",
  "application/x-tar",
  "application/gzip",
  "application/x-gzip",
  "application/zstd",
  "application/x-xz",
  "application/x-bzip2",
  "application/x-7z-compressed",
  "application/vnd.rar",
  "application/x-rar-compressed",
  "application/mbox",
  "application/vnd.ms-outlook-pst"
])

/** Whether a file may contain files that are documents of their own, judged without its bytes: mail, and archives where they are wanted. */
export const mayHoldFiles = (name: string, mimeType: string | undefined, archives: boolean): boolean => {
  const extension = extensionOf(name)
  const format = formatOfName(name) ?? (mimeType === undefined ? undefined : formatOfMimeType(mimeType))
  if (format === "eml" || format === "msg" || format === "mbox") return true
  return archives &&
    (archiveExtensions.has(extension) || (extension === "" && archiveTypes.has((mimeType ?? "").split(";", 1)[0]!.trim().toLowerCase())))
}

/** Whether a file is, by its name, nothing but a container: where it cannot be opened, no parser could read it either. */
export const isArchiveName = (name: string): boolean => archiveExtensions.has(extensionOf(name)) && formatOfName(name) !== "mbox"

const longestSegment = 150

/** The path of a file in an archive, made safe: without roots, drives, `..` or characters that control a terminal. */
export const safePath = (path: string): string => {
  const segments = path.normalize("NFC").replaceAll("\\", "/").split("/")
    .map((segment) => segment.replace(/[\p{Cc}\p{Cs}\u2028\u2029\u202a-\u202e\u2066-\u2069]/gu, " ").replace(/\s+/g, " ").trim())
    .filter((segment, at) => segment !== "" && segment !== "." && segment !== ".." && !(at === 0 && /^[A-Za-z]:$/.test(segment)))
    .map(shortened)
  return segments.length === 0 ? "file" : segments.join("/")
}

/** A name that is not a path, such as a subject, made safe as one segment of a path. */
export const safeName = (name: string): string => safePath(name.replace(/[/\\]/g, "_"))

const shortened = (segment: string): string => {
  if (segment.length <= longestSegment) return segment
  const extension = extensionOf(segment)
  const end = extension === "" || extension.length > 10 ? "" : `.${extension}`
  return `${segment.slice(0, longestSegment - end.length).toWellFormed().trimEnd()}${end}`
}

/** The path, with a number added where another file has it: `report (2).pdf`. */
export const unique = (path: string, taken: Set<string>): string => {
  let found = path
  const at = path.length - (/\.[^./]{1,10}$/.exec(path)?.[0].length ?? 0)
  for (let n = 2; taken.has(found); n++) found = `${path.slice(0, at)} (${n})${path.slice(at)}`
  taken.add(found)
  return found
}
