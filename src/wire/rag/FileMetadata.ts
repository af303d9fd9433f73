import { Result } from "effect"
import { ServiceError } from "../../domain/Errors.ts"
import {
  type DataSchema,
  DataSchemaName,
  type FileMetadata,
  FileMetadataName,
  type NewDataSchema,
  type NewFileMetadata
} from "../../domain/FileMetadata.ts"
import type { DataSchemaSpec, FileMetadataSpec, MetadataValue, ScalarType, ScalarValue } from "../../domain/MetadataValue.ts"
import type * as Wire from "../messages/RagMetadata.ts"
import { defined, required, text } from "../Optional.ts"

const types = { integer: "INTEGER", float: "FLOAT", string: "STRING", datetime: "DATETIME", boolean: "BOOLEAN", list: "LIST" } as const
const scalars: ReadonlyArray<ScalarType> = ["integer", "float", "string", "datetime", "boolean"]
const searches = { none: "NO_SEARCH", exact: "EXACT_SEARCH" } as const

export const dataSchemaToWire = (
  { element, granularity, key, name, search, type }: DataSchemaSpec & { readonly name?: DataSchemaName }
): Wire.RagDataSchema =>
  defined({
    name,
    key,
    schemaDetails: defined({
      type: types[type],
      listConfig: element === undefined ? undefined : { valueSchema: { type: types[element] } },
      granularity: granularity === undefined ? undefined : "GRANULARITY_FILE_LEVEL",
      searchStrategy: search === undefined ? undefined : { searchStrategyType: searches[search] }
    })
  })

export const dataSchemaFromWire = (wire: Wire.RagDataSchema): Result.Result<DataSchemaSpec, ServiceError> =>
  Result.gen(function*() {
    const at = "rag_data_schema.schema_details"
    const details = wire.schemaDetails ?? {}
    const { granularity = "GRANULARITY_UNSPECIFIED", listConfig, searchStrategy } = details
    const strategy = searchStrategy?.searchStrategyType ?? "SEARCH_STRATEGY_TYPE_UNSPECIFIED"
    const search = strategy === "NO_SEARCH" ? "none" as const : strategy === "EXACT_SEARCH" ? "exact" as const : undefined
    if (search === undefined && strategy !== "SEARCH_STRATEGY_TYPE_UNSPECIFIED") {
      return yield* unknown(`${at}.search_strategy.search_strategy_type`, strategy)
    }
    if (!["GRANULARITY_UNSPECIFIED", "GRANULARITY_FILE_LEVEL"].includes(granularity)) {
      return yield* unknown(`${at}.granularity`, granularity)
    }
    const key = yield* required(wire.key, "rag_data_schema.key")
    const type = yield* typeOf(details.type, `${at}.type`)
    const element = listConfig?.valueSchema === undefined
      ? undefined
      : yield* typeOf(listConfig.valueSchema.type, `${at}.list_config.value_schema.type`)
    if (element === "list") {
      return yield* Result.fail(ServiceError.invalid(`${at}.list_config.value_schema.type`, "a list has no lists in it"))
    }
    return defined({ key, type, element, search, granularity: granularity === "GRANULARITY_FILE_LEVEL" ? "file" as const : undefined })
  })

/** Decodes a schema that a service returned. */
export const namedSchemaFromWire = (wire: Wire.RagDataSchema): Result.Result<DataSchema, ServiceError> =>
  Result.flatMap(
    required(wire.name, "name"),
    (name) => Result.map(dataSchemaFromWire(wire), (spec) => ({ name: DataSchemaName.make(name), ...spec }))
  )

export const newSchemaFromWire = (
  wire: Wire.RagDataSchema | undefined,
  id: string | undefined
): Result.Result<NewDataSchema, ServiceError> =>
  Result.map(dataSchemaFromWire(wire ?? {}), (schema) => defined({ ...schema, id: text(id) }))

export const fileMetadataToWire = ({ key, name, value }: FileMetadataSpec & { readonly name?: FileMetadataName }): Wire.RagMetadata =>
  defined({ name, userSpecifiedMetadata: { key, value: valueToWire(value) } })

export const fileMetadataFromWire = ({ userSpecifiedMetadata }: Wire.RagMetadata): Result.Result<FileMetadataSpec, ServiceError> =>
  Result.gen(function*() {
    const at = "rag_metadata.user_specified_metadata"
    const key = yield* required(userSpecifiedMetadata?.key, `${at}.key`)
    return { key, value: yield* valueFromWire(yield* required(userSpecifiedMetadata?.value, `${at}.value`), `${at}.value`) }
  })

/** Decodes metadata that a service returned. */
export const namedMetadataFromWire = (wire: Wire.RagMetadata): Result.Result<FileMetadata, ServiceError> =>
  Result.flatMap(
    required(wire.name, "name"),
    (name) => Result.map(fileMetadataFromWire(wire), (spec) => ({ name: FileMetadataName.make(name), ...spec }))
  )

export const newMetadataFromWire = (
  wire: Wire.RagMetadata | undefined,
  id: string | undefined
): Result.Result<NewFileMetadata, ServiceError> =>
  Result.map(fileMetadataFromWire(wire ?? {}), (metadata) => defined({ ...metadata, id: text(id) }))

const unknown = (field: string, given: string) => Result.fail(ServiceError.invalid(field, `is not known: ${given}`))

const typeOf = (wire: string | undefined, field: string): Result.Result<DataSchemaSpec["type"], ServiceError> => {
  const type = ([...scalars, "list"] as const).find((each) => types[each] === wire)
  if (type !== undefined) return Result.succeed(type)
  return wire === undefined || wire === "DATA_TYPE_UNSPECIFIED"
    ? Result.fail(ServiceError.invalid(field, "Required field is not set."))
    : unknown(field, wire)
}

const valueToWire = (value: MetadataValue): Wire.MetadataValue => {
  switch (value._tag) {
    case "integer":
      return { intValue: value.value }
    case "float":
      return { floatValue: value.value }
    case "string":
      return { strValue: value.value }
    case "datetime":
      return { datetimeValue: value.value }
    case "boolean":
      return { boolValue: value.value }
    case "list":
      return { listValue: { values: value.values.map(valueToWire) } }
  }
}

const scalarFromWire = ({ boolValue, datetimeValue, floatValue, intValue, strValue }: Wire.MetadataValue): ScalarValue | undefined => {
  if (intValue !== undefined) return { _tag: "integer", value: intValue }
  if (floatValue !== undefined) return Number.isFinite(floatValue) ? { _tag: "float", value: floatValue } : undefined
  if (strValue !== undefined) return { _tag: "string", value: strValue }
  if (datetimeValue !== undefined) return { _tag: "datetime", value: datetimeValue }
  return boolValue === undefined ? undefined : { _tag: "boolean", value: boolValue }
}

const valueFromWire = (wire: Wire.MetadataValue, field: string): Result.Result<MetadataValue, ServiceError> => {
  if (wire.listValue === undefined) {
    const scalar = scalarFromWire(wire)
    return scalar === undefined ? Result.fail(ServiceError.invalid(field, "Required field is not set.")) : Result.succeed(scalar)
  }
  const values = (wire.listValue.values ?? []).map(scalarFromWire)
  const found = values.filter((value) => value !== undefined)
  return found.length === values.length
    ? Result.succeed({ _tag: "list", values: found })
    : Result.fail(ServiceError.invalid(`${field}.list_value.values`, "must be single values, not lists"))
}
