import { Context, type Effect } from "effect"
import type { CorpusName } from "../domain/Corpus.ts"
import type { ServiceError } from "../domain/Errors.ts"
import type { DataSchema, DataSchemaName, FileMetadata, FileMetadataName, NewDataSchema, NewFileMetadata } from "../domain/FileMetadata.ts"
import type { FileMetadataSpec } from "../domain/MetadataValue.ts"
import type { RagFileName } from "../domain/RagFile.ts"
import type { Page, PageRequest } from "./Paging.ts"

/**
 * User-defined metadata of files, by keys whose types the corpus knows. Creating or deleting several is all or nothing. A
 * key or id that exists is `ALREADY_EXISTS`; each file has one value per key.
 */
export class FileMetadataStore extends Context.Service<FileMetadataStore, {
  readonly createSchemas: (
    corpus: CorpusName,
    schemas: ReadonlyArray<NewDataSchema>
  ) => Effect.Effect<ReadonlyArray<DataSchema>, ServiceError>
  readonly getSchema: (name: DataSchemaName) => Effect.Effect<DataSchema, ServiceError>
  readonly listSchemas: (corpus: CorpusName, page: PageRequest) => Effect.Effect<Page<DataSchema>, ServiceError>
  /** Deletes schemas; values written under their keys stay. */
  readonly deleteSchemas: (corpus: CorpusName, names: ReadonlyArray<DataSchemaName>) => Effect.Effect<void, ServiceError>
  /**
   * Creates metadata of a file. Values are converted to the type in the corpus's schema of the key; `INVALID_ARGUMENT`
   * where they cannot be converted, or the key has no schema.
   */
  readonly create: (file: RagFileName, metadata: ReadonlyArray<NewFileMetadata>) => Effect.Effect<ReadonlyArray<FileMetadata>, ServiceError>
  /** Replaces a value; its key stays the same. */
  readonly update: (name: FileMetadataName, metadata: FileMetadataSpec) => Effect.Effect<FileMetadata, ServiceError>
  readonly get: (name: FileMetadataName) => Effect.Effect<FileMetadata, ServiceError>
  readonly list: (file: RagFileName, page: PageRequest) => Effect.Effect<Page<FileMetadata>, ServiceError>
  readonly delete: (file: RagFileName, names: ReadonlyArray<FileMetadataName>) => Effect.Effect<void, ServiceError>
}>()("sluice/ports/FileMetadataStore") {}
