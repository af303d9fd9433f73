import { Context, type Effect } from "effect"
import type { CorpusName } from "../domain/Corpus.ts"
import type { ServiceError } from "../domain/Errors.ts"
import type { DataSchema, DataSchemaName, FileMetadata, FileMetadataName, NewDataSchema, NewFileMetadata } from "../domain/FileMetadata.ts"
import type { FileMetadataSpec } from "../domain/MetadataValue.ts"
import type { RagFileName } from "../domain/RagFile.ts"
import type { Page, PageRequest } from "./Paging.ts"

/**
 * What people write of files, by keys that the corpus knows the type of. Of many that are made or deleted at once, all
 * are or none is. A key or id that is there is `ALREADY_EXISTS`; one value a file and key.
 */
export class FileMetadataStore extends Context.Service<FileMetadataStore, {
  readonly createSchemas: (
    corpus: CorpusName,
    schemas: ReadonlyArray<NewDataSchema>
  ) => Effect.Effect<ReadonlyArray<DataSchema>, ServiceError>
  readonly getSchema: (name: DataSchemaName) => Effect.Effect<DataSchema, ServiceError>
  readonly listSchemas: (corpus: CorpusName, page: PageRequest) => Effect.Effect<Page<DataSchema>, ServiceError>
  /** What was written under their keys stays. */
  readonly deleteSchemas: (corpus: CorpusName, names: ReadonlyArray<DataSchemaName>) => Effect.Effect<void, ServiceError>
  /** Values are converted to the type that the corpus's schema of the key has; `INVALID_ARGUMENT` where they cannot be, or there is no schema. */
  readonly create: (file: RagFileName, metadata: ReadonlyArray<NewFileMetadata>) => Effect.Effect<ReadonlyArray<FileMetadata>, ServiceError>
  /** The key stays. */
  readonly update: (name: FileMetadataName, metadata: FileMetadataSpec) => Effect.Effect<FileMetadata, ServiceError>
  readonly get: (name: FileMetadataName) => Effect.Effect<FileMetadata, ServiceError>
  readonly list: (file: RagFileName, page: PageRequest) => Effect.Effect<Page<FileMetadata>, ServiceError>
  readonly delete: (file: RagFileName, names: ReadonlyArray<FileMetadataName>) => Effect.Effect<void, ServiceError>
}>()("sluice/ports/FileMetadataStore") {}
