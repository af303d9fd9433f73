import { assert, describe, it } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { join } from "node:path"
import { local } from "../../../connectors/local/Local.ts"
import { vertexServices } from "../../../src/compose/Vertex.ts"
import { openModelNamed } from "../../../src/domain/partner/PartnerModels.ts"
import { askPipeline } from "../../../src/pipeline/AskPipeline.ts"
import { definePipeline } from "../../../src/pipeline/definition/DefinePipeline.ts"
import { runPipeline } from "../../../src/pipeline/RunPipeline.ts"
import { Models } from "../../../src/pipeline/Services.ts"
import { fakeOpenAi, sendChat, sendJson } from "../../fakes/Openai.ts"
import { startServer } from "../../server/support/TestServer.ts"
import { connectorsOf } from "../../support/Sources.ts"
import { tempFolder, write } from "../../support/TempFolder.ts"

const model = "meta/llama-3.1-70b-instruct-maas"

const setUp = Effect.gen(function*() {
  const fake = yield* fakeOpenAi(({ body }, response) =>
    JSON.stringify(body.messages).includes("Who is away")
      ? sendJson(response, 400, { error: { message: "too long" } })
      : sendChat(response, ["Within ten ", "days [1 \"paid within 10 working days\"]."])
  )
  const server = yield* Effect.acquireRelease(
    Effect.promise(() => startServer({ upstream: { url: fake.baseUrl, model: "m" } })),
    (server) => Effect.promise(server.stop)
  )
  const folder = yield* tempFolder
  write(folder, { "docs/claims.md": "Claims are paid within 10 working days." })
  const pipeline = definePipeline({
    name: "claims",
    engine: { vertex: { project: "p1", location: "us-central1", baseUrl: server.url } },
    corpus: { displayName: "Claims" },
    sources: { docs: { local: { path: join(folder, "docs") } } },
    stages: [{ retrieve: { topK: 3 } }, { generate: { model, instruction: "Be brief." } }]
  })
  const options = { dataDir: join(folder, "data"), writes: "a test" }
  return { fake, pipeline, services: connectorsOf({ local }, options).pipe(Layer.provideMerge(vertexServices(pipeline, options))) }
})

describe("a pipeline whose answers an open model of the service writes", () => {
  it.live("answers from the contexts over the chat completions route, citations verified", () =>
    Effect.gen(function*() {
      const { fake, pipeline, services } = yield* setUp
      yield* Effect.gen(function*() {
        yield* runPipeline(pipeline)
        const { answer } = yield* askPipeline(pipeline, { question: "When are claims paid?" })
        assert.strictEqual(answer.text, "Within ten days [1].")
        assert.strictEqual(answer.model, model)
        assert.include(JSON.stringify(fake.received.at(-1)?.body.messages), "Claims are paid within 10 working days.")
        const refused = yield* Effect.flip(askPipeline(pipeline, { question: "Who is away when claims are paid?" }))
        assert.include(JSON.stringify(refused), "too long")
        const { searching } = yield* Models
        const ground = yield* Effect.flip(searching(model, { corpus: "projects/p1/locations/us-central1/ragCorpora/1" as never })) // never looked at
        assert.include(ground.message, "does not search a corpus itself")
      }).pipe(Effect.provide(services))
    }).pipe(Effect.scoped))

  it("is known by its publisher", () => {
    assert.strictEqual(openModelNamed("publishers/meta/models/llama-3.1-8b-instruct-maas"), "meta/llama-3.1-8b-instruct-maas")
    for (
      const name of [
        "gemini-2.0-flash-001",
        "publishers/google/models/gemini-2.0-flash-001",
        "anthropic/claude-3-haiku@20240307",
        "endpoints/1",
        "projects/p/locations/l/endpoints/1"
      ]
    ) {
      assert.isUndefined(openModelNamed(name), name)
    }
  })
})
