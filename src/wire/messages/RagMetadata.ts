import {
  bool,
  enumeration,
  type Field,
  float,
  int32,
  int64,
  lazy,
  list,
  type Message,
  message,
  of,
  oneof,
  type Of,
  optional,
  string
} from "../Message.ts"

// Custom metadata of files, and the schemas of its keys. All of it is in v1beta1 only.

/** Type of a value. The values of a list are described the same way. */
export interface RagMetadataSchemaDetails {
  readonly type?: string
  readonly listConfig?: { readonly valueSchema?: RagMetadataSchemaDetails }
  readonly granularity?: string
  readonly searchStrategy?: { readonly searchStrategyType?: string }
}

const valueSchema: Field<RagMetadataSchemaDetails> = lazy((): Message<RagMetadataSchemaDetails> => RagMetadataSchemaDetails)

const RagMetadataSchemaDetails: Message<RagMetadataSchemaDetails> = message("RagMetadataSchemaDetails", {
  type: optional(
    enumeration("RagMetadataSchemaDetails.DataType", ["DATA_TYPE_UNSPECIFIED", "INTEGER", "FLOAT", "STRING", "DATETIME", "BOOLEAN", "LIST"])
  ),
  listConfig: of(message("RagMetadataSchemaDetails.ListConfig", { valueSchema })),
  granularity: optional(enumeration("RagMetadataSchemaDetails.Granularity", ["GRANULARITY_UNSPECIFIED", "GRANULARITY_FILE_LEVEL"])),
  searchStrategy: of(message("RagMetadataSchemaDetails.SearchStrategy", {
    searchStrategyType: optional(
      enumeration("RagMetadataSchemaDetails.SearchStrategy.SearchStrategyType", [
        "SEARCH_STRATEGY_TYPE_UNSPECIFIED",
        "NO_SEARCH",
        "EXACT_SEARCH"
      ])
    )
  }))
})

export const RagDataSchema = message("RagDataSchema", { name: string, key: string, schemaDetails: of(RagMetadataSchemaDetails) })
export type RagDataSchema = Of<typeof RagDataSchema>

export interface MetadataValue {
  readonly intValue?: string
  readonly floatValue?: number
  readonly strValue?: string
  readonly datetimeValue?: string
  readonly boolValue?: boolean
  readonly listValue?: { readonly values?: ReadonlyArray<MetadataValue> }
}

const inList: Field<MetadataValue> = lazy((): Message<MetadataValue> => MetadataValue)
const value = <A>(field: Field<A>): Field<A> => oneof("value", field)

const MetadataValue: Message<MetadataValue> = message("MetadataValue", {
  intValue: value(int64),
  floatValue: value(float),
  strValue: value(string),
  datetimeValue: value(string),
  boolValue: value(bool),
  listValue: value(of(message("MetadataList", { values: list(inList) })))
})

export const RagMetadata = message("RagMetadata", {
  name: string,
  userSpecifiedMetadata: of(message("UserSpecifiedMetadata", { key: string, value: of(MetadataValue) }))
})
export type RagMetadata = Of<typeof RagMetadata>

const page = { pageSize: int32, pageToken: string }

/** Query of the creation of a schema. */
export const CreateRagDataSchemaQuery = message("CreateRagDataSchemaRequest", { ragDataSchemaId: optional(string) })
/** Query of the creation of metadata. */
export const CreateRagMetadataQuery = message("CreateRagMetadataRequest", { ragMetadataId: optional(string) })
const CreateRagDataSchemaRequest = message("CreateRagDataSchemaRequest", {
  parent: string,
  ragDataSchema: of(RagDataSchema),
  ragDataSchemaId: optional(string)
})
const CreateRagMetadataRequest = message("CreateRagMetadataRequest", {
  parent: string,
  ragMetadata: of(RagMetadata),
  ragMetadataId: optional(string)
})

export const BatchCreateRagDataSchemasRequest = message("BatchCreateRagDataSchemasRequest", {
  requests: list(of(CreateRagDataSchemaRequest))
})
export const BatchCreateRagDataSchemasResponse = message("BatchCreateRagDataSchemasResponse", { ragDataSchemas: list(of(RagDataSchema)) })
export const ListRagDataSchemasRequest = message("ListRagDataSchemasRequest", page)
export const ListRagDataSchemasResponse = message("ListRagDataSchemasResponse", {
  ragDataSchemas: list(of(RagDataSchema)),
  nextPageToken: string
})
export const BatchDeleteRagDataSchemasRequest = message("BatchDeleteRagDataSchemasRequest", { names: list(string) })

export const BatchCreateRagMetadataRequest = message("BatchCreateRagMetadataRequest", { requests: list(of(CreateRagMetadataRequest)) })
export const BatchCreateRagMetadataResponse = message("BatchCreateRagMetadataResponse", { ragMetadata: list(of(RagMetadata)) })
export const ListRagMetadataRequest = message("ListRagMetadataRequest", page)
export const ListRagMetadataResponse = message("ListRagMetadataResponse", { ragMetadata: list(of(RagMetadata)), nextPageToken: string })
export const BatchDeleteRagMetadataRequest = message("BatchDeleteRagMetadataRequest", { names: list(string) })
