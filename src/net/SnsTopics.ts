import { type KeyObject, X509Certificate } from "node:crypto"
import { Cache, Clock, Context, Duration, Effect, Exit, Layer } from "effect"
import { HttpClient, HttpClientRequest } from "effect/http"
import { ServiceError } from "../domain/Errors.ts"
import { topicOrigin } from "../domain/Hooks.ts"
import { call } from "./Call.ts"
import { discard } from "./Download.ts"
import * as Http from "./Http.ts"
import { transportErrorOf } from "./HttpErrors.ts"

/** How long the key of a certificate is kept. */
const keepFor = Duration.hours(1)

/** How long an address without a certificate is remembered, and the period of {@link mostAsked}, in milliseconds. */
const lookAgain = 60_000

/** Most certificates cached, missing ones included, and most looked up in a minute, whoever names them. */
const mostCertificates = 100
const mostAsked = 10

/** Most bytes of an answer: SNS returns a certificate or a few lines. */
const mostAnswered = 64 * 1024

/** Paths of SNS certificates, beneath the region's own address. */
const certificatePath = /^\/SimpleNotificationService-[A-Za-z0-9]{1,64}\.pem$/

/**
 * Calls Amazon SNS for its notices: for the certificates they are signed with, and to confirm their subscriptions. It
 * only calls the topic's own region, whatever addresses a notice names.
 *
 * @param originOf the address to call for a topic. Default: SNS in its region
 */
export const snsTopics = Effect.fnUntraced(function*(originOf = topicOrigin) {
  const http = Context.get(yield* Layer.build(Http.layer({ maxResponseBytes: mostAnswered })), HttpClient.HttpClient)
  const caller = { http, timeoutMs: 10_000, retry: { times: 2 } }
  let minute = 0
  let asked = 0
  const lookedUp = Effect.fnUntraced(function*(url: string): Effect.fn.Return<KeyObject | undefined, ServiceError> {
    const now = yield* Clock.currentTimeMillis
    const current = Math.floor(now / lookAgain)
    asked = current === minute ? asked + 1 : 1
    minute = current
    const what = "a certificate of Amazon SNS"
    if (asked > mostAsked) return yield* new ServiceError({ code: "UNAVAILABLE", message: `${what} was requested too often` })
    const response = yield* call(caller, what, HttpClientRequest.get(url), (status) => status === 200 || status === 403 || status === 404)
    const text = yield* Effect.mapError(response.text, (error) => transportErrorOf(what, error))
    return response.status === 200 ? keyIn(text, now) : undefined
  })
  const keys = yield* Cache.makeWith(lookedUp, {
    capacity: mostCertificates,
    timeToLive: Exit.match({ onFailure: () => 0, onSuccess: (key) => key === undefined ? lookAgain : keepFor })
  })
  return {
    /** The key of a certificate, given by its address; undefined where that is none of SNS in the topic's region. */
    keyOf: (topic: string, certificate: string): Effect.Effect<KeyObject | undefined, ServiceError> => {
      const url = URL.parse(certificate)
      const isOfSns = url !== null && url.origin === topicOrigin(topic) && certificatePath.test(url.pathname)
      return isOfSns ? Cache.get(keys, originOf(topic) + url.pathname) : Effect.undefined
    },
    /** Confirms a subscription to a topic. */
    confirm: Effect.fnUntraced(function*(topic: string, token: string): Effect.fn.Return<void, ServiceError> {
      const query = new URLSearchParams({ Action: "ConfirmSubscription", TopicArn: topic, Token: token })
      yield* discard(
        yield* call(caller, `the confirmation of a subscription to ${topic}`, HttpClientRequest.get(`${originOf(topic)}/?${query}`))
      )
    })
  }
})

/** The key of a certificate that is valid now. */
const keyIn = (certificate: string, now: number): KeyObject | undefined => {
  try {
    const { publicKey, validFrom, validTo } = new X509Certificate(certificate)
    return Date.parse(validFrom) <= now && now <= Date.parse(validTo) ? publicKey : undefined
  } catch {
    return undefined
  }
}
