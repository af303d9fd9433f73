import { Effect, Predicate, Schema, Stream } from "effect"
import type { HttpClientResponse } from "effect/http"
import { type ChatEvent, type ChatUsage, completionEnds, type TokenLogprob } from "../../domain/Chat.ts"
import { ServiceError } from "../../domain/Errors.ts"
import { errorOfBody } from "../../net/HttpErrors.ts"
import { bytesOf, serverSentEvents } from "../../net/ServerSentEvents.ts"
import type { Service } from "./Connection.ts"

const optional = <A>(schema: Schema.Codec<A>) => Schema.optional(Schema.NullOr(schema))

const Message = Schema.Struct({
  content: optional(Schema.String),
  refusal: optional(Schema.String),
  /** Thoughts, in the field that servers of open models use. */
  reasoning_content: optional(Schema.String),
  /** Thoughts, in the field that gateways use. */
  reasoning: optional(Schema.String),
  tool_calls: optional(Schema.Array(Schema.Struct({
    index: optional(Schema.Int),
    id: optional(Schema.String),
    function: optional(Schema.Struct({ name: optional(Schema.String), arguments: optional(Schema.String) }))
  })))
})
type Message = typeof Message.Type

const Logprob = Schema.Struct({ token: Schema.String, logprob: Schema.Finite })

const Choice = Schema.Struct({
  index: optional(Schema.Int),
  delta: optional(Message),
  message: optional(Message),
  finish_reason: optional(Schema.String),
  /** The stop sequence, where a server reports which it was. */
  stop_reason: optional(Schema.Unknown),
  logprobs: optional(Schema.Struct({
    content: optional(Schema.Array(Schema.Struct({ ...Logprob.fields, top_logprobs: optional(Schema.Array(Logprob)) })))
  }))
})
type Choice = typeof Choice.Type

const Usage = Schema.Struct({
  prompt_tokens: Schema.Int,
  completion_tokens: optional(Schema.Int),
  completion_tokens_details: optional(Schema.Struct({ reasoning_tokens: optional(Schema.Int) }))
})

const Chunk = Schema.Struct({
  choices: optional(Schema.Array(Choice)),
  usage: optional(Usage),
  error: optional(Schema.Unknown)
})
const decodeChunk = Schema.decodeUnknownEffect(Schema.fromJsonString(Chunk))
const decodeArgs = Schema.decodeUnknownEffect(Schema.fromJsonString(Schema.Record(Schema.String, Schema.Unknown)))

/**
 * The events of a streamed chat completion. It ends when the service reports that it is done. A connection that breaks off before, an error
 * inside the stream, and a silence of `timeoutMs` are failures. Ending the stream early closes the connection. Requests are retried only
 * until a response starts.
 */
export const chatEvents = (service: Service, body: object, timeoutMs: number): Stream.Stream<ChatEvent, ServiceError> =>
  Stream.unwrap(service.post(body, (response) => Effect.succeed(eventsOf(service, response, timeoutMs))))

const eventsOf = (
  service: Service,
  response: HttpClientResponse.HttpClientResponse,
  timeoutMs: number
): Stream.Stream<ChatEvent, ServiceError> =>
  Stream.suspend(() => {
    const answer = assembly(service)
    let done = false
    const bytes = bytesOf(service.what, response, timeoutMs)
    // A server that does not know `stream` answers in one piece.
    const whole = response.headers["content-type"]?.startsWith("application/json") === true
    return (whole ? Stream.fromEffect(Stream.mkString(Stream.decodeText(bytes))) : serverSentEvents(service.what, bytes)).pipe(
      Stream.takeWhile((data) => {
        if (data === "[DONE]") done = true
        return data !== "[DONE]"
      }),
      Stream.mapEffect((data) => answer.take(data)),
      Stream.flattenIterable,
      Stream.concat(Stream.unwrap(Effect.map(Effect.suspend(() => answer.finish(done)), Stream.fromIterable)))
    )
  })

/** A tool call whose pieces are arriving. */
interface OpenCall {
  id: string
  name: string
  args: string
}

/** Assembles the pieces of a stream. */
const assembly = (service: Service) => {
  /** The unfinished tool calls of each candidate. */
  const open = new Map<number, Map<number, OpenCall>>()
  let ended = false
  let latest: ChatUsage | undefined

  const callsOf = (candidate: number): Map<number, OpenCall> => {
    const calls = open.get(candidate) ?? new Map<number, OpenCall>()
    open.set(candidate, calls)
    return calls
  }

  const end = Effect.fnUntraced(function*(candidate: number, finish: string, stopped?: unknown) {
    const calls = callsOf(candidate)
    open.delete(candidate)
    ended = true
    const events: Array<ChatEvent> = []
    for (const [index, { args, id, name }] of calls) {
      const whole = yield* Effect.option(decodeArgs(args.trim() === "" ? "{}" : args))
      if (whole._tag === "Some" && name !== "") {
        events.push({ type: "toolCall", candidate, call: { id: id === "" ? `call_${candidate}_${index}` : id, name, args: whole.value } })
      } else if (finish !== "length") {
        return yield* strange(service, `a call of ${JSON.stringify(name.slice(0, 100))} whose arguments are no JSON object`)
      }
    }
    const known = completionEnds[finish] ?? "stop"
    const reason = known === "stop" && events.length > 0 ? "toolCalls" : known
    events.push({ type: "end", candidate, reason, stopSequence: typeof stopped === "string" ? stopped : undefined })
    return events
  })

  const choice = Effect.fnUntraced(function*({ delta, finish_reason, index, logprobs, message, stop_reason }: Choice) {
    const candidate = index ?? 0
    const calls = callsOf(candidate)
    const content: Message = delta ?? message ?? {}
    const events: Array<ChatEvent> = []
    const thoughts = content.reasoning_content ?? content.reasoning ?? ""
    if (thoughts !== "") events.push({ type: "thinking", candidate, text: thoughts })
    const text = content.content ?? content.refusal ?? ""
    const tokens = logprobs?.content ?? []
    if (text !== "" || tokens.length > 0) {
      events.push({ type: "text", candidate, text, logprobs: tokens.length === 0 ? undefined : tokens.map(logprobOf) })
    }
    for (const [at, piece] of (content.tool_calls ?? []).entries()) {
      const place = piece.index ?? at
      const call = calls.get(place) ?? { id: "", name: "", args: "" }
      calls.set(place, call)
      call.id ||= piece.id ?? ""
      call.name ||= piece.function?.name ?? ""
      call.args += piece.function?.arguments ?? ""
    }
    return typeof finish_reason === "string" ? [...events, ...(yield* end(candidate, finish_reason, stop_reason))] : events
  })

  return {
    take: Effect.fnUntraced(function*(data: string) {
      const { choices, error, usage } = yield* decodeChunk(data).pipe(
        Effect.mapError(() => strange(service, "something that is no chat completion"))
      )
      if (error !== undefined && error !== null) {
        return yield* errorOfBody(service.what, { status: statusOf(error), body: data, secrets: service.secrets() })
      }
      // Some servers report usage with every piece; the last report covers all of them.
      if (usage !== undefined && usage !== null) latest = usageOf(usage)
      return (yield* Effect.forEach(choices ?? [], choice)).flat()
    }),
    /** `done`: the service reported that this is all. */
    finish: Effect.fnUntraced(function*(done: boolean) {
      if (!done && !ended) {
        return yield* new ServiceError({ code: "UNAVAILABLE", message: `${service.what} broke off before the answer was complete` })
      }
      if (!ended) callsOf(0)
      const ends = (yield* Effect.forEach([...open.keys()], (candidate) => end(candidate, "stop"))).flat()
      return latest === undefined ? ends : [...ends, { type: "usage", usage: latest } satisfies ChatEvent]
    })
  }
}

const strange = (service: Service, what: string): ServiceError =>
  new ServiceError({
    code: "FAILED_PRECONDITION",
    message: `${service.what} sent ${what}`,
    fix: "check that the base URL is that of an OpenAI-compatible service, and that its model can do this"
  })

const usageOf = (usage: typeof Usage.Type): ChatUsage => {
  const thinking = usage.completion_tokens_details?.reasoning_tokens ?? 0
  return {
    inputTokens: usage.prompt_tokens,
    outputTokens: usage.completion_tokens ?? 0,
    thinkingTokens: thinking === 0 ? undefined : thinking
  }
}

const logprobOf = (
  { logprob, token, top_logprobs }: typeof Logprob.Type & { readonly top_logprobs?: ReadonlyArray<typeof Logprob.Type> | null }
): TokenLogprob => ({ token, logprob, top: (top_logprobs ?? []).map(({ logprob, token }) => ({ token, logprob })) })

/** The status of an error inside a stream, which comes after the 200. Some services put the status it would have had into `code`. */
const statusOf = (error: unknown): number => {
  const code = Predicate.isObject(error) && "code" in error ? Number(error.code) : Number.NaN
  return code >= 400 && code < 600 ? code : 500
}
