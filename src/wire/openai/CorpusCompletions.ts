import { Result, Schema } from "effect"
import type { Answer } from "../../domain/Answer.ts"
import {
  chatOf,
  type ChatIdentity,
  type ChatProtocol,
  cited,
  conversationOf,
  data,
  isGiven,
  isOtherThanText,
  Messages,
  refusing,
  sampling,
  urlCitation,
  usageOf
} from "../CorpusChats.ts"
import { bodyReader, optional } from "../JsonBody.ts"
import { completionErrorToWire } from "./OpenAiAnswers.ts"

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
