import { Effect, Layer } from "effect"
import type { CorpusName } from "../../domain/Corpus.ts"
import { ServiceError } from "../../domain/Errors.ts"
import { corpusOfSchema, type DataSchemaName, fileOfMetadata, type FileMetadataName } from "../../domain/FileMetadata.ts"
import type { RagFileName } from "../../domain/RagFile.ts"
import { FileMetadataStore } from "../../ports/FileMetadataStore.ts"
import { BatchCreateRagDataSchemasResponse, BatchCreateRagMetadataResponse } from "../../wire/messages/RagMetadata.ts"
import type { Operation } from "../../wire/messages/Operations.ts"
import type { Message } from "../../wire/Message.ts"
import { dataSchemaToWire, fileMetadataToWire, namedMetadataFromWire, namedSchemaFromWire } from "../../wire/rag/FileMetadata.ts"
import { routes } from "../../wire/Routes.ts"
import { finish } from "./LongRunning.ts"
import { inDoubt, idempotentWrite } from "./IdempotentWrite.ts"
import { pageOf, pageQuery } from "./Paging.ts"
import { Transport } from "./Transport.ts"
import type { Unanswered } from "./Unanswered.ts"

/** Metadata that people write for the service's files. An unanswered write is not repeated, and fails with an unknown outcome. */
export const layer: Layer.Layer<FileMetadataStore, never, Transport> = Layer.effect(
  FileMetadataStore,
  Effect.gen(function*() {
    const transport = yield* Transport

    /** Sends a request that creates something, once, and follows its operation to the end. */
    const made = Effect.fnUntraced(function*(send: Effect.Effect<Operation, ServiceError | Unanswered>, look: string) {
      const started = yield* idempotentWrite<Operation>({ retry: transport.retry, send }).pipe(
        Effect.catchTag("Unanswered", ({ error }) => Effect.fail(inDoubt(error, "it was written", look)))
      )
      return (yield* finish(transport, started)).response
    })

    const read = <A>(what: string, message: Message<A>, response: unknown): Effect.Effect<A, ServiceError> =>
      Effect.mapError(
        Effect.fromResult(message.decode(response ?? {})),
        () => ServiceError.internal(`the service's answer to ${what} could not be read`)
      )

    return FileMetadataStore.of({
      createSchemas: Effect.fn("HostedFileMetadata.createSchemas")(function*(corpus, schemas) {
        const requests = schemas.map(({ id, ...schema }) => ({
          parent: corpus as string,
          ragDataSchema: dataSchemaToWire(schema),
          ragDataSchemaId: id ?? schema.key
        }))
        const response = yield* made(
          transport.callOnce({ route: routes.batchCreateRagDataSchemas, params: { parent: corpus }, body: { requests } }),
          "list the corpus's data schemas"
        )
        const { ragDataSchemas = [] } = yield* read("batchCreateRagDataSchemas", BatchCreateRagDataSchemasResponse, response)
        return yield* Effect.forEach(ragDataSchemas, (schema) => Effect.fromResult(namedSchemaFromWire(schema)))
      }),
      getSchema: Effect.fn("HostedFileMetadata.getSchema")(function*(name: DataSchemaName) {
        return yield* Effect.fromResult(namedSchemaFromWire(yield* transport.call({ route: routes.getRagDataSchema, params: { name } })))
      }),
      listSchemas: Effect.fn("HostedFileMetadata.listSchemas")(function*(corpus: CorpusName, page) {
        const listed = yield* transport.call({ route: routes.listRagDataSchemas, params: { parent: corpus }, query: pageQuery(page) })
        return yield* pageOf(page, listed.ragDataSchemas, listed.nextPageToken, namedSchemaFromWire)
      }),
      deleteSchemas: Effect.fn("HostedFileMetadata.deleteSchemas")(function*(corpus, names) {
        if (names.some((name) => corpusOfSchema(name) !== corpus)) return yield* ServiceError.invalid("names", "must all be of the corpus")
        yield* made(
          transport.callOnce({ route: routes.batchDeleteRagDataSchemas, params: { parent: corpus }, body: { names } }),
          "list the corpus's data schemas"
        )
      }),
      create: Effect.fn("HostedFileMetadata.create")(function*(file, metadata) {
        const requests = metadata.map(({ id, ...spec }) => ({
          parent: file as string,
          ragMetadata: fileMetadataToWire(spec),
          ragMetadataId: id
        }))
        const response = yield* made(
          transport.callOnce({ route: routes.batchCreateRagMetadata, params: { parent: file }, body: { requests } }),
          "list the file's metadata"
        )
        const { ragMetadata = [] } = yield* read("batchCreateRagMetadata", BatchCreateRagMetadataResponse, response)
        return yield* Effect.forEach(ragMetadata, (each) => Effect.fromResult(namedMetadataFromWire(each)))
      }),
      update: Effect.fn("HostedFileMetadata.update")(function*(name, spec) {
        const body = fileMetadataToWire({ ...spec, name })
        return yield* Effect.fromResult(
          namedMetadataFromWire(yield* transport.call({ route: routes.updateRagMetadata, params: { name }, body }))
        )
      }),
      get: Effect.fn("HostedFileMetadata.get")(function*(name: FileMetadataName) {
        return yield* Effect.fromResult(namedMetadataFromWire(yield* transport.call({ route: routes.getRagMetadata, params: { name } })))
      }),
      list: Effect.fn("HostedFileMetadata.list")(function*(file: RagFileName, page) {
        const listed = yield* transport.call({ route: routes.listRagMetadata, params: { parent: file }, query: pageQuery(page) })
        return yield* pageOf(page, listed.ragMetadata, listed.nextPageToken, namedMetadataFromWire)
      }),
      delete: Effect.fn("HostedFileMetadata.delete")(function*(file, names) {
        if (names.some((name) => fileOfMetadata(name) !== file)) return yield* ServiceError.invalid("names", "must all be of the file")
        yield* made(
          transport.callOnce({ route: routes.batchDeleteRagMetadata, params: { parent: file }, body: { names } }),
          "list the file's metadata"
        )
      })
    })
  })
)
