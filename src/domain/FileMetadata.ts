import { Result, Schema } from "effect"
import { CorpusName } from "./Corpus.ts"
import { ServiceError } from "./Errors.ts"
import { type PlainValue, RagFileName } from "./RagFile.ts"

/**
 * What people write of a file, by keys that a corpus knows the type of: RagMetadata and RagDataSchema of the API. It is
 * kept with the file, stays when a newer version takes the file's place, and filters retrieval (`MetadataFilter.ts`).
 */

/** `{corpus}/ragDataSchemas/{schema}` */
export const DataSchemaName = Schema.NonEmptyString.pipe(Schema.brand("DataSchemaName"))
export type DataSchemaName = typeof DataSchemaName.Type

/** `{file}/ragMetadata/{metadata}` */
export const FileMetadataName = Schema.NonEmptyString.pipe(Schema.brand("FileMetadataName"))
export type FileMetadataName = typeof FileMetadataName.Type

const Scalar = Schema.Union([
  /** A decimal number of 64 bits: JSON numbers end at 2^53. */
  Schema.TaggedStruct("integer", { value: Schema.String }),
  Schema.TaggedStruct("float", { value: Schema.Finite }),
  Schema.TaggedStruct("string", { value: Schema.String }),
  /** As it was written: `2026`, `2026-03`, `2026-03-01`, `2026-03-01T08:30`, RFC 3339. */
  Schema.TaggedStruct("datetime", { value: Schema.String }),
  Schema.TaggedStruct("boolean", { value: Schema.Boolean })
])
export type ScalarValue = typeof Scalar.Type

/** A value that people give a file, tagged by its type. A list's values are of one type. */
export const MetadataValue = Schema.Union([...Scalar.members, Schema.TaggedStruct("list", { values: Schema.Array(Scalar) })])
export type MetadataValue = typeof MetadataValue.Type

const ScalarType = Schema.Literals(["integer", "float", "string", "datetime", "boolean"])
export type ScalarType = typeof ScalarType.Type

export const DataSchemaSpec = Schema.Struct({
  /** Unique in the corpus; 1 to 63 of `a-z`, `0-9` and `-`, a letter first. */
  key: Schema.String,
  type: Schema.Union([ScalarType, Schema.Literal("list")]),
  /** What a list has. */
  element: Schema.optionalKey(ScalarType),
  /** `none`: a filter may not name the key. Unset: `exact`. */
  search: Schema.optionalKey(Schema.Literals(["none", "exact"])),
  /** The only one there is. */
  granularity: Schema.optionalKey(Schema.Literal("file"))
})
export type DataSchemaSpec = typeof DataSchemaSpec.Type

/** A key that files of a corpus may carry, with the type of its values. Filters are checked against it. */
export interface DataSchema extends DataSchemaSpec {
  readonly name: DataSchemaName
}

/** One key of a file with its value. The key has a data schema in the corpus, which the value keeps to. */
export interface FileMetadataSpec {
  readonly key: string
  readonly value: MetadataValue
}

/** What is stored of one key of one file, under a name of its own. */
export interface FileMetadata extends FileMetadataSpec {
  readonly name: FileMetadataName
}

/** One to be made; its id is the key's own, unless it is given. */
export interface NewDataSchema extends DataSchemaSpec {
  readonly id?: string
}

/** One to be made; its id is made up, unless it is given. */
export interface NewFileMetadata extends FileMetadataSpec {
  readonly id?: string
}

/** Schemas or pieces of metadata of one request. */
export const mostOfABatch = 500

export const corpusOfSchema = (name: DataSchemaName): CorpusName =>
  CorpusName.make(name.slice(0, Math.max(0, name.lastIndexOf("/ragDataSchemas/"))) || name)
export const fileOfMetadata = (name: FileMetadataName): RagFileName =>
  RagFileName.make(name.slice(0, Math.max(0, name.lastIndexOf("/ragMetadata/"))) || name)

const idForm = /^[a-z](?:[a-z0-9-]{0,61}[a-z0-9])?$/
const idRule = "must have 1 to 63 of the letters a-z, digits and -, a letter first and no - at the end"

/** Why a schema cannot be made. */
export const badDataSchema = ({ element, id, key, type }: NewDataSchema): ServiceError | undefined => {
  if (!idForm.test(key)) return ServiceError.invalid("rag_data_schema.key", idRule)
  if (id !== undefined && !idForm.test(id)) return ServiceError.invalid("rag_data_schema_id", idRule)
  if ((type === "list") !== (element !== undefined)) {
    return ServiceError.invalid(
      "rag_data_schema.schema_details.list_config",
      type === "list" ? "must name the type of the list's values" : "is for lists only"
    )
  }
  return undefined
}

export const badMetadataId = (id: string | undefined): ServiceError | undefined =>
  id === undefined || idForm.test(id) ? undefined : ServiceError.invalid("rag_metadata_id", idRule)

/** A value as its schema has it, or why it is none: what can be converted without a loss is. */
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

export const textOf = (value: ScalarValue): string => String(value.value)

/** A text as a value of a type; undefined where it is none. */
export const asType = (type: ScalarType, text: string): ScalarValue | undefined => {
  switch (type) {
    case "integer": {
      if (!/^[+-]?\d{1,19}$/.test(text)) return undefined
      const value = BigInt(text)
      return value === BigInt.asIntN(64, value) ? { _tag: "integer", value: String(value) } : undefined
    }
    case "float": {
      const value = number(text)
      return value === undefined ? undefined : { _tag: "float", value }
    }
    case "string":
      return { _tag: "string", value: text }
    case "datetime":
      return instantOf(text) === undefined ? undefined : { _tag: "datetime", value: text }
    case "boolean":
      return text === "true" || text === "false" ? { _tag: "boolean", value: text === "true" } : undefined
  }
}

export const number = (text: string): number | undefined =>
  /^[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?$/.test(text) && Number.isFinite(Number(text)) ? Number(text) : undefined

const dateForm = /^(\d{4})(?:-(\d\d)(?:-(\d\d)(?:T(\d\d)(?::(\d\d)(?::(\d\d)(?:\.(\d{1,9}))?)?)?)?(Z|[+-]\d\d:?\d\d)?)?)?$/

/** Microseconds since the epoch of a date in any form that the API takes; without a zone it is UTC. */
export const instantOf = (text: string): number | undefined => {
  const [, year, month = "01", day = "01", hour = "00", minute = "00", second = "00", fraction = "", zone = "Z"] = dateForm.exec(text) ?? []
  if (year === undefined) return undefined
  const at = Date.parse(`${year}-${month}-${day}T${hour}:${minute}:${second}Z`)
  // Date.parse takes 30 February for 2 March.
  if (Number.isNaN(at) || new Date(at).getUTCDate() !== Number(day)) return undefined
  const [, sign, hours = "0", minutes = "0"] = /^([+-])(\d\d):?(\d\d)$/.exec(zone) ?? []
  const offset = (Number(hours) * 60 + Number(minutes)) * (sign === "-" ? -60_000 : 60_000)
  return (at - offset) * 1000 + Number(fraction.slice(0, 6).padEnd(6, "0"))
}

/** A value as JSON has it; whole numbers beyond 2^53 stay text. */
export const plain = (value: MetadataValue): PlainValue => value._tag === "list" ? value.values.map(plainScalar) : plainScalar(value)

const plainScalar = (value: ScalarValue): string | number | boolean =>
  value._tag === "integer" && Number.isSafeInteger(Number(value.value)) ? Number(value.value) : value.value
