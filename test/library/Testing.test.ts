import { assert, describe, it } from "@effect/vitest"
import { Effect, Stream } from "effect"
import { AiError, EmbeddingModel, LanguageModel } from "effect/ai"
import { fromChatModel, fromEmbeddingModel, fromLanguageModel, toEmbeddingModel, toLanguageModel } from "../../src/Ai.ts"
import { chat, compose, Embedder, generate, generateBy, Pipeline, rank, retrieve, ServiceError } from "../../src/index.ts"
import { faultySource, isolatedEngine, scriptedModel, testContexts, testServices } from "../../src/Testing.ts"
import { Layer } from "effect"

const texts = { "leave.md": "# Leave\n\nFive unused days of leave carry over.\n", "vpn.md": "# VPN\n\nThe VPN needs a key.\n" }
const answer = "Five days carry over [1: \"Five unused days of leave carry over.\"]."

const pipelineOf = (source: ReturnType<typeof faultySource>, generator: ReturnType<typeof scriptedModel>["generator"]) =>
  Pipeline.make("test", {
    corpus: { displayName: "Test" },
    sources: { docs: source.source },
    stages: compose(retrieve({ topK: 2 }), generateBy(generator))
  })

describe("sluice/testing", () => {
  it.live("runs a pipeline on an engine of its own, with a source that fails and a model that is scripted", () =>
    Effect.gen(function*() {
      const source = faultySource(texts)
      const model = scriptedModel([answer, new ServiceError({ code: "PERMISSION_DENIED", message: "no such key" })])
      const pipeline = pipelineOf(source, model.generator)
      yield* Effect.gen(function*() {
        source.failRead("vpn.md", new ServiceError({ code: "PERMISSION_DENIED", message: "not yours" }))
        const first = yield* pipeline.run
        assert.deepInclude(first.totals, { added: 1, failed: 1 })
        // A listing that was cut short deletes nothing.
        source.cutListing({ after: 1 })
        assert.strictEqual((yield* pipeline.run).totals.deleted, 0)
        source.failListing(new ServiceError({ code: "PERMISSION_DENIED", message: "locked" }))
        assert.isFalse((yield* pipeline.run).sources.every(({ complete }) => complete))
        const { answer: given } = yield* pipeline.ask("How many days of leave carry over?")
        assert.isTrue(given.grounded)
        assert.strictEqual(given.citations[0]?.sourceDisplayName, "leave.md")
        assert.deepInclude(yield* Effect.flip(pipeline.ask("And in Japan?")), { code: "PERMISSION_DENIED" })
        assert.strictEqual(model.requests.length, 2)
        assert.strictEqual(source.listings, 3)
      }).pipe(Effect.provide(isolatedEngine()))
      // Another engine knows nothing of it.
      assert.deepInclude(yield* Effect.flip(pipeline.ask("How many?").pipe(Effect.provide(isolatedEngine()))), { code: "NOT_FOUND" })
    }))
})

describe("faultySource", () => {
  it.live("makes several sources of a pipeline, each with a kind of its own", () =>
    Effect.gen(function*() {
      const sources = {
        a: faultySource({ "x.md": "Kiwis are green." }).source,
        b: faultySource({ "x.md": "Mangos are not." }, "more").source
      }
      const pipeline = Pipeline.make("two", { corpus: { displayName: "Two" }, sources, stages: retrieve() })
      const { totals } = yield* pipeline.run
      assert.strictEqual(totals.added, 2)
      const { contexts } = yield* pipeline.retrieve("kiwis mangos")
      assert.sameMembers(contexts.map(({ sourceUri, text }) => `${sourceUri} ${text}`), [
        "memory://faulty/x.md Kiwis are green.",
        "memory://more/x.md Mangos are not."
      ])
    }).pipe(Effect.provide(isolatedEngine())))
})

describe("testServices", () => {
  it.effect("runs stages without an engine: the contexts of the test, a model that is scripted, or none", () =>
    Effect.gen(function*() {
      const model = scriptedModel([answer, "How many days of leave carry over?"])
      const services = testServices({
        contexts: [{ text: "Five unused days of leave carry over.", file: "leave.md" }, { text: "The VPN needs a key." }],
        chunks: { "leave.md": [{ text: "Leave\n\n" }, { text: "Five unused days of leave carry over.", headings: ["Leave"] }] },
        model
      })
      const question = "How many days of leave carry over?"
      const stage = compose(retrieve({ topK: 1 }), generateBy(model.generator))
      const { answer: given, contexts } = yield* stage({ question }).pipe(Effect.provide(services))
      assert.strictEqual(contexts.length, 1)
      assert.deepInclude(given.citations[0], { sourceDisplayName: "leave.md", byteStart: 7, headings: ["Leave"] })
      const talk = chat()({ question: "How many?", history: [{ question, standalone: question, answer: "Five." }] })
      assert.deepInclude(yield* talk.pipe(Effect.provide(services)), { question })
      // Without a model, the texts themselves answer.
      const extracted = yield* compose(retrieve(), rank(), generate())({ question }).pipe(Effect.provide(testServices({
        contexts: ({ query }) => query === question ? [{ text: "Five unused days of leave carry over." }] : []
      })))
      assert.match(extracted.answer.text, /^Five unused days/)
      const none = yield* Effect.flip(
        compose(retrieve(), generate({ model: { openai: { url: "http://h", model: "m" } } }))({ question }).pipe(
          Effect.provide(testServices({ contexts: [{ text: "Five." }] }))
        )
      )
      assert.deepInclude(none, { code: "UNIMPLEMENTED", message: "testServices has no model" })
    }))

  it("makes contexts of what a test says of them", () => {
    const [first, second] = testContexts([{ text: "Five days.", file: "a b.md", score: 7, headings: ["Leave"] }, { text: "Six days." }])
    assert.deepInclude(first, { chunkId: "1", sourceDisplayName: "a b.md", sourceUri: "memory:///a%20b.md", score: 7, headings: ["Leave"] })
    assert.deepInclude(second, { chunkId: "2", sourceDisplayName: "document.md", score: 1 / 2 })
    assert.notStrictEqual(first?.file, second?.file)
  })
})

/** A model of `effect/ai` that says what it is told. */
const theirs = (text: string, fails?: AiError.AiError) =>
  LanguageModel.make({
    generateText: () => Effect.succeed([]),
    streamText: () =>
      fails !== undefined ? Stream.fail(fails) : Stream.fromIterable([
        { type: "text-start" as const, id: "1" },
        ...text.split(/(?<= )/).map((delta) => ({ type: "text-delta" as const, id: "1", delta })),
        { type: "text-end" as const, id: "1" },
        {
          type: "finish" as const,
          reason: "stop" as const,
          response: undefined,
          usage: { inputTokens: { uncached: 7, total: 7, cacheRead: 0, cacheWrite: 0 }, outputTokens: { total: 5, text: 5, reasoning: 0 } }
        }
      ])
  })

describe("sluice/ai", () => {
  it.live("a LanguageModel answers, verified; its failures are typed; what cannot be passed on is refused", () =>
    Effect.gen(function*() {
      const model = yield* theirs(answer)
      const source = faultySource(texts)
      yield* Effect.gen(function*() {
        const pipeline = pipelineOf(source, fromLanguageModel(model, { name: "theirs" }))
        yield* pipeline.run
        const { answer: given } = yield* pipeline.ask("How many days of leave carry over?")
        assert.deepInclude(given, { grounded: true, model: "theirs" })
        assert.deepStrictEqual(given.usage, { promptTokens: 7, answerTokens: 5, totalTokens: 12 })
        const lying = pipelineOf(source, fromLanguageModel(yield* theirs("Ninety days [1: \"Ninety days.\"].")))
        assert.isFalse((yield* lying.ask("How many days of leave carry over?")).answer.grounded)
        const limited = AiError.make({ module: "m", method: "streamText", reason: new AiError.RateLimitError({}) })
        const failing = pipelineOf(source, fromLanguageModel(yield* theirs("", limited)))
        assert.deepInclude(yield* Effect.flip(failing.ask("How many days?")), { code: "RESOURCE_EXHAUSTED" })
        const sampled = Pipeline.make("test", {
          corpus: { displayName: "Test" },
          sources: { docs: source.source },
          stages: compose(retrieve(), generateBy(fromLanguageModel(model), { temperature: 0.2 }))
        })
        const refused = yield* Effect.flip(sampled.ask("How many days of leave carry over?"))
        assert.match(refused.message, /temperature/)
      }).pipe(Effect.provide(isolatedEngine()))
    }))

  it.effect("our chat model is a LanguageModel", () =>
    Effect.gen(function*() {
      const { requests, chat } = scriptedModel([
        "One two.",
        "Three four.",
        new ServiceError({ code: "RESOURCE_EXHAUSTED", message: "slower" })
      ])
      const model = yield* toLanguageModel(chat)
      assert.strictEqual((yield* model.generateText({ prompt: "Count." })).text, "One two.")
      const parts = yield* Stream.runCollect(
        model.streamText({ prompt: [{ role: "system", content: "Be brief." }, { role: "user", content: [{ type: "text", text: "On." }] }] })
      )
      assert.strictEqual(parts.map((part) => part.type === "text-delta" ? part.delta : "").join(""), "Three four.")
      assert.deepStrictEqual(requests[1], { system: "Be brief.", turns: [{ role: "user", parts: [{ type: "text", text: "On." }] }] })
      assert.strictEqual((yield* Effect.flip(model.generateText({ prompt: "More." }))).reason._tag, "RateLimitError")
    }))

  it.effect("a chat model of one's own answers, verified, with the settings of the stage", () =>
    Effect.gen(function*() {
      const { chat, requests } = scriptedModel([answer])
      const stage = compose(retrieve(), generateBy(fromChatModel(chat), { temperature: 0.5 }))
      const { answer: given } = yield* stage({ question: "How many days?" }).pipe(
        Effect.provide(testServices({ contexts: [{ text: texts["leave.md"], file: "leave.md" }] }))
      )
      assert.deepStrictEqual(given.citations.map(({ quote }) => quote), ["Five unused days of leave carry over."])
      assert.strictEqual(requests[0]?.temperature, 0.5)
    }))

  it.live("an EmbeddingModel is an Embedder, and ours is one", () =>
    Effect.gen(function*() {
      const letters = yield* EmbeddingModel.make({
        embedMany: ({ inputs }) =>
          Effect.succeed({
            results: inputs.map((text) =>
              Array.from({ length: 26 }, (_, n) => text.toLowerCase().split(String.fromCharCode(97 + n)).length - 1)
            ),
            usage: { inputTokens: undefined }
          })
      })
      const embedder = fromEmbeddingModel(letters, { id: "letters-26", dimensions: 26 })
      const [vector] = yield* embedder.embed(["leave"], "query")
      assert.closeTo(Math.hypot(...vector ?? []), 1, 1e-6)
      const wrong = yield* Effect.flip(fromEmbeddingModel(letters, { id: "letters", dimensions: 3 }).embed(["a"], "query"))
      assert.deepInclude(wrong, { code: "FAILED_PRECONDITION" })
      const back = yield* toEmbeddingModel(embedder)
      assert.strictEqual((yield* back.embed("leave")).vector.length, 26)
      const source = faultySource(texts)
      const pipeline = pipelineOf(source, scriptedModel([answer]).generator)
      yield* Effect.gen(function*() {
        yield* pipeline.run
        assert.strictEqual((yield* pipeline.retrieve("vpn key", { topK: 1 })).contexts.length, 1)
      }).pipe(Effect.provide(isolatedEngine({ embedder: Layer.succeed(Embedder, embedder) })))
    }))
})
