import { Result, Schema } from "effect"
import type { Answer } from "../../domain/Answer.ts"
import { ServiceError } from "../../domain/Errors.ts"
import { lastSegment } from "../../domain/ResourceNames.ts"
import {
  addressOf,
  chatOf,
  type ChatIdentity,
  type ChatProtocol,
  cited,
  conversationOf,
  event,
  isOtherThanText,
  Message,
  refusing,
  sampling,
  SearchItem,
  urlCitation,
  usageOf
} from "../CorpusChats.ts"
import { bodyReader, optional } from "../JsonBody.ts"
import { completionErrorToWire } from "./OpenAiAnswers.ts"
import { type FileSearch, fileSearchCallToWire, fileSearchOf, FileSearchTool } from "./VectorStores.ts"

const anything = optional(Schema.Unknown)

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
      const items = typeof body.input === "string" ? [{ role: "user" as const, content: body.input }] : body.input
      const chat = chatOf(body, yield* conversationOf(items, "input", body.instructions), body.max_output_tokens)
      const search = yield* searchOf(body.tools ?? [], body.include?.includes("file_search_call.results") === true)
      return search === undefined ? chat : { ...chat, search }
    }),
  whole: (identity, answer) => responseOf(identity, answer),
  stream: (identity) => {
    let sequence = 0
    let told = ""
    const send = (type: string, value: object): string => event({ type, sequence_number: sequence++, ...value })
    const calls = callsOf(identity)
    const output_index = calls.length
    const at = { item_id: `msg_${identity.id}`, output_index, content_index: 0 }
    const called = (item: (typeof calls)[number], output_index: number): ReadonlyArray<string> => [
      send("response.output_item.added", { output_index, item: { ...item, status: "in_progress", results: null } }),
      ...["in_progress", "searching", "completed"].map((state) =>
        send(`response.file_search_call.${state}`, { item_id: item.id, output_index })
      ),
      send("response.output_item.done", { output_index, item })
    ]
    return {
      begin: () =>
        [
          send("response.created", { response: responseOf(identity) }),
          send("response.in_progress", { response: responseOf(identity) }),
          ...calls.flatMap(called),
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

/** The calls of tools before the message. */
const callsOf = ({ found, id }: ChatIdentity) => (found === undefined ? [] : [fileSearchCallToWire(id, found)])

const responseAnnotations = ({ found }: ChatIdentity, answer: Answer): ReadonlyArray<object> =>
  cited(answer).map((each) =>
    // What a search of files found is of files, wherever they are.
    found === undefined && /^https?:/i.test(addressOf(each.citation))
      ? { type: "url_citation", ...urlCitation(each) }
      : { type: "file_citation", file_id: lastSegment(each.citation.file), filename: each.citation.sourceDisplayName, index: each.end }
  )

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
    output: answer === undefined
      ? []
      : [...callsOf(identity), outputItem(identity, status, [outputText(answer.text, responseAnnotations(identity, answer))])],
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
