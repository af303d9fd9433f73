import { hash } from "node:crypto"

/** Bytes of SHA-256 that are kept of a chunk's text: enough that two texts never have the same hash. */
const hashBytes = 16

/** Hash of a chunk's text, in hexadecimal. */
export const textHash = (text: string): string => hash("sha256", text, "hex").slice(0, hashBytes * 2)

/** Hashes as one byte string. */
export const packHashes = (hashes: ReadonlyArray<string>): Uint8Array => Buffer.from(hashes.join(""), "hex")

export const unpackHashes = (packed: Uint8Array): ReadonlyArray<string> => {
  const hex = toHex(packed)
  return Array.from({ length: packed.length / hashBytes }, (_, i) => hex.slice(i * hashBytes * 2, (i + 1) * hashBytes * 2))
}

/** Hashes in a byte string, as views of it. */
export const splitHashes = (packed: Uint8Array): ReadonlyArray<Uint8Array> =>
  Array.from({ length: packed.length / hashBytes }, (_, i) => packed.subarray(i * hashBytes, (i + 1) * hashBytes))

export const toHex = (hash: Uint8Array): string => Buffer.from(hash.buffer, hash.byteOffset, hash.length).toString("hex")

export const fromHex = (hash: string): Uint8Array => Buffer.from(hash, "hex")
