import { ReadFailure } from "../parse/ReadFailure.ts"

/** An entry of a tar archive; `content` is a view of the archive's own bytes. */
export interface TarEntry {
  readonly path: string
  /** Files have content; links and devices do not. Folders are left out. */
  readonly kind: "file" | "link" | "special"
  readonly content: Uint8Array
}

const block = 512

/** Longer names and attributes exist only to break readers. */
const maxAttributeBytes = 1024 * 1024

/** Whether bytes start with the header of a tar archive, judged by its checksum. */
export const isTar = (bytes: Uint8Array): boolean => {
  const file = Buffer.from(bytes.buffer, bytes.byteOffset, Math.min(bytes.byteLength, block))
  return file.length === block && file[0] !== 0 && hasChecksum(file)
}

/**
 * The entries of a tar archive: v7, ustar, pax, and GNU's long names and large numbers. Fails with `corrupt` where a header is damaged or
 * the archive is cut off; the entries before the damage are yielded.
 */
export function* tarEntries(bytes: Uint8Array): Generator<TarEntry> {
  const file = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  let attributes = new Map<string, string>()
  let longName: string | undefined
  for (let at = 0; at < file.length;) {
    const header = file.subarray(at, at + block)
    if (header.every((byte) => byte === 0)) return
    if (header.length < block) throw corrupt("it is cut off")
    if (!hasChecksum(header)) throw corrupt("a header is damaged")
    const given = attributes.get("size")
    const size = given !== undefined && /^\d+$/.test(given) ? Number(given) : number(header, 124, 12)
    const start = at + block
    const end = start + size
    if (!Number.isSafeInteger(size) || size < 0 || end > file.length) throw corrupt("it is cut off")
    const content = file.subarray(start, end)
    at = start + Math.ceil(size / block) * block
    const type = String.fromCharCode(header[156] ?? 0)
    if (type === "x" || type === "L" || type === "K" || type === "g") {
      if (size > maxAttributeBytes) throw corrupt("a name is longer than any")
      if (type === "x") attributes = records(content)
      else if (type === "L") longName = string(content, 0, content.length)
      continue
    }
    const prefix = header.toString("latin1", 257, 262) === "ustar" ? string(header, 345, 155) : ""
    const name = string(header, 0, 100)
    const path = attributes.get("path") ?? longName ?? (prefix === "" ? name : `${prefix}/${name}`)
    const sparse = type === "S" || [...attributes.keys()].some((key) => key.startsWith("GNU.sparse"))
    attributes = new Map()
    longName = undefined
    if (type === "5" || path.endsWith("/")) continue
    const plain = (type === "0" || type === "\0" || type === "7") && !sparse
    yield { path, kind: plain ? "file" : type === "1" || type === "2" ? "link" : "special", content: plain ? content : new Uint8Array() }
  }
}

const corrupt = (what: string): ReadFailure => new ReadFailure("corrupt", `not a readable tar archive: ${what}`)

/** Whether a header's bytes add up to its checksum, whose own field counts as blanks. */
const hasChecksum = (header: Buffer): boolean => {
  let sum = 8 * 0x20
  for (let at = 0; at < block; at++) if (at < 148 || at >= 156) sum += header[at]!
  return /^[\s\0]*[0-7]+/.test(header.toString("latin1", 148, 156)) && number(header, 148, 8) === sum
}

/** A number in a header: octal digits, or GNU's binary form of any size. */
const number = (header: Buffer, at: number, length: number): number => {
  if (((header[at] ?? 0) & 0x80) !== 0) return header.subarray(at + 1, at + length).reduce((sum, byte) => sum * 256 + byte, 0)
  return Number.parseInt(header.toString("latin1", at, at + length).replace(/\0.*$/s, "").trim() || "0", 8)
}

const string = (bytes: Buffer, at: number, length: number): string => {
  const field = bytes.subarray(at, at + length)
  const end = field.indexOf(0)
  return field.toString("utf8", 0, end < 0 ? field.length : end)
}

/** Attributes `length key=value\n`, one after the other (POSIX pax). */
const records = (content: Buffer): Map<string, string> => {
  const found = new Map<string, string>()
  for (let at = 0; at < content.length;) {
    const blank = content.indexOf(0x20, at)
    const length = Number(content.toString("latin1", at, Math.max(at, blank)))
    if (blank < 0 || !(length > 0)) break
    const record = content.toString("utf8", blank + 1, at + length - 1)
    const equals = record.indexOf("=")
    if (equals > 0) found.set(record.slice(0, equals), record.slice(equals + 1))
    at += length
  }
  return found
}
