import { type KeyObject, X509Certificate } from "node:crypto"
import { mkdirSync, readFileSync, renameSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { Cache, Clock, Context, Duration, Effect, Exit, Layer, Schema } from "effect"
import { HttpClient, HttpClientRequest } from "effect/http"
import { ServiceError } from "../domain/Errors.ts"
import { type HookState, HookStates, topicOrigin } from "../domain/Hooks.ts"
import { call, callJson } from "../net/Call.ts"
import { discard } from "../net/Download.ts"
import * as Http from "../net/Http.ts"
import { transportErrorOf } from "../net/HttpErrors.ts"
import type { NoticeOutcome, Topics } from "../server/Hooks.ts"

/** Where Google publishes what its tokens are signed with. */
const googleCertificates = "https://www.googleapis.com/oauth2/v1/certs"
const googleIssuers = ["accounts.google.com", "https://accounts.google.com"]

/** Google lets a certificate be known for days before it signs with it. */
const keepFor = Duration.hours(1)

/** A key that is not known is looked for this often at most, whoever sends it. Milliseconds. */
const lookAgain = 60_000

const Certificates = Schema.Record(Schema.String, Schema.String)

/**
 * Tells whom an identity token of Google's is about: the verified e-mail address of a token that is signed by Google, for
 * the audience, and has not ended. Undefined of any other; a token is never in an error.
 *
 * @param certificates where the certificates are, by the ids of their keys. Default: Google's own
 */
export const googleIdentity = Effect.fnUntraced(function*(certificates = googleCertificates) {
  const http = Context.get(yield* Layer.build(Http.layer()), HttpClient.HttpClient)
  let fetched = -Infinity
  const fetching = Effect.gen(function*() {
    fetched = yield* Clock.currentTimeMillis
    return yield* callJson(
      { http, timeoutMs: 10_000, retry: { times: 2 } },
      "Google's certificates",
      HttpClientRequest.get(certificates),
      Certificates
    )
  })
  const [known, forget] = yield* Effect.cachedInvalidateWithTTL(fetching, keepFor)
  return Effect.fnUntraced(function*(token: string, audience: string): Effect.fn.Return<string | undefined, ServiceError> {
    const key = keyOf(token)
    if (key === undefined) return undefined
    if (!Object.hasOwn(yield* known, key) && (yield* Clock.currentTimeMillis) - fetched > lookAgain) yield* forget
    const certs = yield* known
    if (!Object.hasOwn(certs, key)) return undefined
    const { OAuth2Client } = yield* Effect.promise(() => import("google-auth-library"))
    const payload = yield* Effect.tryPromise(async () =>
      (await new OAuth2Client().verifySignedJwtWithCertsAsync(token, certs, audience, googleIssuers)).getPayload()
    ).pipe(Effect.orElseSucceed(() => undefined))
    return payload?.email_verified === true ? payload.email : undefined
  })
})

const Header = Schema.fromJsonString(Schema.Struct({ kid: Schema.String }))

const keyOf = (token: string): string | undefined => {
  const decoded = Schema.decodeUnknownOption(Header)(Buffer.from(token.split(".", 1)[0] ?? "", "base64url").toString())
  return decoded._tag === "Some" ? decoded.value.kid : undefined
}

/** Certificates that are known or known to be none, and how many are asked for in a minute, whoever names them. */
const mostCertificates = 100
const mostAsked = 10

/** What SNS answers is a certificate or a few lines. Bytes. */
const mostAnswered = 64 * 1024

/** Where SNS keeps its certificates, beneath a region's own address. */
const certificatePath = /^\/SimpleNotificationService-[A-Za-z0-9]{1,64}\.pem$/

/**
 * Amazon SNS as its notices need it: the certificates that they are signed with, and their subscriptions. It is called at
 * the topic's own region alone, whatever addresses a notice names.
 *
 * @param originOf what is called for a topic. Default: SNS in its region
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
    if (asked > mostAsked) return yield* new ServiceError({ code: "UNAVAILABLE", message: `${what} was asked for too often` })
    const response = yield* call(caller, what, HttpClientRequest.get(url), (status) => status === 200 || status === 403 || status === 404)
    const text = yield* Effect.mapError(response.text, (error) => transportErrorOf(what, error))
    return response.status === 200 ? keyIn(text, now) : undefined
  })
  const keys = yield* Cache.makeWith(lookedUp, {
    capacity: mostCertificates,
    timeToLive: Exit.match({ onFailure: () => 0, onSuccess: (key) => key === undefined ? lookAgain : keepFor })
  })
  return {
    keyOf: (topic, certificate) => {
      const url = URL.parse(certificate)
      const isOfSns = url !== null && url.origin === topicOrigin(topic) && certificatePath.test(url.pathname)
      return isOfSns ? Cache.get(keys, originOf(topic) + url.pathname) : Effect.undefined
    },
    confirm: Effect.fnUntraced(function*(topic, token) {
      const query = new URLSearchParams({ Action: "ConfirmSubscription", TopicArn: topic, Token: token })
      yield* discard(
        yield* call(caller, `the confirmation of a subscription to ${topic}`, HttpClientRequest.get(`${originOf(topic)}/?${query}`))
      )
    })
  } satisfies Topics
})

/** Of a certificate that holds now. */
const keyIn = (certificate: string, now: number): KeyObject | undefined => {
  try {
    const { publicKey, validFrom, validTo } = new X509Certificate(certificate)
    return Date.parse(validFrom) <= now && now <= Date.parse(validTo) ? publicKey : undefined
  } catch {
    return undefined
  }
}

const fileOf = (dataDir: string, pipeline: string): string => join(dataDir, "server", "hooks", `${pipeline}.json`)

/** What the server of a data directory knows of the notices of a pipeline's hooks; nothing where none came yet. */
export const readHookStates = (dataDir: string, pipeline: string): Effect.Effect<HookStates> =>
  Effect.try(() => readFileSync(fileOf(dataDir, pipeline), "utf8")).pipe(
    Effect.flatMap(Schema.decodeUnknownEffect(Schema.fromJsonString(HookStates))),
    Effect.orElseSucceed(() => ({}))
  )

const none: HookState = { taken: 0, refused: 0, ignored: 0 }

/** Counts are written this often at most: whoever sends nonsense does not keep the disk busy. */
const writeEvery = "1 second"

/** Counts notices of a pipeline's hooks for {@link readHookStates}, from what an earlier server left on. */
export const hookCounter = Effect.fnUntraced(function*(dataDir: string, pipeline: string) {
  const states: Record<string, HookState> = { ...yield* readHookStates(dataDir, pipeline) }
  let changed = false
  const file = fileOf(dataDir, pipeline)
  // What is counted serves people: a full disk is no reason not to take notices.
  const write = Effect.ignore(Effect.try(() => {
    if (!changed) return
    changed = false
    mkdirSync(join(dataDir, "server", "hooks"), { recursive: true, mode: 0o700 })
    writeFileSync(`${file}.new`, JSON.stringify(states), { mode: 0o600 })
    renameSync(`${file}.new`, file)
  }))
  yield* Effect.addFinalizer(() => write)
  yield* Effect.forkScoped(Effect.forever(Effect.andThen(Effect.sleep(writeEvery), write)))
  return (hook: string) => (outcome: NoticeOutcome): Effect.Effect<void> =>
    Effect.map(Clock.currentTimeMillis, (now) => {
      const before = states[hook] ?? none
      states[hook] = {
        ...before,
        [outcome]: before[outcome] + 1,
        ...(outcome === "taken" ? { lastTaken: now } : outcome === "refused" ? { lastRefused: now } : {})
      }
      changed = true
    })
})
