import { Effect } from "effect"
import { ServiceError } from "../../domain/Errors.ts"
import {
  type DataSchema,
  DataSchemaName,
  type FileMetadata,
  FileMetadataName,
  corpusOfSchema,
  fileOfMetadata
} from "../../domain/FileMetadata.ts"
import { FileMetadataStore } from "../../ports/FileMetadataStore.ts"
import {
  dataSchemaToWire,
  fileMetadataFromWire,
  fileMetadataToWire,
  newMetadataFromWire,
  newSchemaFromWire
} from "../../wire/rag/FileMetadata.ts"
import { type Handlers, take } from "../Call.ts"
import type { ClientNames } from "../ClientNames.ts"
import { LongRunning } from "../operations/LongRunning.ts"
import { answered } from "./Operations.ts"
import { nextPage, pageOf } from "./Paging.ts"

type Methods = Pick<
  Handlers,
  | "createRagDataSchema"
  | "batchCreateRagDataSchemas"
  | "getRagDataSchema"
  | "listRagDataSchemas"
  | "deleteRagDataSchema"
  | "batchDeleteRagDataSchemas"
  | "createRagMetadata"
  | "batchCreateRagMetadata"
  | "updateRagMetadata"
  | "getRagMetadata"
  | "listRagMetadata"
  | "deleteRagMetadata"
  | "batchDeleteRagMetadata"
>

/** Custom metadata of files, and the schemas of its keys. */
export const fileMetadataHandlers = (defaultEmbedding: string): Effect.Effect<Methods, never, FileMetadataStore | LongRunning> =>
  Effect.gen(function*() {
    const store = yield* FileMetadataStore
    const operations = yield* LongRunning

    const schemaName = (names: ClientNames, name: string) => DataSchemaName.make(names.toEngine(name))
    const metadataName = (names: ClientNames, name: string) => FileMetadataName.make(names.toEngine(name))
    const schemaToClient = (names: ClientNames) => (schema: DataSchema) => dataSchemaToWire(names.renamed(schema))
    const metadataToClient = (names: ClientNames) => (metadata: FileMetadata) => fileMetadataToWire(names.renamed(metadata))

    return {
      createRagDataSchema: Effect.fnUntraced(function*({ body, names, params, query }) {
        const schema = yield* take(newSchemaFromWire(body, query.ragDataSchemaId))
        return yield* only(
          Effect.map(store.createSchemas(names.corpus(params.parent), [schema]), (made) => made.map(schemaToClient(names)))
        )
      }),
      batchCreateRagDataSchemas: Effect.fnUntraced(function*({ body, names, params, slowBy, version }) {
        const corpus = names.corpus(params.parent)
        const requests = yield* some(body.requests, params.parent)
        const wanted = yield* Effect.forEach(requests, (request) => take(newSchemaFromWire(request.ragDataSchema, request.ragDataSchemaId)))
        const schemas = yield* store.createSchemas(corpus, wanted)
        return answered(yield* operations.finished("createDataSchemas", corpus, { schemas, slowBy }), version, names, defaultEmbedding)
      }),
      getRagDataSchema: ({ names, params }) => Effect.map(store.getSchema(schemaName(names, params.name)), schemaToClient(names)),
      listRagDataSchemas: ({ names, params, query }) =>
        Effect.map(store.listSchemas(names.corpus(params.parent), pageOf(query)), ({ items, nextToken }) => ({
          ragDataSchemas: items.map(schemaToClient(names)),
          ...nextPage(nextToken)
        })),
      deleteRagDataSchema: ({ names, params }) => {
        const name = schemaName(names, params.name)
        return Effect.as(store.deleteSchemas(corpusOfSchema(name), [name]), {})
      },
      batchDeleteRagDataSchemas: Effect.fnUntraced(function*({ body, names, params, slowBy, version }) {
        const corpus = names.corpus(params.parent)
        yield* store.deleteSchemas(corpus, (body.names ?? []).map((name) => schemaName(names, name)))
        return answered(yield* operations.finished("deleteDataSchemas", corpus, { slowBy }), version, names, defaultEmbedding)
      }),

      createRagMetadata: Effect.fnUntraced(function*({ body, names, params, query }) {
        const metadata = yield* take(newMetadataFromWire(body, query.ragMetadataId))
        return yield* only(Effect.map(store.create(names.file(params.parent), [metadata]), (made) => made.map(metadataToClient(names))))
      }),
      batchCreateRagMetadata: Effect.fnUntraced(function*({ body, names, params, slowBy, version }) {
        const file = names.file(params.parent)
        const requests = yield* some(body.requests, params.parent)
        const wanted = yield* Effect.forEach(requests, (request) => take(newMetadataFromWire(request.ragMetadata, request.ragMetadataId)))
        const metadata = yield* store.create(file, wanted)
        return answered(yield* operations.finished("createFileMetadata", file, { metadata, slowBy }), version, names, defaultEmbedding)
      }),
      updateRagMetadata: Effect.fnUntraced(function*({ body, names, params }) {
        return metadataToClient(names)(yield* store.update(metadataName(names, params.name), yield* take(fileMetadataFromWire(body))))
      }),
      getRagMetadata: ({ names, params }) => Effect.map(store.get(metadataName(names, params.name)), metadataToClient(names)),
      listRagMetadata: ({ names, params, query }) =>
        Effect.map(store.list(names.file(params.parent), pageOf(query)), ({ items, nextToken }) => ({
          ragMetadata: items.map(metadataToClient(names)),
          ...nextPage(nextToken)
        })),
      deleteRagMetadata: ({ names, params }) => {
        const name = metadataName(names, params.name)
        return Effect.as(store.delete(fileOfMetadata(name), [name]), {})
      },
      batchDeleteRagMetadata: Effect.fnUntraced(function*({ body, names, params, slowBy, version }) {
        const file = names.file(params.parent)
        yield* store.delete(file, (body.names ?? []).map((name) => metadataName(names, name)))
        return answered(yield* operations.finished("deleteFileMetadata", file, { slowBy }), version, names, defaultEmbedding)
      })
    }
  })

/** The only item of a batch of one. */
const only = <A>(made: Effect.Effect<ReadonlyArray<A>, ServiceError>): Effect.Effect<A, ServiceError> =>
  Effect.flatMap(made, ([first]) => first === undefined ? Effect.fail(ServiceError.internal("nothing was made")) : Effect.succeed(first))

/** The requests of a batch, checked: there is at least one, and none names another parent than the batch. */
const some = <R extends { readonly parent?: string }>(
  requests: ReadonlyArray<R> | undefined,
  parent: string
): Effect.Effect<ReadonlyArray<R>, ServiceError> => {
  if (requests === undefined || requests.length === 0) return Effect.fail(ServiceError.invalid("requests", "Required field is not set."))
  const other = requests.findIndex((request) => request.parent !== undefined && request.parent !== "" && request.parent !== parent)
  return other < 0
    ? Effect.succeed(requests)
    : Effect.fail(ServiceError.invalid(`requests[${other}].parent`, "must be the parent of the batch"))
}
