import { Result, Schema } from "effect"
import { CorpusName } from "./Corpus.ts"
import {
  asType,
  type DataSchemaSpec,
  type FileMetadataSpec,
  idRule,
  isMetadataKey,
  type MetadataValue,
  type ScalarValue,
  textOf
} from "./MetadataValue.ts"
import { ServiceError } from "./Errors.ts"
import { type PlainValue, RagFileName } from "./RagFile.ts"

/**
 * User-defined metadata of files, by keys whose types the corpus knows: RagMetadata and RagDataSchema of the API. It is
 * stored with the file, stays when a newer version replaces the file, and can be used in filters of retrieval
 * (`MetadataFilter.ts`).
 */

/** Name of a data schema: `{corpus}/ragDataSchemas/{schema}`. */
export const DataSchemaName = Schema.NonEmptyString.pipe(Schema.brand("DataSchemaName"))
export type DataSchemaName = typeof DataSchemaName.Type

/** Name of a piece of metadata: `{file}/ragMetadata/{metadata}`. */
export const FileMetadataName = Schema.NonEmptyString.pipe(Schema.brand("FileMetadataName"))
export type FileMetadataName = typeof FileMetadataName.Type

/** A key that files of a corpus can have, with the type of its values. Filters are checked against it. */
export interface DataSchema extends DataSchemaSpec {
  readonly name: DataSchemaName
}

/** The value of one key of one file, as a resource with its own name. */
export interface FileMetadata extends FileMetadataSpec {
  readonly name: FileMetadataName
}

/** A data schema to create; its id is the key, unless given. */
export interface NewDataSchema extends DataSchemaSpec {
  readonly id?: string
}

/** Metadata to create; its id is generated, unless given. */
export interface NewFileMetadata extends FileMetadataSpec {
  readonly id?: string
}

/** Most schemas or pieces of metadata of one request. */
export const mostOfABatch = 500

export const corpusOfSchema = (name: DataSchemaName): CorpusName =>
  CorpusName.make(name.slice(0, Math.max(0, name.lastIndexOf("/ragDataSchemas/"))) || name)
export const fileOfMetadata = (name: FileMetadataName): RagFileName =>
  RagFileName.make(name.slice(0, Math.max(0, name.lastIndexOf("/ragMetadata/"))) || name)

/** Why a schema cannot be created, if so. */
export const badDataSchema = ({ element, id, key, type }: NewDataSchema): ServiceError | undefined => {
  if (!isMetadataKey(key)) return ServiceError.invalid("rag_data_schema.key", idRule)
  if (id !== undefined && !isMetadataKey(id)) return ServiceError.invalid("rag_data_schema_id", idRule)
  if ((type === "list") !== (element !== undefined)) {
    return ServiceError.invalid(
      "rag_data_schema.schema_details.list_config",
      type === "list" ? "must name the type of the list's values" : "is for lists only"
    )
  }
  return undefined
}

export const badMetadataId = (id: string | undefined): ServiceError | undefined =>
  id === undefined || isMetadataKey(id) ? undefined : ServiceError.invalid("rag_metadata_id", idRule)

/** Converts a value to the type of its schema, where no information is lost, or says why it cannot be. */
export const fitted = (
  schema: DataSchemaSpec | undefined,
  { key, value }: FileMetadataSpec
): Result.Result<MetadataValue, ServiceError> => {
  if (schema === undefined) {
    return Result.fail(
      ServiceError.invalid(
        "rag_metadata.user_specified_metadata.key",
        `the corpus has no data schema with the key ${JSON.stringify(key)}`,
        "create the RagDataSchema first"
      )
    )
  }
  const at = "rag_metadata.user_specified_metadata.value"
  const cannot = (type: string) => Result.fail(ServiceError.invalid(at, `the data schema of ${key} wants ${type}, and this is none`))
  if (schema.type !== "list") {
    const scalar = value._tag === "list" ? undefined : asType(schema.type, textOf(value))
    return scalar === undefined ? cannot(`${schema.type === "integer" ? "an" : "a"} ${schema.type}`) : Result.succeed(scalar)
  }
  const element = schema.element ?? "string"
  const values = value._tag === "list" ? value.values.map((each) => asType(element, textOf(each))) : [undefined]
  const fit = values.filter((each) => each !== undefined)
  return fit.length === values.length ? Result.succeed({ _tag: "list", values: fit }) : cannot(`a list of ${element} values`)
}

/** A value as JSON; integers beyond 2^53 stay text. */
export const plain = (value: MetadataValue): PlainValue => value._tag === "list" ? value.values.map(plainScalar) : plainScalar(value)

const plainScalar = (value: ScalarValue): string | number | boolean =>
  value._tag === "integer" && Number.isSafeInteger(Number(value.value)) ? Number(value.value) : value.value
