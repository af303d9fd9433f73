import { isUtf8 } from "node:buffer"
import { crc32, inflateRawSync } from "node:zlib"
import type { Limits } from "../Prepared.ts"
import { ReadFailure } from "./ReadFailure.ts"
import { decodeDos } from "./CodePages.ts"

/** A ZIP archive in memory. Entries are unpacked when read, and every unpacked byte counts against the limits. */
export interface Zip {
  /** Names as stored, in the order of the central directory, without folders. */
  readonly names: () => ReadonlyArray<string>
  readonly has: (name: string) => boolean
  /** Whether an entry is a symbolic link, whose content is its target. */
  readonly isLink: (name: string) => boolean
  /**
   * The unpacked bytes of an entry, checked against its length and CRC-32; `undefined` when there is no such entry. Fails with `limit` when
   * the entry is longer than `maxBytes`, `encrypted`, `unsupported` (compression method) or `corrupt`.
   */
  readonly read: (name: string, maxBytes?: number) => Uint8Array | undefined
}

interface Entry {
  readonly name: string
  readonly flags: number
  readonly method: number
  readonly crc: number
  readonly packed: number
  readonly unpacked: number
  readonly offset: number
  readonly link: boolean
}

const sizes = { endOfDirectory: 22, directoryEntry: 46, localHeader: 30, zip64Locator: 20, zip64End: 56, comment: 0xffff }
const signatures = {
  endOfDirectory: 0x06054b50,
  directoryEntry: 0x02014b50,
  localHeader: 0x04034b50,
  zip64Locator: 0x07064b50,
  zip64End: 0x06064b50
}
const encryptedFlag = 1
const utf8Flag = 0x800

/** Archives that unpack to fewer bytes than this are never refused for their expansion ratio: tiny files compress well. */
export const harmlessBytes = 1024 * 1024

/**
 * Reads the central directory, which is authoritative in a ZIP file, and refuses archives whose entries overlap. Layout: PKWARE APPNOTE
 * 6.3.10.
 */
export const openZip = (
  bytes: Uint8Array,
  limits: Pick<Limits, "entries" | "unpackedBytes" | "expansion">
): Zip => {
  const file = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  const directory = readDirectory(file, limits.entries)
  const entries = new Map<string, Entry>()
  for (const entry of directory) {
    // Of two entries with one name the first counts: a reader that took the last would see another document.
    if (!entry.name.endsWith("/") && !entries.has(entry.name)) entries.set(entry.name, entry)
  }
  refuseOverlaps(directory)
  const budget = Math.min(limits.unpackedBytes, Math.max(harmlessBytes, limits.expansion * file.length))
  let spent = 0

  const read = (name: string, maxBytes = Number.POSITIVE_INFINITY): Uint8Array | undefined => {
    const entry = entries.get(name)
    if (entry === undefined) return undefined
    if ((entry.flags & encryptedFlag) !== 0) throw new ReadFailure("encrypted", "the archive is protected by a password")
    if (entry.unpacked > Math.min(maxBytes, budget - spent)) {
      throw new ReadFailure("limit", `the archive unpacks to more than ${Math.min(maxBytes, budget)} bytes`)
    }
    spent += entry.unpacked
    return unpack(file, entry)
  }

  return {
    names: () => Array.from(entries.keys()),
    has: (name) => entries.has(name),
    isLink: (name) => entries.get(name)?.link === true,
    read
  }
}

const corrupt = (what: string): ReadFailure => new ReadFailure("corrupt", `not a readable ZIP archive: ${what}`)

const unpack = (file: Buffer, entry: Entry): Uint8Array => {
  const start = dataStart(file, entry)
  const packed = file.subarray(start, start + entry.packed)
  if (packed.length !== entry.packed) throw corrupt("an entry is cut off")
  let content: Uint8Array
  if (entry.method === 0) content = packed
  else if (entry.method === 8) content = inflate(packed, entry.unpacked)
  else throw new ReadFailure("unsupported", `ZIP compression method ${entry.method}`)
  if (content.length !== entry.unpacked) throw corrupt("an entry is not as long as the directory says")
  if (crc32(content) !== entry.crc) throw corrupt("an entry fails its checksum")
  return content
}

const inflate = (packed: Buffer, length: number): Uint8Array => {
  try {
    return inflateRawSync(packed, { maxOutputLength: Math.max(1, length) })
  } catch {
    throw corrupt("an entry cannot be unpacked to the length the directory says")
  }
}

const dataStart = (file: Buffer, entry: Entry): number => {
  const at = entry.offset
  if (at < 0 || at + sizes.localHeader > file.length || file.readUInt32LE(at) !== signatures.localHeader) {
    throw corrupt("an entry is not where the directory says")
  }
  return at + sizes.localHeader + file.readUInt16LE(at + 26) + file.readUInt16LE(at + 28)
}

/** Refuses entries that share packed bytes, which let a small file unpack to a huge one. */
const refuseOverlaps = (entries: ReadonlyArray<Entry>): void => {
  const sorted = entries.filter((entry) => entry.packed > 0).sort((a, b) => a.offset - b.offset)
  let end = 0
  for (const entry of sorted) {
    if (entry.offset < end) throw new ReadFailure("limit", "entries of the archive overlap")
    end = entry.offset + sizes.localHeader + Buffer.byteLength(entry.name, "latin1") + entry.packed
  }
}

interface DirectoryBounds {
  readonly start: number
  readonly count: number
  /** Bytes before the archive, as in self-extracting files: added to every offset. */
  readonly shift: number
}

const readDirectory = (file: Buffer, maxEntries: number): ReadonlyArray<Entry> => {
  const { start, count, shift } = findDirectory(file)
  if (count > maxEntries) throw new ReadFailure("limit", `the archive has ${count} entries, more than ${maxEntries}`)
  const entries: Array<Entry> = []
  let at = start
  for (let i = 0; i < count; i++) {
    if (at + sizes.directoryEntry > file.length || file.readUInt32LE(at) !== signatures.directoryEntry) {
      throw corrupt("its directory is damaged")
    }
    const nameEnd = at + sizes.directoryEntry + file.readUInt16LE(at + 28)
    const extraEnd = nameEnd + file.readUInt16LE(at + 30)
    const flags = file.readUInt16LE(at + 8)
    const wide = zip64Sizes(file, nameEnd, extraEnd, [
      file.readUInt32LE(at + 24),
      file.readUInt32LE(at + 20),
      file.readUInt32LE(at + 42)
    ])
    entries.push({
      name: nameOf(file.subarray(at + sizes.directoryEntry, nameEnd), (flags & utf8Flag) !== 0).replaceAll("\\", "/"),
      flags,
      method: file.readUInt16LE(at + 10),
      crc: file.readUInt32LE(at + 16),
      unpacked: wide[0],
      packed: wide[1],
      offset: wide[2] + shift,
      // The file mode of a Unix system stands in the upper half of the attributes.
      link: file[at + 5] === 3 && (file.readUInt16LE(at + 40) & 0xf000) === 0xa000
    })
    at = extraEnd + file.readUInt16LE(at + 32)
  }
  return entries
}

/**
 * An entry's name. Names are in UTF-8 where they are marked so, and often where they are not; otherwise in the code page of the first PCs.
 */
const nameOf = (bytes: Buffer, utf8: boolean): string => utf8 || isUtf8(bytes) ? bytes.toString("utf8") : decodeDos(bytes, "cp437")

const findDirectory = (file: Buffer): DirectoryBounds => {
  const lowest = Math.max(0, file.length - sizes.endOfDirectory - sizes.comment)
  for (let at = file.length - sizes.endOfDirectory; at >= lowest; at--) {
    if (file.readUInt32LE(at) !== signatures.endOfDirectory) continue
    const count = file.readUInt16LE(at + 10)
    const size = file.readUInt32LE(at + 12)
    const offset = file.readUInt32LE(at + 16)
    const wide = count === 0xffff || size === 0xffffffff || offset === 0xffffffff ? findZip64(file, at) : undefined
    if (wide !== undefined) return wide
    const start = at - size
    if (start < 0) throw corrupt("its directory is damaged")
    // A file that starts as an archive has nothing before it: this is the directory of another archive stored inside.
    if (start !== offset && file.readUInt32LE(0) === signatures.localHeader) {
      throw corrupt("it has no directory of its own, as when a file is cut off")
    }
    return { start, count, shift: start - offset }
  }
  throw corrupt("it has no directory, as when a file is cut off")
}

const findZip64 = (file: Buffer, endOfDirectory: number): DirectoryBounds | undefined => {
  const locator = endOfDirectory - sizes.zip64Locator
  if (locator < 0 || file.readUInt32LE(locator) !== signatures.zip64Locator) return undefined
  const at = Number(file.readBigUInt64LE(locator + 8))
  if (at + sizes.zip64End > file.length || file.readUInt32LE(at) !== signatures.zip64End) {
    throw corrupt("its ZIP64 directory is damaged")
  }
  return { start: Number(file.readBigUInt64LE(at + 48)), count: Number(file.readBigUInt64LE(at + 32)), shift: 0 }
}

/** The sizes of an entry. Fields of 0xffffffff have their 64-bit values in extra field 1, in this order. */
const zip64Sizes = (
  file: Buffer,
  start: number,
  end: number,
  fields: [unpacked: number, packed: number, offset: number]
): readonly [number, number, number] => {
  if (!fields.includes(0xffffffff)) return fields
  for (let at = start; at + 4 <= end && end <= file.length; at += 4 + file.readUInt16LE(at + 2)) {
    if (file.readUInt16LE(at) !== 1) continue
    let value = at + 4
    for (let i = 0; i < fields.length; i++) {
      if (fields[i] !== 0xffffffff) continue
      if (value + 8 > end) break
      fields[i] = Number(file.readBigUInt64LE(value))
      value += 8
    }
  }
  return fields
}
