import { Effect } from "effect"
import { HttpClientRequest } from "effect/http"
import { ServiceError } from "../../domain/Errors.ts"
import { call, type Caller, callOnce, malformed } from "../Call.ts"
import { discard } from "../Download.ts"
import { GoogleAuth } from "../GoogleAuth.ts"
import { retry } from "../Retry.ts"
import { decodeObject, type GcsObject } from "./GcsObject.ts"

/** A resumable upload under way: blocks are sent in order, each until the service has it. */
export interface GcsSession {
  /** Bytes from `start` on, not the last ones. A multiple of 256 KiB. */
  readonly block: (bytes: Uint8Array, start: number) => Effect.Effect<void, ServiceError>
  /** The last bytes. */
  readonly finish: (bytes: Uint8Array, start: number) => Effect.Effect<GcsObject, ServiceError>
}

/** How often the service may take nothing of a block before we give up. */
const maxIdle = 3

/** Starts a session at `url`; `what` names the upload in messages. */
export const startSession = Effect.fnUntraced(function*(
  caller: Caller,
  what: string,
  url: string,
  object: { readonly name: string; readonly contentType: string }
): Effect.fn.Return<GcsSession, ServiceError> {
  const response = yield* call(
    caller,
    what,
    HttpClientRequest.post(url).pipe(
      HttpClientRequest.setHeader("x-upload-content-type", object.contentType),
      HttpClientRequest.bodyJsonUnsafe(object)
    )
  )
  yield* discard(response)
  const session = URL.parse(response.headers["location"] ?? "", url)
  if (session === null) return yield* malformed(what, "without the session's address")
  // The session's address is itself the permission; what else we have stays at the origin it is for.
  const asking = session.origin === new URL(url).origin ? caller : { ...caller, auth: GoogleAuth.anonymous }

  /** The answer to a block or a question: the object once it is whole, else how many bytes the service has. */
  const put = (range: string, bytes: Uint8Array) =>
    callOnce(
      asking,
      what,
      HttpClientRequest.put(session).pipe(
        HttpClientRequest.setHeader("content-range", range),
        HttpClientRequest.bodyUint8Array(bytes, object.contentType)
      ),
      (status) => status === 308 || (status >= 200 && status < 300)
    ).pipe(Effect.flatMap((response): Effect.Effect<GcsObject | number, ServiceError> => {
      if (response.status !== 308) return decodeObject(what, response)
      const last = /^bytes=0-(\d+)$/.exec(response.headers["range"] ?? "")?.[1]
      return Effect.as(discard(response), last === undefined ? 0 : Number(last) + 1)
    }))

  const send = Effect.fnUntraced(function*(bytes: Uint8Array, start: number, total: number | "*") {
    let have = start
    for (let idle = 0; idle < maxIdle;) {
      let unsure = false
      const answer: GcsObject | number = yield* Effect.suspend(() => {
        if (unsure) return put(`bytes */${total}`, new Uint8Array(0))
        const rest = bytes.subarray(have - start)
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
        (answer) => typeof answer === "number" ? Effect.fail(malformed(what, "without an object")) : Effect.succeed(answer)
      )
  }
})
