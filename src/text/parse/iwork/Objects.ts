import { ReadFailure } from "../ReadFailure.ts"

/** The fields of a protobuf message, in their order: integers as numbers, everything else as bytes. */
export type Fields = ReadonlyArray<readonly [field: number, value: number | Buffer]>

/** An object of an iWork document. Its type determines which program's message it is. */
export interface IWorkObject {
  readonly type: number
  readonly fields: Fields
  /** Ids of the objects that it refers to. */
  readonly references: ReadonlyArray<number>
}

/**
 * The objects in the `.iwa` files of a document that Pages, Keynote or Numbers has written since 2013, by id. Each file is Snappy with
 * framing of its own, and contains protobuf messages, each after an `ArchiveInfo` that describes it. The formats are not published: numbers
 * of fields and types are those of the programs' own descriptors.
 *
 * @param maxBytes most bytes of all files, unpacked
 */
export const readObjects = (files: Iterable<Uint8Array>, maxBytes: number): ReadonlyMap<number, IWorkObject> => {
  const objects = new Map<number, IWorkObject>()
  let left = maxBytes
  for (const file of files) {
    const data = unpack(Buffer.from(file.buffer, file.byteOffset, file.byteLength), left)
    left -= data.length
    for (let at = 0; at < data.length;) {
      const [length, start] = varint(data, at)
      const info = fieldsOf(data.subarray(start, start + length))
      const id = numberOf(info, 1)
      at = start + length
      messagesOf(info, 2).forEach((message, i) => {
        const size = numberOf(message, 3) ?? 0
        if (at + size > data.length) throw damaged
        // The others change the first, for newer programs.
        if (i === 0 && id !== undefined) {
          objects.set(id, {
            type: numberOf(message, 1) ?? 0,
            fields: fieldsOf(data.subarray(at, at + size)),
            references: numbersOf(message, 5)
          })
        }
        at += size
      })
    }
  }
  return objects
}

const damaged = new ReadFailure("corrupt", "the document is damaged or cut off")

/** Unpacks blocks of up to 64 KiB, each after a 0 and the three bytes of its length. */
const unpack = (file: Buffer, maxBytes: number): Buffer => {
  const blocks: Array<Buffer> = []
  let size = 0
  for (let at = 0; at < file.length;) {
    if (file[at] !== 0 || at + 4 > file.length) throw damaged
    const length = file.readUIntLE(at + 1, 3)
    if (at + 4 + length > file.length) throw damaged
    const block = unsnappy(file.subarray(at + 4, at + 4 + length), maxBytes - size)
    size += block.length
    blocks.push(block)
    at += 4 + length
  }
  return Buffer.concat(blocks)
}

/** Unpacks Snappy's raw format, without its usual framing: literals and copies of earlier output. */
const unsnappy = (packed: Buffer, maxBytes: number): Buffer => {
  const [length, start] = varint(packed, 0)
  if (length > maxBytes) throw new ReadFailure("limit", "the document unpacks to more bytes than the limit")
  // A copy takes two bytes at least, and writes 64 at most.
  if (length > 64 * packed.length) throw damaged
  const out = Buffer.alloc(length)
  let end = 0
  for (let at = start; at < packed.length;) {
    const tag = packed[at]!
    if ((tag & 3) === 0) {
      const short = tag >> 2
      const more = short < 60 ? 0 : short - 59
      if (at + 1 + more > packed.length) throw damaged
      const size = (more === 0 ? short : packed.readUIntLE(at + 1, more)) + 1
      at += 1 + more
      if (at + size > packed.length || end + size > length) throw damaged
      packed.copy(out, end, at, at + size)
      at += size
      end += size
      continue
    }
    const more = (tag & 3) === 1 ? 1 : (tag & 3) === 2 ? 2 : 4
    if (at + 1 + more > packed.length) throw damaged
    const size = more === 1 ? ((tag >> 2) & 7) + 4 : (tag >> 2) + 1
    const back = more === 1 ? ((tag >> 5) << 8) | packed[at + 1]! : packed.readUIntLE(at + 1, more)
    at += 1 + more
    if (back === 0 || back > end || end + size > length) throw damaged
    // Byte by byte: a copy may overlap its own output.
    for (let i = 0; i < size; i++, end++) out[end] = out[end - back]!
  }
  if (end !== length) throw damaged
  return out
}

/** A variable-length integer. Above 2^53 numbers are not exact, but here they count and name things far below. */
const varint = (data: Buffer, start: number): readonly [value: number, end: number] => {
  let value = 0
  let scale = 1
  for (let at = start; at < data.length && at < start + 10; at++) {
    const byte = data[at]!
    value += (byte & 0x7f) * scale
    if (byte < 0x80) return [value, at + 1]
    scale *= 128
  }
  throw damaged
}

const fieldsOf = (data: Buffer): Fields => {
  const fields: Array<Fields[number]> = []
  for (let at = 0; at < data.length;) {
    const [key, start] = varint(data, at)
    const field = Math.floor(key / 8)
    const wire = key % 8
    if (wire === 0) {
      const [value, end] = varint(data, start)
      fields.push([field, value])
      at = end
      continue
    }
    const [size, from] = wire === 2 ? varint(data, start) : [wire === 1 ? 8 : wire === 5 ? 4 : Number.NaN, start]
    if (!(from + size <= data.length)) throw damaged
    fields.push([field, data.subarray(from, from + size)])
    at = from + size
  }
  return fields
}

export const numberOf = (fields: Fields, field: number): number | undefined =>
  fields.find((one): one is [number, number] => one[0] === field && typeof one[1] === "number")?.[1]

export const bytesOf = (fields: Fields, field: number): ReadonlyArray<Buffer> =>
  fields.flatMap(([number, value]) => number === field && typeof value !== "number" ? [value] : [])

export const textOf = (fields: Fields, field: number): string | undefined => bytesOf(fields, field)[0]?.toString("utf8")

/** The messages inside a message; fields that are not messages are left out. */
export const messagesOf = (fields: Fields, field: number): ReadonlyArray<Fields> =>
  bytesOf(fields, field).flatMap((bytes) => {
    try {
      return [fieldsOf(bytes)]
    } catch {
      return []
    }
  })

/** Ids of the objects that the messages of a field refer to. */
export const referencesOf = (fields: Fields, field: number): ReadonlyArray<number> =>
  messagesOf(fields, field).flatMap((reference) => numberOf(reference, 1) ?? [])

/** Repeated numbers, packed or one by one. */
const numbersOf = (fields: Fields, field: number): ReadonlyArray<number> =>
  fields.flatMap(([number, value]) => {
    if (number !== field) return []
    if (typeof value === "number") return [value]
    const found: Array<number> = []
    for (let at = 0; at < value.length;) {
      const [one, end] = varint(value, at)
      found.push(one)
      at = end
    }
    return found
  })
