import { Result } from "effect"
import type { Effort, ChatPart, ChatRequest, ChatToolCall, ChatTurn, JsonRecord } from "../../domain/Chat.ts"
import { defined } from "../../domain/Defined.ts"
import { ServiceError } from "../../domain/Errors.ts"

export interface Dialect {
  readonly model: string
  readonly limit: "max_tokens" | "max_completion_tokens"
}

/** Name of the field with the token limit. OpenAI's own models accept only the new name; servers of open models know the old one. */
export const limitOf = (host: string): Dialect["limit"] => (host === "api.openai.com" ? "max_completion_tokens" : "max_tokens")

/** The body of a streamed `/chat/completions` call. Fields that request nothing are left out. */
export const chatBody = ({ limit, model }: Dialect, request: ChatRequest): Result.Result<JsonRecord, ServiceError> =>
  Result.gen(function*() {
    const messages: Array<JsonRecord> = []
    if (request.system !== undefined) messages.push({ role: "system", content: request.system })
    for (const { at, turn } of alternating(request.turns)) messages.push(...(yield* messagesOf(turn, at)))
    const { json, thinking } = request
    return defined({
      model,
      messages,
      stream: true,
      stream_options: { include_usage: true },
      tools: request.tools?.map(({ description, name, parameters, strict }) => ({
        type: "function",
        function: defined({ name, description, parameters, strict })
      })),
      tool_choice: typeof request.toolChoice === "object"
        ? { type: "function", function: { name: request.toolChoice.name } }
        : request.toolChoice,
      response_format: json === undefined ? undefined : json.schema === undefined
        ? { type: "json_object" }
        : { type: "json_schema", json_schema: { name: "answer", schema: json.schema } },
      [limit]: request.maxTokens,
      temperature: request.temperature,
      top_p: request.topP,
      // Not in OpenAI's own API, but known to most others; a service that does not know it reports that.
      top_k: request.topK,
      stop: request.stop,
      presence_penalty: request.presencePenalty,
      frequency_penalty: request.frequencyPenalty,
      seed: request.seed,
      n: request.candidates,
      logprobs: request.logprobs === undefined ? undefined : true,
      top_logprobs: request.logprobs === 0 ? undefined : request.logprobs,
      reasoning_effort: thinking === undefined ? undefined : effortName(thinking.effort) ?? effortOf(thinking.budgetTokens)
    })
  })

/** The name of an effort; the protocol's highest is xhigh. */
const effortName = (effort: Effort | undefined): string | undefined => (effort === "max" ? "xhigh" : effort)

/** The effort that is likely to stay within a budget, since the protocol has no budgets. */
const effortOf = (budgetTokens: number | undefined): "low" | "medium" | "high" =>
  budgetTokens === undefined ? "medium" : budgetTokens <= 2_048 ? "low" : budgetTokens <= 8_192 ? "medium" : "high"

/**
 * The turns with their places, consecutive ones of the assistant as one: Google's clients keep each piece of a stream as a turn, and the
 * templates of many models refuse turns that do not alternate.
 */
const alternating = (turns: ReadonlyArray<ChatTurn>): ReadonlyArray<{ readonly turn: ChatTurn; readonly at: string }> => {
  const whole: Array<{ readonly turn: ChatTurn; readonly at: string }> = []
  for (const [i, turn] of turns.entries()) {
    const last = whole.at(-1)
    if (turn.role === "assistant" && last?.turn.role === "assistant") {
      whole[whole.length - 1] = { ...last, turn: { ...turn, parts: turn.parts.reduce(withPiece, last.turn.parts) } }
    } else whole.push({ turn, at: `turns[${i}]` })
  }
  return whole
}

/** Parts with one more, whose text continues the last part's. */
const withPiece = (parts: ReadonlyArray<ChatPart>, piece: ChatPart): ReadonlyArray<ChatPart> => {
  const last = parts.at(-1)
  if (piece.type !== "text") return [...parts, piece]
  if (piece.text === "") return parts
  return last?.type === "text" ? [...parts.slice(0, -1), { type: "text", text: last.text + piece.text }] : [...parts, piece]
}

/** The messages of a turn. Tool results are separate messages; thoughts have no place in the protocol and are left out. */
const messagesOf = (turn: ChatTurn, at: string): Result.Result<ReadonlyArray<JsonRecord>, ServiceError> =>
  Result.gen(function*() {
    const results = turn.parts.flatMap((part) =>
      part.type === "toolResult" ? [{ role: "tool", tool_call_id: part.id, content: part.text }] : []
    )
    const contents: Array<JsonRecord> = []
    const calls: Array<ChatToolCall> = []
    for (const [i, part] of turn.parts.entries()) {
      if (part.type === "toolCall") calls.push(part)
      else if (part.type !== "toolResult" && part.type !== "thinking") contents.push(yield* contentOf(part, `${at}.parts[${i}]`))
    }
    if (contents.length === 0 && calls.length === 0) return results
    return [
      ...results,
      defined({
        role: turn.role,
        content: textOf(contents) ?? (contents.length === 0 ? null : contents),
        tool_calls: calls.length === 0 ? undefined : calls.map(({ args, id, name }) => ({
          id,
          type: "function",
          function: { name, arguments: JSON.stringify(args) }
        }))
      })
    ]
  })

/** One string where there is only text; otherwise undefined. Many servers accept lists only from models that see pictures. */
const textOf = (contents: ReadonlyArray<JsonRecord>): string | undefined =>
  contents.length > 0 && contents.every(({ type }) => type === "text") ? contents.map(({ text }) => text).join("\n\n") : undefined

type ContentPart = Extract<ChatPart, { readonly type: "text" | "media" | "mediaUri" }>

const contentOf = (part: ContentPart, at: string): Result.Result<JsonRecord, ServiceError> => {
  switch (part.type) {
    case "text":
      return Result.succeed({ type: "text", text: part.text })
    case "media": {
      const { data, mimeType } = part
      const audio = audioFormats[mimeType]
      if (mimeType.startsWith("image/")) return Result.succeed(image(`data:${mimeType};base64,${data}`))
      if (mimeType === "text/plain") return Result.succeed({ type: "text", text: Buffer.from(data, "base64").toString("utf8") })
      if (audio !== undefined) return Result.succeed({ type: "input_audio", input_audio: { data, format: audio } })
      if (mimeType === "application/pdf") {
        return Result.succeed({ type: "file", file: { filename: "document.pdf", file_data: `data:${mimeType};base64,${data}` } })
      }
      return Result.fail(
        ServiceError.invalid(`${at}.mimeType`, `the OpenAI protocol does not carry ${mimeType}`, "give images, audio, PDF or text")
      )
    }
    case "mediaUri":
      return /^https?:/.test(part.uri) && (part.mimeType ?? "image/").startsWith("image/")
        ? Result.succeed(image(part.uri))
        : Result.fail(ServiceError.invalid(
          `${at}.uri`,
          "the OpenAI protocol carries addresses of images on the web only",
          "give the data itself"
        ))
  }
}

const audioFormats: Readonly<Record<string, string>> = { "audio/wav": "wav", "audio/mp3": "mp3", "audio/mpeg": "mp3" }

const image = (url: string): JsonRecord => ({ type: "image_url", image_url: { url } })
