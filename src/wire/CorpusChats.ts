import { Result, Schema } from "effect"
import type { Answer, Citation } from "../domain/Answer.ts"
import type { JsonRecord } from "../domain/Chat.ts"
import { defined } from "../domain/Defined.ts"
import { ServiceError } from "../domain/Errors.ts"
import type { MessageEvent, PartnerMessage } from "../domain/partner/PartnerChat.ts"
import { bodyReader, optional } from "./JsonBody.ts"
import { completionErrorToWire } from "./openai/OpenAiAnswers.ts"
import { type FileSearch, fileSearchCallToWire, fileSearchOf, FileSearchTool, type FoundFiles } from "./openai/VectorStores.ts"
import { answerToWire, eventToWire, failureEventToWire } from "./partner/PartnerAnswers.ts"
import { partnerErrorToWire } from "./partner/PartnerErrors.ts"

/**
 * A conversation with a corpus, in one of the three protocols of chat programs: OpenAI's chat completions and Responses, and
 * Anthropic's messages. Citations take the form of each protocol: annotations, or citations of search results. Fields that
 * would change the answer but are not supported, such as tools, are refused by name; hints are ignored.
 */
export interface CorpusChat {
  /** `corpus/{name or id}`, or a model name that the operator gave a corpus. */
  readonly model: string
  /** Turns of the conversation, oldest first; the last is the user's. */
  readonly turns: ReadonlyArray<{ readonly role: "user" | "assistant"; readonly text: string }>
  readonly instruction?: string
  readonly stream: boolean
  /** Whether the end of a stream of chat completions reports the usage. */
  readonly usage: boolean
  readonly maxTokens?: number
  readonly temperature?: number
  readonly topP?: number
  /** The corpora that are searched in place of the model's. */
  readonly search?: FileSearch
}

/** Fields that every object of one answer has. */
export interface ChatIdentity {
  /** Unique id, without a prefix. */
  readonly id: string
  /** Milliseconds since 1970. */
  readonly created: number
  readonly model: string
  /** What was found where a tool searches. */
  readonly found?: FoundFiles
}

/** Writes the server-sent events of a stream: before the first text, for each piece of text, and at the end. */
export interface ChatWriter {
  /** Events before the first text. `promptTokens` is an estimate, used until the model reports a number. */
  readonly begin: (promptTokens: number) => string
  readonly text: (text: string) => string
  readonly end: (answer: Answer) => string
}

export interface ChatProtocol {
  readonly read: (bytes: Uint8Array) => Result.Result<CorpusChat, ServiceError>
  readonly whole: (identity: ChatIdentity, answer: Answer) => object
  readonly stream: (identity: ChatIdentity, chat: CorpusChat) => ChatWriter
  readonly error: (error: ServiceError) => { readonly status: number; readonly body: object }
  /** Event of an error after the stream has started. */
  readonly broken: (error: ServiceError) => string
}

const anything = optional(Schema.Unknown)

/** Content of a message in any of the three protocols: a string, or parts whose types say which of them are text. */
const Content = Schema.Union([Schema.String, Schema.Array(Schema.Struct({ type: Schema.String, text: optional(Schema.String) }))])
const Message = Schema.Struct({
  role: Schema.Literals(["system", "developer", "user", "assistant"]),
  content: optional(Content)
})
const Messages = Schema.Array(Message)
type Messages = typeof Messages.Type

const sampling = { temperature: optional(Schema.Finite), top_p: optional(Schema.Finite), stream: optional(Schema.Boolean) }

const Completion = Schema.Struct({
  model: Schema.NonEmptyString,
  messages: Messages,
  ...sampling,
  stream_options: optional(Schema.Struct({ include_usage: optional(Schema.Boolean) })),
  max_tokens: optional(Schema.Int),
  max_completion_tokens: optional(Schema.Int),
  n: optional(Schema.Int),
  tools: optional(Schema.Array(Schema.Unknown)),
  functions: optional(Schema.Array(Schema.Unknown)),
  response_format: optional(Schema.Struct({ type: Schema.String })),
  logprobs: optional(Schema.Boolean)
})

/** An item of an earlier response, which clients send back with its message. */
const SearchItem = Schema.Struct({ type: Schema.Literal("file_search_call") })
const OtherTool = Schema.Struct({ type: Schema.String.check(Schema.isPattern(/^(?!file_search$)/)) })

const ResponseRequest = Schema.Struct({
  model: Schema.NonEmptyString,
  input: Schema.Union([Schema.String, Schema.Array(Schema.Union([Message, SearchItem]))]),
  instructions: optional(Schema.String),
  ...sampling,
  max_output_tokens: optional(Schema.Int),
  tools: optional(Schema.Array(Schema.Union([FileSearchTool, OtherTool]))),
  include: optional(Schema.Array(Schema.String)),
  text: optional(Schema.Struct({ format: optional(Schema.Struct({ type: Schema.String })) })),
  previous_response_id: anything,
  conversation: anything,
  background: optional(Schema.Boolean)
})

const MessageRequest = Schema.Struct({
  model: Schema.NonEmptyString,
  messages: Messages,
  system: optional(Content),
  ...sampling,
  max_tokens: Schema.Int,
  tools: optional(Schema.Array(Schema.Unknown))
})

/** Fails with the first field that is set but not supported. */
const refusing = (fields: Readonly<Record<string, boolean>>): Result.Result<void, ServiceError> => {
  const [field] = Object.keys(fields).filter((name) => fields[name] === true)
  return field === undefined
    ? Result.succeed(undefined)
    : Result.fail(ServiceError.invalid(field, "is not supported by a corpus", "leave it out: questions and answers are text"))
}

const isGiven = (list: ReadonlyArray<unknown> | null | undefined): boolean => (list ?? []).length > 0
const isOtherThanText = (form: { readonly type: string } | null | undefined): boolean =>
  form !== undefined && form !== null && form.type !== "text"

const texts: ReadonlySet<string> = new Set(["text", "input_text", "output_text", "refusal"])

const textOf = (content: typeof Content.Type | null | undefined, at: string, role: string): Result.Result<string, ServiceError> => {
  if (typeof content === "string" || content === null || content === undefined) return Result.succeed(content ?? "")
  // Earlier thoughts and tool calls of an assistant are not part of the question.
  const other = role === "assistant" ? -1 : content.findIndex(({ type }) => !texts.has(type))
  return other === -1
    ? Result.succeed(content.flatMap(({ text }) => text ?? []).join("\n\n"))
    : Result.fail(ServiceError.invalid(`${at}.${other}`, `is of type ${content[other]?.type}`, "ask in text"))
}

/** The turns of a conversation, and the instructions before them. */
const conversationOf = (messages: Messages, field: string, instruction: string | null | undefined) =>
  Result.gen(function*() {
    const system: Array<string> = instruction === null || instruction === undefined || instruction === "" ? [] : [instruction]
    const turns: Array<CorpusChat["turns"][number]> = []
    for (const [at, { content, role }] of messages.entries()) {
      const text = yield* textOf(content, `${field}.${at}.content`, role)
      if (role === "system" || role === "developer") system.push(text)
      else turns.push({ role, text })
    }
    const last = turns.at(-1)
    if (last?.role !== "user" || last.text.trim() === "") {
      return yield* Result.fail(ServiceError.invalid(field, "must end with a question of the user"))
    }
    return { turns, instruction: system.length === 0 ? undefined : system.join("\n\n") }
  })

const chatOf = (
  body: { readonly model: string; readonly stream?: boolean | null; readonly temperature?: number | null; readonly top_p?: number | null },
  conversation: Pick<CorpusChat, "turns"> & { readonly instruction: string | undefined },
  maxTokens: number | null | undefined,
  usage = false
): CorpusChat =>
  defined({
    model: body.model,
    ...conversation,
    stream: body.stream === true,
    usage,
    maxTokens: maxTokens ?? undefined,
    temperature: body.temperature ?? undefined,
    topP: body.top_p ?? undefined
  })

const data = (value: object): string => `data: ${JSON.stringify(value)}\n\n`
const event = (value: { readonly type: string } & JsonRecord): string => `event: ${value.type}\n${data(value)}`

/** Address at which a citation can be opened; for a plain upload only its name. */
const addressOf = ({ address, sourceUri }: Citation): string => address ?? sourceUri

/** Each cited stretch of an answer, paired with each of its citations. */
const cited = ({ citations, supports }: Answer) =>
  supports.flatMap(({ citations: indexes, end, start }) =>
    indexes.flatMap((index) => {
      const citation = citations.find((each) => each.index === index)
      return citation === undefined ? [] : [{ start, end, citation }]
    })
  )

const urlCitation = ({ citation, end, start }: ReturnType<typeof cited>[number]) => ({
  start_index: start,
  end_index: end,
  url: addressOf(citation),
  title: citation.sourceDisplayName
})

/** Tokens of an answer; zeros where there is no answer yet. */
const usageOf = (answer?: Answer) => answer?.usage ?? { promptTokens: 0, answerTokens: 0, totalTokens: 0 }

const readCompletion = bodyReader(Completion)

/** OpenAI's chat completions. Citations are annotations of the message, each a `url_citation`. */
export const completions: ChatProtocol = {
  read: (bytes) =>
    Result.gen(function*() {
      const body = yield* readCompletion(bytes)
      yield* refusing({
        tools: isGiven(body.tools),
        functions: isGiven(body.functions),
        response_format: isOtherThanText(body.response_format),
        n: (body.n ?? 1) !== 1,
        logprobs: body.logprobs === true
      })
      const conversation = yield* conversationOf(body.messages, "messages", undefined)
      return chatOf(body, conversation, body.max_completion_tokens ?? body.max_tokens, body.stream_options?.include_usage === true)
    }),
  whole: (identity, answer) => ({
    ...completionHead(identity),
    object: "chat.completion",
    choices: [{
      index: 0,
      message: { role: "assistant", content: answer.text, refusal: null, annotations: completionAnnotations(answer) },
      logprobs: null,
      finish_reason: answer.truncated === true ? "length" : "stop"
    }],
    usage: completionUsage(answer)
  }),
  stream: (identity, { usage }) => {
    const chunk = (delta: object, finish: string | null = null): string =>
      data({
        ...completionHead(identity),
        object: "chat.completion.chunk",
        choices: [{ index: 0, delta, logprobs: null, finish_reason: finish }],
        ...(usage ? { usage: null } : {})
      })
    return {
      begin: () => chunk({ role: "assistant", content: "" }),
      text: (text) => chunk({ content: text }),
      end: (answer) =>
        [
          ...(answer.citations.length === 0 ? [] : [chunk({ annotations: completionAnnotations(answer) })]),
          chunk({}, answer.truncated === true ? "length" : "stop"),
          ...(usage
            ? [data({ ...completionHead(identity), object: "chat.completion.chunk", choices: [], usage: completionUsage(answer) })]
            : []),
          "data: [DONE]\n\n"
        ].join("")
    }
  },
  error: completionErrorToWire,
  broken: (error) => data(completionErrorToWire(error).body)
}

const completionHead = ({ created, id, model }: ChatIdentity) => ({ id: `chatcmpl-${id}`, created: Math.floor(created / 1000), model })

const completionAnnotations = (answer: Answer) => cited(answer).map((each) => ({ type: "url_citation", url_citation: urlCitation(each) }))

const completionUsage = (answer: Answer) => {
  const { answerTokens, promptTokens, totalTokens } = usageOf(answer)
  return { prompt_tokens: promptTokens, completion_tokens: answerTokens, total_tokens: totalTokens }
}

const readResponse = bodyReader(ResponseRequest)

/** The search of the only tool that a corpus has; undefined without one. */
const searchOf = (
  tools: NonNullable<(typeof ResponseRequest.Type)["tools"]>,
  shown: boolean
): Result.Result<FileSearch | undefined, ServiceError> => {
  const [first] = tools
  const wrong = tools.findIndex((tool, at) => at > 0 || tool.type !== "file_search")
  if (wrong !== -1) {
    return Result.fail(ServiceError.invalid(
      `tools.${wrong}`,
      wrong > 0 ? "is more than one tool" : `is of type ${first?.type}, which is not supported by a corpus`,
      "leave it out, or give one file_search with all vector_store_ids"
    ))
  }
  return first !== undefined && "vector_store_ids" in first ? fileSearchOf(first, "tools.0", shown) : Result.succeed(undefined)
}

/** OpenAI's Responses. Citations are annotations of the text: `url_citation` for pages of the web, `file_citation` for other files. */
export const responses: ChatProtocol = {
  read: (bytes) =>
    Result.gen(function*() {
      const body = yield* readResponse(bytes)
      yield* refusing({
        "text.format": isOtherThanText(body.text?.format),
        // Responses are not stored: each request has to bring the whole conversation.
        previous_response_id: (body.previous_response_id ?? null) !== null,
        conversation: (body.conversation ?? null) !== null,
        background: body.background === true
      })
      const messages: Messages = typeof body.input === "string"
        ? [{ role: "user", content: body.input }]
        : body.input.filter((item) => "role" in item)
      const chat = chatOf(body, yield* conversationOf(messages, "input", body.instructions), body.max_output_tokens)
      const search = yield* searchOf(body.tools ?? [], body.include?.includes("file_search_call.results") === true)
      return search === undefined ? chat : { ...chat, search }
    }),
  whole: (identity, answer) => responseOf(identity, answer),
  stream: (identity) => {
    let sequence = 0
    let told = ""
    const send = (type: string, value: object): string => event({ type, sequence_number: sequence++, ...value })
    const output_index = identity.found === undefined ? 0 : 1
    const at = { item_id: `msg_${identity.id}`, output_index, content_index: 0 }
    const searched = (found: FoundFiles): ReadonlyArray<string> => {
      const of = { item_id: `fs_${identity.id}`, output_index: 0 }
      return [
        send("response.output_item.added", { output_index: 0, item: fileSearchCallToWire(identity.id, found, "in_progress") }),
        ...["in_progress", "searching", "completed"].map((state) => send(`response.file_search_call.${state}`, of)),
        send("response.output_item.done", { output_index: 0, item: fileSearchCallToWire(identity.id, found, "completed") })
      ]
    }
    return {
      begin: () =>
        [
          send("response.created", { response: responseOf(identity) }),
          send("response.in_progress", { response: responseOf(identity) }),
          ...(identity.found === undefined ? [] : searched(identity.found)),
          send("response.output_item.added", { output_index, item: outputItem(identity, "in_progress", []) }),
          send("response.content_part.added", { ...at, part: outputText("", []) })
        ].join(""),
      text: (text) => {
        told += text
        return send("response.output_text.delta", { ...at, delta: text, logprobs: [] })
      },
      end: (answer) => {
        const annotations = responseAnnotations(identity, answer)
        const part = outputText(told, annotations)
        const item = outputItem(identity, "completed", [part])
        return [
          ...annotations.map((annotation, annotation_index) =>
            send("response.output_text.annotation.added", { ...at, annotation_index, annotation })
          ),
          send("response.output_text.done", { ...at, text: told, logprobs: [] }),
          send("response.content_part.done", { ...at, part }),
          send("response.output_item.done", { output_index, item }),
          send(answer.truncated === true ? "response.incomplete" : "response.completed", {
            response: responseOf(identity, { ...answer, text: told })
          })
        ].join("")
      }
    }
  },
  error: completionErrorToWire,
  broken: (error) => event({ type: "error", code: error.code, message: error.message, param: null })
}

const responseAnnotations = ({ found }: ChatIdentity, answer: Answer): ReadonlyArray<object> =>
  cited(answer).map((each) =>
    // What a search of files found is of files, wherever they are.
    found === undefined && /^https?:/i.test(addressOf(each.citation))
      ? { type: "url_citation", ...urlCitation(each) }
      : { type: "file_citation", file_id: idOf(each.citation.file), filename: each.citation.sourceDisplayName, index: each.end }
  )

const idOf = (name: string): string => name.slice(name.lastIndexOf("/") + 1)

const outputText = (text: string, annotations: ReadonlyArray<object>) => ({ type: "output_text", text, annotations, logprobs: [] })

const outputItem = ({ id }: ChatIdentity, status: string, content: ReadonlyArray<object>) => ({
  id: `msg_${id}`,
  type: "message",
  status,
  role: "assistant",
  content
})

const responseOf = (identity: ChatIdentity, answer?: Answer) => {
  const incomplete = answer?.truncated === true
  const { answerTokens, promptTokens, totalTokens } = usageOf(answer)
  const status = answer === undefined ? "in_progress" : incomplete ? "incomplete" : "completed"
  return {
    id: `resp_${identity.id}`,
    object: "response",
    created_at: Math.floor(identity.created / 1000),
    status,
    error: null,
    incomplete_details: incomplete ? { reason: "max_output_tokens" } : null,
    instructions: null,
    max_output_tokens: null,
    metadata: {},
    model: identity.model,
    output: answer === undefined ? [] : [
      ...(identity.found === undefined ? [] : [fileSearchCallToWire(identity.id, identity.found, "completed")]),
      outputItem(identity, status, [outputText(answer.text, responseAnnotations(identity, answer))])
    ],
    parallel_tool_calls: false,
    previous_response_id: null,
    store: false,
    temperature: null,
    text: { format: { type: "text" } },
    tool_choice: identity.found === undefined ? "none" : "auto",
    tools: identity.found === undefined ? [] : [identity.found.search.tool],
    top_p: null,
    truncation: "disabled",
    usage: answer === undefined ? null : {
      input_tokens: promptTokens,
      input_tokens_details: { cached_tokens: 0 },
      output_tokens: answerTokens,
      output_tokens_details: { reasoning_tokens: 0 },
      total_tokens: totalTokens
    }
  }
}

const readMessage = bodyReader(MessageRequest)

/**
 * Anthropic's messages. Citations are `search_result_location`. A whole answer has a text block for each cited stretch; a
 * stream has one block, whose citations come at its end.
 */
export const messages: ChatProtocol = {
  read: (bytes) =>
    Result.gen(function*() {
      const body = yield* readMessage(bytes)
      yield* refusing({ tools: isGiven(body.tools) })
      const system = yield* textOf(body.system, "system", "user")
      return chatOf(body, yield* conversationOf(body.messages, "messages", system), body.max_tokens)
    }),
  whole: (identity, answer) => answerToWire(messageOf(identity, answer)),
  stream: (identity) => {
    const send = (events: ReadonlyArray<MessageEvent>): string => events.map(eventToWire).join("")
    return {
      begin: (inputTokens) =>
        send([
          { type: "message_start", message: { ...messageOf(identity), usage: { inputTokens, outputTokens: 0 } } },
          { type: "content_block_start", index: 0, contentBlock: { type: "text", text: "" } }
        ]),
      text: (text) => send([{ type: "content_block_delta", index: 0, delta: { type: "text_delta", text } }]),
      end: (answer) =>
        send([
          ...answer.citations.map((citation): MessageEvent => ({
            type: "content_block_delta",
            index: 0,
            delta: { type: "citations_delta", citation: searchResult(citation) }
          })),
          { type: "content_block_stop", index: 0 },
          {
            type: "message_delta",
            delta: { stopReason: answer.truncated === true ? "max_tokens" : "end_turn", stopSequence: null },
            usage: { inputTokens: usageOf(answer).promptTokens, outputTokens: usageOf(answer).answerTokens }
          },
          { type: "message_stop" }
        ])
    }
  },
  error: partnerErrorToWire,
  broken: failureEventToWire
}

const searchResult = (citation: Citation): JsonRecord => ({
  type: "search_result_location",
  cited_text: citation.quote,
  source: addressOf(citation),
  title: citation.sourceDisplayName,
  search_result_index: citation.index - 1,
  start_block_index: 0,
  end_block_index: 1
})

const messageOf = ({ id, model }: ChatIdentity, answer?: Answer): PartnerMessage => ({
  id: `msg_${id}`,
  model,
  content: answer === undefined ? [] : blocksOf(answer),
  stopReason: answer === undefined ? null : answer.truncated === true ? "max_tokens" : "end_turn",
  stopSequence: null,
  usage: { inputTokens: usageOf(answer).promptTokens, outputTokens: usageOf(answer).answerTokens }
})

/** The text of an answer as blocks in order, each cited stretch in a separate block. */
const blocksOf = (answer: Answer): PartnerMessage["content"] => {
  const { citations, supports, text } = answer
  const blocks: Array<PartnerMessage["content"][number]> = []
  let at = 0
  const plain = (end: number): void => {
    if (end > at) blocks.push({ type: "text", text: text.slice(at, end) })
  }
  for (const { citations: indexes, end, start } of supports.toSorted((a, b) => a.start - b.start)) {
    if (start < at || end <= start) continue
    plain(start)
    const found = citations.filter(({ index }) => indexes.includes(index))
    blocks.push({ type: "text", text: text.slice(start, end), citations: found.map(searchResult) })
    at = end
  }
  plain(text.length)
  return blocks
}

/** The list of models, with the fields that OpenAI's clients read and those that Anthropic's read. */
export const modelsToWire = (models: ReadonlyArray<ListedModel>): object => ({
  object: "list",
  data: models.map(modelToWire),
  first_id: models[0]?.id ?? null,
  last_id: models.at(-1)?.id ?? null,
  has_more: false
})

/** A corpus, or a name given to one, as a model; `created` is an RFC 3339 timestamp. */
export interface ListedModel {
  readonly id: string
  readonly title: string
  readonly created: string
}

export const modelToWire = ({ created, id, title }: ListedModel): object => ({
  id,
  object: "model",
  created: Math.floor(Date.parse(created) / 1000),
  owned_by: "sluice",
  type: "model",
  display_name: title,
  created_at: created
})
