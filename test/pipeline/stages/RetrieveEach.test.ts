import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { writeFileSync } from "node:fs"
import { join } from "node:path"
import { expectTypeOf } from "vitest"
import { connectors } from "../../../connectors/index.ts"
import {
  compose,
  generateBy,
  type Host,
  HostedModels,
  Pipeline,
  queriesBy,
  Retrieval,
  retrieveEach,
  ServiceError
} from "../../../src/index.ts"
import { faultySource, isolatedEngine, scriptedModel, type TestContext, testServices } from "../../../src/Testing.ts"
import { fakeOpenAi, sendChat } from "../../fakes/Openai.ts"
import { tempFolder, write } from "../../support/TempFolder.ts"

const explanation = { analyzer: "en", terms: [], sparse: 1, cosine: 0, normalizedSparse: 1, normalizedDense: 0, alpha: 0, fused: 1 }

/** What each query finds, by ids. */
const found: Readonly<Record<string, ReadonlyArray<string>>> = { one: ["a", "b", "c"], two: ["d", "b", "a"], three: ["e"] }
const services = (asked: Array<string> = [], topKs: Array<number | undefined> = []) =>
  testServices({
    contexts: ({ explain, query, topK }) => {
      asked.push(query)
      topKs.push(topK)
      return (found[query] ?? []).map((chunkId, at): TestContext => ({
        chunkId,
        text: chunkId,
        distance: at / 10,
        ...(explain === true ? { explanation } : {})
      }))
    }
  })

const ids = (queries: ReadonlyArray<string>, options: { readonly topK?: number; readonly k?: number } = {}) =>
  retrieveEach({ queries: () => Effect.succeed(queries), ...options })({ question: "one" }).pipe(
    Effect.map(({ contexts }) => contexts.map(({ chunkId }) => chunkId).join("")),
    Effect.provide(services())
  )

describe("retrieveEach", () => {
  it.effect("fuses what several queries find by reciprocal rank", () =>
    Effect.gen(function*() {
      assert.strictEqual(yield* ids(["one", "two", "three"]), "abdec")
      assert.strictEqual(yield* ids(["one", "two", "three"], { topK: 2 }), "ab")
      // Places count for more.
      assert.strictEqual(yield* ids(["one", "two", "three"], { k: 0 }), "adebc")
      assert.strictEqual(yield* ids([]), "abc")
      assert.strictEqual(yield* ids([" ", "ONE", "one"]), "")
      const asked: Array<string> = []
      const topKs: Array<number | undefined> = []
      const output = yield* retrieveEach({ queries: (question) => Effect.succeed([question, "two", " Two ", ""]), topK: 7, explain: true })(
        { question: "?", query: "one" }
      ).pipe(Effect.provide(services(asked, topKs)))
      assert.sameMembers(asked, ["one", "two"])
      assert.deepStrictEqual(topKs, [20, 20])
      assert.deepInclude(output, { question: "?", query: "one" })
      const [a] = output.contexts
      assert.deepInclude(a, { chunkId: "a", score: 1 / 61 + 1 / 63, distance: 0 })
      assert.deepStrictEqual(a?.explanation, { ...explanation, queries: [{ query: "one", from: 0 }, { query: "two", from: 2 }] })
      const many = yield* Effect.flip(ids(Array.from({ length: 33 }, (_, at) => `q${at}`)))
      assert.deepInclude(many, { code: "INVALID_ARGUMENT" })
      assert.match(many.message, /gave 33 queries for a question, and at most 32 are searched/)
    }))

  it.live("searches a few queries at once, and says what fails", () =>
    Effect.gen(function*() {
      let [open, most] = [0, 0]
      const queries = Array.from({ length: 12 }, (_, at) => `q${at}`)
      const stage = retrieveEach({ queries: () => Effect.succeed(queries), concurrency: 3 })
      yield* stage({ question: "?" }).pipe(
        Effect.provideService(Retrieval, {
          retrieve: () =>
            Effect.sync(() => void (most = Math.max(most, ++open))).pipe(
              Effect.andThen(Effect.yieldNow),
              Effect.andThen(Effect.sync(() => {
                open--
                return []
              }))
            )
        }),
        Effect.provide(testServices())
      )
      assert.strictEqual(most, 3)
      const failing = retrieveEach({ queries: () => Effect.fail(new ServiceError({ code: "RESOURCE_EXHAUSTED", message: "slower" })) })
      assert.deepInclude(yield* Effect.flip(failing({ question: "?" }).pipe(Effect.provide(testServices()))), {
        code: "RESOURCE_EXHAUSTED"
      })
    }))

  it.effect("has a model write queries, and searches the question where it writes none", () =>
    Effect.gen(function*() {
      const model = scriptedModel(["1. two\n- three\n\n* four", "<think>no</think>"])
      const asked: Array<string> = []
      const stage = retrieveEach({ queries: queriesBy({ model: { openai: { url: "http://localhost/v1", model: "m" } }, count: 2 }) })
      const contexts = ({ query }: { readonly query: string }) => {
        asked.push(query)
        return []
      }
      yield* stage({ question: "one" }).pipe(Effect.provide(testServices({ model, contexts })))
      assert.sameMembers(asked, ["one", "two", "three"])
      yield* stage({ question: "one" }).pipe(Effect.provide(testServices({ model, contexts })))
      assert.deepStrictEqual(asked.slice(3), ["one"])
      const none = yield* Effect.flip(
        queriesBy({ model: "extractive" })("one").pipe(
          Effect.provide(testServices()),
          Effect.provideService(HostedModels, { location: "here" })
        )
      )
      assert.deepInclude(none, { code: "FAILED_PRECONDITION", message: "extractive writes no queries" })
    }))

  it.live("stands for retrieve in a pipeline of code, which is asked as any other", () =>
    Effect.gen(function*() {
      const source = faultySource({ "leave.md": "# Leave\n\nFive unused days carry over.\n", "vpn.md": "# VPN\n\nThe VPN needs a key.\n" })
      const { generator } = scriptedModel(() => "Five days [1: \"Five unused days carry over.\"].")
      const pipeline = Pipeline.make("each", {
        corpus: { displayName: "Each" },
        sources: { docs: source.source },
        stages: compose(retrieveEach({ queries: (question) => Effect.succeed([question, "VPN key"]), topK: 5 }), generateBy(generator))
      })
      expectTypeOf(pipeline.ask("q")).toExtend<Effect.Effect<unknown, unknown, Host>>()
      assert.deepStrictEqual(pipeline.definition.stages.map(({ _tag }) => _tag), ["retrieve"])
      const hosted = Pipeline.make("each", {
        corpus: { displayName: "Each" },
        sources: { docs: source.source },
        stages: compose(retrieveEach({ queries: queriesBy({ model: "gemini-2.0-flash-001" }) }), generateBy(generator))
      })
      expectTypeOf(hosted.ask("q")).toExtend<Effect.Effect<unknown, unknown, Host | HostedModels>>()
      expectTypeOf(hosted.ask("q")).not.toExtend<Effect.Effect<unknown, unknown, Host>>()
      yield* Effect.gen(function*() {
        yield* pipeline.run
        const { contexts } = yield* pipeline.retrieve("How many unused days carry over?", { explain: true })
        assert.sameMembers(contexts.map(({ sourceDisplayName }) => sourceDisplayName), ["leave.md", "vpn.md"])
        const vpn = contexts.find(({ sourceDisplayName }) => sourceDisplayName === "vpn.md")
        assert.include(vpn?.explanation?.queries?.map(({ query }) => query) ?? [], "VPN key")
        assert.strictEqual((yield* pipeline.retrieve("How many days?", { topK: 1 })).contexts.length, 1)
      }).pipe(Effect.provide(isolatedEngine()))
    }))

  it.live("is asked for by a pipeline file, with the model that answers", () =>
    Effect.scoped(Effect.gen(function*() {
      const server = yield* fakeOpenAi((request, response) =>
        sendChat(response, [
          request.body.messages[0]?.content.startsWith("You write 2 queries") === true
            ? "VPN key\nremote access"
            : "A key [1 \"needs a key\"]."
        ])
      )
      const folder = yield* tempFolder
      write(folder, { "docs/vpn.md": "# VPN\n\nThe VPN needs a key.\n", "docs/leave.md": "# Leave\n\nFive days carry over.\n" })
      const file = join(folder, "pipeline.yaml")
      writeFileSync(
        file,
        `name: queries
corpus: { displayName: Queries }
sources: { docs: { local: { path: ./docs } } }
stages:
  - retrieve: { queries: 2, topK: 1 }
  - diversify: { topK: 1 }
  - expand: { before: 1, after: 0 }
  - generate: { model: { openai: { url: "${server.baseUrl}", model: m } } }
`
      )
      const pipeline = yield* Pipeline.load(file, connectors)
      yield* Effect.gen(function*() {
        yield* pipeline.run
        const { answer, contexts } = yield* pipeline.ask("What does one need to work from home?")
        assert.deepStrictEqual(contexts.map(({ sourceDisplayName }) => sourceDisplayName), ["vpn.md"])
        assert.isTrue(answer.grounded)
        assert.strictEqual(server.received.length, 2)
      }).pipe(Effect.provide(isolatedEngine()))
    })))
})
