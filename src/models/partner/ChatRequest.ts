import { Result } from "effect"
import type { ChatPart, ChatRequest, ChatTurn, CitableDocument } from "../../domain/Chat.ts"
import { defined } from "../../domain/Defined.ts"
import { ServiceError } from "../../domain/Errors.ts"
import {
  blocksOf,
  type ContentBlock,
  type DocumentBlock,
  type MessageRequest,
  type MessageTurn,
  type PartnerTool,
  placedBlocks,
  type SearchResultBlock
} from "../../domain/partner/PartnerChat.ts"

/**
 * Converts a request for Claude to one for any model, turn for turn. Features of the partner's own service are refused where an answer
 * would depend on them (its tools, and citations by a model that does not `cite`), and left out where it would not (its cache, its sealed
 * thoughts). Stop sequences are left to `stoppingAt`.
 */
export const chatRequest = (request: MessageRequest, cites: boolean): Result.Result<ChatRequest, ServiceError> =>
  Result.gen(function*() {
    const tools = yield* Result.all((request.tools ?? []).map(toolOf))
    const documents = yield* documentsToCite(request.messages, cites)
    const { contextManagement, maxTokens, outputConfig, temperature, toolChoice, topK, topP } = request
    if ((contextManagement?.edits ?? []).length > 0) {
      return yield* Result.fail(
        ServiceError.invalid("context_management", "is done by the partner's own service", "leave it out, and send a shorter conversation")
      )
    }
    const system = blocksOf(request.system).map(({ text }) => text).join("\n\n")
    const names = namesOfCalls(request.messages)
    const schema = outputConfig?.format?.schema
    return defined({
      turns: request.messages.map((turn) => turnOf(turn, names)),
      maxTokens,
      system: system === "" ? undefined : system,
      documents: documents.length === 0 ? undefined : documents,
      tools: tools.length === 0 ? undefined : tools,
      toolChoice: toolChoice === undefined ? undefined : choiceOf(toolChoice),
      temperature,
      topP,
      topK,
      json: schema === undefined ? undefined : { schema },
      thinking: thinkingOf(request)
    })
  })

/** The thinking setting. An effort applies whether the model is to think or not: the models that know efforts think. */
const thinkingOf = ({ outputConfig, thinking }: MessageRequest): ChatRequest["thinking"] => {
  const effort = outputConfig?.effort ?? undefined
  const budgetTokens = thinking?.type === "enabled" ? thinking.budgetTokens : undefined
  return effort === undefined && (thinking === undefined || thinking.type === "disabled") ? undefined : defined({ budgetTokens, effort })
}

/** A tool. Arguments always come in one piece, even where eager streaming is requested; examples of them are put in the description. */
const toolOf = ({ description, inputExamples = [], inputSchema, name, strict, type }: PartnerTool, i: number) =>
  type === undefined || type === null || type === "custom"
    ? Result.succeed(defined({
      name,
      description: inputExamples.length === 0
        ? description
        : [description ?? "", "Examples of its arguments:", ...inputExamples.map((example) => JSON.stringify(example))].join("\n").trim(),
      parameters: inputSchema,
      strict: strict ?? undefined
    }))
    : Result.fail(ServiceError.invalid(
      `tools.${i}.type`,
      `${type} is a tool of the partner's own service`,
      "describe it as a custom tool, with its input_schema"
    ))

type ToBeCited = (DocumentBlock | SearchResultBlock) & { readonly citations: { readonly enabled: true } }

const isToBeCited = (block: ContentBlock): block is ToBeCited =>
  (block.type === "document" || block.type === "search_result") && block.citations?.enabled === true

/** The documents and search results whose citations are requested. */
const documentsToCite = (
  messages: ReadonlyArray<MessageTurn>,
  cites: boolean
): Result.Result<ReadonlyArray<CitableDocument>, ServiceError> =>
  Result.gen(function*() {
    const documents: Array<CitableDocument> = []
    const next = { document: 0, search_result: 0 }
    for (const { at, block } of placedBlocks({ messages })) {
      if (block.type !== "document" && block.type !== "search_result") continue
      const index = next[block.type]++
      if (!isToBeCited(block)) continue
      if (!cites) {
        return yield* Result.fail(ServiceError.invalid(`${at}.citations`, "are made by the partner's own service", "leave them out"))
      }
      documents.push(yield* citable(block, index, `${at}.citations`))
    }
    return documents
  })

const citable = (block: ToBeCited, index: number, field: string): Result.Result<CitableDocument, ServiceError> => {
  if (block.type === "search_result") {
    const { content, source, title } = block
    return Result.succeed({ index, title, source, ...joined(content.map(({ text }) => text)) })
  }
  const { source } = block
  const about = { index, ...defined({ title: block.title ?? undefined }) }
  if (source.type === "text") return Result.succeed({ ...about, text: source.data })
  const blocks = source.type === "content" ? blocksOf(source.content) : []
  const texts = blocks.flatMap((inner) => (inner.type === "text" ? [inner.text] : []))
  return source.type === "base64" || texts.length < blocks.length
    ? Result.fail(ServiceError.invalid(field, "are made of documents in text alone here", "send its text, or leave them out"))
    : Result.succeed({ ...about, ...joined(texts) })
}

const betweenBlocks = "\n\n"

/** The text of blocks, and where each one ends in it. */
const joined = (texts: ReadonlyArray<string>): Pick<CitableDocument, "blockEnds" | "text"> => {
  let end = -betweenBlocks.length
  return { text: texts.join(betweenBlocks), blockEnds: texts.map((text) => end += betweenBlocks.length + [...text].length) }
}

const choices = { auto: "auto", any: "required", none: "none" } as const

const choiceOf = (choice: NonNullable<MessageRequest["toolChoice"]>): NonNullable<ChatRequest["toolChoice"]> =>
  choice.type === "tool" ? { name: choice.name } : choices[choice.type]

const namesOfCalls = (messages: ReadonlyArray<MessageTurn>): ReadonlyMap<string, string> =>
  new Map(
    messages.flatMap(({ content }) =>
      blocksOf(content).flatMap((block) => (block.type === "tool_use" ? [[block.id, block.name] as const] : []))
    )
  )

const turnOf = ({ content, role }: MessageTurn, names: ReadonlyMap<string, string>): ChatTurn => ({
  role,
  parts: blocksOf(content).flatMap((block) => partsOf(block, names))
})

/** The parts of a block; none of what is to be cited. Pictures inside a tool's result come after it: elsewhere a result is text. */
const partsOf = (block: ContentBlock, names: ReadonlyMap<string, string>): ReadonlyArray<ChatPart> => {
  if (isToBeCited(block)) return []
  switch (block.type) {
    case "text":
      return [{ type: "text", text: block.text }]
    case "image":
      return [{ type: "media", mimeType: block.source.mediaType, data: block.source.data }]
    case "document":
      return documentParts(block, names)
    case "search_result":
      return [`${block.title}\n${block.source}`, ...block.content.map(({ text }) => text)].map((text) => ({ type: "text", text }))
    case "tool_use":
      return [{ type: "toolCall", id: block.id, name: block.name, args: block.input }]
    case "tool_result": {
      const parts = blocksOf(block.content).flatMap((inner) => partsOf(inner, names))
      const name = names.get(block.toolUseId)
      return [
        {
          type: "toolResult",
          id: block.toolUseId,
          text: parts.flatMap((part) => (part.type === "text" ? [part.text] : [])).join("\n\n"),
          name,
          isError: block.isError
        },
        ...parts.filter(({ type }) => type !== "text")
      ]
    }
    case "thinking":
      return [{ type: "thinking", text: block.thinking, signature: block.signature === "" ? undefined : block.signature }]
    case "redacted_thinking":
      return []
  }
}

const documentParts = (
  { context, source, title }: Extract<ContentBlock, { readonly type: "document" }>,
  names: ReadonlyMap<string, string>
): ReadonlyArray<ChatPart> => {
  const about = [title, context].filter((text) => text !== undefined && text !== null && text !== "").join("\n")
  return [
    ...(about === "" ? [] : [{ type: "text" as const, text: about }]),
    ...(source.type === "text" ?
      [{ type: "text" as const, text: source.data }]
      : source.type === "base64" ?
      [{ type: "media" as const, mimeType: source.mediaType, data: source.data }]
      : blocksOf(source.content).flatMap((inner) => partsOf(inner, names)))
  ]
}

/** The name of a conversation's field, as the request spelled it. */
export const requestField = ({ thinking }: MessageRequest) => (field: string): string => {
  if (field === "json") return "output_config.format"
  if (field === "thinking" && (thinking === undefined || thinking.type === "disabled")) return "output_config.effort"
  const turn = /^turns\[(\d+)\]/.exec(field)
  return turn === null ? field.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`) : `messages.${turn[1]}.content`
}
