import { Result, Schema } from "effect"
import type { Answer, Citation } from "../domain/Answer.ts"
import type { JsonRecord } from "../domain/Chat.ts"
import { defined } from "../domain/Defined.ts"
import { ServiceError } from "../domain/Errors.ts"
import { optional } from "./JsonBody.ts"
import type { FileSearch, FoundFiles } from "./openai/VectorStores.ts"

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

/** Content of a message in any of the three protocols: a string, or parts whose types say which of them are text. */
export const Content = Schema.Union([Schema.String, Schema.Array(Schema.Struct({ type: Schema.String, text: optional(Schema.String) }))])
export const Message = Schema.Struct({
  role: Schema.Literals(["system", "developer", "user", "assistant"]),
  content: optional(Content)
})
export const Messages = Schema.Array(Message)
/** An item of an earlier response, which clients send back with its message. */
export const SearchItem = Schema.Struct({ type: Schema.Literal("file_search_call") })

type Items = ReadonlyArray<typeof Message.Type | typeof SearchItem.Type>

export const sampling = { temperature: optional(Schema.Finite), top_p: optional(Schema.Finite), stream: optional(Schema.Boolean) }

/** Fails with the first field that is set but not supported. */
export const refusing = (fields: Readonly<Record<string, boolean>>): Result.Result<void, ServiceError> => {
  const [field] = Object.keys(fields).filter((name) => fields[name] === true)
  return field === undefined
    ? Result.succeed(undefined)
    : Result.fail(ServiceError.invalid(field, "is not supported by a corpus", "leave it out: questions and answers are text"))
}

export const isGiven = (list: ReadonlyArray<unknown> | null | undefined): boolean => (list ?? []).length > 0
export const isOtherThanText = (form: { readonly type: string } | null | undefined): boolean =>
  form !== undefined && form !== null && form.type !== "text"

const texts: ReadonlySet<string> = new Set(["text", "input_text", "output_text", "refusal"])

export const textOf = (content: typeof Content.Type | null | undefined, at: string, role: string): Result.Result<string, ServiceError> => {
  if (typeof content === "string" || content === null || content === undefined) return Result.succeed(content ?? "")
  // Earlier thoughts and tool calls of an assistant are not part of the question.
  const other = role === "assistant" ? -1 : content.findIndex(({ type }) => !texts.has(type))
  return other === -1
    ? Result.succeed(content.flatMap(({ text }) => text ?? []).join("\n\n"))
    : Result.fail(ServiceError.invalid(`${at}.${other}`, `is of type ${content[other]?.type}`, "ask in text"))
}

/** The turns of a conversation, and the instructions before them. */
export const conversationOf = (messages: Items, field: string, instruction: string | null | undefined) =>
  Result.gen(function*() {
    const system: Array<string> = instruction === null || instruction === undefined || instruction === "" ? [] : [instruction]
    const turns: Array<CorpusChat["turns"][number]> = []
    for (const [at, item] of messages.entries()) {
      if (!("role" in item)) continue
      const { content, role } = item
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

export const chatOf = (
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

export const data = (value: object): string => `data: ${JSON.stringify(value)}\n\n`
export const event = (value: { readonly type: string } & JsonRecord): string => `event: ${value.type}\n${data(value)}`

/** Address at which a citation can be opened; for a plain upload only its name. */
export const addressOf = ({ address, sourceUri }: Citation): string => address ?? sourceUri

/** Each cited stretch of an answer, paired with each of its citations. */
export const cited = ({ citations, supports }: Answer) =>
  supports.flatMap(({ citations: indexes, end, start }) =>
    indexes.flatMap((index) => {
      const citation = citations.find((each) => each.index === index)
      return citation === undefined ? [] : [{ start, end, citation }]
    })
  )

/** A citation as both of OpenAI's protocols have it. */
export const urlCitation = ({ citation, end, start }: ReturnType<typeof cited>[number]) => ({
  start_index: start,
  end_index: end,
  url: addressOf(citation),
  title: citation.sourceDisplayName
})

/** Tokens of an answer; zeros where there is no answer yet. */
export const usageOf = (answer?: Answer) => answer?.usage ?? { promptTokens: 0, answerTokens: 0, totalTokens: 0 }

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
