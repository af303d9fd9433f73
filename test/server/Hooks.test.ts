import { createHmac, createSign, generateKeyPairSync, sign } from "node:crypto"
import { createServer, type Server } from "node:http"
import type { AddressInfo } from "node:net"
import { Effect, Exit, Redacted, Schema, Scope } from "effect"
import { afterAll, assert, beforeAll, describe, it } from "vitest"
import { googleIdentity } from "../../src/net/GoogleIdentity.ts"
import { snsTopics } from "../../src/net/SnsTopics.ts"
import { HookSettings, topicOrigin } from "../../src/domain/Hooks.ts"
import { selfSigned } from "../../src/server/grpc/Certificate.ts"
import { startServer, type TestServer } from "./support/TestServer.ts"

const secret = "a-secret-of-the-sender"
const version = "projects/acme/secrets/hook/versions/1"
/** As GitLab makes its signing tokens. */
const signingToken = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"
const audience = "https://sluice.acme.com"
const pusher = "push@acme.iam.gserviceaccount.com"
const topic = "arn:aws:sns:eu-west-1:123456789012:docs"
const snsOrigin = "https://sns.eu-west-1.amazonaws.com"

const kinds = {
  pubsub: { pubSub: { audience, serviceAccount: pusher } },
  pubsubToken: { pubSub: { token: version } },
  sns: { sns: { topic } },
  bearer: { token: { secret: version } },
  header: { token: { secret: version, header: "X-Api-Key" } },
  drive: { googleDrive: { secret: version } },
  graph: { microsoftGraph: { secret: version } },
  github: { gitHub: { secret: version, branch: "main" } },
  gitlab: { gitLab: { secret: version, branch: "main" } },
  gitlabSigned: { gitLab: { secret: version, branch: "main" } },
  documented: { gitHub: { secret: version } }
} as const

/** What holds another secret than the others. */
const secrets: Readonly<Record<string, string>> = { gitlabSigned: signingToken, documented: "It's a Secret to Everybody" }

const keys = generateKeyPairSync("rsa", { modulusLength: 2048 })
const strangers = generateKeyPairSync("rsa", { modulusLength: 2048 })

const encoded = (value: object) => Buffer.from(JSON.stringify(value)).toString("base64url")

/** A token as Pub/Sub sends it. */
const identityToken = (claims: object = {}, { key = keys.privateKey, kid = "k1" } = {}): string => {
  const now = Math.floor(Date.now() / 1000)
  const signed = `${encoded({ alg: "RS256", kid, typ: "JWT" })}.${
    encoded({
      aud: audience,
      email: pusher,
      email_verified: true,
      iss: "https://accounts.google.com",
      iat: now,
      exp: now + 3600,
      ...claims
    })
  }`
  return `${signed}.${createSign("RSA-SHA256").update(signed).sign(key).toString("base64url")}`
}

/** Certificates of SNS by the end of their paths, and who is not SNS. */
const days = 86_400_000
const sns = selfSigned(["sns.amazonaws.com"], Date.now())
const ended = selfSigned(["sns.amazonaws.com"], Date.now() - 5_000 * days)
const certificates: Readonly<Record<string, string>> = {
  "/SimpleNotificationService-1a.pem": sns.cert,
  "/SimpleNotificationService-0e.pem": ended.cert,
  "/SimpleNotificationService-2b.pem": "no certificate"
}

interface SnsNotice {
  readonly kind?: string
  readonly version?: "1" | "2"
  readonly key?: string
  /** In place of what SNS says, and signed. */
  readonly said?: object
  /** In place of what was signed. */
  readonly after?: object
}

/** A notice as SNS posts it, signed by the rules of its documentation. */
const snsNotice = ({ after = {}, key = sns.key, kind = "Notification", said = {}, version = "2" }: SnsNotice = {}): string => {
  const all: Record<string, unknown> = {
    Type: kind,
    MessageId: "22b80b92-fdea-4c2c-8f9d-bdfb0c7bf324",
    TopicArn: topic,
    Subject: "Amazon S3 Notification",
    Message: JSON.stringify({ Records: [{ eventName: "ObjectCreated:Put" }] }),
    Timestamp: new Date().toISOString(),
    SignatureVersion: version,
    SigningCertURL: `${snsOrigin}/SimpleNotificationService-1a.pem`,
    UnsubscribeURL: `${snsOrigin}/?Action=Unsubscribe`,
    ...(kind === "Notification"
      ? {}
      : { Token: "2336412f37", SubscribeURL: `${snsOrigin}/?Action=ConfirmSubscription&TopicArn=${topic}&Token=2336412f37` }),
    ...said
  }
  const names = kind === "Notification"
    ? ["Message", "MessageId", "Subject", "Timestamp", "TopicArn", "Type"]
    : ["Message", "MessageId", "SubscribeURL", "Timestamp", "Token", "TopicArn", "Type"]
  const signed = names.filter((name) => all[name] !== undefined).map((name) => `${name}\n${String(all[name])}\n`).join("")
  const signature = sign(version === "1" ? "sha1" : "sha256", Buffer.from(signed), key).toString("base64")
  return JSON.stringify({ ...all, Signature: signature, ...after })
}

describe("notices from outside", () => {
  let server: TestServer
  let google: Server
  let amazon: Server
  const askedOfAmazon: Array<string> = []
  let certificateCalls = 0
  const scope = Scope.makeUnsafe()
  const told: Array<string> = []
  const noted: Array<string> = []

  beforeAll(async () => {
    google = createServer((_, response) => {
      certificateCalls += 1
      response.setHeader("content-type", "application/json").end(
        JSON.stringify({ k1: keys.publicKey.export({ type: "spki", format: "pem" }) })
      )
    })
    await new Promise<void>((resolve) => google.listen(0, "127.0.0.1", resolve))
    const { port } = google.address() as AddressInfo // listens on a port
    const identity = await Effect.runPromise(googleIdentity(`http://127.0.0.1:${port}/`).pipe(Scope.provide(scope)))
    amazon = createServer(({ url = "" }, response) => {
      askedOfAmazon.push(url)
      const certificate = certificates[url]
      if (certificate === undefined && !url.startsWith("/?Action=ConfirmSubscription&")) response.statusCode = 404
      response.end(certificate ?? "<ConfirmSubscriptionResponse/>")
    })
    await new Promise<void>((resolve) => amazon.listen(0, "127.0.0.1", resolve))
    const { port: amazonPort } = amazon.address() as AddressInfo // listens on a port
    const topics = await Effect.runPromise(snsTopics(() => `http://127.0.0.1:${amazonPort}`).pipe(Scope.provide(scope)))
    server = await startServer({
      token: Redacted.make("0123456789abcdef0123"),
      hooks: {
        identity,
        topics,
        hooks: Object.entries(kinds).map(([name, written]) => {
          const settings = Schema.decodeUnknownSync(HookSettings)(written)
          return {
            pipeline: "handbook",
            name,
            settings,
            secret: name === "pubsub" || name === "sns" ? undefined : Effect.succeed(Redacted.make(secrets[name] ?? secret)),
            told: Effect.sync(() => void told.push(name)),
            noted: (outcome) => Effect.sync(() => void noted.push(`${name} ${outcome}`))
          }
        })
      }
    })
  })
  afterAll(async () => {
    await server.stop()
    await Effect.runPromise(Scope.close(scope, Exit.void))
    google.close()
    amazon.close()
  })

  const post = async (name: string, headers: Record<string, string> = {}, body: string = "{}", query = "") => {
    const response = await fetch(`${server.url}/hooks/handbook/${name}${query}`, { method: "POST", headers, body })
    return { status: response.status, type: response.headers.get("content-type"), text: await response.text() }
  }
  const signed = (body: string, key = secret) => `sha256=${createHmac("sha256", key).update(body).digest("hex")}`
  const graph = (...states: ReadonlyArray<string | undefined>) =>
    JSON.stringify({ value: states.map((clientState) => ({ subscriptionId: "s", changeType: "updated", clientState })) })
  /** Headers of a notice as GitLab signs it: docs.gitlab.com/user/project/integrations/webhooks */
  const standard = (body: string, { age = 0, key = signingToken } = {}) => {
    const [id, timestamp] = ["f5e5f430-f57b-4e6e-9fac-d9128cd7232f", String(Math.floor(Date.now() / 1000) - age)]
    const bytes = Buffer.from(key.replace("whsec_", ""), "base64")
    const signature = `v1,${createHmac("sha256", bytes).update(`${id}.${timestamp}.${body}`).digest("base64")}`
    return { "webhook-id": id, "webhook-timestamp": timestamp, "webhook-signature": signature }
  }
  const push = (branch: string) => JSON.stringify({ ref: `refs/heads/${branch}` })

  it("are taken where they show whose they are, and each asks for one run", async () => {
    const body = push("main")
    const form = new URLSearchParams({ payload: body }).toString()
    const onServer = JSON.stringify({ changes: [{ ref: { id: "refs/heads/main", displayId: "main" }, refId: "refs/heads/main" }] })
    const genuine: ReadonlyArray<Parameters<typeof post>> = [
      ["pubsub", { authorization: `Bearer ${identityToken()}` }],
      ["pubsubToken", {}, "{}", `?token=${secret}`],
      ["sns", {}, snsNotice()],
      ["sns", {}, snsNotice({ version: "1" })],
      ["sns", {}, snsNotice({ said: { Subject: undefined, Message: "not JSON" } })],
      ["bearer", { authorization: `Bearer ${secret}` }],
      ["header", { "x-api-key": secret }],
      ["drive", { "x-goog-channel-token": secret, "x-goog-resource-state": "change" }, ""],
      ["graph", {}, graph(secret, secret)],
      ["github", { "x-hub-signature-256": signed(body), "x-github-event": "push" }, body],
      ["github", { "x-hub-signature-256": signed(form), "content-type": "application/x-www-form-urlencoded" }, form],
      ["github", { "x-hub-signature": signed(onServer), "x-event-key": "repo:refs_changed" }, onServer],
      ["gitlab", { "x-gitlab-token": secret }, body],
      ["gitlabSigned", standard(body), body],
      ["gitlabSigned", { ...standard(body), "webhook-signature": `v1,AAAA ${standard(body)["webhook-signature"]}` }, body],
      // What GitHub and Bitbucket give for trying an implementation.
      [
        "documented",
        { "x-hub-signature-256": "sha256=757107ea0eb2509fc211221cce984b8a37570b6d7586c22c46f4379c8b043e17" },
        "Hello, World!"
      ],
      [
        "documented",
        { "x-hub-signature": "sha256=a4771c39fbe90f317c7824e83ddef3caae9cb3d976c214ace1f2937e133263c9" },
        "Hello World!"
      ]
    ]
    for (const notice of genuine) {
      told.length = 0
      assert.deepStrictEqual((await post(...notice)).status, 202, notice[0])
      assert.deepStrictEqual(told, [notice[0]])
      assert.strictEqual(noted.at(-1), `${notice[0]} taken`)
    }
  })

  it("start nothing where they do not: 401, whatever is wrong", async () => {
    told.length = 0
    const body = push("main")
    const wrong: ReadonlyArray<Parameters<typeof post>> = [
      ["pubsub"],
      ["pubsub", { authorization: `Bearer ${identityToken({ aud: "https://other.example.org" })}` }],
      ["pubsub", { authorization: `Bearer ${identityToken({ email: "other@acme.iam.gserviceaccount.com" })}` }],
      ["pubsub", { authorization: `Bearer ${identityToken({ email_verified: false })}` }],
      ["pubsub", { authorization: `Bearer ${identityToken({ iss: "https://evil.example.org" })}` }],
      ["pubsub", { authorization: `Bearer ${identityToken({ iat: 1_000_000_000, exp: 1_000_003_600 })}` }],
      ["pubsub", { authorization: `Bearer ${identityToken({}, { key: strangers.privateKey })}` }],
      ["pubsub", { authorization: `Bearer ${identityToken({}, { kid: "constructor" })}` }],
      ["pubsub", { authorization: `Bearer ${secret}` }],
      ["pubsubToken"],
      ["pubsubToken", {}, "{}", "?token=wrong"],
      ["sns", {}, snsNotice({ after: { Message: "another" } })],
      ["sns", {}, snsNotice({ after: { Signature: "" } })],
      ["sns", {}, snsNotice({ after: { SignatureVersion: "1" } })],
      ["sns", {}, snsNotice({ key: ended.key })],
      ["sns", {}, snsNotice({ key: ended.key, said: { SigningCertURL: `${snsOrigin}/SimpleNotificationService-0e.pem` } })],
      ["sns", {}, snsNotice({ said: { SigningCertURL: `${snsOrigin}/SimpleNotificationService-2b.pem` } })],
      ["sns", {}, snsNotice({ said: { SigningCertURL: `${snsOrigin}/SimpleNotificationService-3c.pem` } })],
      ["sns", {}, snsNotice({ said: { TopicArn: topic.replace("docs", "other") } })],
      ["sns", {}, snsNotice({ kind: "SubscriptionConfirmation", said: { TopicArn: topic.replace("docs", "other") } })],
      ["sns", {}, snsNotice({ kind: "SubscriptionConfirmation", after: { Token: "another" } })],
      ...[
        "https://sns.eu-west-1.amazonaws.com.evil.example.org",
        "https://evil.example.org",
        "https://sns.us-east-1.amazonaws.com",
        "https://s3.eu-west-1.amazonaws.com",
        "http://sns.eu-west-1.amazonaws.com",
        "https://sns.eu-west-1.amazonaws.com:8443",
        `${snsOrigin}/bucket`
      ].map((origin): Parameters<typeof post> => [
        "sns",
        {},
        snsNotice({ said: { SigningCertURL: `${origin}/SimpleNotificationService-1a.pem` } })
      ]),
      ["bearer"],
      ["bearer", { authorization: secret }],
      ["bearer", { authorization: `Bearer ${secret}x` }],
      ["header", { authorization: `Bearer ${secret}` }],
      ["drive", { "x-goog-channel-token": "", "x-goog-resource-state": "sync" }],
      ["graph", {}, graph()],
      ["graph", {}, graph(secret, "wrong")],
      ["graph", {}, graph(undefined)],
      ["github", {}, body],
      ["github", { "x-hub-signature-256": signed(body) }, push("main ")],
      ["github", { "x-hub-signature-256": signed(body, "wrong") }, body],
      ["gitlab", { "x-gitlab-token": "wrong" }, body],
      ["gitlab", { ...standard(body), "x-gitlab-token": secret }, body],
      ["gitlabSigned", standard(body), push("main ")],
      ["gitlabSigned", standard(body, { key: "whsec_AAAA" }), body],
      ["gitlabSigned", standard(body, { age: 600 }), body],
      ["gitlabSigned", { ...standard(body), "webhook-timestamp": "soon" }, body],
      ["gitlabSigned", { "x-gitlab-token": secret }, body],
      [
        "documented",
        { "x-hub-signature-256": "sha256=757107ea0eb2509fc211221cce984b8a37570b6d7586c22c46f4379c8b043e17" },
        "Hello, World?"
      ]
    ]
    for (const notice of wrong) {
      const { status, text } = await post(...notice)
      assert.strictEqual(status, 401, JSON.stringify(notice))
      assert.notInclude(text, secret)
      assert.strictEqual(noted.at(-1), `${notice[0]} refused`)
    }
    assert.deepStrictEqual(told, [])
    // Keys that nobody has are not asked for again and again.
    assert.isAtMost(certificateCalls, 2)
    assert.lengthOf(new Set(askedOfAmazon), askedOfAmazon.length)
    assert.sameMembers(askedOfAmazon, [...Object.keys(certificates), "/SimpleNotificationService-3c.pem"])
  })

  it("a subscription to the topic is confirmed, at the topic's region, and to nothing else", async () => {
    told.length = 0
    askedOfAmazon.length = 0
    const asking = { kind: "SubscriptionConfirmation", said: { SubscribeURL: "https://evil.example.org/?Action=ConfirmSubscription" } }
    const { status, text } = await post("sns", {}, snsNotice(asking))
    assert.deepStrictEqual([status, JSON.parse(text)], [200, { run: "none", because: "the subscription was confirmed" }])
    const [confirmed = ""] = askedOfAmazon.filter((path) => !path.endsWith(".pem"))
    assert.deepStrictEqual(Object.fromEntries(new URLSearchParams(confirmed.slice(2))), {
      Action: "ConfirmSubscription",
      TopicArn: topic,
      Token: "2336412f37"
    })
    assert.deepStrictEqual(told, [])
    assert.strictEqual(topicOrigin(topic), snsOrigin)
    assert.strictEqual(topicOrigin("arn:aws-cn:sns:cn-north-1:123456789012:docs"), "https://sns.cn-north-1.amazonaws.com.cn")
    assert.strictEqual(topicOrigin("arn:aws-us-gov:sns:us-gov-west-1:123456789012:docs"), "https://sns.us-gov-west-1.amazonaws.com")
    for (const wrong of ["arn:aws:sqs:eu-west-1:123456789012:docs", "arn:aws:sns:evil.example.org/:123456789012:docs", `${topic}.fifo`]) {
      assert.throws(() => Schema.decodeUnknownSync(HookSettings)({ sns: { topic: wrong } }), /ARN of a topic/)
    }
  })

  it("that are genuine and ask for nothing start nothing", async () => {
    told.length = 0
    const ping = JSON.stringify({ zen: "Keep it logically awesome." })
    const other = push("other")
    const idle: ReadonlyArray<Parameters<typeof post>> = [
      ["drive", { "x-goog-channel-token": secret, "x-goog-resource-state": "sync" }],
      ["sns", {}, snsNotice({ said: { Message: JSON.stringify({ Service: "Amazon S3", Event: "s3:TestEvent" }) } })],
      ["sns", {}, snsNotice({ kind: "UnsubscribeConfirmation" })],
      ["github", { "x-hub-signature-256": signed(ping), "x-github-event": "ping" }, ping],
      ["github", { "x-hub-signature-256": signed(other), "x-github-event": "push" }, other],
      ["gitlab", { "x-gitlab-token": secret }, other]
    ]
    for (const notice of idle) {
      const { status, text } = await post(...notice)
      assert.strictEqual(status, 200)
      assert.include(text, "none")
    }
    assert.deepStrictEqual(told, [])
  })

  it("Graph's handshake is said back as text, and nothing else is", async () => {
    const token = "Validation: Testing <script>alert(1)</script>"
    const said = await post("graph", {}, "", `?validationToken=${encodeURIComponent(token)}`)
    assert.deepStrictEqual(said, { status: 200, type: "text/plain; charset=utf-8", text: token })
    assert.strictEqual((await post("graph", {}, "", `?validationToken=${"x".repeat(5_000)}`)).status, 400)
    assert.strictEqual((await post("drive", {}, "", "?validationToken=x")).status, 401)
  })

  it("are posted, to a hook there is, of a size that fits", async () => {
    assert.strictEqual((await post("nothing")).status, 404)
    assert.strictEqual((await fetch(`${server.url}/hooks/handbook/github`)).status, 404)
    const large = Buffer.alloc(26 * 1024 * 1024, " ").toString()
    assert.strictEqual((await post("github", { "x-hub-signature-256": signed(large) }, large)).status, 400)
    assert.strictEqual((await post("graph", {}, "nonsense")).status, 400)
    assert.strictEqual((await post("sns", {}, "{\"Records\":[]}")).status, 400)
  })

  it("are counted", async () => {
    const metrics = await (await fetch(`${server.url}/metrics`, { headers: { authorization: "Bearer 0123456789abcdef0123" } })).text()
    assert.match(metrics, /sluice_hook_notices_total\{[^}]*hook="gitlab"[^}]*outcome="taken"[^}]*\} 1/)
    assert.match(metrics, /sluice_hook_notices_total\{[^}]*hook="drive"[^}]*outcome="refused"[^}]*\} 2/)
  })
})
