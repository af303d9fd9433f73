import { Schema } from "effect"

/** The parts that are used of the server's responses. */
export const Collection = Schema.Struct({
  class: Schema.String,
  properties: Schema.optionalKey(Schema.NullOr(Schema.Array(Schema.Struct({ name: Schema.String })))),
  vectorConfig: Schema.optionalKey(Schema.NullOr(Schema.Record(Schema.String, Schema.Unknown))),
  vectorIndexConfig: Schema.optionalKey(Schema.NullOr(Schema.Struct({ distance: Schema.optionalKey(Schema.String) }))),
  multiTenancyConfig: Schema.optionalKey(Schema.NullOr(Schema.Struct({ enabled: Schema.optionalKey(Schema.Boolean) })))
})
export type Collection = typeof Collection.Type

export const Outcomes = Schema.Array(Schema.Struct({
  result: Schema.optionalKey(Schema.Struct({
    status: Schema.optionalKey(Schema.String),
    errors: Schema.optionalKey(Schema.NullOr(Schema.Struct({ error: Schema.Array(Schema.Struct({ message: Schema.String })) })))
  }))
}))

export const Deleted = Schema.Struct({
  results: Schema.Struct({ matches: Schema.Int, failed: Schema.optionalKey(Schema.Int), limit: Schema.optionalKey(Schema.Int) })
})

export const GraphQl = Schema.Struct({
  data: Schema.optionalKey(Schema.NullOr(Schema.Record(Schema.String, Schema.Unknown))),
  errors: Schema.optionalKey(Schema.NullOr(Schema.Array(Schema.Struct({ message: Schema.String }))))
})

export const Hits = Schema.Array(Schema.Struct({
  fileId: Schema.String,
  chunkOrdinal: Schema.NullOr(Schema.Int),
  _additional: Schema.Struct({
    distance: Schema.optionalKey(Schema.NullOr(Schema.Finite)),
    score: Schema.optionalKey(Schema.NullOr(Schema.String))
  })
}))

export const Found = Schema.Struct({
  dense: Schema.optionalKey(Schema.NullOr(Hits)),
  sparse: Schema.optionalKey(Schema.NullOr(Hits)),
  mixed: Schema.optionalKey(Schema.NullOr(Hits))
})

/** The properties of an object that are read. */
export const readProperties =
  "fileId chunkData fileOriginalUri chunkOrdinal chunkHeadings chunkByteStart chunkByteEnd chunkFirstPage chunkLastPage chunkRecord fileDisplayName fileMetadata filePermissions"
export const Read = Schema.Array(Schema.StructWithRest(
  Schema.Struct({ _additional: Schema.Struct({ vector: Schema.NullOr(Schema.Array(Schema.Finite)) }) }),
  [Schema.Record(Schema.String, Schema.Unknown)]
))
export const Listed = Schema.Struct({
  objects: Schema.optionalKey(Schema.NullOr(Schema.Array(Schema.Struct({
    id: Schema.String,
    properties: Schema.optionalKey(Schema.Record(Schema.String, Schema.Unknown))
  }))))
})
export const Records = Schema.Array(Schema.Struct({ fileId: Schema.String, chunkData: Schema.NullOr(Schema.String) }))
export const Tenants = Schema.Array(Schema.Struct({ name: Schema.String }))

export const Counted = Schema.Array(Schema.Struct({ meta: Schema.Struct({ count: Schema.Int }) }))
export const Grouped = Schema.Array(Schema.Struct({
  meta: Schema.Struct({ count: Schema.Int }),
  groupedBy: Schema.Struct({ value: Schema.NullOr(Schema.String) })
}))
export const Sampled = Schema.Array(Schema.Struct({ _additional: Schema.Struct({ vector: Schema.NullOr(Schema.Array(Schema.Finite)) }) }))
export const Nodes = Schema.Struct({
  nodes: Schema.Array(Schema.Struct({
    version: Schema.optionalKey(Schema.String),
    shards: Schema.optionalKey(Schema.NullOr(Schema.Array(Schema.Struct({ vectorQueueLength: Schema.optionalKey(Schema.Number) }))))
  }))
})
export const Meta = Schema.Struct({ version: Schema.String })
export const Shards = Schema.Array(Schema.Struct({ status: Schema.optionalKey(Schema.String) }))
