import { pipeThroughDuplex } from "@effect/platform-node/NodeStream"
import { Effect, Stream } from "effect"
import type { HttpClientResponse } from "effect/http"
import { createGunzip } from "node:zlib"
import { ServiceError } from "../domain/Errors.ts"
import { transportErrorOf } from "./HttpErrors.ts"

export interface DownloadOptions {
  /** Names the call in messages: `gs://acme/a.md`. */
  readonly what: string
  /**
   * Requests the bytes from `offset` on, as they are stored. For an offset beyond 0 it must request the very same
   * version, and the answer is a 206; fails where that is not available.
   */
  readonly open: (offset: number) => Effect.Effect<HttpClientResponse.HttpClientResponse, ServiceError>
  /** Most bytes after decompression. One more is `OUT_OF_RANGE`. */
  readonly maxBytes: number
  /** Milliseconds between two pieces of the body. Default 60,000. */
  readonly idleMs?: number
}

/** How often a body that breaks off is resumed. */
const maxResumes = 3

/**
 * Downloads the content of an address: resumed where it breaks off, gunzipped if it is stored that way, bounded. Request
 * it with `accept-encoding: gzip`, so that no client or proxy decompresses it outside this limit.
 */
export const download = (options: DownloadOptions): Stream.Stream<Uint8Array, ServiceError> =>
  Stream.unwrap(Effect.gen(function*() {
    const first = yield* options.open(0)
    const encodings = (first.headers["content-encoding"] ?? "").toLowerCase().split(",").map((name) => name.trim())
    // Stores keep `aws-chunked` of an upload, although the content is stored as it was before.
    const encoding = encodings.filter((name) => name !== "" && name !== "identity" && name !== "aws-chunked").join(", ")
    const zipped = encoding === "gzip" || encoding === "x-gzip"
    if (!zipped && encoding !== "") {
      yield* discard(first)
      return yield* new ServiceError({
        code: "UNIMPLEMENTED",
        message: `${options.what} is stored with Content-Encoding ${encoding.slice(0, 40)}, which is not read`,
        fix: "store it uncompressed or with gzip"
      })
    }
    if (!zipped && Number(first.headers["content-length"] ?? 0) > options.maxBytes) {
      yield* discard(first)
      return yield* tooLarge(options)
    }
    const stored = resuming(options, first)
    return bounded(options, zipped ? gunzip(options.what, stored) : stored)
  }))

const resuming = (
  options: DownloadOptions,
  first: HttpClientResponse.HttpClientResponse
): Stream.Stream<Uint8Array, ServiceError> => {
  let offset = 0
  const bytes = (response: HttpClientResponse.HttpClientResponse, left: number): Stream.Stream<Uint8Array, ServiceError> =>
    response.stream.pipe(
      Stream.mapError((error) => transportErrorOf(options.what, error)),
      Stream.timeoutOrElse({
        duration: options.idleMs ?? 60_000,
        orElse: () => Stream.fail(new ServiceError({ code: "DEADLINE_EXCEEDED", message: `${options.what} stopped coming` }))
      }),
      Stream.map((piece) => {
        offset += piece.length
        return piece
      }),
      Stream.catch((error) =>
        left === 0 || offset === 0 ? Stream.fail(error) : Stream.unwrap(Effect.gen(function*() {
          const rest = yield* options.open(offset)
          if (rest.status === 206) return bytes(rest, left - 1)
          yield* discard(rest)
          return Stream.fail(error)
        }))
      )
    )
  return bytes(first, maxResumes)
}

const gunzip = (what: string, stored: Stream.Stream<Uint8Array, ServiceError>): Stream.Stream<Uint8Array, ServiceError> =>
  stored.pipe(pipeThroughDuplex({
    evaluate: () => createGunzip(),
    // Each read inflates up to 16 KiB, so the limit that follows stops a decompression bomb early.
    chunkSize: 16,
    onError: (cause) =>
      cause instanceof ServiceError ? cause : new ServiceError({
        code: "DATA_LOSS",
        message: `${what} says it is gzip and is not, or is cut short`
      })
  }))

const bounded = (options: DownloadOptions, bytes: Stream.Stream<Uint8Array, ServiceError>): Stream.Stream<Uint8Array, ServiceError> =>
  Stream.suspend(() => {
    let length = 0
    return Stream.mapEffect(bytes, (piece) => {
      length += piece.length
      return length > options.maxBytes ? Effect.fail(tooLarge(options)) : Effect.succeed(piece)
    })
  })

const tooLarge = ({ maxBytes, what }: DownloadOptions): ServiceError =>
  new ServiceError({ code: "OUT_OF_RANGE", message: `${what} is larger than ${maxBytes} bytes` })

/** Discards a body that is not needed. */
export const discard = (response: HttpClientResponse.HttpClientResponse): Effect.Effect<void> =>
  Stream.runDrain(Stream.take(response.stream, 1)).pipe(Effect.ignore)
