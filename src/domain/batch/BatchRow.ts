import {
  candidateEnd,
  type ChatEndReason,
  type ChatEvent,
  type ChatRequest,
  type ChatTurn,
  type ChatUsage,
  completionEnds,
  finishReasons,
  type JsonRecord,
  messageEnds
} from "../Chat.ts"
import { defined } from "../Defined.ts"
import { Code } from "../Errors.ts"
import { isRawJson } from "../Json.ts"
import { anthropicVersion, usualTokens } from "../partner/PartnerChat.ts"

/** Form of a row's prompt: a chat completion in `body`, for any model, or the native form of the model's API in `request`. */
export type RowForm = "chat" | "gemini" | "anthropic"

/**
 * A row of a batch. `customId` identifies it; rows for Gemini have none. `body` is the prompt, whichever column it came
 * in; `carried` are the columns that the job ignores and copies to the output; `method` and `url` are in neither.
 */
export interface BatchRow {
  readonly form: RowForm
  readonly customId?: string
  readonly body: JsonRecord
  readonly carried: JsonRecord
}

/** The column of a row's prompt. */
export const promptColumn = (form: RowForm): "body" | "request" => (form === "chat" ? "body" : "request")

/**
 * Key by which a row's result is found: its `custom_id` or, without one, its prompt. The service may repeat a prompt with its fields in
 * another order, and with null for fields that it lacks.
 */
export const rowKey = ({ body, customId }: Pick<BatchRow, "body" | "customId">): string => customId ?? `request ${ordered(body)}`

const ordered = (value: unknown): string =>
  JSON.stringify(value, (_, field: unknown) =>
    isRecord(field) && !isRawJson(field)
      ? Object.fromEntries(Object.entries(field).filter(([, each]) => each !== null).toSorted(([a], [b]) => (a < b ? -1 : 1)))
      : field)

/** A row that puts a question of texts to a model, in the form that its service reads. */
export const rowOf = (model: string, customId: string, request: ChatRequest): JsonRecord => {
  const { maxTokens, seed, system, temperature, topP } = request
  const turns = request.turns.map(({ parts, role }) => ({ role, text: parts.map((part) => ("text" in part ? part.text : "")).join("") }))
  switch (ownForm(model)) {
    case "gemini":
      return {
        request: defined({
          contents: turns.map(({ role, text }) => ({ role: role === "assistant" ? "model" : "user", parts: [{ text }] })),
          systemInstruction: system === undefined ? undefined : { parts: [{ text: system }] },
          generationConfig: defined({ maxOutputTokens: maxTokens, temperature, topP, seed })
        })
      }
    case "anthropic":
      return {
        custom_id: customId,
        request: defined({
          anthropic_version: anthropicVersion,
          max_tokens: maxTokens ?? usualTokens,
          messages: turns.map(({ role, text }) => ({ role, content: text })),
          system,
          temperature,
          top_p: topP
        })
      }
    case undefined: {
      const messages = turns.map(({ role, text }) => ({ role, content: text }))
      return {
        custom_id: customId,
        method: "POST",
        url: "/v1/chat/completions",
        body: defined({
          messages: system === undefined ? messages : [{ role: "system", content: system }, ...messages],
          max_tokens: maxTokens,
          temperature,
          top_p: topP,
          seed
        })
      }
    }
  }
}

/** The native form of rows of a model, besides chat completions. */
export const ownForm = (model: string): Exclude<RowForm, "chat"> | undefined => {
  const publisher = /(?:^|\/)publishers\/([^/]+)\//.exec(model)?.[1]
  return publisher === "google" ? "gemini" : publisher === "anthropic" ? "anthropic" : undefined
}

/** A broken rule of a row: `body.messages[0].role`, and what it must be. Never contains the row's text. */
export interface RowProblem {
  readonly path: string
  readonly rule: string
}

/** Columns of the output that an input must not have. */
export const reservedColumns = (form: RowForm): ReadonlyArray<string> => (form === "chat" ? ["response", "id"] : ["response", "status"])

const roles = new Set(["system", "developer", "user", "assistant"])

const isRecord = (value: unknown): value is JsonRecord => typeof value === "object" && value !== null && !Array.isArray(value)

/** Parses one row, whatever it is. Without a `model`, rows of any form are accepted. */
export const readRow = (value: unknown, model?: string): { readonly row?: BatchRow; readonly problems: ReadonlyArray<RowProblem> } => {
  if (!isRecord(value)) return { problems: [{ path: "", rule: "must be a JSON object" }] }
  if (value["body"] === undefined && value["request"] !== undefined) return readOwnRow(value, model)
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
  for (const column of reservedColumns("chat")) check(!Object.hasOwn(carried, column), column, "is reserved for the output")
  if (isRecord(body)) problems.push(...bodyProblems(body))
  else check(false, "body", body === undefined || body === null ? "is missing" : "must be an object")
  return problems.length === 0 && given && isRecord(body) ? { row: { form: "chat", customId, body, carried }, problems } : { problems }
}

/**
 * Parses a row in the native form of its model's API: `{"request": {"contents": …}}`, or `{"custom_id": …, "request":
 * {"messages": …}}`.
 */
const readOwnRow = (value: JsonRecord, model: string | undefined): ReturnType<typeof readRow> => {
  const { custom_id: customId, request, ...rest } = value
  if (!isRecord(request)) return { problems: [{ path: "request", rule: "must be an object" }] }
  const form = model === undefined ? (request["contents"] === undefined ? "anthropic" : "gemini") : ownForm(model)
  if (form === undefined) {
    return { problems: [{ path: "request", rule: "is the form of rows for models of Google and Anthropic: give body, a chat completion" }] }
  }
  const given = typeof customId === "string" && customId !== "" ? customId : undefined
  const carried = form === "gemini" && customId !== undefined ? { custom_id: customId, ...rest } : rest
  const problems: Array<RowProblem> = reservedColumns(form)
    .flatMap((column) => (Object.hasOwn(rest, column) ? [{ path: column, rule: "is reserved for the output" }] : []))
  if (form === "anthropic" && given === undefined) {
    problems.push({
      path: "custom_id",
      rule: customId === undefined || customId === null ? "is missing" : "must be a string, and not empty"
    })
  }
  const list = form === "gemini" ? "contents" : "messages"
  const turns = request[list]
  if (!Array.isArray(turns) || turns.length === 0) {
    problems.push({ path: `request.${list}`, rule: turns === undefined ? "is missing" : "must be a list, and not empty" })
  }
  return problems.length > 0
    ? { problems }
    : { row: { form, customId: form === "gemini" ? undefined : given ?? "", body: request, carried }, problems }
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
        : [{ path: `${path}.content[${at}]`, rule: "must be a text part: batch prompts are text only" }]
    )
  ]
}

/** Fields of a body that are supported or make no difference; `model` is the job's. */
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

/** The conversation of a valid row, or the field that is not supported. */
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

const isTexts = (value: unknown): value is ReadonlyArray<string> => Array.isArray(value) && value.every((item) => typeof item === "string")

const textOf = ({ content }: JsonRecord): string =>
  typeof content === "string" ? content : (content as ReadonlyArray<{ readonly text: string }>).map(({ text }) => text).join("") // likewise

/** A model's answer as a chat completion: the value of the `response` column. `created` is in seconds. */
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
    usage: usage === undefined ? undefined : {
      prompt_tokens: usage.inputTokens,
      completion_tokens: usage.outputTokens,
      total_tokens: usage.inputTokens + usage.outputTokens
    }
  }
}

/** Why a row has no answer. */
export interface RowFailure {
  readonly code: Code
  readonly message: string
}

/** The result of one row. */
export interface BatchResult {
  /** Key of the row; see {@link rowKey}. */
  readonly customId: string
  /** A chat completion, or the answer of the model's native API. */
  readonly response?: JsonRecord
  readonly error?: RowFailure
}

/** The google.rpc.Status of a failure, as in an error file. */
export const failureToJson = ({ code, message }: RowFailure): JsonRecord => ({ code: Code.literals.indexOf(code) + 1, message })

/**
 * Parses one row of a job's output. The completion is `response` itself or, in the form of other batch services, its
 * `body`; a failure is `error` beside it or in it, as a status or as a chat service writes it.
 */
export const readResult = (value: unknown): BatchResult | undefined => {
  if (!isRecord(value)) return undefined
  const id = value["custom_id"]
  const request = value["request"]
  if (typeof id !== "string" && !isRecord(request)) return undefined
  const customId = typeof id === "string" && (!isRecord(request) || request["contents"] === undefined)
    ? id
    : rowKey({ body: isRecord(request) ? request : {} })
  const response = value["response"]
  const inner = isRecord(response) && isRecord(response["body"]) ? response["body"] : response
  const error = isRecord(value["error"]) ? value["error"] : isRecord(inner) && isRecord(inner["error"]) ? inner["error"] : undefined
  if (error !== undefined) return { customId, error: failureOf(error) }
  const status = value["status"]
  if (isRecord(request) && typeof status === "string" && status !== "") return { customId, error: { code: "UNKNOWN", message: status } }
  return isRecord(inner) && Object.keys(inner).length > 0
    ? { customId, response: inner }
    : { customId, error: { code: "UNKNOWN", message: "the result has no response" } }
}

const failureOf = ({ code, message }: JsonRecord): RowFailure => ({
  code: (typeof code === "number" ? Code.literals[code - 1] : Code.literals.find((name) => name === code)) ?? "UNKNOWN",
  message: typeof message === "string" ? message : "no reason was given"
})

/** The text of an answer: of a chat completion's first choice, or of Gemini's or Claude's answer. */
export const completionText = (response: JsonRecord): string => {
  const [candidate] = Array.isArray(response["candidates"]) ? response["candidates"] : []
  const content: unknown = isRecord(candidate) ? candidate["content"] : undefined
  const blocks = isRecord(content) ? content["parts"] : response["content"]
  if (Array.isArray(blocks)) {
    return blocks.map((
      block: unknown
    ) => (isRecord(block) && typeof block["text"] === "string" && block["thought"] !== true ? block["text"] : "")).join("")
  }
  const [choice] = Array.isArray(response["choices"]) ? response["choices"] : []
  const message: unknown = isRecord(choice) ? choice["message"] : undefined
  return isRecord(message) && typeof message["content"] === "string" ? message["content"] : ""
}

/** Why an answer ended: of a chat completion's first choice, or of Gemini's or Claude's answer. */
export const completionEnd = (response: JsonRecord): ReturnType<typeof candidateEnd> => {
  const field = (value: unknown, name: string): unknown => (isRecord(value) ? value[name] : undefined)
  const first = (list: unknown): unknown => (Array.isArray(list) ? list[0] : undefined)
  const ofCandidate = field(response["promptFeedback"], "blockReason") ?? field(first(response["candidates"]), "finishReason")
  if (typeof ofCandidate === "string") return candidateEnd(ofCandidate)
  const ofChoice = String(field(first(response["choices"]), "finish_reason"))
  return { reason: completionEnds[ofChoice] ?? messageEnds[String(response["stop_reason"])] ?? "stop" }
}
