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

// Notices that come from outside and start runs. Each is held against a secret, in a time that says nothing of it; what
// it says is otherwise not believed: a run lists the sources, so that a notice that comes twice finds nothing to do.

/** What became of a notice. `ignored`: it is genuine, and asks for nothing. */
export type NoticeOutcome = "taken" | "refused" | "ignored"

/** A hook of a pipeline. */
export interface Hook {
  readonly pipeline: string
  readonly name: string
  readonly settings: HookSettings
  /** The value that its notices are held against; Pub/Sub with authentication and SNS have none. */
  readonly secret: Effect.Effect<Redacted.Redacted<string>, ServiceError> | undefined
  /** Asks for a run. */
  readonly told: Effect.Effect<void>
  /** Is told what became of each notice. */
  readonly noted: (outcome: NoticeOutcome) => Effect.Effect<void>
}

export interface HookOptions {
  readonly hooks: ReadonlyArray<Hook>
  /** The address of whom a token of Google's is about, where it is genuine and for this audience. */
  readonly identity: (token: string, audience: string) => Effect.Effect<string | undefined, ServiceError>
  readonly topics: Topics
}

/** Amazon SNS, as far as its notices need it. */
export interface Topics {
  /** The key of a certificate for a topic's notices, by its address; undefined where it is not SNS's, or there is none. */
  readonly keyOf: (topic: string, certificate: string) => Effect.Effect<KeyObject | undefined, ServiceError>
  /** Confirms the subscription that a token was sent for. */
  readonly confirm: (topic: string, token: string) => Effect.Effect<void, ServiceError>
}

/** Where no notices are taken. */
export const noHooks: HookOptions = {
  hooks: [],
  identity: () => Effect.undefined,
  topics: { keyOf: () => Effect.undefined, confirm: () => Effect.void }
}

/** GitHub cuts its own at this. Bytes. */
const mostBytes = 25 * 1024 * 1024

const notices = Metric.counter("sluice_hook_notices_total", {
  description: "Notices that came to hooks, by what became of them",
  incremental: true
})

/** What is told of a notice by what it says. */
type Verdict = Exclude<NoticeOutcome, "ignored"> | { readonly ignored: string }

/** Answers under `/hooks/{pipeline}/{hook}`. */
export const hooksEndpoint = ({ hooks, ...outside }: HookOptions) => {
  const byPath = new Map(hooks.map((hook) => [`/hooks/${hook.pipeline}/${hook.name}`, hook]))
  return (request: HttpServerRequest.HttpServerRequest, room: Room): Effect.Effect<Reply, ServiceError> =>
    Effect.gen(function*() {
      const [path = "", search = ""] = request.url.split("?", 2)
      const hook = byPath.get(path)
      if (hook === undefined || request.method !== "POST") {
        return failure(ServiceError.notFound(hook === undefined ? "this hook" : `${request.method} of a hook`, "notices are posted"), plain)
      }
      const query = new URLSearchParams(search)
      const handshake = hook.settings._tag === "microsoftGraph" ? query.get("validationToken") : null
      // Graph asks, before there is anything to sign, whether somebody is there.
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
  /** Read where it has to be: what a header shows to be nobody's is not. */
  readonly body: Effect.Effect<Uint8Array, ServiceError>
}

const judge = Effect.fnUntraced(function*(
  { secret, settings }: Hook,
  { body, headers, query }: Notice,
  { identity, topics }: Omit<HookOptions, "hooks">
): Effect.fn.Return<Verdict, ServiceError> {
  const value = secret === undefined ? "" : Redacted.value(yield* secret)
  /** An empty secret is nobody's. */
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
          return isTestEvent(notice.Message) ? { ignored: "a test of the bucket's" } : "taken"
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
      // Of several, one that is not ours makes all of them suspect.
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
      // Who has a signing token signs, and what else is sent shows less.
      const genuine = signatures === undefined
        ? carries(headers["x-gitlab-token"])
        : value !== "" && (yield* isSignedNow(signatures, { headers, body: yield* body }, value))
      return genuine ? yield* onBranch(settings.branch, yield* body) : "refused"
    }
  }
})

/** Seconds by which the clocks may differ and a notice may be late: Standard Webhooks' own. */
const mostApart = 300

const isSignedNow = (
  signatures: string,
  { body, headers }: { readonly headers: RequestHeaders; readonly body: Uint8Array },
  key: string
): Effect.Effect<boolean> =>
  Effect.map(Clock.currentTimeMillis, (now) => {
    const { "webhook-id": id = "", "webhook-timestamp": timestamp = "" } = headers
    const expected = standardSignature({ id, timestamp, body }, key)
    // While a key is changed there are several, with spaces between them.
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

/** As SNS posts it, unless its subscription has raw delivery on, which leaves the signature out. */
const SnsNotice = Schema.Union([
  Schema.Struct({ Type: Schema.Literal("Notification"), ...snsFields, Subject: Schema.optional(Schema.NullOr(Schema.String)) }),
  Schema.Struct({
    Type: Schema.Literals(["SubscriptionConfirmation", "UnsubscribeConfirmation"]),
    ...snsFields,
    SubscribeURL: Schema.String,
    Token: Schema.String
  })
])

/** What is signed, in this order, and how: docs.aws.amazon.com/sns/latest/dg/sns-verify-signature-of-message.html */
const isSigned = (notice: typeof SnsNotice.Type, key: KeyObject): boolean => {
  const { Message, MessageId, Timestamp, TopicArn, Type } = notice
  const signed = notice.Type === "Notification"
    ? { Message, MessageId, Subject: notice.Subject, Timestamp, TopicArn, Type }
    : { Message, MessageId, SubscribeURL: notice.SubscribeURL, Timestamp, Token: notice.Token, TopicArn, Type }
  const lines = Object.entries(signed).flatMap(([name, value]) => value === undefined || value === null ? [] : [`${name}\n${value}\n`])
  const digest = notice.SignatureVersion === "1" ? "sha1" : "sha256"
  return verify(digest, Buffer.from(lines.join("")), key, Buffer.from(notice.Signature, "base64"))
}

/** What a bucket sends when its notices are turned on. */
const TestEvent = Schema.fromJsonString(Schema.Struct({ Event: Schema.Literal("s3:TestEvent") }))
const isTestEvent = (message: string): boolean => Schema.decodeOption(TestEvent)(message)._tag === "Some"

/** Where a push went: as GitHub, GitLab and Gitea say it, as Bitbucket Cloud does, or as Bitbucket Data Center does. */
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
    () => ServiceError.invalid("body", "is no notice of this kind, in JSON")
  )

/** GitHub can be set to send a form, with the JSON in its only field. */
const jsonIn = (body: Uint8Array, contentType = ""): Uint8Array =>
  contentType.startsWith("application/x-www-form-urlencoded")
    ? Buffer.from(new URLSearchParams(Buffer.from(body).toString()).get("payload") ?? "")
    : body

/** Characters of a handshake that are said back; Graph's has a few hundred. */
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
  message: "this notice does not show that it comes from whom the hook was made for"
})
