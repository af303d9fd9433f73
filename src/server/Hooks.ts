import { createHmac, type KeyObject, verify } from "node:crypto"
import { Clock, Effect, Metric, Redacted, Schema } from "effect"
import { HttpServerResponse, type HttpServerRequest } from "effect/http"
import { ServiceError } from "../domain/Errors.ts"
import type { HookSettings } from "../domain/Hooks.ts"
import { standardSignature } from "../domain/StandardWebhooks.ts"
import { bearerOf, type RequestHeaders, same } from "./http/Access.ts"
import { largeBody, readBody } from "./http/Body.ts"
import { failure, json, type Reply } from "./http/Reply.ts"
import type { Room } from "./Incoming.ts"

// Webhook notices that start runs. Each is authenticated by a secret, compared in constant time. Its content is not trusted
// otherwise: a run lists the sources itself, so that a duplicate notice finds nothing to do.

/** Outcome of a notice. `ignored`: it is genuine, and needs no run. */
export type NoticeOutcome = "taken" | "refused" | "ignored"

/** A webhook of a pipeline. */
export interface Hook {
  readonly pipeline: string
  readonly name: string
  readonly settings: HookSettings
  /** The secret that authenticates its notices. Undefined for Pub/Sub with authentication and for SNS. */
  readonly secret: Effect.Effect<Redacted.Redacted<string>, ServiceError> | undefined
  /** Requests a run. */
  readonly told: Effect.Effect<void>
  /** Called with the outcome of each notice. */
  readonly noted: (outcome: NoticeOutcome) => Effect.Effect<void>
}

export interface HookOptions {
  readonly hooks: ReadonlyArray<Hook>
  /** The email address in a Google ID token; undefined where the token is not genuine or for another audience. */
  readonly identity: (token: string, audience: string) => Effect.Effect<string | undefined, ServiceError>
  readonly topics: Topics
}

/** The calls to Amazon SNS that its notices need. */
export interface Topics {
  /**
   * The public key of the certificate at an address that signs a topic's notices; undefined where the address is not SNS's, or
   * has none.
   */
  readonly keyOf: (topic: string, certificate: string) => Effect.Effect<KeyObject | undefined, ServiceError>
  /** Confirms a subscription by the token that SNS sent. */
  readonly confirm: (topic: string, token: string) => Effect.Effect<void, ServiceError>
}

/** Options of a server without webhooks. */
export const noHooks: HookOptions = {
  hooks: [],
  identity: () => Effect.undefined,
  topics: { keyOf: () => Effect.undefined, confirm: () => Effect.void }
}

/** Most bytes of a notice: GitHub's limit. */
const mostBytes = 25 * 1024 * 1024

const notices = Metric.counter("sluice_hook_notices_total", {
  description: "Notices that came to hooks, by outcome",
  incremental: true
})

/** The judgement of a notice. `ignored` says why no run is needed. */
type Verdict = Exclude<NoticeOutcome, "ignored"> | { readonly ignored: string }

/** Answers under `/hooks/{pipeline}/{hook}`. */
export const hooksEndpoint = ({ hooks, ...outside }: HookOptions) => {
  const byPath = new Map(hooks.map((hook) => [`/hooks/${hook.pipeline}/${hook.name}`, hook]))
  return (request: HttpServerRequest.HttpServerRequest, room: Room): Effect.Effect<Reply, ServiceError> =>
    Effect.gen(function*() {
      const [path = "", search = ""] = request.url.split("?", 2)
      const hook = byPath.get(path)
      if (hook === undefined || request.method !== "POST") {
        return failure(
          ServiceError.notFound(hook === undefined ? "this hook" : `${request.method} of a hook`, "send notices with POST"),
          plain
        )
      }
      const query = new URLSearchParams(search)
      const handshake = hook.settings._tag === "microsoftGraph" ? query.get("validationToken") : null
      // Graph validates the address before there is anything to sign.
      if (handshake !== null) return echo(handshake)
      const body = yield* Effect.cached(room.hold(largeBody(request, mostBytes), readBody(request, mostBytes)))
      const verdict = yield* judge(hook, { headers: request.headers, query, body }, outside)
      const outcome = typeof verdict === "string" ? verdict : "ignored"
      yield* Metric.update(Metric.withAttributes(notices, { pipeline: hook.pipeline, hook: hook.name, outcome }), 1)
      yield* hook.noted(outcome)
      if (verdict === "refused") return failure(unauthenticated, plain)
      if (verdict !== "taken") return json({ run: "none", because: verdict.ignored }, plain)
      yield* hook.told
      return json({ run: "queued" }, plain, 202)
    })
}

export type HooksEndpoint = ReturnType<typeof hooksEndpoint>

interface Notice {
  readonly headers: RequestHeaders
  readonly query: URLSearchParams
  /** The body. It is only read where the headers do not already refuse the notice. */
  readonly body: Effect.Effect<Uint8Array, ServiceError>
}

const judge = Effect.fnUntraced(function*(
  { secret, settings }: Hook,
  { body, headers, query }: Notice,
  { identity, topics }: Omit<HookOptions, "hooks">
): Effect.fn.Return<Verdict, ServiceError> {
  const value = secret === undefined ? "" : Redacted.value(yield* secret)
  /** Whether a value is the secret. An empty secret matches nothing. */
  const carries = (given: string | null | undefined): boolean => value !== "" && given !== null && given !== undefined && same(given, value)
  switch (settings._tag) {
    case "pubSub": {
      if (settings.token !== undefined) return carries(query.get("token")) ? "taken" : "refused"
      const token = bearerOf(headers["authorization"])
      const { audience = "", serviceAccount } = settings
      return token !== undefined && serviceAccount !== undefined && (yield* identity(token, audience)) === serviceAccount
        ? "taken"
        : "refused"
    }
    case "sns": {
      const notice = yield* read(SnsNotice, yield* body)
      if (notice.TopicArn !== settings.topic) return "refused"
      const key = yield* topics.keyOf(settings.topic, notice.SigningCertURL)
      if (key === undefined || !isSigned(notice, key)) return "refused"
      switch (notice.Type) {
        case "SubscriptionConfirmation":
          yield* topics.confirm(settings.topic, notice.Token)
          return { ignored: "the subscription was confirmed" }
        case "UnsubscribeConfirmation":
          return { ignored: "the subscription has ended" }
        case "Notification":
          return isTestEvent(notice.Message) ? { ignored: "a test event of the bucket" } : "taken"
      }
    }
    case "token": {
      const given = headers[settings.header.toLowerCase()]
      return carries(settings.header.toLowerCase() === "authorization" ? bearerOf(given) : given) ? "taken" : "refused"
    }
    case "googleDrive":
      if (!carries(headers["x-goog-channel-token"])) return "refused"
      return headers["x-goog-resource-state"] === "sync" ? { ignored: "the channel was opened" } : "taken"
    case "microsoftGraph": {
      const { value: said = [] } = yield* read(GraphNotice, yield* body)
      // One notice with another state makes the whole batch suspect.
      return said.length > 0 && said.every(({ clientState }) => carries(clientState)) ? "taken" : "refused"
    }
    case "gitHub": {
      const bytes = yield* body
      const signature = headers["x-hub-signature-256"] ?? headers["x-hub-signature"]
      const expected = `sha256=${createHmac("sha256", value).update(bytes).digest("hex")}`
      if (value === "" || signature === undefined || !same(signature, expected)) return "refused"
      const event = headers["x-github-event"] ?? headers["x-gitea-event"] ?? headers["x-event-key"]
      if (event === "ping" || event === "diagnostics:ping") return { ignored: "a ping" }
      return yield* onBranch(settings.branch, jsonIn(bytes, headers["content-type"]))
    }
    case "gitLab": {
      const signatures = headers["webhook-signature"]
      // GitLab signs where it has a signing token; the plain token is weaker, and does not count then.
      const genuine = signatures === undefined
        ? carries(headers["x-gitlab-token"])
        : value !== "" && (yield* isSignedNow(signatures, { headers, body: yield* body }, value))
      return genuine ? yield* onBranch(settings.branch, yield* body) : "refused"
    }
  }
})

/** Most seconds between a notice's timestamp and now, as Standard Webhooks has it. */
const mostApart = 300

const isSignedNow = (
  signatures: string,
  { body, headers }: { readonly headers: RequestHeaders; readonly body: Uint8Array },
  key: string
): Effect.Effect<boolean> =>
  Effect.map(Clock.currentTimeMillis, (now) => {
    const { "webhook-id": id = "", "webhook-timestamp": timestamp = "" } = headers
    const expected = standardSignature({ id, timestamp, body }, key)
    // During a change of keys there are several signatures, separated by spaces.
    return Math.abs(now / 1_000 - Number(timestamp)) <= mostApart && signatures.split(" ").some((each) => same(each, expected))
  })

const GraphNotice = Schema.Struct({
  value: Schema.optionalKey(Schema.Array(Schema.Struct({ clientState: Schema.optional(Schema.NullOr(Schema.String)) })))
})

const snsFields = {
  Message: Schema.String,
  MessageId: Schema.String,
  Timestamp: Schema.String,
  TopicArn: Schema.String,
  SignatureVersion: Schema.Literals(["1", "2"]),
  Signature: Schema.String,
  SigningCertURL: Schema.String
}

/** A notice as SNS posts it. With raw message delivery it has no signature, and is refused. */
const SnsNotice = Schema.Union([
  Schema.Struct({ Type: Schema.Literal("Notification"), ...snsFields, Subject: Schema.optional(Schema.NullOr(Schema.String)) }),
  Schema.Struct({
    Type: Schema.Literals(["SubscriptionConfirmation", "UnsubscribeConfirmation"]),
    ...snsFields,
    SubscribeURL: Schema.String,
    Token: Schema.String
  })
])

/**
 * Whether a notice is signed by the key. Which fields are signed, and how:
 * docs.aws.amazon.com/sns/latest/dg/sns-verify-signature-of-message.html
 */
const isSigned = (notice: typeof SnsNotice.Type, key: KeyObject): boolean => {
  const { Message, MessageId, Timestamp, TopicArn, Type } = notice
  const signed = notice.Type === "Notification"
    ? { Message, MessageId, Subject: notice.Subject, Timestamp, TopicArn, Type }
    : { Message, MessageId, SubscribeURL: notice.SubscribeURL, Timestamp, Token: notice.Token, TopicArn, Type }
  const lines = Object.entries(signed).flatMap(([name, value]) => value === undefined || value === null ? [] : [`${name}\n${value}\n`])
  const digest = notice.SignatureVersion === "1" ? "sha1" : "sha256"
  return verify(digest, Buffer.from(lines.join("")), key, Buffer.from(notice.Signature, "base64"))
}

/** The test event that a bucket sends when its notifications are turned on. */
const TestEvent = Schema.fromJsonString(Schema.Struct({ Event: Schema.Literal("s3:TestEvent") }))
const isTestEvent = (message: string): boolean => Schema.decodeOption(TestEvent)(message)._tag === "Some"

/** The branch of a push: `ref` for GitHub, GitLab and Gitea, `push` for Bitbucket Cloud, `changes` for Bitbucket Data Center. */
const PushNotice = Schema.Struct({
  ref: Schema.optional(Schema.NullOr(Schema.String)),
  push: Schema.optional(Schema.Struct({
    changes: Schema.Array(Schema.Struct({ new: Schema.optional(Schema.NullOr(Schema.Struct({ name: Schema.optional(Schema.String) }))) }))
  })),
  changes: Schema.optional(Schema.Array(Schema.Struct({ refId: Schema.optional(Schema.String) })))
})

const onBranch = Effect.fnUntraced(function*(branch: string | undefined, body: Uint8Array): Effect.fn.Return<Verdict, ServiceError> {
  if (branch === undefined) return "taken"
  const { changes = [], push, ref } = yield* read(PushNotice, body)
  const whole = `refs/heads/${branch}`
  return ref === whole || push?.changes.some((change) => change.new?.name === branch) === true ||
      changes.some(({ refId }) => refId === whole)
    ? "taken"
    : { ignored: "no push to the branch" }
})

const read = <A>(schema: Schema.Decoder<A>, body: Uint8Array): Effect.Effect<A, ServiceError> =>
  Effect.mapError(
    Schema.decodeUnknownEffect(Schema.fromJsonString(schema))(Buffer.from(body).toString()),
    () => ServiceError.invalid("body", "is not a notice of this kind, in JSON")
  )

/** The JSON of a notice. GitHub can be set to send a form with the JSON in its only field. */
const jsonIn = (body: Uint8Array, contentType = ""): Uint8Array =>
  contentType.startsWith("application/x-www-form-urlencoded")
    ? Buffer.from(new URLSearchParams(Buffer.from(body).toString()).get("payload") ?? "")
    : body

/** Most characters of a handshake that is echoed; Graph's has a few hundred. */
const mostEchoed = 4_096

const echo = (text: string): Reply =>
  text.length > mostEchoed
    ? failure(ServiceError.invalid("validationToken", "is too long"), plain)
    : HttpServerResponse.text(text, {
      contentType: "text/plain; charset=utf-8",
      headers: { "x-content-type-options": "nosniff", "cache-control": "no-store", "content-security-policy": "default-src 'none'" }
    })

const plain = { pretty: false }

const unauthenticated = new ServiceError({
  code: "UNAUTHENTICATED",
  message: "this notice does not authenticate as one from the hook's sender"
})
