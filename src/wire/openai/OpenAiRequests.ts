import { Result, Schema, SchemaIssue } from "effect"
import type { ChatPart, ChatRequest, ChatTurn, JsonRecord } from "../../domain/Chat.ts"
import { ServiceError } from "../../domain/Errors.ts"
import { type Broken, refusalOf, violationUnless } from "../../domain/Rule.ts"
import { optional } from "../JsonBody.ts"

/**
 * A request of `chat/completions`: OpenAI's JSON, for which there are no protos. Fields without an effect here are ignored.
 */
export interface CompletionRequest {
  readonly chat: ChatRequest
  readonly stream: boolean
  /** Whether the last chunk of a stream reports the usage. */
  readonly usage: boolean
  /** Name in the body of a field of `chat`. */
  readonly fieldOf: (field: string) => string
}

const record = Schema.Record(Schema.String, Schema.Unknown)

const ContentPart = Schema.Union([
  Schema.Struct({ type: Schema.Literal("text"), text: Schema.String }),
  Schema.Struct({ type: Schema.Literal("refusal"), refusal: Schema.String }),
  Schema.Struct({ type: Schema.Literal("image_url"), image_url: Schema.Struct({ url: Schema.String }) }),
  Schema.Struct({ type: Schema.Literal("input_audio"), input_audio: Schema.Struct({ data: Schema.String, format: Schema.String }) }),
  Schema.Struct({ type: Schema.Literal("file"), file: Schema.Struct({ file_data: Schema.String }) })
])
type ContentPart = typeof ContentPart.Type

const content = Schema.Union([Schema.String, Schema.Array(ContentPart)])

const ToolCall = Schema.Struct({
  id: Schema.String,
  function: Schema.Struct({ name: Schema.String, arguments: Schema.String })
})

const Message = Schema.Union([
  Schema.Struct({ role: Schema.Literals(["system", "developer", "user"]), content }),
  Schema.Struct({ role: Schema.Literal("assistant"), content: optional(content), tool_calls: optional(Schema.Array(ToolCall)) }),
  Schema.Struct({ role: Schema.Literal("tool"), tool_call_id: Schema.String, content })
])
type Message = typeof Message.Type

const anything = optional(Schema.Unknown)
/** Fields that would change the answer but are not supported: they are refused, not dropped. */
const unserved = ["functions", "function_call", "audio", "logit_bias", "web_search_options"] as const

const Body = Schema.Struct({
  model: Schema.String,
  messages: Schema.Array(Message),
  stream: optional(Schema.Boolean),
  stream_options: optional(Schema.Struct({ include_usage: optional(Schema.Boolean) })),
  tools: optional(Schema.Array(Schema.Struct({
    type: Schema.Literal("function"),
    function: Schema.Struct({
      name: Schema.String,
      description: optional(Schema.String),
      parameters: optional(record),
      strict: optional(Schema.Boolean)
    })
  }))),
  tool_choice: optional(Schema.Union([
    Schema.Literals(["auto", "none", "required"]),
    Schema.Struct({ type: Schema.Literal("function"), function: Schema.Struct({ name: Schema.String }) })
  ])),
  response_format: optional(Schema.Union([
    Schema.Struct({ type: Schema.Literals(["text", "json_object"]) }),
    Schema.Struct({ type: Schema.Literal("json_schema"), json_schema: Schema.Struct({ schema: optional(record) }) })
  ])),
  max_tokens: optional(Schema.Int),
  max_completion_tokens: optional(Schema.Int),
  temperature: optional(Schema.Finite),
  top_p: optional(Schema.Finite),
  top_k: optional(Schema.Finite),
  n: optional(Schema.Int),
  stop: optional(Schema.Union([Schema.String, Schema.Array(Schema.String)])),
  presence_penalty: optional(Schema.Finite),
  frequency_penalty: optional(Schema.Finite),
  seed: optional(Schema.Int),
  logprobs: optional(Schema.Boolean),
  top_logprobs: optional(Schema.Int),
  reasoning_effort: optional(Schema.Literals(["none", "minimal", "low", "medium", "high", "xhigh"])),
  ...Object.fromEntries(unserved.map((field) => [field, optional(Schema.Unknown)])) as Record<typeof unserved[number], typeof anything>
})
type Body = typeof Body.Type

const decodeBody = Schema.decodeUnknownResult(Schema.fromJsonString(Body))
const decodeArgs = Schema.decodeUnknownResult(Schema.fromJsonString(record))
const issues = SchemaIssue.makeFormatterStandardSchemaV1()

export const completionFromWire = (bytes: Uint8Array): Result.Result<CompletionRequest, ServiceError> =>
  Result.gen(function*() {
    const body = yield* Result.mapError(decodeBody(new TextDecoder().decode(bytes)), malformed)
    const refused = refusalOf(broken(body))
    if (refused !== undefined) return yield* Result.fail(refused)
    const system: Array<string> = []
    const turns: Array<ChatTurn> = []
    /** Index of each turn among the messages. */
    const places: Array<number> = []
    for (const [at, message] of body.messages.entries()) {
      const parts = yield* partsOf(message, `messages[${at}]`)
      if (message.role === "system" || message.role === "developer") {
        system.push(...parts.flatMap((part) => (part.type === "text" ? [part.text] : [])))
      } else {
        turns.push({ role: message.role === "assistant" ? "assistant" : "user", parts })
        places.push(at)
      }
    }
    return {
      chat: { system: system.length === 0 ? undefined : system.join("\n\n"), turns, ...settingsOf(body) },
      stream: body.stream === true,
      usage: body.stream_options?.include_usage === true,
      fieldOf: (field) =>
        fields[field] ?? field.replace(/^turns\[(\d+)\](?:\.parts)?/, (_, turn) => `messages[${places[Number(turn)]}].content`)
    }
  })

const mostIssues = 20

const malformed = (error: Schema.SchemaError): ServiceError =>
  refusalOf(
    issues(error.issue).issues.slice(0, mostIssues).map(({ message, path = [] }) => ({ field: pathOf(path), description: message }))
  ) ?? ServiceError.invalid("messages", "is not a chat completion request")

const pathOf = (path: ReadonlyArray<PropertyKey | { readonly key: PropertyKey }>): string =>
  path.map((key) => (typeof key === "object" ? key.key : key))
    .reduce<string>((text, key) => (typeof key === "number" ? `${text}[${key}]` : text === "" ? String(key) : `${text}.${String(key)}`), "")

const fields: Readonly<Record<string, string>> = {
  toolChoice: "tool_choice",
  json: "response_format",
  thinking: "reasoning_effort",
  candidates: "n"
}

const broken = (body: Body): ReadonlyArray<Broken> => {
  const choice = body.tool_choice
  const chosen = typeof choice === "object" && choice !== null ? choice.function.name : undefined
  const tools = (body.tools ?? []).map(({ function: { name } }) => name)
  const within = (
    field: "temperature" | "top_p" | "n" | "top_logprobs" | "max_tokens" | "max_completion_tokens",
    low: number,
    high: number
  ) => {
    const value = body[field] ?? low
    return violationUnless(
      value >= low && value <= high,
      field,
      high === Infinity ? `must be at least ${low}` : `must be from ${low} to ${high}`
    )
  }
  return [
    ...violationUnless(
      /^[\w.-]+\/[\w.@:-]+$/.test(body.model),
      "model",
      "must be {publisher}/{model}",
      "Write for example google/gemini-2.0-flash-001."
    ),
    ...violationUnless(body.messages.length > 0, "messages", "needs at least one message"),
    ...unserved.flatMap((field) => violationUnless((body[field] ?? null) === null, field, "is not served here", fixes[field])),
    ...within("temperature", 0, 2),
    ...within("top_p", 0, 1),
    ...within("n", 1, 8),
    ...within("max_tokens", 1, Infinity),
    ...within("max_completion_tokens", 1, Infinity),
    ...(["presence_penalty", "frequency_penalty"] as const).flatMap((field) => {
      const value = body[field] ?? 0
      return violationUnless(value >= -2 && value < 2, field, "must be from -2 to below 2")
    }),
    ...within("top_logprobs", 0, 20),
    ...violationUnless((body.top_logprobs ?? null) === null || body.logprobs === true, "top_logprobs", "needs logprobs", "Set logprobs."),
    ...violationUnless(!Array.isArray(body.stop) || body.stop.length <= 5, "stop", "at most 5 are taken"),
    ...violationUnless(choice !== "required" || tools.length > 0, "tool_choice", "needs tools"),
    ...violationUnless(chosen === undefined || tools.includes(chosen), "tool_choice.function.name", "is not among tools")
  ]
}

const fixes: Partial<Record<typeof unserved[number], string>> = { functions: "Use tools.", function_call: "Use tool_choice." }

const settingsOf = (body: Body): Partial<ChatRequest> => {
  const { reasoning_effort: effort, response_format: format, stop, tool_choice: choice, tools } = body
  const maxTokens = body.max_completion_tokens ?? body.max_tokens
  const schema = format?.type === "json_schema" ? format.json_schema.schema : undefined
  return given({
    tools: tools?.map(({ function: { description, name, parameters, strict } }) => given({ name, description, parameters, strict })),
    toolChoice: typeof choice === "object" && choice !== null ? { name: choice.function.name } : choice,
    json: format === undefined || format === null || format.type === "text" ? undefined : given({ schema }),
    maxTokens,
    temperature: body.temperature,
    topP: body.top_p,
    topK: body.top_k,
    stop: typeof stop === "string" ? [stop] : stop,
    presencePenalty: body.presence_penalty,
    frequencyPenalty: body.frequency_penalty,
    seed: body.seed,
    candidates: body.n,
    logprobs: body.logprobs === true ? body.top_logprobs ?? 0 : undefined,
    thinking: effort === undefined || effort === null || effort === "none" ? undefined : { effort: effort === "minimal" ? "low" : effort }
  })
}

type Given<A> =
  & { readonly [K in keyof A as undefined extends A[K] ? never : null extends A[K] ? never : K]: A[K] }
  & { readonly [K in keyof A as undefined extends A[K] ? K : null extends A[K] ? K : never]?: NonNullable<A[K]> }

/** The fields that are set: with OpenAI, both null and undefined mean absent. */
const given = <A extends object>(object: A): Given<A> =>
  Object.fromEntries(Object.entries(object).filter(([, value]) => value !== undefined && value !== null)) as Given<A> // as the type says

const partsOf = (message: Message, at: string): Result.Result<ReadonlyArray<ChatPart>, ServiceError> =>
  Result.gen(function*() {
    const { content } = message
    const written: ReadonlyArray<ContentPart> = typeof content === "string" ? [{ type: "text", text: content }] : content ?? []
    const parts: Array<ChatPart> = []
    for (const [i, part] of written.entries()) parts.push(yield* partOf(part, `${at}.content[${i}]`))
    if (message.role === "tool") {
      const text = parts.map((part) => (part.type === "text" ? part.text : "")).join("\n\n")
      return [{ type: "toolResult", id: message.tool_call_id, text }]
    }
    if (message.role !== "assistant") return parts
    for (const [i, { function: { arguments: text, name }, id }] of (message.tool_calls ?? []).entries()) {
      const args = yield* Result.mapError(decodeArgs(text.trim() === "" ? "{}" : text), () =>
        ServiceError.invalid(`${at}.tool_calls[${i}].function.arguments`, "must be a JSON object"))
      parts.push({ type: "toolCall", id, name, args: args satisfies JsonRecord })
    }
    return parts
  })

const dataUrl = /^data:([\w.+/-]+)(?:;[^,;]+)*;base64,/

const partOf = (part: ContentPart, at: string): Result.Result<ChatPart, ServiceError> => {
  const media = (url: string, field: string): Result.Result<ChatPart, ServiceError> => {
    const head = dataUrl.exec(url.slice(0, 200))
    return head === null
      ? Result.fail(ServiceError.invalid(`${at}.${field}`, "must be a data URL in base64"))
      : Result.succeed({ type: "media", mimeType: head[1] ?? "", data: url.slice(head[0].length) })
  }
  switch (part.type) {
    case "text":
      return Result.succeed({ type: "text", text: part.text })
    case "refusal":
      return Result.succeed({ type: "text", text: part.refusal })
    case "image_url":
      return part.image_url.url.startsWith("data:")
        ? media(part.image_url.url, "image_url.url")
        : Result.succeed({ type: "mediaUri", uri: part.image_url.url })
    case "input_audio":
      return Result.succeed({ type: "media", mimeType: `audio/${part.input_audio.format}`, data: part.input_audio.data })
    case "file":
      return media(part.file.file_data, "file.file_data")
  }
}
