import { ServiceError } from "../Errors.ts"
import {
  blocksOf,
  type ContentBlock,
  type Conversation,
  type MessageRequest,
  type PlacedBlock,
  placedBlocks,
  type ToolUseBlock
} from "./PartnerChat.ts"
import { contextTokens, partnerModel, partnerModels } from "./PartnerModels.ts"
import { allBlocks, base64Bytes, countedTokens, estimatedTokens, mostTokens } from "./PartnerTokens.ts"
import { type Broken, refusalOf } from "../Rule.ts"

const broken = (field: string, description: string, fix?: string): Broken => ({ field, description, fix })

type CountTokens = (text: string) => number

type Rule<A> = (request: A) => ReadonlyArray<Broken>

/**
 * All rules of the API that a request breaks, as one error; undefined when it is valid. The client checks before it sends
 * a request, and the server when it receives one.
 */
export const refusedMessage = (request: MessageRequest, countTokens: CountTokens): ServiceError | undefined =>
  refusalOf([...[...conversationRules, ...messageRules].flatMap((rule) => rule(request)), ...context(request, countTokens)])

/** All rules that a request to count tokens breaks, as one error; undefined when it is valid. */
export const refusedCount = (request: Conversation, countTokens: CountTokens): ServiceError | undefined =>
  refusalOf([...conversationRules.flatMap((rule) => rule(request)), ...context(request, countTokens)])

/** A warning about what only the service can decide to refuse. */
export const conversationWarning = (request: Conversation): string | undefined => {
  if (partnerModel(request.model) === undefined) {
    return `${request.model} is not among the models known here: its region, quota and limits are not checked`
  }
  return estimatedTokens(request) > contextTokens
    ? `a request is, by its length, more than the ${contextTokens} tokens that ${request.model} reads, and may be refused`
    : undefined
}

/** The error of a model that is not available in a region; undefined for one that is, for `global`, and for an unknown model. */
export const refusedRegion = (id: string, region: string): ServiceError | undefined => {
  const model = partnerModel(id)
  if (model === undefined || region === "global" || model.regions[region] !== undefined) return undefined
  return new ServiceError({
    code: "NOT_FOUND",
    message: `location: ${id} is not available in ${region}`,
    violations: [{ field: "location", description: `${id} is not available in ${region}` }],
    fix: `use ${Object.keys(model.regions).join(" or ")}`
  })
}

const model: Rule<Conversation> = ({ model: id }) => {
  if (!/^[\w.-]+(?:@[\w.-]+)?$/.test(id)) {
    return [broken("model", "must be the id of a model", `write for example ${partnerModels[0]?.id}`)]
  }
  const known = partnerModels.find((each) => each.id.split("@")[0] === id.split("@")[0])
  if (known === undefined) {
    return id.includes("@")
      ? []
      : [broken("model", `${id} must end in its version, as @yyyymmdd`, `write for example ${partnerModels[0]?.id}`)]
  }
  return /@\d{8}$/.test(id) ? [] : [broken("model", `${id} must end in its date, as @yyyymmdd`, `write ${known.id}`)]
}

const turns: Rule<Conversation> = ({ messages }) => {
  if (messages.length === 0) return [broken("messages", "needs at least one message")]
  return messages.flatMap(({ role }, i) => {
    if (i === 0) return role === "user" ? [] : [broken("messages.0.role", "must be \"user\" in the first message")]
    return role === messages[i - 1]?.role
      ? [
        broken(`messages.${i}.role`, `must alternate between "user" and "assistant"`, "put what one of them says in a row into one message")
      ]
      : []
  })
}

const spoken: Readonly<Record<"user" | "assistant", ReadonlyArray<ContentBlock["type"]>>> = {
  user: ["text", "image", "document", "search_result", "tool_result"],
  assistant: ["text", "tool_use", "thinking", "redacted_thinking"]
}

const contents: Rule<Conversation> = ({ messages }) =>
  messages.flatMap(({ content, role }, i) => {
    const blocks = blocksOf(content)
    const at = `messages.${i}.content`
    const prefill = role === "assistant" && i === messages.length - 1
    if (blocks.length === 0) return prefill ? [] : [broken(at, "must not be empty")]
    const last = blocks.at(-1)
    return [
      ...blocks.flatMap((block, j) => {
        const where = typeof content === "string" ? at : `${at}.${j}`
        if (!spoken[role].includes(block.type)) {
          return [broken(`${where}.type`, `${block.type} cannot be said by the ${role}`, `use ${spoken[role].join(", ")}`)]
        }
        return block.type === "text" && block.text.trim() === "" && !prefill ? [broken(where, "must not be empty text")] : []
      }),
      ...(prefill && last?.type === "text" && /\s$/.test(last.text)
        ? [broken(at, "must not end in white space where the answer is to go on from it")]
        : [])
    ]
  })

const systemText: Rule<Conversation> = ({ system }) =>
  typeof system === "string"
    ? []
    : (system ?? []).flatMap(({ text }, i) => (text.trim() === "" ? [broken(`system.${i}.text`, "must not be empty text")] : []))

/** A tool call is followed by its result, at the start of the next message, and there is no result without a call. */
const pairing: Rule<Conversation> = ({ messages }) => {
  const seen = new Set<string>()
  return messages.flatMap(({ content }, i) => {
    const blocks = blocksOf(content)
    const calls = new Set(callsOf(messages[i - 1]?.content).map(({ id }) => id))
    const results = new Set(blocksOf(messages[i + 1]?.content).flatMap((block) => (block.type === "tool_result" ? [block.toolUseId] : [])))
    return blocks.flatMap((block, j) => {
      const at = `messages.${i}.content.${j}`
      if (block.type === "tool_use") {
        const again = seen.has(block.id)
        seen.add(block.id)
        return [
          ...(again ? [broken(`${at}.id`, `${block.id} is the id of an earlier call`)] : []),
          ...(results.has(block.id) ? [] : [broken(`${at}.id`, `the call ${block.id} has no tool_result in the next message`)])
        ]
      }
      if (block.type !== "tool_result") return []
      const twice = blocks.findIndex((other) => other.type === "tool_result" && other.toolUseId === block.toolUseId) < j
      return [
        ...(calls.has(block.toolUseId) ? [] : [broken(`${at}.tool_use_id`, `${block.toolUseId} is no call of the message before`)]),
        ...(twice ? [broken(`${at}.tool_use_id`, `${block.toolUseId} has a result already`)] : []),
        ...(blocks.slice(0, j).every(({ type }) => type === "tool_result")
          ? []
          : [broken(at, "results must come before everything else in a message")])
      ]
    })
  })
}

const callsOf = (content: Conversation["messages"][number]["content"] | undefined): ReadonlyArray<ToolUseBlock> =>
  blocksOf(content).filter((block) => block.type === "tool_use")

const maxImages = 20
const maxImageBytes = 5 * 1024 * 1024
const imageTypes = ["image/jpeg", "image/png", "image/gif", "image/webp"]

const media: Rule<Conversation> = (request) => {
  const images = allBlocks(request).filter(({ type }) => type === "image").length
  return [
    ...(images > maxImages ? [broken("messages", `has ${images} images; ${maxImages} are allowed in a request`)] : []),
    ...placedBlocks(request).flatMap(mediaOf)
  ]
}

const mediaOf = ({ at, block }: PlacedBlock): ReadonlyArray<Broken> => {
  if (block.type === "image") {
    const { data, mediaType } = block.source
    return [
      ...(imageTypes.includes(mediaType) ? [] : [broken(`${at}.source.media_type`, `must be ${imageTypes.join(", ")}`)]),
      ...badBase64(data, `${at}.source.data`),
      ...(base64Bytes(data) > maxImageBytes ? [broken(`${at}.source.data`, "is larger than 5 MB", "send a smaller image")] : [])
    ]
  }
  if (block.type !== "document" || block.source.type === "content") return []
  const { source } = block
  const wanted = source.type === "base64" ? "application/pdf" : "text/plain"
  return [
    ...(source.mediaType === wanted ? [] : [broken(`${at}.source.media_type`, `must be ${wanted}`)]),
    ...(source.type === "base64" ? badBase64(source.data, `${at}.source.data`) : [])
  ]
}

/** Decoding skips characters that are not in the alphabet, and is fast where a pattern would take seconds for 20 images. */
const badBase64 = (data: string, field: string): ReadonlyArray<Broken> => {
  const whole = data !== "" && data.length % 4 === 0 && Buffer.from(data, "base64").length === base64Bytes(data)
  return whole && !data.includes("-") && !data.includes("_") ? [] : [broken(field, "must be base64")]
}

const tools: Rule<Conversation> = ({ toolChoice, tools = [] }) => [
  ...tools.flatMap(({ inputSchema, name, type }, i) => {
    const own = type === undefined || type === null || type === "custom"
    return [
      ...(/^[a-zA-Z0-9_-]{1,128}$/.test(name) ? [] : [broken(`tools.${i}.name`, "must be 1 to 128 letters, digits, _ or -")]),
      ...(tools.findIndex((other) => other.name === name) < i ? [broken(`tools.${i}.name`, `${name} is the name of an earlier tool`)] : []),
      ...(own && inputSchema?.["type"] !== "object"
        ? [broken(`tools.${i}.input_schema.type`, "must be \"object\"", "describe the arguments as properties of an object")]
        : [])
    ]
  }),
  ...(toolChoice !== undefined && toolChoice.type !== "none" && tools.length === 0
    ? [broken("tool_choice", "needs tools to choose from")]
    : []),
  ...(toolChoice?.type === "tool" && tools.length > 0 && !tools.some(({ name }) => name === toolChoice.name)
    ? [broken("tool_choice.name", `${toolChoice.name} is none of the tools`)]
    : [])
]

const maxCached = 4

const caching: Rule<Conversation> = (request) => {
  const marked = [request, ...blocksOf(request.system), ...(request.tools ?? []), ...allBlocks(request)]
    .filter((each) => "cacheControl" in each && each.cacheControl !== undefined && each.cacheControl !== null).length
  return marked > maxCached ? [broken("cache_control", `is on ${marked} blocks; ${maxCached} are allowed in a request`)] : []
}

/** Platform-api 2.6; what excludes thinking is the model's own documentation. */
const thinks: Rule<Conversation> = ({ messages, model: id, thinking, toolChoice }) => {
  if (thinking?.type !== "enabled") return []
  const { budgetTokens } = thinking
  const known = partnerModel(id)
  const thinkers = partnerModels.filter((each) => each.thinking).map((each) => each.id).join(" or ")
  return [
    ...(known === undefined || known.thinking ? [] : [broken("thinking", `${id} does not think`, `use ${thinkers}, or leave it out`)]),
    ...(Number.isInteger(budgetTokens) && budgetTokens >= 1024 ? [] : [broken("thinking.budget_tokens", "must be 1024 or more")]),
    ...(toolChoice?.type === "any" || toolChoice?.type === "tool"
      ? [broken("tool_choice.type", "must be auto or none with thinking")]
      : []),
    ...(messages.at(-1)?.role === "assistant"
      ? [broken("messages", "must end with one from the user: with thinking, an answer cannot be begun for the model")]
      : [])
  ]
}

/** Features added after the models in the documentation's table. An unknown model is sent them, and may refuse them itself. */
const newer: Rule<Conversation> = ({ contextManagement, model: id, outputConfig, thinking, tools = [] }) => {
  if (partnerModel(id) === undefined) return []
  const lacks = (field: string, what: string, fix = "leave it out, or use a later model"): Broken =>
    broken(field, `${id} does not have ${what}`, fix)
  const strict = tools.findIndex((tool) => tool.strict === true)
  return [
    ...(thinking?.type === "adaptive"
      ? [lacks("thinking.type", "adaptive thinking", `use "enabled" with budget_tokens where the model thinks, or a later model`)]
      : []),
    ...(thinking !== undefined && "display" in thinking && thinking.display === "omitted"
      ? [lacks("thinking.display", "thoughts that are not told")]
      : []),
    ...((outputConfig?.effort ?? undefined) === undefined ? [] : [lacks("output_config.effort", "levels of effort")]),
    ...((outputConfig?.format ?? undefined) === undefined
      ? []
      : [
        lacks(
          "output_config.format",
          "structured outputs",
          "give the schema as a tool's input_schema and choose that tool, or use a later model"
        )
      ]),
    ...(strict === -1 ? [] : [lacks(`tools.${strict}.strict`, "strict tools")]),
    ...((contextManagement?.edits ?? []).length === 0 ? [] : [lacks("context_management", "context management")])
  ]
}

const context = (request: Conversation, countTokens: CountTokens): ReadonlyArray<Broken> => {
  if (partnerModel(request.model) === undefined || mostTokens(request) <= contextTokens) return []
  const tokens = countedTokens(request, countTokens)
  return tokens <= contextTokens ? [] : [broken("messages", `have ${tokens} tokens, and the model reads ${contextTokens}`, "send less")]
}

const limits: Rule<MessageRequest> = ({ maxTokens, metadata, stopSequences = [], temperature, topK, topP }) => [
  ...(Number.isInteger(maxTokens) && maxTokens >= 1 ? [] : [broken("max_tokens", "must be a whole number, 1 or more")]),
  ...(temperature === undefined || (temperature >= 0 && temperature <= 1) ? [] : [broken("temperature", "must be from 0 to 1")]),
  ...(topP === undefined || (topP >= 0 && topP <= 1) ? [] : [broken("top_p", "must be from 0 to 1")]),
  ...(topK === undefined || (Number.isInteger(topK) && topK >= 0) ? [] : [broken("top_k", "must be a whole number, 0 or more")]),
  ...stopSequences.flatMap((stop, i) => (stop.trim() === "" ? [broken(`stop_sequences.${i}`, "must not be only white space")] : [])),
  ...((metadata?.userId?.length ?? 0) > 256 ? [broken("metadata.user_id", "must be 256 characters or fewer")] : [])
]

const thinksWithin: Rule<MessageRequest> = ({ maxTokens, temperature, thinking, topK, topP }) =>
  thinking?.type !== "enabled" ? [] : [
    ...(thinking.budgetTokens < maxTokens ? [] : [broken("thinking.budget_tokens", "must be less than max_tokens")]),
    ...(temperature === undefined || temperature === 1 ? [] : [broken("temperature", "must be 1 or unset with thinking")]),
    ...(topP === undefined || topP >= 0.95 ? [] : [broken("top_p", "must be 0.95 or more, or unset, with thinking")]),
    ...(topK === undefined ? [] : [broken("top_k", "must be unset with thinking")])
  ]

const conversationRules: ReadonlyArray<Rule<Conversation>> = [
  model,
  turns,
  contents,
  systemText,
  pairing,
  media,
  tools,
  caching,
  thinks,
  newer
]
const messageRules: ReadonlyArray<Rule<MessageRequest>> = [limits, thinksWithin]
