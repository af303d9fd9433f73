import { Schema } from "effect"

// The blocks that messages of a partner's model, Claude, consist of.

export const optional: typeof Schema.optional = Schema.optional
export const record = Schema.Record(Schema.String, Schema.Unknown)
export const nullableText = Schema.NullOr(Schema.String)

export const cached = {
  cacheControl: optional(Schema.NullOr(Schema.Struct({ type: Schema.Literal("ephemeral"), ttl: optional(Schema.Literals(["5m", "1h"])) })))
}
export const cacheKeys = { cacheControl: "cache_control" } as const

const citable = { citations: optional(Schema.NullOr(Schema.Struct({ enabled: optional(Schema.Boolean) }))) }

export const Text = Schema.Struct({
  type: Schema.Literal("text"),
  text: Schema.String,
  citations: optional(Schema.NullOr(Schema.Array(record))),
  ...cached
}).pipe(Schema.encodeKeys(cacheKeys))

const Base64 = Schema.Struct({ type: Schema.Literal("base64"), mediaType: Schema.String, data: Schema.String }).pipe(
  Schema.encodeKeys({ mediaType: "media_type" })
)
const PlainText = Schema.Struct({ type: Schema.Literal("text"), mediaType: Schema.String, data: Schema.String }).pipe(
  Schema.encodeKeys({ mediaType: "media_type" })
)

export const Image = Schema.Struct({ type: Schema.Literal("image"), source: Base64, ...cached }).pipe(Schema.encodeKeys(cacheKeys))

/** Content of a message: a list of blocks, or a string that stands for one text block. */
export const contentOf = <S extends Schema.Constraint>(block: S) => Schema.Union([Schema.String, Schema.Array(block)])

export const Document = Schema.Struct({
  type: Schema.Literal("document"),
  source: Schema.Union([
    Base64,
    PlainText,
    Schema.Struct({ type: Schema.Literal("content"), content: contentOf(Schema.Union([Text, Image])) })
  ]),
  title: optional(nullableText),
  context: optional(nullableText),
  ...citable,
  ...cached
}).pipe(Schema.encodeKeys(cacheKeys))

export const SearchResult = Schema.Struct({
  type: Schema.Literal("search_result"),
  source: Schema.String,
  title: Schema.String,
  content: Schema.Array(Text),
  ...citable,
  ...cached
}).pipe(Schema.encodeKeys(cacheKeys))

export const ToolUse = Schema.Struct({
  type: Schema.Literal("tool_use"),
  id: Schema.String,
  name: Schema.String,
  input: record,
  caller: optional(record),
  ...cached
}).pipe(Schema.encodeKeys(cacheKeys))

export const ToolResult = Schema.Struct({
  type: Schema.Literal("tool_result"),
  toolUseId: Schema.String,
  content: optional(contentOf(Schema.Union([Text, Image, Document, SearchResult]))),
  isError: optional(Schema.Boolean),
  ...cached
}).pipe(Schema.encodeKeys({ toolUseId: "tool_use_id", isError: "is_error", ...cacheKeys }))

export const Thinking = Schema.Struct({ type: Schema.Literal("thinking"), thinking: Schema.String, signature: Schema.String })
export const RedactedThinking = Schema.Struct({ type: Schema.Literal("redacted_thinking"), data: Schema.String })
