import type { ChatEndReason, ChatEvent, ChatRequest, ChatTurn, ChatUsage, JsonRecord } from "../Chat.ts"
import { Code } from "../Errors.ts"

/**
 * One row of a batch: a chat-completions request, told apart by its `customId` (platform-api section 2.2). `carried`
 * are the columns that the job ignores and hands over; `method` and `url` are in neither.
 */
export interface BatchRow {
  readonly customId: string
  readonly body: JsonRecord
  readonly carried: JsonRecord
}

/** A rule that a row breaks: `body.messages[0].role`, and what it must be. Never holds the row's text. */
export interface RowProblem {
  readonly path: string
  readonly rule: string
}

/** Columns of the output that an input must not have. */
export const reservedColumns: ReadonlyArray<string> = ["response", "id"]

const roles = new Set(["system", "developer", "user", "assistant"])

const isRecord = (value: unknown): value is JsonRecord => typeof value === "object" && value !== null && !Array.isArray(value)

/** Reads one row, whatever it is. */
export const readRow = (value: unknown): { readonly row?: BatchRow; readonly problems: ReadonlyArray<RowProblem> } => {
  if (!isRecord(value)) return { problems: [{ path: "", rule: "must be a JSON object" }] }
  const { body, custom_id: customId, method, url, ...carried } = value
  const problems: Array<RowProblem> = []
  const check = (holds: boolean, path: string, rule: string): void => {
    if (!holds) problems.push({ path, rule })
  }
  const given = typeof customId === "string" && customId !== ""
  check(given, "custom_id", customId === undefined || customId === null ? "is missing" : "must be a string, and not empty")
  for (const [path, text] of Object.entries({ method, url })) {
    check(text === undefined || text === null || typeof text === "string", path, "must be a string")
  }
  for (const column of reservedColumns) check(!Object.hasOwn(carried, column), column, "is reserved for the output")
  if (isRecord(body)) problems.push(...bodyProblems(body))
  else check(false, "body", body === undefined || body === null ? "is missing" : "must be an object")
  return problems.length === 0 && given && isRecord(body) ? { row: { customId, body, carried }, problems } : { problems }
}

const bodyProblems = ({ max_tokens: maxTokens, messages }: JsonRecord): ReadonlyArray<RowProblem> => {
  const problems: Array<RowProblem> = []
  if (!Array.isArray(messages) || messages.length === 0) {
    problems.push({ path: "body.messages", rule: messages === undefined ? "is missing" : "must be a list of messages, and not empty" })
  } else {
    for (const [at, message] of messages.entries()) problems.push(...messageProblems(message, `body.messages[${at}]`))
  }
  if (maxTokens !== undefined && maxTokens !== null && !(Number.isSafeInteger(maxTokens) && Number(maxTokens) > 0)) {
    problems.push({ path: "body.max_tokens", rule: "must be a whole number, 1 or more" })
  }
  return problems
}

const messageProblems = (message: unknown, path: string): ReadonlyArray<RowProblem> => {
  if (!isRecord(message)) return [{ path, rule: "must be an object with role and content" }]
  const { content, role } = message
  const wrong = typeof role === "string" && roles.has(role) ? [] : [{
    path: `${path}.role`,
    rule: role === undefined ? "is missing" : `must be ${[...roles].join(", ")}`
  }]
  if (typeof content === "string") return wrong
  if (!Array.isArray(content) || content.length === 0) {
    return [...wrong, { path: `${path}.content`, rule: content === undefined ? "is missing" : "must be a text" }]
  }
  return [
    ...wrong,
    ...content.flatMap((part: unknown, at) =>
      isRecord(part) && part["type"] === "text" && typeof part["text"] === "string"
        ? []
        : [{ path: `${path}.content[${at}]`, rule: "must be a text part: batch prompts are text only" }])
  ]
}

/** Fields of a body that are understood or make no difference; `model` is the job's. */
const understood = new Set([
  "model",
  "messages",
  "max_tokens",
  "max_completion_tokens",
  "temperature",
  "top_p",
  "top_k",
  "stop",
  "seed",
  "presence_penalty",
  "frequency_penalty",
  "stream",
  "user",
  "metadata"
])

/** The conversation of a row whose rules are kept, or the field that asks for something else. */
export const requestOf = (body: JsonRecord): ChatRequest | RowProblem => {
  const strange = Object.keys(body).find((key) => !understood.has(key) && body[key] !== null)
  if (strange !== undefined) return { path: `body.${strange}`, rule: "is not taken by batch jobs here" }
  const numbers: Record<string, number> = {}
  for (const [field, key] of Object.entries(numeric)) {
    const value = body[field] ?? undefined
    if (value === undefined) continue
    if (typeof value !== "number") return { path: `body.${field}`, rule: "must be a number" }
    numbers[key] = value
  }
  const stop = typeof body["stop"] === "string" ? [body["stop"]] : body["stop"] ?? undefined
  if (stop !== undefined && !isTexts(stop)) return { path: "body.stop", rule: "must be a text or a list of texts" }
  const messages = body["messages"] as ReadonlyArray<JsonRecord> // `readRow` has looked at each
  const system = messages.filter(({ role }) => role === "system" || role === "developer").map(textOf).join("\n\n")
  const turns = messages.flatMap((message): ReadonlyArray<ChatTurn> => {
    const { role } = message
    return role === "user" || role === "assistant" ? [{ role, parts: [{ type: "text", text: textOf(message) }] }] : []
  })
  if (turns.length === 0) return { path: "body.messages", rule: "must have a message of the user" }
  return { turns, ...numbers, ...(system === "" ? {} : { system }), ...(stop === undefined ? {} : { stop }) }
}

const numeric = {
  max_tokens: "maxTokens",
  max_completion_tokens: "maxTokens",
  temperature: "temperature",
  top_p: "topP",
  top_k: "topK",
  seed: "seed",
  presence_penalty: "presencePenalty",
  frequency_penalty: "frequencyPenalty"
} as const

const isTexts = (value: unknown): value is ReadonlyArray<string> =>
  Array.isArray(value) && value.every((item) => typeof item === "string")

const textOf = ({ content }: JsonRecord): string =>
  typeof content === "string" ? content : (content as ReadonlyArray<{ readonly text: string }>).map(({ text }) => text).join("") // likewise

const finishReasons: Readonly<Record<ChatEndReason, string>> = {
  stop: "stop",
  length: "length",
  toolCalls: "tool_calls",
  contentFilter: "content_filter"
}

/** What a model said, as a chat completion: the value of the `response` column. `created` is in seconds. */
export const completionOf = (
  events: Iterable<ChatEvent>,
  { created, id, model }: { readonly id: string; readonly model: string; readonly created: number }
): JsonRecord => {
  let content = ""
  let finish: ChatEndReason = "stop"
  let usage: ChatUsage | undefined
  for (const event of events) {
    if (event.type === "text" && event.candidate === 0) content += event.text
    if (event.type === "end" && event.candidate === 0) finish = event.reason
    if (event.type === "usage") usage = event.usage
  }
  return {
    id,
    object: "chat.completion",
    created,
    model,
    choices: [{ index: 0, message: { role: "assistant", content }, logprobs: null, finish_reason: finishReasons[finish] }],
    ...(usage === undefined ? {} : {
      usage: {
        prompt_tokens: usage.inputTokens,
        completion_tokens: usage.outputTokens,
        total_tokens: usage.inputTokens + usage.outputTokens
      }
    })
  }
}

/** Why a row has no answer. */
export interface RowFailure {
  readonly code: Code
  readonly message: string
}

/** What a job says about one row. */
export interface BatchResult {
  readonly customId: string
  /** A chat completion. */
  readonly response?: JsonRecord
  readonly error?: RowFailure
}

/** google.rpc.Status with what an error file has of it. */
export const failureToJson = ({ code, message }: RowFailure): JsonRecord => ({ code: Code.literals.indexOf(code) + 1, message })

/**
 * Reads one row of a job's output. The completion is `response` itself or, in the form of other batch services, its
 * `body`; a failure is `error` beside it or in it, as a status or as a chat service writes it.
 */
export const readResult = (value: unknown): BatchResult | undefined => {
  if (!isRecord(value) || typeof value["custom_id"] !== "string") return undefined
  const customId = value["custom_id"]
  const response = value["response"]
  const inner = isRecord(response) && isRecord(response["body"]) ? response["body"] : response
  const error = isRecord(value["error"]) ? value["error"] : isRecord(inner) && isRecord(inner["error"]) ? inner["error"] : undefined
  if (error !== undefined) return { customId, error: failureOf(error) }
  return isRecord(inner)
    ? { customId, response: inner }
    : { customId, error: { code: "UNKNOWN", message: "the result has no response" } }
}

const failureOf = ({ code, message }: JsonRecord): RowFailure => ({
  code: (typeof code === "number" ? Code.literals[code - 1] : Code.literals.find((name) => name === code)) ?? "UNKNOWN",
  message: typeof message === "string" ? message : "no reason was given"
})

/** The text of a chat completion's first choice. */
export const completionText = (response: JsonRecord): string => {
  const [choice] = Array.isArray(response["choices"]) ? response["choices"] : []
  const message: unknown = isRecord(choice) ? choice["message"] : undefined
  return isRecord(message) && typeof message["content"] === "string" ? message["content"] : ""
}
