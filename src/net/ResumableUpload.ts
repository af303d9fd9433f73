import { Effect, Stream } from "effect"
import { HttpClientRequest, type HttpClientResponse } from "effect/http"
import { ServiceError } from "../domain/Errors.ts"
import { call, type Caller, callOnce, malformed } from "./Call.ts"
import { discard } from "./Download.ts"
import { GoogleAuth } from "./GoogleAuth.ts"
import { retry } from "./Retry.ts"

/** Bytes sent in one request (a multiple of 256 KiB). */
const blockSize = 8 * 1024 * 1024

/** Milliseconds that a block may take: half a megabit a second. */
export const blockTimeoutMs = 150_000

/** A resumable upload under way, by the protocol that Google's services share: blocks are sent in order, each until the service has it. */
export interface UploadSession<A> {
  /** Bytes from `start` on, not the last ones. A multiple of 256 KiB. */
  readonly block: (bytes: Uint8Array, start: number) => Effect.Effect<void, ServiceError>
  /** The last bytes, after which the service answers with what was made. */
  readonly finish: (bytes: Uint8Array, start: number) => Effect.Effect<A, ServiceError>
}

export interface UploadOptions<A> {
  /** Names the upload in messages. */
  readonly what: string
  readonly url: string
  /** What is said of the content before it comes. */
  readonly about: object
  readonly contentType: string
  readonly decode: (what: string, response: HttpClientResponse.HttpClientResponse) => Effect.Effect<A, ServiceError>
}

/**
 * Sends all but the last of the pieces, holding one block in memory. Where they are no more than a block nothing is sent,
 * and no session is begun: `session` is undefined.
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
      // Strictly more: the last block must not be empty, as it says where the content ends.
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

/** How often the service may take nothing of a block before we give up. */
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
  // The session's address is itself the permission; what else we have stays at the origin it is for.
  const asking = session.origin === new URL(url).origin ? caller : { ...caller, auth: GoogleAuth.anonymous }

  /** The answer to a block or a question: what was made once it is whole, else how many bytes the service has. */
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
        // Of no bytes there is no first one: the end of nothing is told as a question is.
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
