import { gunzipSync, zstdDecompressSync } from "node:zlib"
import { ReadFailure } from "../parse/ReadFailure.ts"

/** How a single file is compressed, often a tar archive. */
export type Packing = "gzip" | "zstd" | "xz" | "bzip2"

/** The compression of a file, by its first bytes; undefined where it has none of these. */
export const packingOf = ([a, b, c, d]: Uint8Array): Packing | undefined => {
  if (a === 0x1f && b === 0x8b) return "gzip"
  if (a === 0x28 && b === 0xb5 && c === 0x2f && d === 0xfd) return "zstd"
  if (a === 0xfd && b === 0x37 && c === 0x7a && d === 0x58) return "xz"
  return a === 0x42 && b === 0x5a && c === 0x68 && d !== undefined && d >= 0x31 && d <= 0x39 ? "bzip2" : undefined
}

/** A file's name without the extension of its compression. */
export const unpackedName = (name: string): string => name.replace(/\.(?:gz|zst|xz|bz2)$/i, "")

/** The decompressed file, checked against its checksums. Fails with `limit` where it has more than `most` bytes, and with `corrupt`. */
export const unpackStream = async (bytes: Uint8Array, packing: Packing, most: number): Promise<Uint8Array> => {
  try {
    switch (packing) {
      case "gzip":
        return gunzipSync(bytes, { maxOutputLength: most })
      case "zstd":
        return zstdDecompressSync(bytes, { maxOutputLength: most })
      case "xz":
        return await unxz(bytes, most)
      case "bzip2":
        return await unbzip2(bytes, most)
    }
  } catch (error) {
    if (error instanceof ReadFailure) throw error
    throw error instanceof RangeError
      ? tooLong(most)
      : new ReadFailure("corrupt", `not a readable ${packing} archive: it is damaged or cut off`)
  }
}

const tooLong = (most: number): ReadFailure => new ReadFailure("limit", `the archive unpacks to more than ${most} bytes`)

/** Collects chunks, up to a total length. */
const collector = (most: number) => {
  const chunks: Array<Uint8Array> = []
  let length = 0
  return {
    take: (chunk: Uint8Array): void => {
      length += chunk.length
      if (length > most) throw tooLong(most)
      chunks.push(chunk)
    },
    whole: (): Uint8Array => Buffer.concat(chunks)
  }
}

/** Bytes fed in at a time: the output of each is checked against the limit before the next. */
const inputBytes = 16 * 1024

const unxz = async (bytes: Uint8Array, most: number): Promise<Uint8Array> => {
  const { XzReadableStream } = await import("xz-decompress")
  const found = collector(most)
  let at = 0
  const input = new ReadableStream<Uint8Array>({
    pull: (controller) => {
      if (at >= bytes.length) controller.close()
      else controller.enqueue(bytes.slice(at, at += inputBytes))
    }
  })
  for await (const chunk of new XzReadableStream(input)) found.take(chunk)
  return found.whole()
}

const unbzip2 = async (bytes: Uint8Array, most: number): Promise<Uint8Array> => {
  const { default: unbzip2Stream } = await import("unbzip2-stream")
  const found = collector(most)
  const stream = unbzip2Stream()
  const failures: Array<unknown> = []
  stream.on("error", (error: unknown) => failures.push(error))
  stream.on("data", (chunk: Uint8Array) => found.take(chunk))
  // Its output arrives before the call returns.
  for (let at = 0; at < bytes.length && failures.length === 0; at += inputBytes) {
    stream.write(Buffer.from(bytes.subarray(at, at + inputBytes)))
  }
  if (failures.length === 0) stream.end()
  if (failures.length > 0) throw failures[0]
  return found.whole()
}
