import { assert, describe, it } from "@effect/vitest"
import { Deferred, Effect, Fiber, Layer, Logger, Redacted, Result, Stream } from "effect"
import { TestClock } from "effect/testing"
import { endpointOf } from "../../../src/engines/vertex/Endpoint.ts"
import { GoogleAuth } from "../../../src/net/GoogleAuth.ts"
import { pages } from "../../../src/ports/Paging.ts"
import { Corpora } from "../../../src/ports/Corpora.ts"
import { Quota } from "../../../src/ports/Quota.ts"
import { Retrieval } from "../../../src/ports/Retrieval.ts"
import * as QuotaBuckets from "../../../src/state/QuotaBuckets.ts"
import { CorpusName } from "../../../src/domain/Corpus.ts"
import { fakeVertex } from "../../fakes/Vertex.ts"
import { hosted, onFake } from "./Engine.ts"

const corpus = CorpusName.make("projects/p1/locations/us-central1/ragCorpora/1")

describe("the service's address", () => {
  const address = (location: string, baseUrl?: string) => Result.getOrThrow(endpointOf(location, baseUrl)).baseUrl

  it("is regional, global, or one's own", () => {
    assert.strictEqual(address("europe-west1"), "https://europe-west1-aiplatform.googleapis.com")
    assert.strictEqual(address("global"), "https://aiplatform.googleapis.com")
    assert.strictEqual(address("local", "http://127.0.0.1:8686/"), "http://127.0.0.1:8686")
    assert.strictEqual(address("local", "https://rag.example.com/vertex/"), "https://rag.example.com/vertex")
  })

  it("is not a host on the network without encryption, nor one with credentials in it", () => {
    for (
      const baseUrl of ["http://10.0.0.7:8686", "http://example.com", "https://me:secret@example.com", "ftp://127.0.0.1", "127.0.0.1:8686"]
    ) {
      assert.isTrue(Result.isFailure(endpointOf("local", baseUrl)), baseUrl)
    }
  })

  it("is Google's only where it ends so", () => {
    const google = (baseUrl: string) => Result.getOrThrow(endpointOf("x", baseUrl)).google
    assert.isTrue(google("https://us-central1-aiplatform.googleapis.com"))
    assert.isTrue(google("https://aiplatform-mine.p.googleapis.com"))
    assert.isFalse(google("https://googleapis.com.evil.example"))
    assert.isFalse(google("https://evilgoogleapis.com"))
    assert.isFalse(google("http://127.0.0.1:1"))
  })
})

describe("the transport", () => {
  it.live("does not send Google credentials to anyone else", () =>
    Effect.gen(function*() {
      const fake = yield* fakeVertex
      const leaking = Layer.succeed(GoogleAuth, {
        ...GoogleAuth.anonymous,
        token: Effect.sync(() => Redacted.make("google-token"))
      })
      yield* Effect.gen(function*() {
        yield* (yield* Corpora).list({})
      }).pipe(Effect.provide(hosted(fake.baseUrl, {}, leaking)))
      assert.isUndefined(fake.calls[0]?.headers.authorization)
    }).pipe(Effect.scoped))

  it.live("a Retry-After holds up every call of the bucket, and a storm passes", () =>
    Effect.gen(function*() {
      const fake = yield* fakeVertex
      const arrived: Array<number> = []
      fake.fault = () =>
        arrived.push(Date.now()) > 2
          ? undefined
          : { status: 429, error: { status: "RESOURCE_EXHAUSTED" }, headers: { "retry-after-ms": "200" } }
      /** When each pause ends at the earliest. */
      const until: Array<number> = []
      const paused = yield* Deferred.make<void>()
      const quota = Layer.effect(
        Quota,
        Effect.map(Quota, (quota) =>
          Quota.of({
            ...quota,
            pause: (bucket, milliseconds) =>
              Effect.suspend(() => {
                until.push(Date.now() + milliseconds)
                return Effect.andThen(quota.pause(bucket, milliseconds), Deferred.succeed(paused, undefined))
              })
          }))
      ).pipe(Layer.provide(QuotaBuckets.layerMemory))
      yield* Effect.gen(function*() {
        const corpora = yield* Corpora
        const other = Effect.andThen(Deferred.await(paused), corpora.list({}))
        yield* Effect.all([corpora.list({}), other], { concurrency: 2 })
      }).pipe(Effect.provide(hosted(fake.baseUrl, {}, undefined, quota)))
      assert.lengthOf(arrived, 4)
      const [, second = 0, third = 0, fourth = 0] = arrived
      // The third may have been on its way when the second was told to wait. A timer may end in the millisecond before its time.
      assert.isAtLeast(Math.min(second, third), (until[0] ?? Infinity) - 2)
      assert.isAtLeast(fourth, (until[1] ?? Infinity) - 2)
    }).pipe(Effect.scoped))

  it.live("keeps to the quota", () =>
    onFake(
      (fake) =>
        Effect.gen(function*() {
          const corpora = yield* Corpora
          yield* corpora.list({})
          yield* corpora.list({})
          const third = yield* Effect.timeoutOption(corpora.list({}), 300)
          assert.strictEqual(third._tag, "None")
          assert.strictEqual(fake.calls.length, 2)
          // Retrieval has a quota of its own.
          yield* (yield* Retrieval).retrieve({ corpus, query: "q" })
        }),
      { perMinute: { management: 2 } }
    ))

  it.effect("says once that calls wait for their turn", () => {
    const warnings: Array<string> = []
    const logger = Logger.make(({ logLevel, message }) => {
      if (logLevel === "Warn") warnings.push(String(message))
    })
    return onFake(() =>
      Effect.gen(function*() {
        const corpora = yield* Corpora
        yield* corpora.list({})
        const waiting = yield* Effect.forkChild(Effect.all([corpora.list({}), corpora.list({})], { concurrency: 2 }))
        yield* TestClock.adjust("9 seconds")
        assert.deepStrictEqual(warnings, [])
        yield* TestClock.adjust("40 seconds")
        assert.lengthOf(warnings, 1)
        assert.match(warnings[0] ?? "", /wait for their turn: 1 a minute are allowed, or fewer since the service asked to slow down$/)
        yield* Fiber.interrupt(waiting)
      }).pipe(Effect.provide(Logger.layer([logger]))), { perMinute: { management: 1 } })
  })

  it.live("gives the service's field violations, reason and words, and what to do", () =>
    onFake((fake) =>
      Effect.gen(function*() {
        const corpora = yield* Corpora
        const details = [
          { "@type": "type.googleapis.com/google.rpc.BadRequest", fieldViolations: [{ field: "page_size", description: "too large" }] }
        ]
        fake.fault = () => ({ status: 400, error: { status: "INVALID_ARGUMENT", message: "bad page", details } })
        const invalid = yield* Effect.flip(corpora.list({}))
        assert.strictEqual(invalid.code, "INVALID_ARGUMENT")
        assert.deepStrictEqual(invalid.violations, [{ field: "page_size", description: "too large" }])
        assert.include(invalid.message, "ListRagCorpora of 127.0.0.1")
        assert.include(invalid.message, "bad page")

        const info = [{ "@type": "type.googleapis.com/google.rpc.ErrorInfo", reason: "SERVICE_DISABLED", domain: "googleapis.com" }]
        fake.fault = () => ({ status: 403, error: { status: "PERMISSION_DENIED", details: info } })
        const disabled = yield* Effect.flip(corpora.list({}))
        assert.strictEqual(disabled.reason, "SERVICE_DISABLED")
        assert.include(disabled.fix, "gcloud services enable aiplatform.googleapis.com --project p1")
      })
    ))

  it.live("tries again what may succeed later, and nothing else", () =>
    onFake((fake) =>
      Effect.gen(function*() {
        const corpora = yield* Corpora
        for (const [status, tries] of [[503, 4], [504, 4], [408, 4], [500, 4], [502, 4], [400, 1], [403, 1], [404, 1], [501, 1]] as const) {
          fake.calls.length = 0
          fake.fault = () => ({ status })
          yield* Effect.flip(corpora.list({}))
          assert.strictEqual(fake.calls.length, tries, String(status))
        }
      })
    ))

  it.live("ends a listing whose pages do not go on", () =>
    onFake((fake) =>
      Effect.gen(function*() {
        fake.handle = ({ response }) => (response.end(JSON.stringify({ nextPageToken: "same" })), true)
        const error = yield* Effect.flip(Stream.runDrain(pages((yield* Corpora).list)))
        assert.strictEqual(error.message, "the service answered the same page of a listing twice")
        assert.strictEqual(fake.calls.length, 2)
      })
    ))

  it.live("says that nobody is there", () =>
    Effect.gen(function*() {
      const error = yield* Effect.flip(
        Effect.flatMap(Corpora, (corpora) => corpora.create({ displayName: "c", vectorDb: { _tag: "managed" } }))
      )
      assert.strictEqual(error.code, "UNAVAILABLE")
      assert.include(error.message, "ECONNREFUSED")
    }).pipe(Effect.provide(hosted("http://127.0.0.1:1"))))

  it.live("ends a call that takes too long", () =>
    onFake(
      (fake) =>
        Effect.gen(function*() {
          fake.handle = () => true
          const error = yield* Effect.flip((yield* Corpora).list({}))
          assert.strictEqual(error.code, "DEADLINE_EXCEEDED")
        }),
      { timeoutMs: 50, retry: { times: 1, baseMs: 1 } }
    ))

  it.live("asks twice, and no more, for the contexts of a question when the service does not answer", () =>
    onFake(
      (fake) =>
        Effect.gen(function*() {
          fake.handle = () => true
          const error = yield* Effect.flip((yield* Retrieval).retrieve({ corpus, query: "q" }))
          assert.strictEqual(error.code, "DEADLINE_EXCEEDED")
          assert.lengthOf(fake.calls, 2)
        }),
      { timeoutMs: 300 }
    ))

  it.live("asks four times for the contexts of a question where an error comes at once, which is no silence", () =>
    onFake((fake) =>
      Effect.gen(function*() {
        fake.fault = () => ({ status: 504 })
        yield* Effect.flip((yield* Retrieval).retrieve({ corpus, query: "q" }))
        assert.lengthOf(fake.calls, 4)
      })
    ))

  it.live("names must be names: nothing of them gets into the path", () =>
    onFake((fake) =>
      Effect.gen(function*() {
        const corpora = yield* Corpora
        for (const name of ["1", "../x", `${corpus}/../2`, `${corpus}?force=true`, `${corpus}:delete`, `${corpus}/ragFiles/3`]) {
          const error = yield* Effect.flip(corpora.delete(CorpusName.make(name)))
          assert.strictEqual(error.code, "INVALID_ARGUMENT", name)
        }
        assert.strictEqual(fake.calls.length, 0)
      })
    ))
})

describe("hosted retrieval", () => {
  it.live("asks in the newest spelling and reads distances", () =>
    onFake((fake) =>
      Effect.gen(function*() {
        fake.handle = (call) => {
          // Hybrid search is for corpora with a database that has it.
          if (call.method === "GET") {
            call.response.end(JSON.stringify({ name: corpus, displayName: "c", vectorDbConfig: { weaviate: {} } }))
            return true
          }
          call.response.end(JSON.stringify({
            contexts: {
              contexts: [{
                sourceUri: "gs://b/a.md",
                sourceDisplayName: "a.md",
                text: "t",
                score: 0.25,
                chunk: { fileId: "7", chunkId: "c" },
                novelty: 1
              }]
            }
          }))
          return true
        }
        const [best] = yield* (yield* Retrieval).retrieve({
          corpus,
          query: "q?",
          topK: 2,
          hybrid: { alpha: 0 },
          filter: { maxDistance: 0.5 },
          rank: { _tag: "rankService", model: "semantic-ranker-512@latest" }
        })
        assert.deepStrictEqual(JSON.parse(fake.calls.find(({ method }) => method === "POST")?.body ?? ""), {
          vertexRagStore: { ragResources: [{ ragCorpus: corpus }] },
          query: {
            text: "q?",
            ragRetrievalConfig: {
              topK: 2,
              hybridSearch: { alpha: 0 },
              filter: { vectorDistanceThreshold: 0.5 },
              ranking: { rankService: { modelName: "semantic-ranker-512@latest" } }
            }
          }
        })
        assert.strictEqual(best?.file, `${corpus}/ragFiles/7`)
        assert.strictEqual(best?.distance, 0.25)
        assert.strictEqual(best?.score, 0.75)
      })
    ))

  it.live("refuses by name what the service cannot do", () =>
    onFake((fake) =>
      Effect.gen(function*() {
        const retrieval = yield* Retrieval
        const refused = [{ principal: "user:a@b.c" }, { principal: ["user:a@b.c", "group:x"] }, { principal: [] }, { explain: true }, {
          rank: { _tag: "lexical" as const }
        }]
        for (const what of refused) {
          const error = yield* Effect.flip(retrieval.retrieve({ corpus, query: "q", ...what }))
          assert.include(["UNIMPLEMENTED", "INVALID_ARGUMENT"], error.code)
        }
        assert.strictEqual(fake.calls.length, 0)
      })
    ))
})
