import { ReadFailure } from "./ReadFailure.ts"

/** A storage of an OLE compound file, which corresponds to a folder of a file system. */
export interface Storage {
  /** Names of the streams in this storage, as written. */
  readonly streams: ReadonlyArray<string>
  readonly storages: ReadonlyMap<string, Storage>
  /** The bytes of one of its streams, ignoring the case of its name; `undefined` where there is no such stream. */
  readonly read: (name: string) => Buffer | undefined
}

interface Entry {
  readonly name: string
  readonly type: number
  readonly left: number
  readonly right: number
  readonly child: number
  readonly start: number
  readonly size: number
}

const signature = Buffer.from([0xd0, 0xcf, 0x11, 0xe0, 0xa1, 0xb1, 0x1a, 0xe1])
const headerBytes = 512
const entryBytes = 128
const types = { storage: 1, stream: 2, root: 5 } as const

/** Most entries of the directory. Real files have some thousands. */
const maxEntries = 100_000
/** Most levels of storages. Real files have some tens. */
const maxDepth = 64

export const isCompound = (bytes: Uint8Array): boolean => signature.every((byte, at) => bytes[at] === byte)

/**
 * The root of an OLE compound file (MS-CFB). The directory is read now, streams on request; a file that is cut off yields what is left.
 * Fails with `corrupt` where there is no directory.
 */
export const openCompound = (bytes: Uint8Array): Storage => {
  const file = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  if (!isCompound(bytes) || file.length < headerBytes) throw corrupt()
  const sectorShift = file.readUInt16LE(30)
  const miniShift = file.readUInt16LE(32)
  if (sectorShift < 7 || sectorShift > 16 || miniShift < 2 || miniShift >= sectorShift) throw corrupt()
  const sectorBytes = 2 ** sectorShift
  const table = allocation(file, sectorBytes)
  const chain = (start: number): Buffer => chained(file, (sector) => (sector + 1) * sectorBytes, sectorBytes, table, start)
  const directory = chain(file.readUInt32LE(48))
  const entries = Array.from({ length: Math.min(maxEntries, Math.floor(directory.length / entryBytes)) }, (_, i) => entryAt(directory, i))
  const root = entries[0]
  if (root?.type !== types.root) throw corrupt()
  let mini: { readonly content: Buffer; readonly table: ReadonlyArray<number> } | undefined
  const contentOf = ({ size, start }: Entry): Buffer => {
    if (size >= file.readUInt32LE(56)) return chain(start).subarray(0, size)
    mini ??= { content: chain(root.start), table: numbers(chain(file.readUInt32LE(60))) }
    return chained(mini.content, (sector) => sector * 2 ** miniShift, 2 ** miniShift, mini.table, start).subarray(0, size)
  }
  const seen = new Set<number>()
  const storageOf = (first: number, depth: number): Storage => {
    const streams = new Map<string, Entry>()
    const storages = new Map<string, Storage>()
    const open = [first]
    for (let at = open.pop(); at !== undefined; at = open.pop()) {
      const entry = entries[at]
      if (entry === undefined || seen.has(at) || depth > maxDepth) continue
      seen.add(at)
      open.push(entry.left, entry.right)
      if (entry.type === types.stream) streams.set(entry.name, entry)
      else if (entry.type === types.storage) storages.set(entry.name, storageOf(entry.child, depth + 1))
    }
    const names = new Map([...streams.keys()].map((name) => [name.toLowerCase(), name]))
    return {
      streams: [...streams.keys()],
      storages,
      read: (name) => {
        const entry = streams.get(names.get(name.toLowerCase()) ?? name)
        return entry === undefined ? undefined : contentOf(entry)
      }
    }
  }
  return storageOf(root.child, 0)
}

const corrupt = (): ReadFailure => new ReadFailure("corrupt", "an OLE compound file without a directory: it is damaged or cut off")

const numbers = (bytes: Buffer): ReadonlyArray<number> =>
  Array.from({ length: Math.floor(bytes.length / 4) }, (_, i) => bytes.readUInt32LE(i * 4))

const sectorAt = (file: Buffer, sector: number, sectorBytes: number): Buffer =>
  file.subarray((sector + 1) * sectorBytes, (sector + 2) * sectorBytes)

/** Which sector follows which. The header names the first 109 sectors of the table, a chain of sectors the others. */
const allocation = (file: Buffer, sectorBytes: number): ReadonlyArray<number> => {
  const sectors = [...numbers(file.subarray(76, headerBytes))]
  const perSector = sectorBytes / 4 - 1
  const most = Math.ceil(file.length / sectorBytes)
  let next = file.readUInt32LE(68)
  for (let read = 0; next < most && read < most; read++) {
    const listed = numbers(sectorAt(file, next, sectorBytes))
    sectors.push(...listed.slice(0, perSector))
    next = listed[perSector] ?? most
  }
  // A damaged list can name a sector more than once: the table is never longer than the file.
  return sectors.filter((sector) => sector < most).slice(0, most).flatMap((sector) => numbers(sectorAt(file, sector, sectorBytes)))
    .slice(0, most)
}

const chained = (
  from: Buffer,
  place: (sector: number) => number,
  sectorBytes: number,
  table: ReadonlyArray<number>,
  start: number
): Buffer => {
  const parts: Array<Buffer> = []
  const seen = new Set<number>()
  for (let sector = start; sector < table.length && !seen.has(sector); sector = table[sector] ?? table.length) {
    seen.add(sector)
    const part = from.subarray(place(sector), place(sector) + sectorBytes)
    if (part.length === 0) break
    parts.push(part)
  }
  return Buffer.concat(parts)
}

const entryAt = (directory: Buffer, index: number): Entry => {
  const at = index * entryBytes
  const length = Math.min(64, directory.readUInt16LE(at + 64))
  return {
    name: directory.toString("utf16le", at, at + Math.max(0, length - 2)),
    type: directory[at + 66] ?? 0,
    left: directory.readUInt32LE(at + 68),
    right: directory.readUInt32LE(at + 72),
    child: directory.readUInt32LE(at + 76),
    start: directory.readUInt32LE(at + 116),
    size: directory.readUInt32LE(at + 120)
  }
}
