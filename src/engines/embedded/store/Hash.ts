import { hash } from "node:crypto"

/** Bytes of SHA-256 kept of a chunk's text: enough that two texts never meet. */
const hashBytes = 16

/** A chunk text's content address, hexadecimal. */
export const textHash = (text: string): string => hash("sha256", text, "hex").slice(0, hashBytes * 2)

/** Many addresses as one byte string, and back. */
export const packHashes = (hashes: ReadonlyArray<string>): Uint8Array => Buffer.from(hashes.join(""), "hex")

export const unpackHashes = (packed: Uint8Array): ReadonlyArray<string> => {
  const hex = toHex(packed)
  return Array.from({ length: packed.length / hashBytes }, (_, i) => hex.slice(i * hashBytes * 2, (i + 1) * hashBytes * 2))
}

/** The same as bytes, which are not copied. */
export const splitHashes = (packed: Uint8Array): ReadonlyArray<Uint8Array> =>
  Array.from({ length: packed.length / hashBytes }, (_, i) => packed.subarray(i * hashBytes, (i + 1) * hashBytes))

export const toHex = (hash: Uint8Array): string => Buffer.from(hash.buffer, hash.byteOffset, hash.length).toString("hex")

export const fromHex = (hash: string): Uint8Array => Buffer.from(hash, "hex")
