import { isDeepStrictEqual } from "node:util"
import { NodeHttpServerRequest } from "@effect/platform-node"
import { Clock, DateTime, Deferred, Effect, Exit, Option, Stream } from "effect"
import { type HttpServerRequest, Mime } from "effect/http"
import { ServiceError } from "../../domain/Errors.ts"
import type { CorpusName } from "../../domain/Corpus.ts"
import type { Parsing } from "../../domain/Parsing.ts"
import type { Marker, RagFile, UploadRequest } from "../../domain/RagFile.ts"
import { Corpora } from "../../ports/Corpora.ts"
import { Files } from "../../ports/Files.ts"
import { pages } from "../../ports/Paging.ts"
import { uploadRequestFromWire, uploadResponseToWire } from "../../wire/rag/Files.ts"
import type { ApiVersion, JsonObject } from "../../wire/Message.ts"
import { UploadRagFileRequest, type UploadRagFileResponse } from "../../wire/messages/RagFile.ts"
import { readMessage } from "../../wire/tolerant/Request.ts"
import { take } from "../Call.ts"
import type { ClientNames } from "../ClientNames.ts"
import { answeredFile } from "../handlers/Files.ts"
import { isEncoded, readBody } from "../http/Body.ts"
import { hash, uploadMarker } from "../import/ImportMarker.ts"
import { parts } from "./Multipart.ts"
import { type Outcome, type Session, Sessions, tooLarge } from "./Sessions.ts"

/** Most bytes of metadata, and of a multipart body around its file. */
const overhead = 256 * 1024

export interface UploadLimits {
  /** Folder of unfinished resumable uploads. */
  readonly folder: string
  /** Most bytes of one file. The hosted service's limit is 25 MB. */
  readonly file: number
  /** Most bytes of all unfinished resumable uploads together. */
  readonly underWay: number
  /** Most bytes of a file, by its name. */
  readonly named: (name: string) => number
  /** Returns why an upload's parsing settings are refused; undefined where they are not. */
  readonly refuseParser: (parsing: Parsing | undefined) => ServiceError | undefined
}

/** Destination of an upload. */
export interface UploadTarget {
  readonly version: ApiVersion
  readonly corpus: CorpusName
  readonly names: ClientNames
}

export interface UploadCall extends UploadTarget {
  readonly request: HttpServerRequest.HttpServerRequest
  /** The raw query, without `?`. */
  readonly query: string
}

/** Response to an upload's request: the message or, between the steps of the resumable protocol, headers alone. */
export interface UploadAnswer {
  readonly body?: UploadRagFileResponse
  readonly headers?: Readonly<Record<string, string>>
}

/**
 * Handles uploads in every form that the service accepts: form-data, multipart/related, the resumable protocol, and JSON
 * alone, which has no bytes and so makes no file. A file that cannot be stored is reported in the response, not as a failed
 * call. A resumable upload survives a restart, and makes exactly one file even if the server ended while storing it.
 */
export const uploads = (limits: UploadLimits) =>
  Effect.gen(function*() {
    const corpora = yield* Corpora
    const files = yield* Files
    const scope = yield* Effect.scope
    const sessions = new Sessions(limits.folder, { upload: limits.file, total: limits.underWay, sessions: 1_000, idle: 3_600_000 })

    const store = Effect.fnUntraced(function*(request: UploadRequest): Effect.fn.Return<Outcome, ServiceError> {
      const refused = limits.refuseParser(request.parsing)
      if (refused !== undefined) return yield* refused
      const limit = Math.min(limits.file, limits.named(request.displayName))
      if (request.content.length > limit) return tooLarge(limit)
      return yield* files.upload(request).pipe(
        Effect.map(({ file }): Outcome => file),
        // An error in the call fails the call; an error in the document is part of the response.
        Effect.catchTag("DocumentError", (error) => Effect.succeed<Outcome>(error))
      )
    })

    const answer = (outcome: Outcome, names: ClientNames): UploadRagFileResponse =>
      "_tag" in outcome ? uploadResponseToWire(outcome) : { ragFile: answeredFile(outcome, names) }

    const put = Effect.fnUntraced(function*(
      { corpus, names, version }: UploadTarget,
      metadata: Uint8Array | JsonObject,
      file: { readonly content: Uint8Array; readonly mimeType: string | undefined }
    ): Effect.fn.Return<UploadRagFileResponse, ServiceError> {
      const message = yield* take(readMessage(UploadRagFileRequest, metadata, { version }))
      return answer(yield* store(yield* take(uploadRequestFromWire(corpus, message, file))), names)
    })

    /** Response to an upload without bytes: JSON alone, or gRPC, whose message has no field for them. */
    const withoutBytes = Effect.fn("Uploads.withoutBytes")(function*(
      call: UploadTarget,
      metadata: Uint8Array | JsonObject
    ): Effect.fn.Return<UploadAnswer, ServiceError> {
      return { body: yield* put(call, metadata, { content: new Uint8Array(), mimeType: undefined }) }
    })

    const whole = Effect.fnUntraced(function*(call: UploadCall): Effect.fn.Return<UploadAnswer, ServiceError> {
      const contentType = call.request.headers["content-type"] ?? ""
      const multipart = /^multipart\/(?:form-data|related)\b/i.test(contentType)
      const body = yield* readBody(call.request, multipart ? limits.file + overhead : overhead)
      if (!multipart) return yield* withoutBytes(call, body)
      const { content, fileName, metadata, type } = yield* Effect.try({ try: () => partsOf(contentType, body), catch: asServiceError })
      return { body: yield* put(call, metadata, { content, mimeType: mimeTypeOf(type, fileName) }) }
    })

    const begin = Effect.fnUntraced(function*(call: UploadCall): Effect.fn.Return<UploadAnswer, ServiceError> {
      const { headers } = call.request
      if (Number(headers["x-goog-upload-header-content-length"] ?? 0) > limits.file) return yield* tooLarge(limits.file)
      const message = yield* take(readMessage(UploadRagFileRequest, yield* readBody(call.request, overhead), { version: call.version }))
      const mimeType = mimeTypeOf(headers["x-goog-upload-header-content-type"], headers["x-goog-upload-file-name"])
      const { content: _, ...request } = yield* take(uploadRequestFromWire(call.corpus, message, {
        content: new Uint8Array(),
        mimeType
      }))
      yield* corpora.get(call.corpus)
      const now = yield* Clock.currentTimeMillis
      const session = yield* Effect.try({ try: () => sessions.open(request, now), catch: asServiceError })
      const path = call.request.url.replace(/\?.*$/s, "")
      const url = `${schemeOf(call.request)}://${headers["host"] ?? ""}${path}?upload_id=${session.id}&upload_protocol=resumable`
      return {
        headers: {
          "x-goog-upload-status": "active",
          "x-goog-upload-url": url,
          "x-goog-upload-control-url": url,
          "x-goog-upload-chunk-granularity": "1"
        }
      }
    })

    /** Stores the bytes as they arrive, so that they are kept when the connection breaks. */
    const append = Effect.fnUntraced(function*(call: UploadCall, session: Session): Effect.fn.Return<void, ServiceError> {
      const offset = Number(call.request.headers["x-goog-upload-offset"] ?? session.received)
      if (offset !== session.received) {
        return yield* new ServiceError({
          code: "INVALID_ARGUMENT",
          message: `the upload is at offset ${session.received}, not ${offset}`
        })
      }
      if (isEncoded(call.request)) {
        return yield* new ServiceError({
          code: "INVALID_ARGUMENT",
          message: "a resumable upload counts its bytes, and must not have a Content-Encoding"
        })
      }
      const turn = ++session.turn
      yield* call.request.stream.pipe(
        Stream.mapError(() => new ServiceError({ code: "INVALID_ARGUMENT", message: "the request's body could not be read" })),
        Stream.runForEach((part) => Effect.try({ try: () => sessions.append(session, turn, part), catch: asServiceError }))
      )
    })

    /** The file that an earlier server made of this upload before it ended; undefined where it made none. */
    const made = ({ id, request, storing }: Session): Effect.Effect<RagFile | undefined, ServiceError> =>
      storing === undefined ? Effect.undefined : pages((page) => files.list(request.corpus, page), 1_000).pipe(
        Stream.filter(({ createTime, marker }) => createTime >= storing && isDeepStrictEqual(marker, markerOf(id, request))),
        Stream.runHead,
        Effect.map(Option.getOrUndefined)
      )

    const end = Effect.fnUntraced(function*(session: Session): Effect.fn.Return<Outcome, ServiceError> {
      const { id, request } = session
      const found = yield* made(session)
      if (found === undefined) {
        // With microseconds, as the engine writes times, so that they compare as text.
        const at = DateTime.formatIso(yield* DateTime.now).replace(/Z$/, "000Z")
        yield* Effect.try({ try: () => sessions.store(session, at), catch: asServiceError })
      }
      const outcome = found ?? (yield* store({ ...request, marker: markerOf(id, request), content: sessions.bytes(session) }))
      yield* Effect.try({ try: () => sessions.close(session, outcome), catch: asServiceError })
      return outcome
    })

    /** Finalizes an upload once, also for clients that repeat the request or disconnect before the response. */
    const finish = Effect.fnUntraced(function*(session: Session): Effect.fn.Return<Outcome, ServiceError> {
      const ending = session.ending
      if (ending !== undefined) return yield* Deferred.await(ending)
      const outcome = Deferred.makeUnsafe<Outcome, ServiceError>()
      session.ending = outcome
      yield* end(session).pipe(
        Effect.onExit((exit) => {
          // A failed attempt may be repeated.
          if (Exit.isFailure(exit)) delete session.ending
          return Deferred.done(outcome, exit)
        }),
        Effect.forkIn(scope)
      )
      return yield* Deferred.await(outcome)
    })

    const proceed = Effect.fnUntraced(function*(call: UploadCall, id: string): Effect.fn.Return<UploadAnswer, ServiceError> {
      const session = sessions.find(id, yield* Clock.currentTimeMillis)
      if (session === undefined || session.request.corpus !== call.corpus) return yield* ServiceError.notFound("the upload")
      const commands = (call.request.headers["x-goog-upload-command"] ?? "upload, finalize").split(",").map((word) =>
        word.trim().toLowerCase()
      )
      const unknown = commands.find((command) => !["upload", "finalize", "query", "cancel"].includes(command))
      if (unknown !== undefined) return yield* ServiceError.invalid("x-goog-upload-command", `${unknown.slice(0, 40)} is not a command`)
      if (session.outcome !== undefined) return final(answer(session.outcome, call.names))
      if (commands.includes("cancel")) {
        sessions.cancel(session)
        return { headers: { "x-goog-upload-status": "cancelled" } }
      }
      if (commands.includes("upload")) yield* append(call, session)
      if (commands.includes("finalize")) return final(answer(yield* finish(session), call.names))
      return { headers: { "x-goog-upload-status": "active", "x-goog-upload-size-received": String(session.received) } }
    })

    const receive = Effect.fn("Uploads.receive")(function*(call: UploadCall): Effect.fn.Return<UploadAnswer, ServiceError> {
      const id = new URLSearchParams(call.query).get("upload_id")
      if (id !== null) return yield* proceed(call, id)
      const { headers } = call.request
      const resumable = headers["x-goog-upload-protocol"]?.toLowerCase() === "resumable"
      return yield* resumable ? begin(call) : whole(call)
    })

    return { receive, withoutBytes }
  })

export type Uploads = Effect.Success<ReturnType<typeof uploads>>

const schemeOf = (request: HttpServerRequest.HttpServerRequest): string =>
  "encrypted" in NodeHttpServerRequest.toIncomingMessage(request).socket ? "https" : "http"

const final = (body: UploadRagFileResponse): UploadAnswer => ({ body, headers: { "x-goog-upload-status": "final" } })

/** The marker that identifies a file as made by an upload. */
const markerOf = (id: string, { marker }: Session["request"]): Marker =>
  marker ?? { source: uploadMarker, pathHash: hash(id), fingerprint: [hash(id), hash(id), hash(id)].join(".") }

const partsOf = (contentType: string, body: Uint8Array) => {
  const [first, ...rest] = parts(contentType, body)
  const all = first === undefined ? [] : [first, ...rest]
  const related = /^multipart\/related\b/i.test(contentType)
  const metadata = related ? first : all.find(({ name }) => name === "metadata")
  const file = related ? rest[0] : all.find(({ name }) => name === "file")
  if (metadata === undefined) throw ServiceError.invalid("metadata", "Required part is not there.")
  if (file === undefined) throw ServiceError.invalid("file", "Required part is not there.")
  return { metadata: metadata.content, content: file.content, fileName: file.fileName, type: file.type }
}

/** Media type of a file: the given one or, where that is missing or generic, the one that its name implies. */
const mimeTypeOf = (type: string | undefined, fileName: string | undefined): string | undefined =>
  type !== undefined && type !== "application/octet-stream" && type !== "text/plain"
    ? type
    : Option.getOrUndefined(Mime.getType(fileName ?? "")) ?? type

const asServiceError = (cause: unknown): ServiceError => {
  if (cause instanceof ServiceError) return cause
  throw cause
}
