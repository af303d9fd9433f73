import { assert, describe, it } from "@effect/vitest"
import { Effect, Redacted } from "effect"
import { GoogleAuth } from "../../../src/net/GoogleAuth.ts"
import { Corpora } from "../../../src/ports/Corpora.ts"
import { managed } from "../../conformance/Cases.ts"
import type { FakeVertex } from "../../fakes/Vertex.ts"
import { onFake } from "./Engine.ts"

const creates = (fake: FakeVertex) => fake.calls.filter(({ method, path }) => method === "POST" && path.endsWith("/ragCorpora")).length
const isCreate = ({ method, path }: { readonly method: string; readonly path: string }) => method === "POST" && path.endsWith("/ragCorpora")

describe("hosted corpora", () => {
  it.live("follows the operation to its end, though polls fail", () =>
    onFake((fake) =>
      Effect.gen(function*() {
        fake.slowness = 1
        let polls = 0
        fake.fault = ({ path }) => path.includes("/operations/") && polls++ < 2 ? (polls === 1 ? "drop" : "cut") : undefined
        const corpus = yield* (yield* Corpora).create(managed("c"))
        assert.strictEqual(corpus.state, "ACTIVE")
        assert.strictEqual(creates(fake), 1)
        assert.isAtLeast(polls, 3)
      })
    ))

  it.live("does not create twice when the answer is lost", () =>
    onFake((fake) =>
      Effect.gen(function*() {
        fake.fault = (call) => isCreate(call) ? "lose" : undefined
        const corpus = yield* (yield* Corpora).create({ ...managed("c"), description: "of ours" })
        assert.deepStrictEqual([...fake.corpora.keys()], [corpus.name])
        assert.strictEqual(creates(fake), 1)
      })
    ))

  it.live("takes no other corpus of the name for the one it asked for", () =>
    onFake((fake) =>
      Effect.gen(function*() {
        const corpora = yield* Corpora
        const old = yield* corpora.create({ displayName: "c", vectorDb: { _tag: "pinecone", indexName: "i" } })
        fake.fault = (call) => isCreate(call) && creates(fake) === 2 ? "drop" : undefined
        const created = yield* corpora.create(managed("c"))
        assert.notStrictEqual(created.name, old.name)
        assert.strictEqual(fake.corpora.size, 2)
      })
    ))

  it.live("creates once through a storm of 503s", () =>
    onFake((fake) =>
      Effect.gen(function*() {
        fake.fault = (call) => isCreate(call) && creates(fake) <= 2 ? { status: 503, error: { status: "UNAVAILABLE" } } : undefined
        yield* (yield* Corpora).create(managed("c"))
        assert.strictEqual(fake.corpora.size, 1)
        assert.strictEqual(creates(fake), 3)
      })
    ))

  it.live("sends only what changes, and names the embedding model in full", () =>
    onFake((fake) =>
      Effect.gen(function*() {
        const corpora = yield* Corpora
        const { name } = yield* corpora.create({ ...managed("c"), embeddingModel: "text-embedding-005" })
        assert.deepStrictEqual(JSON.parse(fake.calls.find(isCreate)?.body ?? ""), {
          displayName: "c",
          vectorDbConfig: {
            ragManagedDb: {},
            ragEmbeddingModelConfig: {
              vertexPredictionEndpoint: { endpoint: "projects/p1/locations/us-central1/publishers/google/models/text-embedding-005" }
            }
          }
        })
        yield* corpora.update(name, { description: "new" })
        assert.deepStrictEqual(JSON.parse(fake.calls.find(({ method }) => method === "PATCH")?.body ?? ""), { description: "new" })
      })
    ))

  it.live("an operation's failure is the caller's", () =>
    onFake((fake) =>
      Effect.gen(function*() {
        fake.handle = (call) => {
          if (!isCreate(call)) return false
          call.response.end(
            JSON.stringify({ name: "projects/p1/locations/us-central1/operations/1", done: true, error: { code: 8, message: "too many" } })
          )
          return true
        }
        const error = yield* Effect.flip((yield* Corpora).create(managed("c")))
        assert.strictEqual(error.code, "RESOURCE_EXHAUSTED")
        assert.match(error.message, /^operation projects\/p1\/locations\/us-central1\/operations\/1 of 127\.0\.0\.1:\d+ failed: too many$/)
        assert.include(error.fix, "quota")
      })
    ))

  it.live("gets a new token when the old one is refused, and never prints either", () => {
    let token = "first-token"
    const auth: GoogleAuth["Service"] = {
      ...GoogleAuth.anonymous,
      token: Effect.sync(() => Redacted.make(token)),
      reject: () => Effect.sync(() => void (token = "second-token")),
      quotaProject: Effect.succeed("payer")
    }
    return onFake((fake) =>
      Effect.gen(function*() {
        const corpora = yield* Corpora
        const { name } = yield* corpora.create(managed("c"))
        fake.stale = "first-token"
        yield* corpora.get(name)
        assert.strictEqual(fake.calls.at(-1)?.headers.authorization, "Bearer second-token")
        assert.strictEqual(fake.calls.at(-1)?.headers["x-goog-user-project"], "payer")
        fake.fault = () => ({ status: 400, error: { status: "INVALID_ARGUMENT", message: "second-token is odd" } })
        const error = yield* Effect.flip(corpora.get(name))
        assert.include(error.message, "<redacted> is odd")
      }), { auth })
  })
})
