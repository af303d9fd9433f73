import { assert, describe, it } from "@effect/vitest"
import { Effect, Layer, Redacted } from "effect"
import { SecretVersion } from "../../src/domain/Secret.ts"
import { make, type OpenAiEmbedderOptions } from "../../src/models/OpenAiEmbedder.ts"
import { layer as httpLayer } from "../../src/net/Http.ts"
import { layer as secretsLayer } from "../../src/secrets/EnvironmentSecrets.ts"
import { fakeOpenAi, type Fake, sendEmbeddings, sendJson } from "../fakes/Openai.ts"
import { eventually } from "../support/Eventually.ts"

const environment = { SLUICE_SECRET_KEY: "sk-canary-0123456789" }
const live = Layer.merge(httpLayer(), secretsLayer(environment))

const embedder = (fake: Fake, options: Partial<OpenAiEmbedderOptions> = {}) =>
  make({
    baseUrl: fake.baseUrl,
    model: "m",
    dimensions: 2,
    maxRequestsPerMinute: 60_000,
    retry: { baseMs: 1, capMs: 5 },
    ...options
  })

const lengths = (text: string): ReadonlyArray<number> => [text.length, 0]

describe("OpenAiEmbedder", () => {
  it.live("embeds in order, normalised, in bounded batches, blank texts apart", () =>
    Effect.gen(function*() {
      const fake = yield* fakeOpenAi((request, response) => {
        // Backwards, as a server may: `index` tells.
        const data = request.body.input.map((text, index) => ({ index, embedding: [text.length, 1] })).reverse()
        sendJson(response, 200, { data })
      })
      const { embed } = yield* embedder(fake, { batch: { texts: 2 }, concurrency: 2, sendDimensions: true })
      const vectors = yield* embed(["a", "", "bbb", "cc", "   ", "dddd", "e"], "document")
      assert.strictEqual(fake.received.length, 3)
      assert.deepStrictEqual(new Set(fake.received.flatMap(({ body }) => body.input)), new Set(["a", "bbb", "cc", "dddd", "e"]))
      assert.isTrue(fake.received.every(({ path, body }) => path === "/v1/embeddings" && body.model === "m" && body.dimensions === 2))
      assert.isAtMost(fake.mostOpen(), 2)
      assert.deepStrictEqual([...vectors[1]!, ...vectors[4]!], [0, 0, 0, 0])
      for (const [at, length] of [[0, 1], [2, 3], [3, 2], [5, 4], [6, 1]] as const) {
        assert.closeTo(vectors[at]![0]! / vectors[at]![1]!, length, 1e-5)
        assert.closeTo(Math.hypot(...vectors[at]!), 1, 1e-6)
      }
    }).pipe(Effect.scoped, Effect.provide(live)))

  it.live("batches by tokens; a text over the limit goes alone", () =>
    Effect.gen(function*() {
      const fake = yield* fakeOpenAi((request, response) => sendEmbeddings(request, response, lengths))
      const { embed } = yield* embedder(fake, { batch: { tokens: 10 }, concurrency: 1 })
      yield* embed(["x".repeat(15), "y".repeat(15), "z", "w".repeat(300)], "document")
      assert.deepStrictEqual(fake.received.map(({ body }) => body.input.map((text) => text.length)), [[15, 15], [1], [300]])
    }).pipe(Effect.scoped, Effect.provide(live)))

  it.live("narrows a refused request down to the texts that are refused, and sends the others once", () =>
    Effect.gen(function*() {
      const taken: Array<string> = []
      const fake = yield* fakeOpenAi((request, response) => {
        if (request.body.input.some((text) => text.startsWith("poison"))) return sendJson(response, 400, { error: { message: "not this" } })
        taken.push(...request.body.input)
        sendEmbeddings(request, response, lengths)
      })
      const { embedEach } = yield* embedder(fake, { batch: { texts: 8 } })
      const texts = Array.from({ length: 20 }, (_, i) => i === 3 || i === 17 ? `poison ${i}` : `text ${i}`)
      const outcomes = yield* embedEach!(texts)
      assert.deepStrictEqual(outcomes.flatMap((outcome, i) => outcome instanceof Float32Array ? [] : [[i, outcome.code]]), [
        [3, "INVALID_ARGUMENT"],
        [17, "INVALID_ARGUMENT"]
      ])
      assert.sameMembers(taken, texts.filter((text) => !text.startsWith("poison")))
    }).pipe(Effect.scoped, Effect.provide(live)))

  it.live("understands base64 and prefixes", () =>
    Effect.gen(function*() {
      const fake = yield* fakeOpenAi((request, response) => {
        const data = request.body.input.map((_, index) => ({
          index,
          embedding: Buffer.from(new Float32Array([3, 4]).buffer).toString("base64")
        }))
        sendJson(response, 200, { data })
      })
      const plain = yield* embedder(fake)
      const prefixed = yield* embedder(fake, { encoding: "base64", prefixes: { query: "query: ", document: "passage: " } })
      const [vector] = yield* prefixed.embed(["hi"], "query")
      assert.deepStrictEqual([...vector!].map((value) => Math.round(value * 10)), [6, 8])
      assert.deepStrictEqual(fake.received[0]!.body.input, ["query: hi"])
      assert.strictEqual(plain.id, `${new URL(fake.baseUrl).host}/m/2`)
      assert.notStrictEqual(plain.id, prefixed.id)
    }).pipe(Effect.scoped, Effect.provide(live)))

  it.live("tries again on 429, 5xx and broken connections, waiting as asked", () =>
    Effect.gen(function*() {
      const at: Array<number> = []
      const fake = yield* fakeOpenAi((request, response, count) => {
        at.push(performance.now())
        if (count === 0) return sendJson(response, 429, { error: { message: "slow down" } }, { "retry-after-ms": "120" })
        if (count === 1) return sendJson(response, 503, {})
        if (count === 2) return void response.destroy()
        sendEmbeddings(request, response, lengths)
      })
      const { embed } = yield* embedder(fake)
      assert.strictEqual((yield* embed(["a"], "query")).length, 1)
      assert.strictEqual(fake.received.length, 4)
      assert.isAtLeast(at[1]! - at[0]!, 115)
    }).pipe(Effect.scoped, Effect.provide(live)))

  it.live("gives up in the end, and at once on what waiting cannot mend", () =>
    Effect.gen(function*() {
      const answers = [
        { status: 400, body: { error: { message: "no such option" } }, requests: 1, code: "INVALID_ARGUMENT" },
        { status: 401, body: { error: { message: "Incorrect API key provided: sk-ab**cdef" } }, requests: 1, code: "UNAUTHENTICATED" },
        { status: 429, body: { error: { message: "quota", code: "insufficient_quota" } }, requests: 1, code: "RESOURCE_EXHAUSTED" },
        { status: 500, body: {}, requests: 3, code: "INTERNAL" }
      ]
      for (const { status, body, requests, code } of answers) {
        const fake = yield* fakeOpenAi((_, response) => sendJson(response, status, body))
        const { embed } = yield* embedder(fake, { retry: { times: 2, baseMs: 1 } })
        const error = yield* Effect.flip(embed(["a"], "query"))
        assert.strictEqual(error.code, code)
        assert.strictEqual(fake.received.length, requests, String(status))
        assert.notInclude(error.message, "cdef")
      }
    }).pipe(Effect.scoped, Effect.provide(live)))

  it.live("bounds each call in time and closes what it gave up on", () =>
    Effect.gen(function*() {
      const fake = yield* fakeOpenAi(() => {})
      const { embed } = yield* embedder(fake, { timeoutMs: 50, retry: { times: 0 } })
      const error = yield* Effect.flip(embed(["a"], "query"))
      assert.strictEqual(error.code, "DEADLINE_EXCEEDED")
      yield* eventually("the call is left", Effect.sync(() => fake.received[0]?.aborted))
    }).pipe(Effect.scoped, Effect.provide(live)))

  it.live("refuses vectors that are not what they should be, naming model and both numbers", () =>
    Effect.gen(function*() {
      const wrong: ReadonlyArray<readonly [unknown, RegExp]> = [
        [{ data: [{ index: 0, embedding: [1, 2, 3] }] }, /\(m\).*3 dimensions where 2/],
        [{ data: [] }, /\(m\).*0 vectors for 1 texts/],
        [{ data: [{ index: 7, embedding: [1, 2] }] }, /index 7/],
        [{ data: [{ index: 0, embedding: [1, null] }] }, /finite/],
        [{ data: [{ index: 0, embedding: [1, 1e300] }] }, /finite/],
        [{ hello: "world" }, /no list of embeddings/]
      ]
      for (const [body, message] of wrong) {
        const fake = yield* fakeOpenAi((_, response) => sendJson(response, 200, body))
        const { embed } = yield* embedder(fake)
        const error = yield* Effect.flip(embed(["a"], "query"))
        assert.match(error.message, message)
        assert.isFalse(error.retryable)
        assert.strictEqual(fake.received.length, 1)
      }
    }).pipe(Effect.scoped, Effect.provide(live)))

  it.live("takes its key from the secrets, and says where it looked when there is none", () =>
    Effect.gen(function*() {
      const fake = yield* fakeOpenAi((request, response) => sendEmbeddings(request, response, lengths))
      const found = yield* embedder(fake, { apiKey: SecretVersion.make("projects/p/secrets/key/versions/1") })
      yield* found.embed(["a"], "query")
      assert.strictEqual(fake.received[0]!.headers["authorization"], `Bearer ${environment.SLUICE_SECRET_KEY}`)
      assert.notInclude(found.id, environment.SLUICE_SECRET_KEY)
      const missing = yield* embedder(fake, { apiKey: SecretVersion.make("projects/p/secrets/other/versions/1") })
      const error = yield* Effect.flip(missing.embed(["a"], "query"))
      assert.strictEqual(error.code, "UNAUTHENTICATED")
      assert.include(error.message, "SLUICE_SECRET_OTHER")
    }).pipe(Effect.scoped, Effect.provide(live)))

  it.live("refuses options that cannot work", () =>
    Effect.gen(function*() {
      for (
        const options of [{ baseUrl: "ftp://x" }, { baseUrl: "https://user:pass@x/v1" }, { dimensions: 0 }, { maxRequestsPerMinute: 0 }]
      ) {
        const error = yield* Effect.flip(
          make({ baseUrl: "http://127.0.0.1:1/v1", model: "m", dimensions: 2, apiKey: Redacted.make("k"), ...options })
        )
        assert.strictEqual(error.code, "INVALID_ARGUMENT")
        assert.notInclude(error.message, "pass")
      }
    }).pipe(Effect.provide(live)))
})
