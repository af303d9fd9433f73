import type { ServerHttp2Stream } from "node:http2"
import { promisify } from "node:util"
import { gunzip, gzip, inflate, type ZlibOptions } from "node:zlib"
import { ServiceError } from "../../domain/Errors.ts"
import { noRoom, type Room } from "../Incoming.ts"

/**
 * Bytes of the head of a gRPC message on an HTTP/2 stream: a flag and a length. The message follows, compressed by
 * `grpc-encoding` where the flag is set. Source: "gRPC over HTTP2", PROTOCOL-HTTP2.md.
 */
const head = 5

/** Supported compressions, the value of `grpc-accept-encoding`. */
export const encodings = "identity,gzip,deflate"

const decoders: Readonly<Record<string, (bytes: Uint8Array, options: ZlibOptions) => Promise<Uint8Array>>> = {
  gzip: promisify(gunzip),
  deflate: promisify(inflate)
}

const zipped = promisify(gzip)

/** Most decompressed bytes as a multiple of the compressed ones; up to a megabyte any multiple is allowed. */
const expansion = 100
const smallBytes = 1024 * 1024

export interface ReadOptions {
  /** Value of `grpc-encoding`. */
  readonly encoding: string
  /** Most bytes of one message, decompressed. */
  readonly most: number
  readonly room: Room
}

/**
 * The messages of a stream as they come. Before a large message is read, its bytes are taken from the room; they are given
 * back when the reader requests the next message. Fails with a `ServiceError`.
 */
export async function* messagesOf(stream: ServerHttp2Stream, { encoding, most, room }: ReadOptions): AsyncGenerator<Uint8Array> {
  const bytes = new Received(stream)
  let held = 0
  try {
    for (;;) {
      const start = await bytes.take(head)
      if (start === undefined) return
      const length = start.readUInt32BE(1)
      if (length > most) throw tooLarge(most)
      const compressed = start[0] === 1
      const expanded = compressed ? Math.min(most, Math.max(smallBytes, length * expansion)) : length
      const wanted = expanded > smallBytes ? expanded : 0
      if (!room.take(wanted)) throw noRoom
      held = wanted
      const message = await bytes.take(length)
      if (message === undefined) throw cutOff
      yield compressed ? await decompressed(message, encoding, expanded) : message
      room.give(held)
      held = 0
    }
  } finally {
    room.give(held)
  }
}

/** Reads a stream in portions of a given size. */
class Received {
  readonly #chunks: AsyncIterator<Buffer>
  #parts: Array<Buffer> = []
  #length = 0

  constructor(stream: AsyncIterable<Buffer>) {
    this.#chunks = stream[Symbol.asyncIterator]()
  }

  /** The next `count` bytes; undefined where the stream ended before the first of them. */
  async take(count: number): Promise<Buffer | undefined> {
    while (this.#length < count) {
      const chunk = await this.#chunks.next()
      if (chunk.done === true) {
        if (this.#length > 0) throw cutOff
        return undefined
      }
      this.#parts.push(chunk.value)
      this.#length += chunk.value.length
    }
    const all = Buffer.concat(this.#parts)
    this.#parts = all.length === count ? [] : [all.subarray(count)]
    this.#length -= count
    return all.subarray(0, count)
  }
}

const decompressed = async (message: Uint8Array, encoding: string, most: number): Promise<Uint8Array> => {
  const decoder = decoders[encoding]
  if (decoder === undefined) {
    throw new ServiceError({
      code: "UNIMPLEMENTED",
      message: `grpc-encoding ${encoding.slice(0, 40)} is not supported, only ${encodings}.`
    })
  }
  try {
    return await decoder(message, { maxOutputLength: most })
  } catch (cause) {
    throw cause instanceof RangeError ? tooLarge(most) : new ServiceError({ code: "INTERNAL", message: `the message is not ${encoding}` })
  }
}

/** A message with its head, compressed where `compress` is true. */
export const framed = async (message: Uint8Array, compress: boolean): Promise<Buffer> => {
  const body = compress ? await zipped(message) : message
  const start = Buffer.alloc(head)
  start[0] = compress ? 1 : 0
  start.writeUInt32BE(body.length, 1)
  return Buffer.concat([start, body])
}

const tooLarge = (most: number): ServiceError =>
  new ServiceError({ code: "RESOURCE_EXHAUSTED", message: `The message is larger than the limit: ${most} bytes.` })

const cutOff = new ServiceError({ code: "INTERNAL", message: "the stream ended within a message" })

const units: Readonly<Record<string, number>> = { H: 3_600_000, M: 60_000, S: 1_000, m: 1, u: 1e-3, n: 1e-6 }

/** Milliseconds of a `grpc-timeout` header; undefined where it is absent or not valid. */
export const timeoutOf = (header: string | undefined): number | undefined => {
  const [, digits = "", unit = ""] = /^(\d{1,8})([HMSmun])$/.exec(header ?? "") ?? []
  return digits === "" ? undefined : Number(digits) * (units[unit] ?? 1)
}

/** Text encoded for `grpc-message`, with all but printable ASCII percent-encoded. */
export const messageHeader = (text: string): string => {
  const bytes = Buffer.from(text.length > longestMessage ? `${text.slice(0, longestMessage)}…` : text, "utf8")
  let out = ""
  for (const byte of bytes) {
    out += byte >= 0x20 && byte <= 0x7e && byte !== 0x25
      ? String.fromCharCode(byte)
      : `%${byte.toString(16).toUpperCase().padStart(2, "0")}`
  }
  return out
}

/** Most characters of a message: clients accept 8 kB of metadata by default. */
const longestMessage = 1_500
export const longestDetails = 4_500
