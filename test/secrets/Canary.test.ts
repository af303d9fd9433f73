import { assert, describe, it } from "@effect/vitest"
import { Cause, Effect, Exit, Layer, Logger, Redacted, References, Stream, Tracer } from "effect"
import { inspect } from "node:util"
import type { ServiceError } from "../../src/domain/Errors.ts"
import { SecretVersion } from "../../src/domain/Secret.ts"
import { make as makeEmbedder } from "../../src/models/OpenAiEmbedder.ts"
import { make as makeGenerator } from "../../src/models/OpenAiGenerator.ts"
import { layer as httpLayer } from "../../src/net/Http.ts"
import { Secrets } from "../../src/ports/Secrets.ts"
import { layer as secretsLayer } from "../../src/secrets/EnvironmentSecrets.ts"
import { fakeOpenAi, sendEmbeddings, sendJson, startChat } from "../fakes/Openai.ts"

// No shape that redaction by pattern would know: only care keeps it out.
const canary = "plover-ZQ93-marzipan-0417"
const apiKey = SecretVersion.make("projects/p/secrets/key/versions/latest")

/** Everything there is to see of a value: as JSON, and as `inspect` shows it at any depth, hidden fields too. */
const everything = (value: unknown): string => {
  const seen = new WeakSet<object>()
  const json = JSON.stringify(value, (_, each: unknown) => {
    if (typeof each === "bigint") return String(each)
    if (typeof each !== "object" || each === null) return each
    if (seen.has(each)) return undefined
    seen.add(each)
    return each
  })
  return `${json}\n${inspect(value, { depth: 12, showHidden: false, getters: false })}`
}

describe("a planted secret", () => {
  it.live("appears in no error, log, span or object of ours, though the service echoes it", () =>
    Effect.gen(function*() {
      const shown: Array<string> = []
      const spans: Array<Tracer.Span> = []
      const tracer = Tracer.make({
        span: (options) => {
          const span = new Tracer.NativeSpan(options)
          spans.push(span)
          return span
        }
      })
      const logger = Logger.make((options) => {
        shown.push(everything([options.message, options.cause, options.fiber.getRef(References.CurrentLogAnnotations)]))
      })

      yield* Effect.gen(function*() {
        const echo = {
          error: {
            message: `key ${canary} is wrong`,
            code: canary,
            details: [{ "@type": "google.rpc.BadRequest", fieldViolations: [{ field: canary, description: canary }] }]
          }
        }
        const fake = yield* fakeOpenAi((request, response, count) => {
          assert.strictEqual(request.headers["authorization"], `Bearer ${canary}`)
          if (count === 0) return sendEmbeddings(request, response, () => [1, 0])
          if (count < 5) return sendJson(response, [401, 400, 429, 500][count - 1]!, echo, { "x-echo": canary })
          if (count === 5) return void response.destroy()
          if (count === 6) return sendJson(response, 200, { data: [{ embedding: canary }] })
          if (count === 7) return sendJson(response, 401, echo)
          startChat(response, ["text"])
          response.end(`data: ${JSON.stringify(echo)}\n\n`)
        })
        const connection = { baseUrl: fake.baseUrl, apiKey, retry: { times: 0 }, maxRequestsPerMinute: 60_000 }
        const embedder = yield* makeEmbedder({ ...connection, model: "m", dimensions: 2 })
        const generator = yield* makeGenerator({ ...connection, model: "m" })
        shown.push(everything(embedder), everything(generator), everything(yield* Secrets))
        const note = (exit: Exit.Exit<unknown, ServiceError>): void => {
          shown.push(everything(exit))
          if (Exit.isFailure(exit)) shown.push(Cause.pretty(exit.cause))
        }
        for (let call = 0; call < 7; call++) {
          const exit = yield* Effect.exit(embedder.embed(["a"], "query"))
          assert.strictEqual(Exit.isSuccess(exit), call === 0)
          note(exit)
          if (Exit.isFailure(exit)) yield* Effect.logError("failed", exit.cause)
        }
        const request = { question: "?", contexts: [] }
        const context = {
          chunkId: "1",
          file: "corpora/c/ragFiles/1",
          sourceUri: "",
          sourceDisplayName: "",
          text: "text",
          headings: [],
          score: 1
        }
        for (let call = 0; call < 2; call++) {
          // A brand is a string; the name's form does not matter here.
          const exit = yield* Effect.exit(Stream.runDrain(generator.stream({ ...request, contexts: [context as never] })))
          assert.isTrue(Exit.isFailure(exit))
          note(exit)
        }
        const missing = yield* Effect.exit((yield* Secrets).resolve(SecretVersion.make("projects/p/secrets/none/versions/1")))
        shown.push(everything(missing))
        shown.push(everything(yield* (yield* Secrets).resolve(apiKey)))
        assert.strictEqual(fake.received.length, 9)
      }).pipe(
        Effect.scoped,
        Effect.provide(Layer.merge(httpLayer(), secretsLayer({ SLUICE_SECRET_KEY: canary }))),
        Effect.withTracer(tracer),
        Effect.provide(Logger.layer([logger]))
      )

      assert.isAbove(spans.length, 10)
      for (const span of spans) {
        shown.push(everything([span.name, [...span.attributes], span.status, span._tag === "Span" ? span : undefined]))
        if (span.status._tag === "Ended" && Exit.isFailure(span.status.exit)) shown.push(Cause.pretty(span.status.exit.cause))
      }
      assert.isAbove(shown.length, 40)
      for (const text of shown) assert.notInclude(text, canary)
      // The check can see: unwrapped, the value would have been found.
      assert.include(everything(Redacted.value(Redacted.make(canary))), canary)
    }))
})
