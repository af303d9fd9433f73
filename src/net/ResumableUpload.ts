import { Effect, Stream } from "effect"
import { HttpClientRequest, type HttpClientResponse } from "effect/http"
import { ServiceError } from "../domain/Errors.ts"
import { call, type Caller, callOnce, malformed } from "./Call.ts"
import { discard } from "./Download.ts"
import { GoogleAuth } from "./GoogleAuth.ts"
import { retry } from "./Retry.ts"

/** Bytes sent per request (a multiple of 256 KiB). */
const blockSize = 8 * 1024 * 1024

/** Most milliseconds for a block: half a megabit per second. */
export const blockTimeoutMs = 150_000

/**
 * A resumable upload in progress, by the protocol that Google's services share: blocks are sent in order, each until the
 * service has all of it.
 */
export interface UploadSession<A> {
  /** Sends bytes from offset `start` on that are not the last ones. Their number is a multiple of 256 KiB. */
  readonly block: (bytes: Uint8Array, start: number) => Effect.Effect<void, ServiceError>
  /** Sends the last bytes, after which the service answers with the object it made. */
  readonly finish: (bytes: Uint8Array, start: number) => Effect.Effect<A, ServiceError>
}

export interface UploadOptions<A> {
  /** Names the upload in messages. */
  readonly what: string
  readonly url: string
  /** Metadata sent before the content. */
  readonly about: object
  readonly contentType: string
  readonly decode: (what: string, response: HttpClientResponse.HttpClientResponse) => Effect.Effect<A, ServiceError>
}

/**
 * Sends all but the last block of the pieces, holding one block in memory. Where they fit in one block nothing is sent,
 * and no session is started: `session` is undefined.
 */
export const sendBlocks = Effect.fnUntraced(function*<A>(
  pieces: Stream.Stream<Uint8Array, ServiceError>,
  begin: Effect.Effect<UploadSession<A>, ServiceError>
): Effect.fn.Return<
  { readonly last: Uint8Array; readonly sent: number; readonly session: UploadSession<A> | undefined },
  ServiceError
> {
  let session: UploadSession<A> | undefined
  let sent = 0
  let waiting: Array<Uint8Array> = []
  let length = 0
  yield* Stream.runForEach(
    pieces,
    Effect.fnUntraced(function*(piece) {
      waiting.push(piece)
      length += piece.length
      if (length <= blockSize) return
      const bytes = Buffer.concat(waiting, length)
      // Strictly more: the last block must not be empty, as it marks the end of the content.
      for (; length > blockSize; length -= blockSize, sent += blockSize) {
        session ??= yield* begin
        const at = bytes.length - length
        yield* session.block(bytes.subarray(at, at + blockSize), sent)
      }
      waiting = [bytes.subarray(bytes.length - length)]
    })
  )
  return { last: Buffer.concat(waiting, length), sent, session }
})

/** How often in a row the service may accept nothing of a block. */
const maxIdle = 3

/** Starts a session. */
export const startSession = Effect.fnUntraced(function*<A extends object>(
  caller: Caller,
  { about, contentType, decode, url, what }: UploadOptions<A>
): Effect.fn.Return<UploadSession<A>, ServiceError> {
  const response = yield* call(
    caller,
    what,
    HttpClientRequest.post(url).pipe(
      HttpClientRequest.setHeader("x-upload-content-type", contentType),
      HttpClientRequest.bodyJsonUnsafe(about)
    )
  )
  yield* discard(response)
  const session = URL.parse(response.headers["location"] ?? "", url)
  if (session === null) return yield* malformed(what, "without the session's address")
  // The session's address is itself the permission; our credentials are only sent to their own origin.
  const asking = session.origin === new URL(url).origin ? caller : { ...caller, auth: GoogleAuth.anonymous }

  /** Sends a block, or asks for the state: returns the result once the upload is complete, else how many bytes the service has. */
  const put = (range: string, bytes: Uint8Array) =>
    callOnce(
      asking,
      what,
      HttpClientRequest.put(session).pipe(
        HttpClientRequest.setHeader("content-range", range),
        HttpClientRequest.bodyUint8Array(bytes, contentType)
      ),
      (status) => status === 308 || (status >= 200 && status < 300)
    ).pipe(Effect.flatMap((response): Effect.Effect<A | number, ServiceError> => {
      if (response.status !== 308) return decode(what, response)
      const last = /^bytes=0-(\d+)$/.exec(response.headers["range"] ?? "")?.[1]
      return Effect.as(discard(response), last === undefined ? 0 : Number(last) + 1)
    }))

  const send = Effect.fnUntraced(function*(bytes: Uint8Array, start: number, total: number | "*") {
    let have = start
    for (let idle = 0; idle < maxIdle;) {
      let unsure = false
      const answer: A | number = yield* Effect.suspend(() => {
        if (unsure) return put(`bytes */${total}`, new Uint8Array(0))
        const rest = bytes.subarray(have - start)
        // A range needs a first byte: the end of an empty content is reported in the form of a question for the state.
        if (rest.length === 0) return put(`bytes */${total}`, rest)
        return put(`bytes ${have}-${have + rest.length - 1}/${total}`, rest)
      }).pipe(
        Effect.tapError(() => Effect.sync(() => void (unsure = true))),
        retry(caller.retry)
      )
      if (typeof answer !== "number" || (total === "*" && answer === start + bytes.length)) return answer
      if (answer < start || answer > start + bytes.length) break
      idle = answer > have ? 0 : idle + 1
      have = answer
    }
    return yield* new ServiceError({ code: "UNAVAILABLE", message: `${what} makes no progress` })
  })

  return {
    block: (bytes, start) => Effect.asVoid(send(bytes, start, "*")),
    finish: (bytes, start) =>
      Effect.flatMap(
        send(bytes, start, start + bytes.length),
        (answer) => typeof answer === "number" ? Effect.fail(malformed(what, "without what was made")) : Effect.succeed(answer)
      )
  }
})
