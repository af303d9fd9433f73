import { crc32, deflateRawSync } from "node:zlib"

export interface ZipPart {
  readonly name: string
  readonly content: string | Uint8Array
  /** Stored instead of deflated. */
  readonly stored?: boolean
  readonly encrypted?: boolean
  /** What the headers claim instead of the truth. */
  readonly claims?: { readonly unpacked?: number; readonly crc?: number; readonly method?: number }
  /** Points the directory at the data of an earlier entry, by its place. */
  readonly sharesDataOf?: number
}

/** Writes a ZIP archive; `zip64` puts sizes and places into 64-bit fields. */
export const writeZip = (parts: ReadonlyArray<ZipPart>, options: { readonly zip64?: boolean } = {}): Uint8Array => {
  const local: Array<Buffer> = []
  const directory: Array<Buffer> = []
  const places: Array<{ offset: number; packed: Buffer; crc: number; unpacked: number; method: number }> = []
  let offset = 0
  for (const part of parts) {
    const content = Buffer.from(part.content)
    const shared = part.sharesDataOf === undefined ? undefined : places[part.sharesDataOf]
    const place = shared ?? {
      offset,
      packed: part.stored === true ? content : deflateRawSync(content),
      crc: part.claims?.crc ?? crc32(content),
      unpacked: part.claims?.unpacked ?? content.length,
      method: part.claims?.method ?? (part.stored === true ? 0 : 8)
    }
    places.push(place)
    const name = Buffer.from(part.name, "utf8")
    const flags = 0x800 | (part.encrypted === true ? 1 : 0)
    if (shared === undefined) {
      const header = Buffer.alloc(30)
      header.writeUInt32LE(0x04034b50, 0)
      header.writeUInt16LE(flags, 6)
      header.writeUInt16LE(place.method, 8)
      header.writeUInt32LE(place.crc, 14)
      header.writeUInt32LE(place.packed.length, 18)
      header.writeUInt32LE(place.unpacked, 22)
      header.writeUInt16LE(name.length, 26)
      local.push(header, name, place.packed)
      offset += header.length + name.length + place.packed.length
    }
    directory.push(...directoryEntry(name, flags, place, options.zip64 === true))
  }
  const central = Buffer.concat(directory)
  return Buffer.concat([...local, central, ...ending(parts.length, central.length, offset, options.zip64 === true)])
}

const directoryEntry = (
  name: Buffer,
  flags: number,
  place: { offset: number; packed: Buffer; crc: number; unpacked: number; method: number },
  zip64: boolean
): ReadonlyArray<Buffer> => {
  const extra = zip64 ? Buffer.alloc(28) : Buffer.alloc(0)
  if (zip64) {
    extra.writeUInt16LE(1, 0)
    extra.writeUInt16LE(24, 2)
    extra.writeBigUInt64LE(BigInt(place.unpacked), 4)
    extra.writeBigUInt64LE(BigInt(place.packed.length), 12)
    extra.writeBigUInt64LE(BigInt(place.offset), 20)
  }
  const entry = Buffer.alloc(46)
  entry.writeUInt32LE(0x02014b50, 0)
  entry.writeUInt16LE(flags, 8)
  entry.writeUInt16LE(place.method, 10)
  entry.writeUInt32LE(place.crc, 16)
  entry.writeUInt32LE(zip64 ? 0xffffffff : place.packed.length, 20)
  entry.writeUInt32LE(zip64 ? 0xffffffff : place.unpacked, 24)
  entry.writeUInt16LE(name.length, 28)
  entry.writeUInt16LE(extra.length, 30)
  entry.writeUInt32LE(zip64 ? 0xffffffff : place.offset, 42)
  return [entry, name, extra]
}

const ending = (count: number, size: number, offset: number, zip64: boolean): ReadonlyArray<Buffer> => {
  const end = Buffer.alloc(22)
  end.writeUInt32LE(0x06054b50, 0)
  end.writeUInt16LE(zip64 ? 0xffff : count, 8)
  end.writeUInt16LE(zip64 ? 0xffff : count, 10)
  end.writeUInt32LE(zip64 ? 0xffffffff : size, 12)
  end.writeUInt32LE(zip64 ? 0xffffffff : offset, 16)
  if (!zip64) return [end]
  const wide = Buffer.alloc(56)
  wide.writeUInt32LE(0x06064b50, 0)
  wide.writeBigUInt64LE(44n, 4)
  wide.writeBigUInt64LE(BigInt(count), 24)
  wide.writeBigUInt64LE(BigInt(count), 32)
  wide.writeBigUInt64LE(BigInt(size), 40)
  wide.writeBigUInt64LE(BigInt(offset), 48)
  const locator = Buffer.alloc(20)
  locator.writeUInt32LE(0x07064b50, 0)
  locator.writeBigUInt64LE(BigInt(offset + size), 8)
  locator.writeUInt32LE(1, 16)
  return [wide, locator, end]
}

/** An archive of named parts. */
export const zipOf = (parts: Readonly<Record<string, string | Uint8Array>>): Uint8Array =>
  writeZip(Object.entries(parts).map(([name, content]) => ({ name, content })))
