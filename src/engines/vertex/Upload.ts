import { Effect, Result } from "effect"
import { HttpClientRequest, type HttpClientResponse } from "effect/http"
import { randomBytes } from "node:crypto"
import type { DocumentError } from "../../domain/Errors.ts"
import { ServiceError } from "../../domain/Errors.ts"
import type { RagFile, UploadRequest } from "../../domain/RagFile.ts"
import { uploadRequestToWire, uploadResponseFromWire } from "../../wire/rag/Files.ts"
import type { JsonObject } from "../../wire/Message.ts"
import type { UploadRagFileResponse } from "../../wire/messages/RagFile.ts"
import { decodeResponse, encodeRequest, path, routes } from "../../wire/Routes.ts"
import { readJson, reportedBy } from "./Responses.ts"
import { type Transport, version } from "./Transport.ts"
import { answered, Unanswered } from "./Unanswered.ts"

/** Bytes above which a broken upload is continued rather than started again. */
const resumableFrom = 4 * 1024 * 1024
/** Most milliseconds of an upload: the service parses and embeds before it answers. */
const timeoutMs = 10 * 60_000
/** How often an upload that broke off is continued. */
const maxResumes = 5
/** Most characters of a display name that the service accepts. */
const longestName = 128

const what = "UploadRagFile"
type Failure = ServiceError | DocumentError | Unanswered

/**
 * Sends a file once: as a form with its metadata or, above 4 MB, by the resumable protocol, which continues where a connection broke off.
 */
export const sendFile = Effect.fnUntraced(function*(
  transport: Transport["Service"],
  request: UploadRequest
): Effect.fn.Return<RagFile, Failure> {
  const where = yield* Effect.fromResult(path(routes.uploadRagFile, version, { parent: request.corpus }, "upload"))
  const wire = yield* Effect.fromResult(uploadRequestToWire({ ...request, displayName: fitting(nameOf(request)) }))
  const metadata = yield* Effect.fromResult(encodeRequest(routes.uploadRagFile, version, wire))
  const upload = { url: `${transport.endpoint.baseUrl}${where}`, metadata, request }
  return yield* request.content.length > resumableFrom && request.madeMarkdown !== true
    ? resumable(transport, upload)
    : multipart(transport, upload)
})

interface Upload {
  readonly url: string
  readonly metadata: JsonObject
  readonly request: UploadRequest
}

const multipart = (transport: Transport["Service"], { metadata, request, url }: Upload): Effect.Effect<RagFile, Failure> => {
  const boundary = `sluice-${randomBytes(16).toString("hex")}`
  const head = [
    `--${boundary}`,
    "Content-Disposition: form-data; name=\"metadata\"",
    "",
    JSON.stringify(metadata),
    `--${boundary}`,
    `Content-Disposition: form-data; name="file"; filename="${quoted(nameOf(request))}"`,
    `Content-Type: ${typeOf(request)}`,
    "",
    ""
  ].join("\r\n")
  const body = Buffer.concat([Buffer.from(head), request.content, Buffer.from(`\r\n--${boundary}--\r\n`)])
  const post = HttpClientRequest.post(url).pipe(
    HttpClientRequest.setHeader("x-goog-upload-protocol", "multipart"),
    HttpClientRequest.bodyUint8Array(body, `multipart/form-data; boundary=${boundary}`)
  )
  return Effect.flatMap(
    transport.send({ what, request: post, bucket: "management", timeoutMs }, answerOf),
    (answer) => fileOf(transport, answer)
  )
}

/** The resumable protocol. https://cloud.google.com/storage/docs/performing-resumable-uploads describes it with other headers. */
const resumable = Effect.fnUntraced(function*(
  transport: Transport["Service"],
  { metadata, request, url }: Upload
): Effect.fn.Return<RagFile, Failure> {
  const { content } = request
  const begin = HttpClientRequest.post(url).pipe(
    HttpClientRequest.setHeaders({
      "x-goog-upload-protocol": "resumable",
      "x-goog-upload-command": "start",
      "x-goog-upload-header-content-length": String(content.length),
      "x-goog-upload-header-content-type": typeOf(request)
    }),
    HttpClientRequest.bodyJsonUnsafe(metadata)
  )
  // A session without an upload has no effect, so losing it is an ordinary error.
  const session = yield* answered(
    transport.send({ what, request: begin, bucket: "management" }, (response) => sessionOf(transport, response))
  )
  const command = (command: string, headers: Record<string, string>, body?: Uint8Array) => {
    const post = HttpClientRequest.post(session).pipe(
      HttpClientRequest.setHeaders({ "x-goog-upload-command": command, ...headers }),
      body === undefined ? (self) => self : HttpClientRequest.bodyUint8Array(body, "application/octet-stream")
    )
    return transport.send(
      { what, request: post, timeoutMs },
      (response) => Effect.map(answerOf(response), (answer) => ({ answer, headers: response.headers }))
    )
  }

  let offset = 0
  for (let resumes = 0;; resumes++) {
    const sent = yield* Effect.result(command("upload, finalize", { "x-goog-upload-offset": String(offset) }, content.subarray(offset)))
    if (Result.isSuccess(sent)) return yield* fileOf(transport, sent.success.answer)
    if (resumes === maxResumes || (sent.failure._tag === "ServiceError" && resumes === 0)) return yield* sent.failure
    if (sent.failure._tag === "ServiceError") return yield* new Unanswered({ error: sent.failure })
    const { error } = sent.failure
    // Asks how much has arrived. Where the service cannot say, the file is searched for by its marker.
    const { answer, headers } = yield* transport.retry(answered(command("query", {}))).pipe(
      Effect.mapError(() => new Unanswered({ error }))
    )
    if (headers["x-goog-upload-status"] === "final") return yield* fileOf(transport, answer)
    const received = Number(headers["x-goog-upload-size-received"] ?? Number.NaN)
    if (headers["x-goog-upload-status"] !== "active" || !(received >= 0 && received <= content.length)) return yield* sent.failure
    offset = received
  }
})

/** The address for the bytes. Credentials are sent along, so it must be one that has received them before. */
const sessionOf = (
  transport: Transport["Service"],
  response: HttpClientResponse.HttpClientResponse
): Effect.Effect<string, ServiceError> => {
  const session = URL.parse(response.headers["x-goog-upload-url"] ?? "", transport.endpoint.baseUrl)
  const own = new URL(transport.endpoint.baseUrl)
  return session !== null && response.headers["x-goog-upload-url"] !== undefined && session.origin === own.origin
    ? Effect.succeed(session.href)
    : Effect.fail(
      new ServiceError({
        code: "FAILED_PRECONDITION",
        message: session === null || session.origin === own.origin
          ? `${what} of ${own.host} gave no address for the bytes`
          : `${what} of ${own.host} would have the bytes at ${session.host}, another origin`
      })
    )
}

const answerOf = (response: HttpClientResponse.HttpClientResponse): Effect.Effect<unknown, ServiceError> => readJson(what, response)

const fileOf = ({ endpoint, project }: Transport["Service"], answer: unknown): Effect.Effect<RagFile, Failure> =>
  Effect.fromResult(decodeResponse(routes.uploadRagFile, answer)).pipe(
    Effect.filterOrFail(isTold, () => ServiceError.internal(`${what} answered neither a file nor an error`)),
    // The upload was done, whatever the answer is.
    Effect.mapError((error) => new Unanswered({ error })),
    Effect.flatMap((decoded) =>
      Effect.mapError(
        Effect.fromResult(uploadResponseFromWire(decoded)),
        (error) => error._tag === "ServiceError" ? reportedBy(`${what} of ${endpoint.host} failed`, project, error) : error
      )
    )
  )

const isTold = ({ error, ragFile }: UploadRagFileResponse): boolean => error !== undefined || (ragFile?.name ?? "") !== ""

const typeOf = ({ mimeType }: UploadRequest): string =>
  mimeType !== undefined && /^[\w.+-]+\/[\w.+-]+(?:;\s*charset=[\w-]+)?$/.test(mimeType) ? mimeType : "application/octet-stream"

/** The name of an upload, which shows its format. */
const nameOf = ({ displayName, madeMarkdown }: UploadRequest): string => madeMarkdown === true ? `${displayName}.md` : displayName

/** A name as browsers write it into forms (WHATWG HTML, multipart/form-data encoding). */
const quoted = (name: string): string => name.replaceAll("\r", "%0D").replaceAll("\n", "%0A").replaceAll("\"", "%22")

/** A name cut to the longest allowed: the end of a long path says more than its start. */
const fitting = (name: string): string => {
  const characters = Array.from(name)
  return characters.length <= longestName ? name : `…${characters.slice(1 - longestName).join("")}`
}
