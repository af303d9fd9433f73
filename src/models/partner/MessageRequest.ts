import { Result } from "effect"
import type { ChatPart, ChatRequest, ChatTurn } from "../../domain/Chat.ts"
import { ServiceError } from "../../domain/Errors.ts"
import { type ContentBlock, type MessageRequest, type MessageTurn, usualTokens } from "../../domain/partner/PartnerChat.ts"

const efforts = { low: 1_024, medium: 4_096, high: 16_384, xhigh: 24_576, max: 32_768 } as const

/** Converts a request for any model to one for Claude. Features that Claude lacks are refused, naming the field that requests them. */
export const messageRequest = (model: string, request: ChatRequest): Result.Result<MessageRequest, ServiceError> =>
  Result.gen(function*() {
    const lacking = lacks.find((field) => request[field] !== undefined) ?? ((request.candidates ?? 1) > 1 ? "candidates" : undefined)
    if (lacking !== undefined) {
      return yield* Result.fail(ServiceError.invalid(lacking, `is not supported by ${model}`, "leave it out, or use another model"))
    }
    const { maxTokens, stop, system, temperature, thinking, toolChoice, tools, topK, topP } = request
    const budgetTokens = thinking === undefined ? undefined : thinking.budgetTokens ?? efforts[thinking.effort ?? "medium"]
    const messages: Array<{ readonly role: MessageTurn["role"]; readonly content: ReadonlyArray<ContentBlock> }> = []
    for (const [at, turn] of request.turns.entries()) {
      const content = yield* contentOf(turn, `turns[${at}]`)
      const last = messages.at(-1)
      // Consecutive turns of one role are one message there.
      if (last?.role === turn.role) messages.splice(-1, 1, { role: turn.role, content: [...last.content, ...content] })
      else messages.push({ role: turn.role, content })
    }
    return {
      model,
      messages,
      maxTokens: maxTokens ?? usualTokens + (budgetTokens ?? 0),
      system,
      tools: tools === undefined ? undefined : tools.map(({ description, name, parameters }) => ({
        name,
        inputSchema: parameters ?? { type: "object" },
        description
      })),
      toolChoice: toolChoice === undefined ? undefined : choiceOf(toolChoice),
      stopSequences: stop,
      temperature,
      topP,
      topK,
      thinking: budgetTokens === undefined ? undefined : { type: "enabled", budgetTokens }
    }
  })

const lacks = ["json", "logprobs", "seed", "presencePenalty", "frequencyPenalty"] as const

const choices = { auto: "auto", required: "any", none: "none" } as const

const choiceOf = (choice: NonNullable<ChatRequest["toolChoice"]>): NonNullable<MessageRequest["toolChoice"]> =>
  typeof choice === "object" ? { type: "tool", name: choice.name } : { type: choices[choice] }

/** The content of a turn. Tool results come first there. */
const contentOf = ({ parts }: ChatTurn, at: string): Result.Result<ReadonlyArray<ContentBlock>, ServiceError> =>
  Result.map(Result.all(parts.map((part, i) => blocksOf(part, `${at}.parts[${i}]`))), (blocks) => {
    const all = blocks.flat()
    return [...all.filter(({ type }) => type === "tool_result"), ...all.filter(({ type }) => type !== "tool_result")]
  })

const blocksOf = (part: ChatPart, at: string): Result.Result<ReadonlyArray<ContentBlock>, ServiceError> => {
  switch (part.type) {
    case "text":
      return Result.succeed([{ type: "text", text: part.text }])
    case "media":
      return mediaOf(part, at)
    case "mediaUri":
      return Result.fail(ServiceError.invalid(`${at}.uri`, "Claude on Vertex AI fetches nothing by its address", "give the data itself"))
    case "thinking":
      // Without a signature nobody knows whose thoughts they are.
      return Result.succeed(part.signature === undefined ? [] : [{ type: "thinking", thinking: part.text, signature: part.signature }])
    case "toolCall":
      return Result.succeed([{ type: "tool_use", id: part.id, name: part.name, input: part.args }])
    case "toolResult":
      return Result.succeed([{
        type: "tool_result",
        toolUseId: part.id,
        content: part.text,
        isError: part.isError
      }])
  }
}

const mediaOf = (
  { data, mimeType }: Extract<ChatPart, { readonly type: "media" }>,
  at: string
): Result.Result<ReadonlyArray<ContentBlock>, ServiceError> => {
  const source = { type: "base64", mediaType: mimeType, data } as const
  if (mimeType.startsWith("image/")) return Result.succeed([{ type: "image", source }])
  if (mimeType === "application/pdf") return Result.succeed([{ type: "document", source }])
  if (mimeType === "text/plain") {
    const text = Buffer.from(data, "base64").toString("utf8")
    return Result.succeed([{ type: "document", source: { type: "text", mediaType: mimeType, data: text } }])
  }
  return Result.fail(ServiceError.invalid(`${at}.mimeType`, `Claude does not read ${mimeType}`, "give images, PDF or text"))
}
