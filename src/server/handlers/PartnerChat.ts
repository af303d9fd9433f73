import { randomUUID } from "node:crypto"
import { Clock, Effect, Stream } from "effect"
import { ServiceError } from "../../domain/Errors.ts"
import type { MessageRequest, MessageUsage } from "../../domain/partner/PartnerChat.ts"
import { refusedRegion } from "../../domain/partner/PartnerChatRules.ts"
import { tally } from "../../domain/partner/PartnerEvents.ts"
import { PartnerChat } from "../../ports/PartnerChat.ts"
import { answerToWire, countAnswerToWire, eventToWire, failureEventToWire } from "../../wire/partner/PartnerAnswers.ts"
import { partnerErrorToWire } from "../../wire/partner/PartnerErrors.ts"
import { countFromWire, messageFromWire } from "../../wire/partner/PartnerRequests.ts"
import { breakingWith, type Handlers, json, type RawAnswer, retryHeaders, take } from "../Call.ts"
import { awaitFirst } from "../http/AwaitFirst.ts"
import type { PartnerQuotas } from "../quotas/PartnerQuotas.ts"

type Methods = Pick<Handlers, "partnerRawPredict" | "partnerStreamRawPredict">

/** Receives the tokens that an answer used. */
type Spent = (usage: MessageUsage) => void

/** The model that counts the tokens that another model would read. */
const counter = "count-tokens"

/**
 * Claude's messages, answered by the server's model. Errors of the service's front end, an unavailable model or an exhausted
 * quota, have Google's format; all others have the model's.
 */
export const partnerChatHandlers = (quotas?: PartnerQuotas): Effect.Effect<Methods, never, PartnerChat> =>
  Effect.gen(function*() {
    const chat = yield* PartnerChat

    const whole = Effect.fnUntraced(function*(request: MessageRequest, spent: Spent) {
      const answer = yield* chat.message(request)
      spent(answer.usage)
      return identified(answerToWire(answer))
    })

    const streamed = Effect.fnUntraced(function*(request: MessageRequest, spent: Spent) {
      const events = yield* awaitFirst(chat.stream(request))
      const spentBy = tally()
      return {
        contentType: "text/event-stream; charset=utf-8",
        headers: requestId(),
        body: events.pipe(
          Stream.map((event) => {
            const usage = spentBy(event)
            if (usage !== undefined) spent(usage)
            return eventToWire(event)
          }),
          (texts) => breakingWith(texts, failureEventToWire),
          Stream.encodeText
        )
      }
    })

    const count = Effect.fnUntraced(function*(bytes: Uint8Array, region: string) {
      const request = yield* take(countFromWire(bytes))
      const elsewhere = refusedRegion(request.model, region)
      if (elsewhere !== undefined) return yield* elsewhere
      return identified(countAnswerToWire(yield* chat.countTokens(request)))
    })

    /** Runs a request that the front end let through. Answers and errors have the model's format. */
    const withModel = Effect.fnUntraced(function*(
      endpoint: string,
      answer: (model: string, region: string, spent: Spent) => Effect.Effect<RawAnswer, ServiceError>
    ): Effect.fn.Return<RawAnswer, ServiceError> {
      const [, location = "", region = "", publisher = "", model = ""] = endpointParts.exec(endpoint) ?? []
      const missing = publisher === "anthropic" ? refusedRegion(model, region) : ServiceError.notFound(endpoint)
      if (missing !== undefined) return yield* notThere(endpoint, missing)
      const at = yield* Clock.currentTimeMillis
      const turn = quotas?.take(model, location, at)
      if (turn instanceof ServiceError) return yield* turn
      return yield* Effect.catch(
        answer(model, region, ({ inputTokens, outputTokens }) => turn?.(inputTokens + outputTokens)),
        (error) =>
          Effect.sync(() => {
            if (error.refused) quotas?.giveBack(model, location, at)
            return refused(error)
          })
      )
    })

    return {
      partnerRawPredict: ({ body, params: { endpoint } }) =>
        withModel(endpoint, (model, region, spent) =>
          model === counter
            ? count(body, region)
            : Effect.flatMap(take(messageFromWire(model, body)), ({ request }) => whole(request, spent))),
      partnerStreamRawPredict: ({ body, params: { endpoint } }) =>
        withModel(endpoint, (model, _, spent) =>
          Effect.flatMap(take(messageFromWire(model, body)), ({ request, stream }) =>
            stream ? streamed(request, spent) : whole(request, spent)))
    }
  })

/** `projects/{project}/locations/{location}/publishers/{publisher}/models/{model}` */
const endpointParts = /^(projects\/[^/]+\/locations\/([^/]+))\/publishers\/([^/]+)\/models\/([^/]+)$/

const identified = (body: object): RawAnswer => ({ ...json(body), contentType: "application/json", headers: requestId() })

const refused = (error: ServiceError): RawAnswer => {
  const { body, status } = partnerErrorToWire(error)
  const { headers, ...answer } = identified(body)
  return { ...answer, status, headers: { ...headers, ...retryHeaders(error) } }
}

const requestId = () => ({ "request-id": `req_vrtx_${randomUUID().replaceAll("-", "")}` })

/** The error of a model that is not there, in the service's words. */
const notThere = (endpoint: string, { fix }: ServiceError): ServiceError =>
  new ServiceError({
    code: "NOT_FOUND",
    message: `Publisher Model \`${endpoint}\` was not found or your project does not have access to it.`,
    fix
  })
