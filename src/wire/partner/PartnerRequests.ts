import { Result, Schema, SchemaIssue } from "effect"
import { ServiceError } from "../../domain/Errors.ts"
import { anthropicVersion, type Conversation, type MessageRequest } from "../../domain/partner/PartnerChat.ts"
import { defined } from "../Optional.ts"
import { pathText } from "../JsonBody.ts"
import { isJsonObject, type Json, type JsonObject } from "../Message.ts"
import {
  cached,
  cacheKeys,
  contentOf,
  Document,
  Image,
  nullableText,
  optional,
  record,
  RedactedThinking,
  SearchResult,
  Text,
  Thinking,
  ToolResult,
  ToolUse
} from "./PartnerBlocks.ts"

// Requests to a partner's model, Claude: its own JSON, for which there are no protos. They are read as strictly as the model's
// server reads them.

const Turn = Schema.Struct({
  role: Schema.Literals(["user", "assistant"]),
  content: contentOf(Schema.Union([Text, Image, Document, SearchResult, ToolUse, ToolResult, Thinking, RedactedThinking]))
})

const Tool = Schema.Struct({
  name: Schema.String,
  description: optional(Schema.String),
  inputSchema: optional(record),
  type: optional(nullableText),
  strict: optional(Schema.NullOr(Schema.Boolean)),
  eagerInputStreaming: optional(Schema.NullOr(Schema.Boolean)),
  inputExamples: optional(Schema.Array(record)),
  ...cached
}).pipe(Schema.encodeKeys({
  inputSchema: "input_schema",
  eagerInputStreaming: "eager_input_streaming",
  inputExamples: "input_examples",
  ...cacheKeys
}))

const parallel = { disableParallelToolUse: optional(Schema.Boolean) }
const parallelKeys = { disableParallelToolUse: "disable_parallel_tool_use" } as const
const ToolChoice = Schema.Union([
  Schema.Struct({ type: Schema.Literals(["auto", "any"]), ...parallel }).pipe(Schema.encodeKeys(parallelKeys)),
  Schema.Struct({ type: Schema.Literal("tool"), name: Schema.String, ...parallel }).pipe(Schema.encodeKeys(parallelKeys)),
  Schema.Struct({ type: Schema.Literal("none") })
])

const display = { display: optional(Schema.NullOr(Schema.Literals(["summarized", "omitted"]))) }
const ThinkingSettings = Schema.Union([
  Schema.Struct({ type: Schema.Literal("enabled"), budgetTokens: Schema.Finite, ...display }).pipe(
    Schema.encodeKeys({ budgetTokens: "budget_tokens" })
  ),
  Schema.Struct({ type: Schema.Literal("adaptive"), ...display }),
  Schema.Struct({ type: Schema.Literal("disabled") })
])

const OutputFormat = Schema.Struct({ type: Schema.Literal("json_schema"), schema: record })
const OutputSettings = Schema.Struct({
  effort: optional(Schema.NullOr(Schema.Literals(["low", "medium", "high", "xhigh", "max"]))),
  format: optional(Schema.NullOr(OutputFormat))
})

const conversation = {
  anthropicVersion: Schema.String,
  anthropicBeta: optional(Schema.Array(Schema.String)),
  messages: Schema.Array(Turn),
  system: optional(contentOf(Text)),
  tools: optional(Schema.Array(Tool)),
  toolChoice: optional(ToolChoice),
  thinking: optional(ThinkingSettings),
  outputConfig: optional(OutputSettings),
  contextManagement: optional(Schema.NullOr(Schema.Struct({ edits: optional(Schema.Array(record)) }))),
  ...cached
}
const conversationKeys = {
  anthropicVersion: "anthropic_version",
  anthropicBeta: "anthropic_beta",
  toolChoice: "tool_choice",
  outputConfig: "output_config",
  contextManagement: "context_management",
  ...cacheKeys
} as const

const MessageBody = Schema.Struct({
  ...conversation,
  maxTokens: Schema.Finite,
  stopSequences: optional(Schema.Array(Schema.String)),
  temperature: optional(Schema.Finite),
  topP: optional(Schema.Finite),
  topK: optional(Schema.Finite),
  metadata: optional(Schema.Struct({ userId: optional(nullableText) }).pipe(Schema.encodeKeys({ userId: "user_id" }))),
  stream: optional(Schema.Boolean)
}).pipe(Schema.encodeKeys({
  ...conversationKeys,
  maxTokens: "max_tokens",
  stopSequences: "stop_sequences",
  topP: "top_p",
  topK: "top_k"
}))

/** Body of a request to count tokens. The version is optional, because the service's samples leave it out. */
const CountBody = Schema.Struct({ ...conversation, anthropicVersion: optional(Schema.String), model: Schema.String }).pipe(
  Schema.encodeKeys(conversationKeys)
)

const strict = { errors: "all", onExcessProperty: "error" } as const
/** Formats issues in the model's words, where it has any. */
const format = SchemaIssue.makeFormatterStandardSchemaV1({
  leafHook: (issue) =>
    issue._tag === "MissingKey"
      ? "Field required"
      : issue._tag === "UnexpectedKey"
      ? "Extra inputs are not permitted"
      : SchemaIssue.defaultLeafHook(issue)
})

/** The error of a refused body: `messages.0.content: …`. */
const refused = ({ issue }: Schema.SchemaError): ServiceError => {
  const violations = format(issue).issues.slice(0, 20).map(({ message, path }) => ({
    field: pathText(path),
    description: message
  }))
  return new ServiceError({
    code: "INVALID_ARGUMENT",
    message: violations.map(({ description, field }) => (field === "" ? description : `${field}: ${description}`)).join("; "),
    violations
  })
}

const reader = <A, I>(schema: Schema.Codec<A, I>) => {
  const decode = Schema.decodeUnknownResult(schema, strict)
  return (json: unknown) => Result.mapError(decode(json), refused)
}

const writer = <A, I>(schema: Schema.Codec<A, I>) => {
  const encode = Schema.encodeResult(schema)
  return (value: A) => Result.mapError(encode(value), refused)
}

const readMessageBody = reader(MessageBody)
const readCountBody = reader(CountBody)
const writeMessageBody = writer(MessageBody)
const writeCountBody = writer(CountBody)

const parsed = (bytes: Uint8Array): Result.Result<Json, ServiceError> =>
  Result.try({
    try: () => JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(bytes)) as Json,
    catch: () => new ServiceError({ code: "INVALID_ARGUMENT", message: "The request body is not valid JSON" })
  })

/**
 * Replaces older spellings: the documentation writes `enable` where the model expects `enabled`, and `output_format` became
 * `output_config.format`. A body with both is left unchanged, and refused.
 */
const corrected = (body: Json): Json => {
  if (!isJsonObject(body)) return body
  const { output_format: format, output_config: config = {}, ...rest } = body
  const current: JsonObject = format === undefined || !isJsonObject(config) || "format" in config
    ? body
    : { ...rest, output_config: { ...config, format } }
  const thinking = current["thinking"]
  return isJsonObject(thinking) && thinking["type"] === "enable"
    ? { ...current, thinking: { ...thinking, type: "enabled" } }
    : current
}

const badVersion = (version: string): ServiceError | undefined =>
  version === anthropicVersion || /^\d{4}-\d{2}-\d{2}$/.test(version)
    ? undefined
    : ServiceError.invalid("anthropic_version", "is not a version of this API", `send ${anthropicVersion}`)

export const messageFromWire = (
  model: string,
  bytes: Uint8Array
): Result.Result<{ readonly request: MessageRequest; readonly stream: boolean }, ServiceError> =>
  Result.gen(function*() {
    const { anthropicVersion, stream = false, ...body } = yield* readMessageBody(corrected(yield* parsed(bytes)))
    const wrong = badVersion(anthropicVersion)
    if (wrong !== undefined) return yield* Result.fail(wrong)
    return { request: { ...body, model }, stream }
  })

export const messageToWire = ({ model: _, ...request }: MessageRequest, stream: boolean): Result.Result<object, ServiceError> =>
  writeMessageBody({ anthropicVersion, ...request, ...(stream ? { stream } : {}) })

export const countFromWire = (bytes: Uint8Array): Result.Result<Conversation, ServiceError> =>
  Result.gen(function*() {
    const { anthropicVersion, ...request } = yield* readCountBody(corrected(yield* parsed(bytes)))
    const wrong = anthropicVersion === undefined ? undefined : badVersion(anthropicVersion)
    return wrong === undefined ? request : yield* Result.fail(wrong)
  })

/** The fields of a request that tokens are counted in. */
export const countToWire = (
  { cacheControl, contextManagement, messages, model, outputConfig, system, thinking, toolChoice, tools }: Conversation
): Result.Result<object, ServiceError> =>
  writeCountBody(defined({
    anthropicVersion,
    model,
    messages,
    system,
    tools,
    toolChoice,
    thinking,
    outputConfig,
    contextManagement,
    cacheControl
  }))
