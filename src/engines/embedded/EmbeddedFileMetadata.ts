import { Effect, Layer } from "effect"
import type { CorpusName } from "../../domain/Corpus.ts"
import { ServiceError } from "../../domain/Errors.ts"
import {
  badDataSchema,
  badMetadataId,
  type DataSchema,
  type DataSchemaName,
  type FileMetadata,
  type FileMetadataName,
  mostOfABatch
} from "../../domain/FileMetadata.ts"
import type { RagFileName } from "../../domain/RagFile.ts"
import { FileMetadataStore } from "../../ports/FileMetadataStore.ts"
import { newId } from "../../domain/Stamps.ts"
import type { Names } from "./Names.ts"
import { Reader } from "./store/Reader.ts"
import { dataSchemaOfRow, metadataOfFileRow } from "./store/Rows.ts"
import { Writer } from "./store/Writer.ts"

/** The FileMetadataStore port over the store. */
export const embeddedFileMetadata = (names: Names): Layer.Layer<FileMetadataStore, never, Reader | Writer> =>
  Layer.effect(
    FileMetadataStore,
    Effect.gen(function*() {
      const reader = yield* Reader
      const writer = yield* Writer

      const corpusIds = Effect.fnUntraced(function*(corpus: CorpusName) {
        const asked = yield* names.corpusId(corpus)
        const { id, name } = yield* reader.corpus(asked)
        return { asked, name, id }
      })

      const fileIds = Effect.fnUntraced(function*(file: RagFileName) {
        const { corpus, file: name } = yield* names.fileIds(file)
        const { id, name: stored } = yield* reader.corpus(corpus)
        const row = yield* reader.find("files", name, id)
        return row === undefined ? yield* ServiceError.notFound(`file ${file}`) : { corpus: stored, name, id: Number(row["id"]) }
      })

      const getSchema = Effect.fn("FileMetadataStore.getSchema")(
        function*(name: DataSchemaName): Effect.fn.Return<DataSchema, ServiceError> {
          const { corpus, schema } = yield* names.schemaIds(name)
          const row = yield* reader.find("data_schemas", schema, (yield* reader.corpus(corpus)).id)
          return row === undefined ? yield* ServiceError.notFound(`data schema ${name}`) : dataSchemaOfRow(row, corpus, names)
        }
      )

      const get = Effect.fn("FileMetadataStore.get")(function*(name: FileMetadataName): Effect.fn.Return<FileMetadata, ServiceError> {
        const { file, metadata } = yield* names.metadataIds(name)
        const { id } = yield* fileIds(file)
        const row = yield* reader.find("file_metadata", metadata, id)
        return row === undefined ? yield* ServiceError.notFound(`metadata ${name}`) : metadataOfFileRow(row, file)
      })

      return FileMetadataStore.of({
        createSchemas: Effect.fn("FileMetadataStore.createSchemas")(function*(corpus, schemas) {
          const { asked, name } = yield* corpusIds(corpus)
          yield* notTooMany(schemas.length)
          for (const schema of schemas) yield* refuse(badDataSchema(schema))
          const made = schemas.map(({ id, ...schema }) => ({ ...schema, name: id ?? schema.key }))
          yield* writer.send("createSchemas", { corpus: name, schemas: made })
          return yield* Effect.forEach(made, (schema) => getSchema(names.schema(asked, schema.name)))
        }),
        getSchema,
        listSchemas: Effect.fn("FileMetadataStore.listSchemas")(function*(corpus, request) {
          const { asked, id } = yield* corpusIds(corpus)
          const page = yield* reader.page("data_schemas", request, id)
          return { ...page, items: page.items.map((row) => dataSchemaOfRow(row, asked, names)) }
        }),
        deleteSchemas: Effect.fn("FileMetadataStore.deleteSchemas")(function*(corpus, schemas) {
          const { asked, name } = yield* corpusIds(corpus)
          yield* notTooMany(schemas.length)
          const ids = yield* Effect.forEach(schemas, (schema) => names.schemaIds(schema))
          if (ids.some((each) => each.corpus !== asked)) return yield* ServiceError.invalid("names", "must all be of the corpus")
          yield* writer.send("deleteSchemas", { corpus: name, schemas: ids.map(({ schema }) => schema) })
        }),
        create: Effect.fn("FileMetadataStore.create")(function*(file, metadata) {
          const { corpus, name } = yield* fileIds(file)
          yield* notTooMany(metadata.length)
          for (const { id } of metadata) yield* refuse(badMetadataId(id))
          const made = metadata.map(({ id, ...spec }) => ({ ...spec, name: id ?? newId() }))
          yield* writer.send("createMetadata", { corpus, file: name, metadata: made })
          return yield* Effect.forEach(made, (each) => get(names.metadata(file, each.name)))
        }),
        update: Effect.fn("FileMetadataStore.update")(function*(name, spec) {
          const { file, metadata } = yield* names.metadataIds(name)
          const { corpus, name: stored } = yield* fileIds(file)
          yield* writer.send("updateMetadata", { corpus, file: stored, name: metadata, spec: { key: spec.key, value: spec.value } })
          return yield* get(name)
        }),
        get,
        list: Effect.fn("FileMetadataStore.list")(function*(file, request) {
          const page = yield* reader.page("file_metadata", request, (yield* fileIds(file)).id)
          return { ...page, items: page.items.map((row) => metadataOfFileRow(row, file)) }
        }),
        delete: Effect.fn("FileMetadataStore.delete")(function*(file, metadata) {
          const { corpus, name } = yield* fileIds(file)
          yield* notTooMany(metadata.length)
          const ids = yield* Effect.forEach(metadata, (each) => names.metadataIds(each))
          if (ids.some((each) => each.file !== file)) return yield* ServiceError.invalid("names", "must all be of the file")
          yield* writer.send("deleteMetadata", { corpus, file: name, metadata: ids.map((each) => each.metadata) })
        })
      })
    })
  )

const refuse = (error: ServiceError | undefined): Effect.Effect<void, ServiceError> =>
  error === undefined ? Effect.void : Effect.fail(error)

const notTooMany = (count: number): Effect.Effect<void, ServiceError> =>
  refuse(count > mostOfABatch ? ServiceError.invalid("requests", `must be no more than ${mostOfABatch}`) : undefined)
