import { Clock, Effect, Layer, Option, Stream } from "effect"
import type { CorpusName } from "../../domain/Corpus.ts"
import { DocumentError, ServiceError } from "../../domain/Errors.ts"
import type { ImportRequest } from "../../domain/Import.ts"
import type { Operation } from "../../domain/Operation.ts"
import type { Marker, RagFile, RagFileName, UploadRequest } from "../../domain/RagFile.ts"
import { chunkingBroken, importBroken, parsingBroken, serviceSourceBroken, textBroken } from "../../domain/rag/RagRules.ts"
import { refusalOf } from "../../domain/Rule.ts"
import { Files } from "../../ports/Files.ts"
import { Operations } from "../../ports/Operations.ts"
import { pages, type PageRequest } from "../../ports/Paging.ts"
import { Quota } from "../../ports/Quota.ts"
import { ragFileFromWire } from "../../wire/rag/Files.ts"
import { importRequestToWire } from "../../wire/rag/Imports.ts"
import { operationFromWire } from "../../wire/Operations.ts"
import { routes } from "../../wire/Routes.ts"
import { inImportPlace } from "./ImportPlaces.ts"
import { deleteOnce } from "./LongRunning.ts"
import { inDoubt, idempotentWrite } from "./IdempotentWrite.ts"
import { pageOf, pageQuery } from "./Paging.ts"
import { startedImport } from "./StartedImport.ts"
import { Transport } from "./Transport.ts"
import { Unanswered } from "./Unanswered.ts"
import { sendFile } from "./Upload.ts"

/** Most bytes of an upload: the service says 25 MB, but not whether these are of 1,000 or 1,024 kB. */
export const maxUploadBytes = 25_000_000

/** Files per page when a listing is searched. */
const pageSize = 100

/**
 * Files of the service's corpora. A stored file cannot be changed, so `update` is `UNIMPLEMENTED`. A request's address, metadata
 * and permissions are not stored.
 *
 * After an upload without an answer, the file is searched for by its marker before it is sent again, and a twin that appears late
 * is deleted. `replaces` is deleted once the new file exists.
 */
export const layer: Layer.Layer<Files, never, Transport | Operations | Quota> = Layer.effect(
  Files,
  Effect.gen(function*() {
    const transport = yield* Transport
    const operations = yield* Operations
    const quota = yield* Quota

    const get = Effect.fn("HostedFiles.get")(function*(name: RagFileName) {
      return yield* Effect.fromResult(ragFileFromWire(yield* transport.call({ route: routes.getRagFile, params: { name } })))
    })

    const list = Effect.fn("HostedFiles.list")(function*(corpus: CorpusName, page: PageRequest) {
      const listed = yield* transport.call({ route: routes.listRagFiles, params: { parent: corpus }, query: pageQuery(page) })
      return yield* pageOf(page, listed.ragFiles, listed.nextPageToken, ragFileFromWire)
    })

    const remove = Effect.fn("HostedFiles.delete")(function*(name: RagFileName) {
      yield* deleteOnce(transport, { route: routes.deleteRagFile, params: { name }, query: {} })
    })

    const discard = (name: RagFileName) => Effect.catchIf(remove(name), ({ code }) => code === "NOT_FOUND", () => Effect.void)

    /** Files of a corpus with this marker, except one. */
    const marked = (corpus: CorpusName, marker: Marker, except: RagFileName | undefined) =>
      pages((page) => list(corpus, page), pageSize).pipe(
        Stream.filter((file) => file.name !== except && isMarked(file, marker))
      )

    /** Uploads a file. Returns it, and whether an unanswered attempt may still create a twin. */
    const send = Effect.fnUntraced(function*(request: UploadRequest) {
      const { corpus, marker, replaces } = request
      let open = false
      let twins = false
      const file = yield* idempotentWrite<RagFile | DocumentError>({
        retry: transport.retry,
        send: Effect.suspend(() => {
          twins ||= open
          return sendFile(transport, request).pipe(
            Effect.tapErrorTag("Unanswered", () => Effect.sync(() => void (open = true))),
            Effect.catchTag("DocumentError", Effect.succeed)
          )
        }),
        find: marker === undefined ? undefined : Stream.runHead(marked(corpus, marker, replaces)).pipe(Effect.map(Option.getOrUndefined))
      })
      return file instanceof DocumentError ? yield* file : { file, twins }
    })

    /** Deletes twins and the replaced file, once the new file exists. */
    const settle = Effect.fnUntraced(function*({ corpus, marker, replaces }: UploadRequest, file: RagFile, twins: boolean) {
      const confirmed = replaces !== undefined && file.state === "STATE_UNSPECIFIED" ? yield* get(file.name) : file
      if (confirmed.state === "ERROR") {
        yield* discard(file.name)
        return yield* new DocumentError({ problem: "corrupt", message: confirmed.errorStatus ?? "the service could not index the file" })
      }
      if (twins && marker !== undefined) {
        yield* Stream.runForEach(marked(corpus, marker, file.name), (twin) => twin.name === replaces ? Effect.void : discard(twin.name))
      }
      if (replaces !== undefined) yield* discard(replaces)
      return confirmed
    })

    const upload = Effect.fn("HostedFiles.upload")(function*(request: UploadRequest) {
      const { chunking, content, displayName, parsing } = request
      const refused = refusalOf([...textBroken("displayName", displayName), ...chunkingBroken(chunking), ...parsingBroken(parsing)])
      if (refused !== undefined) return yield* refused
      if (content.length > maxUploadBytes) {
        return yield* new DocumentError({
          problem: "limit",
          message: `the service takes files of up to ${maxUploadBytes} bytes, and this one has ${content.length}`
        })
      }
      const { file, twins } = yield* send(request)
      return {
        file: yield* settle(request, file, twins).pipe(Effect.mapError((error) => error._tag === "ServiceError" ? halfDone(error) : error))
      }
    }, Effect.catchTag("Unanswered", ({ error }) => Effect.fail(inDoubt(error, "the file arrived", "sluice files list"))))

    const start = Effect.fn("HostedFiles.import")(function*(request: ImportRequest) {
      const { corpus } = request
      const refused = refusalOf([...importBroken(request), ...serviceSourceBroken(request.source)])
      if (refused !== undefined) return yield* refused
      const body = yield* Effect.fromResult(importRequestToWire(request))
      const since = yield* Clock.currentTimeMillis
      return yield* idempotentWrite<Operation>({
        retry: transport.retry,
        send: Effect.flatMap(
          transport.callOnce({ route: routes.importRagFiles, params: { parent: corpus }, body }),
          (started) => Effect.mapError(Effect.fromResult(operationFromWire(started)), (error) => new Unanswered({ error }))
        ),
        find: startedImport(transport, request, since)
      })
    }, Effect.catchTag("Unanswered", ({ error }) => Effect.fail(inDoubt(error, "the import began", "sluice operations list"))))

    return Files.of({
      upload,
      import: (request) => inImportPlace({ operations, quota, transport }, request.corpus, start(request)),
      get,
      list,
      chunks: () =>
        Effect.fail(
          new ServiceError({
            code: "UNIMPLEMENTED",
            message: "the service does not give the text of its files back",
            fix: "`sluice parse FILE` shows what is read of a file here, `sluice retrieve` what a question finds"
          })
        ),
      delete: remove,
      update: () =>
        Effect.fail(
          new ServiceError({
            code: "UNIMPLEMENTED",
            message: "the service cannot change a file that is there",
            fix: "upload it anew, with `replaces`"
          })
        )
    })
  })
)

/**
 * An error after the file was stored. One that ends the run is kept, and leaves the intent; any other must not read as
 * if nothing was stored.
 */
const halfDone = (error: ServiceError): ServiceError =>
  ["UNAUTHENTICATED", "PERMISSION_DENIED", "RESOURCE_EXHAUSTED"].includes(error.code) ? error : new ServiceError({
    code: "UNKNOWN",
    message: `the file is stored, and what it takes the place of may still be there: ${error.message}`,
    fix: error.fix
  })

const isMarked = ({ marker }: RagFile, wanted: Marker): boolean =>
  marker !== undefined && marker.source === wanted.source && marker.pathHash === wanted.pathHash &&
  marker.fingerprint === wanted.fingerprint
