import { createHmac, createSign, generateKeyPairSync } from "node:crypto"
import { createServer, type Server } from "node:http"
import type { AddressInfo } from "node:net"
import { Effect, Exit, Redacted, Schema, Scope } from "effect"
import { afterAll, assert, beforeAll, describe, it } from "vitest"
import { googleIdentity } from "../../src/compose/Hooks.ts"
import { HookSettings } from "../../src/domain/Hooks.ts"
import { startServer, type TestServer } from "./support/TestServer.ts"

const secret = "a-secret-of-the-sender"
const version = "projects/acme/secrets/hook/versions/1"
const audience = "https://sluice.acme.com"
const pusher = "push@acme.iam.gserviceaccount.com"

const kinds = {
  pubsub: { pubSub: { audience, serviceAccount: pusher } },
  pubsubToken: { pubSub: { token: version } },
  bearer: { token: { secret: version } },
  header: { token: { secret: version, header: "X-Api-Key" } },
  drive: { googleDrive: { secret: version } },
  graph: { microsoftGraph: { secret: version } },
  github: { gitHub: { secret: version, branch: "main" } },
  gitlab: { gitLab: { secret: version, branch: "main" } }
} as const

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

describe("notices from outside", () => {
  let server: TestServer
  let google: Server
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
    server = await startServer({
      token: Redacted.make("0123456789abcdef0123"),
      hooks: {
        identity,
        hooks: Object.entries(kinds).map(([name, written]) => {
          const settings = Schema.decodeUnknownSync(HookSettings)(written)
          return {
            pipeline: "handbook",
            name,
            settings,
            secret: name === "pubsub" ? undefined : Effect.succeed(Redacted.make(secret)),
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
  })

  const post = async (name: string, headers: Record<string, string> = {}, body: string = "{}", query = "") => {
    const response = await fetch(`${server.url}/hooks/handbook/${name}${query}`, { method: "POST", headers, body })
    return { status: response.status, type: response.headers.get("content-type"), text: await response.text() }
  }
  const signed = (body: string, key = secret) => `sha256=${createHmac("sha256", key).update(body).digest("hex")}`
  const graph = (...states: ReadonlyArray<string | undefined>) =>
    JSON.stringify({ value: states.map((clientState) => ({ subscriptionId: "s", changeType: "updated", clientState })) })
  const push = (branch: string) => JSON.stringify({ ref: `refs/heads/${branch}` })

  it("are taken where they show whose they are, and each asks for one run", async () => {
    const body = push("main")
    const form = new URLSearchParams({ payload: body }).toString()
    const genuine: ReadonlyArray<Parameters<typeof post>> = [
      ["pubsub", { authorization: `Bearer ${identityToken()}` }],
      ["pubsubToken", {}, "{}", `?token=${secret}`],
      ["bearer", { authorization: `Bearer ${secret}` }],
      ["header", { "x-api-key": secret }],
      ["drive", { "x-goog-channel-token": secret, "x-goog-resource-state": "change" }, ""],
      ["graph", {}, graph(secret, secret)],
      ["github", { "x-hub-signature-256": signed(body), "x-github-event": "push" }, body],
      ["github", { "x-hub-signature-256": signed(form), "content-type": "application/x-www-form-urlencoded" }, form],
      ["gitlab", { "x-gitlab-token": secret }, body]
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
      ["gitlab", { "x-gitlab-token": "wrong" }, body]
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
  })

  it("that are genuine and ask for nothing start nothing", async () => {
    told.length = 0
    const ping = JSON.stringify({ zen: "Keep it logically awesome." })
    const other = push("other")
    const idle: ReadonlyArray<Parameters<typeof post>> = [
      ["drive", { "x-goog-channel-token": secret, "x-goog-resource-state": "sync" }],
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
  })

  it("are counted", async () => {
    const metrics = await (await fetch(`${server.url}/metrics`, { headers: { authorization: "Bearer 0123456789abcdef0123" } })).text()
    assert.match(metrics, /sluice_hook_notices_total\{[^}]*hook="gitlab"[^}]*outcome="taken"[^}]*\} 1/)
    assert.match(metrics, /sluice_hook_notices_total\{[^}]*hook="drive"[^}]*outcome="refused"[^}]*\} 2/)
  })
})
