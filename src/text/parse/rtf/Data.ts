import { grown } from "../../WordTable.ts"

const valueOf = (digit: number): number =>
  digit >= 0x30 && digit <= 0x39 ? digit - 0x30 : (digit | 0x20) >= 0x61 && (digit | 0x20) <= 0x66 ? (digit | 0x20) - 0x57 : -1

/** Collects bytes that are written as pairs of hexadecimal digits, or raw. */
export class RtfData {
  #bytes: Uint8Array = new Uint8Array(1024)
  #high = -1
  length = 0

  digit(byte: number): void {
    const value = valueOf(byte)
    if (value < 0) return
    if (this.#high < 0) {
      this.#high = value
      return
    }
    this.#add(this.#high * 16 + value)
    this.#high = -1
  }

  raw(bytes: Uint8Array): void {
    for (const byte of bytes) this.#add(byte)
  }

  get bytes(): Buffer {
    return Buffer.from(this.#bytes.subarray(0, this.length))
  }

  #add(byte: number): void {
    if (this.length === this.#bytes.length) this.#bytes = grown(this.#bytes)
    this.#bytes[this.length++] = byte
  }
}
