import { Effect, Layer, type Redacted, Stream } from "effect"
import { HttpClientRequest, type HttpClientResponse } from "effect/http"
import { ServiceError } from "../../domain/Errors.ts"
import type { Conversation, MessageEvent, MessageRequest, MessageUsage } from "../../domain/partner/PartnerChat.ts"
import { conversationWarning, refusedCount, refusedMessage, refusedRegion } from "../../domain/partner/PartnerChatRules.ts"
import { tally } from "../../domain/partner/PartnerEvents.ts"
import { partnerModel } from "../../domain/partner/PartnerModels.ts"
import { estimatedTokens } from "../../domain/partner/PartnerTokens.ts"
import { redactText, secretsIn } from "../../domain/Redact.ts"
import { bytesOf, serverSentEvents } from "../../net/ServerSentEvents.ts"
import { PartnerChat } from "../../ports/PartnerChat.ts"
import { Quota } from "../../ports/Quota.ts"
import { answerFromWire, countAnswerFromWire, eventFromWire } from "../../wire/partner/PartnerAnswers.ts"
import { countToWire, messageToWire } from "../../wire/partner/PartnerRequests.ts"
import { path, routes } from "../../wire/Routes.ts"
import { countTokens as tokensOfText } from "../../text/Tokens.ts"
import { readJson } from "./Responses.ts"
import { quotaLost, Transport } from "./Transport.ts"
import { answered } from "./Unanswered.ts"

export interface HostedPartnerChatOptions {
  /** The project's quotas per minute, by model, where they differ from the documented ones. */
  readonly quotas?: { readonly [model: string]: { readonly queriesPerMinute: number; readonly tokensPerMinute: number } }
}

/** Most milliseconds of a whole answer. */
const timeoutMs = 10 * 60_000
/** Most milliseconds until a streamed answer starts, and between two pieces of it. */
const idleMs = 60_000

/** Requests per minute to a model or location without a documented quota, where only the service's own refusals limit them. */
const unknownQueriesPerMinute = 1_500

type Method = "partnerRawPredict" | "partnerStreamRawPredict"

const make = (options: HostedPartnerChatOptions) =>
  Effect.gen(function*() {
    const transport = yield* Transport
    const quota = yield* Quota
    const { location, project } = transport
    const warned = new Set<string>()

    const checked = Effect.fnUntraced(function*(request: Conversation, refused: ServiceError | undefined) {
      const why = refused ?? refusedRegion(request.model, location)
      if (why !== undefined) return yield* why
      const warning = conversationWarning(request)
      if (warning === undefined || warned.has(warning)) return
      warned.add(warning)
      yield* Effect.logWarning(warning)
    })

    /** Takes an attempt's share of the quota, and returns what corrects it afterwards. */
    const spend = Effect.fnUntraced(function*(model: string, tokens: number) {
      const bucket = bucketOf(model)
      const limits = options.quotas?.[model] ?? partnerModel(model)?.regions[location]
      const queries = { bucket, perMinute: limits?.queriesPerMinute ?? unknownQueriesPerMinute, amount: 1 }
      const [, receipt] = yield* quota.spend(
        limits === undefined ? [queries] : [queries, { bucket: `${bucket}/tokens`, perMinute: limits.tokensPerMinute, amount: tokens }]
      ).pipe(Effect.mapError(quotaLost))
      return (spent: number): Effect.Effect<void, ServiceError> =>
        receipt === undefined ? Effect.void : quota.settle(receipt, spent).pipe(Effect.mapError(quotaLost))
    })

    const bucketOf = (model: string): string => `${transport.endpoint.host}/${transport.parent}/${model}`

    const posting = Effect.fnUntraced(function*(method: Method, model: string, body: object) {
      const where = yield* Effect.fromResult(
        path(routes[method], "v1", { endpoint: `${transport.parent}/publishers/anthropic/models/${model}` })
      )
      return HttpClientRequest.post(`${transport.endpoint.baseUrl}${where}`).pipe(HttpClientRequest.bodyJsonUnsafe(body))
    })

    const whatOf = (model: string): string => `${model} of ${transport.endpoint.host}`

    /** Retries until an answer starts. Refused requests use no tokens. */
    const ask = <A>(
      model: string,
      tokens: number,
      request: HttpClientRequest.HttpClientRequest,
      timeoutMs: number,
      read: (response: HttpClientResponse.HttpClientResponse) => Effect.Effect<A, ServiceError>
    ) =>
      spend(model, tokens).pipe(
        Effect.flatMap((settle) =>
          transport.send({ what: model, request, paused: bucketOf(model), timeoutMs }, read).pipe(
            Effect.tapErrorTag("ServiceError", () => settle(0)),
            Effect.map((answer) => ({ answer, settle }))
          )
        ),
        answered,
        transport.retry,
        Effect.mapError((error) => explained(error, project, location, model))
      )

    const message = Effect.fn("PartnerChat.message")(function*(request: MessageRequest) {
      const { model } = request
      yield* Effect.annotateCurrentSpan({ model })
      yield* checked(request, refusedMessage(request, tokensOfText))
      const body = yield* Effect.fromResult(messageToWire(request, false))
      const posted = yield* posting("partnerRawPredict", model, body)
      const { answer, settle } = yield* ask(model, expected(request), posted, timeoutMs, (response) => readJson(whatOf(model), response))
      const read = yield* Effect.fromResult(answerFromWire(answer))
      yield* settle(tokensOf(read.usage))
      return read
    })

    const open = Effect.fnUntraced(function*(request: MessageRequest) {
      const { model } = request
      yield* checked(request, refusedMessage(request, tokensOfText))
      const body = yield* Effect.fromResult(messageToWire(request, true))
      const posted = yield* posting("partnerStreamRawPredict", model, body)
      const { answer, settle } = yield* ask(model, expected(request), posted, idleMs, Effect.succeed)
      return eventsOf(whatOf(model), answer, settle)
    })

    const countTokens = Effect.fn("PartnerChat.countTokens")(function*(request: Conversation) {
      yield* checked(request, refusedCount(request, tokensOfText))
      const body = yield* Effect.fromResult(countToWire(request))
      const posted = yield* posting("partnerRawPredict", "count-tokens", body)
      const what = "count-tokens"
      const answer = yield* transport.send(
        { what, request: posted, bucket: "generate" },
        (response) => readJson(whatOf(what), response)
      ).pipe(
        answered,
        transport.retry,
        Effect.mapError((error) => explained(error, project, location, request.model))
      )
      return yield* Effect.fromResult(countAnswerFromWire(answer))
    })

    return PartnerChat.of({
      message,
      stream: (request) =>
        Stream.unwrap(open(request)).pipe(Stream.withSpan("PartnerChat.stream", { attributes: { model: request.model } })),
      countTokens
    })
  })

/** Claude on Vertex AI, within the quotas of the model in its region. */
export const layer = (options: HostedPartnerChatOptions = {}): Layer.Layer<PartnerChat, never, Transport | Quota> =>
  Layer.effect(PartnerChat, make(options))

/** Tokens that a request may use. */
const expected = (request: MessageRequest): number => estimatedTokens(request) + request.maxTokens

/** Tokens that count against the quota, which are all but those read from the cache. */
const tokensOf = ({ cacheCreationInputTokens, inputTokens, outputTokens }: MessageUsage): number =>
  inputTokens + outputTokens + (cacheCreationInputTokens ?? 0)

const eventsOf = (
  what: string,
  response: HttpClientResponse.HttpClientResponse,
  settle: (tokens: number) => Effect.Effect<void, ServiceError>
): Stream.Stream<MessageEvent, ServiceError> =>
  Stream.suspend(() => {
    const spentBy = tally()
    let usage: MessageUsage | undefined
    let finished = false
    const secrets = secretsIn(response.request.headers)
    const settled = Effect.suspend(() => (usage === undefined ? Effect.void : settle(tokensOf(usage))))
    return serverSentEvents(what, bytesOf(what, response, idleMs)).pipe(
      Stream.mapEffect((data) => Effect.mapError(Effect.fromResult(eventFromWire(data)), (error) => inside(what, error, secrets))),
      Stream.filter((event) => event !== undefined),
      Stream.tap((event) => {
        usage = spentBy(event)
        finished ||= event.type === "message_stop"
        return finished ? settled : Effect.void
      }),
      Stream.takeUntil((event) => event.type === "message_stop"),
      Stream.concat(Stream.suspend(() =>
        finished
          ? Stream.empty
          : Stream.fail(new ServiceError({ code: "UNAVAILABLE", message: `${what} broke off before the answer was complete` }))
      )),
      // A stream that is abandoned or breaks off has used the tokens that it had until then.
      Stream.ensuring(Effect.suspend(() => (finished ? Effect.void : Effect.ignore(settled))))
    )
  })

/** An error within a stream, which comes after status 200. */
const inside = (
  what: string,
  { code, message, reason }: ServiceError,
  secrets: ReadonlyArray<Redacted.Redacted<string>>
): ServiceError =>
  new ServiceError({
    code,
    message: `${what}: ${redactText(message, secrets)}`,
    reason: reason === undefined ? undefined : redactText(reason, secrets, 100)
  })

/** The error with a fix, where it is a refusal that concerns this model. */
const explained = (error: ServiceError, project: string, location: string, model: string): ServiceError => {
  const fix = fixOf(error, project, location, model)
  const { code, message, reason, retryAfter, violations } = error
  return fix === undefined ? error : new ServiceError({
    code,
    message,
    fix,
    reason,
    retryAfter,
    violations
  })
}

const fixOf = ({ code, fix }: ServiceError, project: string, location: string, model: string): string | undefined => {
  if (code === "RESOURCE_EXHAUSTED") {
    const quota = `online prediction requests and tokens per minute of ${model} in ${location}`
    return `wait a minute; for more, ask for a higher quota of ${quota}, in IAM & Admin > Quotas`
  }
  const [name = model] = model.split("@")
  return code === "NOT_FOUND" && fix === undefined
    ? `Enable the model on its card: https://console.cloud.google.com/vertex-ai/publishers/anthropic/model-garden/${name}?project=${project}`
    : undefined
}
