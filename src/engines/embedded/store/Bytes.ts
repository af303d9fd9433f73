import { crc32 } from "node:zlib"

/** A growing byte string of LEB128 integers and bytes, which can be closed with a checksum. */
export class ByteWriter {
  #bytes = Buffer.allocUnsafe(256)
  #length = 0

  get length(): number {
    return this.#length
  }

  /** Writes a non-negative integer up to 2^53 - 1, in groups of 7 bits, lowest first. */
  varint(value: number): void {
    if (this.#length + 8 > this.#bytes.length) this.#grow(8)
    let rest = value
    while (rest >= 0x80) {
      this.#bytes[this.#length++] = (rest % 0x80) | 0x80
      rest = Math.floor(rest / 0x80)
    }
    this.#bytes[this.#length++] = rest
  }

  /** Writes a signed integer: in zigzag coding, as a {@link varint}. */
  signed(value: number): void {
    this.varint(value < 0 ? -value * 2 - 1 : value * 2)
  }

  byte(value: number): void {
    if (this.#length === this.#bytes.length) this.#grow(1)
    this.#bytes[this.#length++] = value
  }

  /** Writes the bytes of `source` from `start` to `end`. */
  bytes(source: Uint8Array, start = 0, end = source.length): void {
    const count = end - start
    if (this.#length + count > this.#bytes.length) this.#grow(count)
    // Copying a short run takes less time than making a view of it, and most runs are short.
    if (count < 32) { for (let i = start; i < end; i++) this.#bytes[this.#length++] = source[i] as number }
    else {
      this.#bytes.set(source.subarray(start, end), this.#length)
      this.#length += count
    }
  }

  /** Appends everything that another writer has. */
  append(other: ByteWriter): void {
    this.bytes(other.#bytes, 0, other.#length)
  }

  /** Length of the common prefix of what was written and the bytes of `source` from `start` to `end`. */
  sharedPrefix(source: Uint8Array, start: number, end: number): number {
    const limit = Math.min(this.#length, end - start)
    let i = 0
    while (i < limit && this.#bytes[i] === source[start + i]) i++
    return i
  }

  clear(): void {
    this.#length = 0
  }

  /** A view of what was written, valid until the next write. */
  view(): Uint8Array {
    return this.#bytes.subarray(0, this.#length)
  }

  /** A copy of what was written, with its CRC-32 in front. */
  sealed(): Uint8Array {
    const out = new Uint8Array(this.#length + 4)
    new DataView(out.buffer).setUint32(0, crc32(this.view()), true)
    out.set(this.view(), 4)
    return out
  }

  #grow(more: number): void {
    const grown = Buffer.allocUnsafe(Math.max(this.#bytes.length * 2, this.#length + more))
    this.#bytes.copy(grown, 0, 0, this.#length)
    this.#bytes = grown
  }
}

/** Reads what {@link ByteWriter} wrote. */
export class ByteReader {
  readonly source: Uint8Array
  position = 0

  constructor(source: Uint8Array) {
    this.source = source
  }

  /** A reader of sealed bytes; undefined where their checksum is wrong. */
  static unseal(sealed: Uint8Array): ByteReader | undefined {
    if (sealed.length < 4) return undefined
    const body = sealed.subarray(4)
    const sum = new DataView(sealed.buffer, sealed.byteOffset, 4).getUint32(0, true)
    return sum === crc32(body) ? new ByteReader(body) : undefined
  }

  get done(): boolean {
    return this.position >= this.source.length
  }

  varint(): number {
    const bytes = this.source
    let byte = bytes[this.position++] ?? 0
    if (byte < 0x80) return byte
    let value = byte & 0x7f
    let scale = 0x80
    do {
      byte = bytes[this.position++] ?? 0
      value += (byte & 0x7f) * scale
      scale *= 0x80
    } while (byte >= 0x80)
    return value
  }

  signed(): number {
    const value = this.varint()
    return value % 2 === 0 ? value / 2 : -(value + 1) / 2
  }
}
