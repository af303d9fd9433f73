import { assert, describe, it } from "@effect/vitest"
import { Effect, Layer, Stream } from "effect"
import * as Vertex from "../../../src/compose/VertexEntry.ts"
import * as Pipeline from "../../../src/pipeline/Pipeline.ts"
import { vertexServices } from "../../../src/compose/Vertex.ts"
import { retrieveFrom } from "../../../src/pipeline/AskPipeline.ts"
import { definePipeline } from "../../../src/pipeline/definition/DefinePipeline.ts"
import { Connectors } from "../../../src/pipeline/Services.ts"
import { ServiceError } from "../../../src/domain/Errors.ts"
import { Corpora } from "../../../src/ports/Corpora.ts"
import { Engine } from "../../../src/ports/Engine.ts"
import { Ledger } from "../../../src/ports/Ledger.ts"
import { pipelineKeyOf } from "../../../src/pipeline/sync/Generations.ts"
import { type Call, fakeVertex } from "../../fakes/Vertex.ts"
import { tempFolder } from "../../support/TempFolder.ts"

const noConnectors = Layer.succeed(Connectors, { make: () => Effect.fail(ServiceError.internal("there are no sources")) })
const isManagement = ({ path }: Pick<Call, "path">) => !path.endsWith(":retrieveContexts")

describe("questions to the hosted engine", () => {
  it.live("cost one request each: the corpus is looked for only when its name leads nowhere", () =>
    Effect.gen(function*() {
      const fake = yield* fakeVertex
      const pipeline = definePipeline({
        name: "asked",
        engine: { vertex: { project: "p1", location: "us-central1", baseUrl: fake.baseUrl } },
        corpus: { displayName: "Asked" },
        sources: {},
        stages: [{ retrieve: { topK: 3 } }]
      })
      const asked: Array<string> = []
      fake.handle = ({ body, path, response }) => {
        if (!path.endsWith(":retrieveContexts")) return false
        const corpus = JSON.parse(body.toString()).vertexRagStore.ragResources[0].ragCorpus
        asked.push(corpus)
        if (fake.corpora.has(corpus)) return false
        response.writeHead(404, { "content-type": "application/json" })
        response.end(JSON.stringify({ error: { code: 404, message: "RagCorpus is not found.", status: "NOT_FOUND" } }))
        return true
      }
      yield* Effect.gen(function*() {
        const corpora = yield* Corpora
        const ledger = yield* Ledger
        const ask = retrieveFrom(pipeline, { question: "what?" })
        const spec = { displayName: "Asked", vectorDb: { _tag: "managed" } } as const
        const first = (yield* corpora.create(spec)).name
        const since = () => fake.calls.splice(0).filter(isManagement).length
        since()
        yield* ask
        assert.isAtLeast(since(), 1)
        for (let i = 0; i < 20; i++) yield* ask
        assert.strictEqual(since(), 0)

        const key = pipelineKeyOf(yield* Engine, "asked")
        yield* ledger.beginGeneration(key, { scope: key, number: 1, role: "live", corpus: first })
        yield* ask
        assert.strictEqual(since(), 0)

        yield* corpora.delete(first)
        const second = (yield* corpora.create(spec)).name
        since()
        yield* ask
        assert.isAtLeast(since(), 1)
        assert.deepStrictEqual(asked.slice(-2), [first, second])

        yield* corpora.delete(second)
        const error = yield* Effect.flip(ask)
        assert.strictEqual(error._tag === "ServiceError" ? error.fix : "", "run the pipeline first: sluice run")
      }).pipe(Effect.provide(Layer.merge(vertexServices(pipeline, { dataDir: yield* tempFolder }), noConnectors)))
    }).pipe(Effect.scoped))

  it.live("cost no more when the answer is streamed", () =>
    Effect.gen(function*() {
      const fake = yield* fakeVertex
      const streamed = Pipeline.make("streamed", { corpus: { displayName: "Streamed" }, sources: {} })
      yield* Effect.gen(function*() {
        yield* streamed.run
        fake.calls.splice(0)
        for (let i = 0; i < 3; i++) assert.isAbove((yield* Stream.runCollect(streamed.stream("what?"))).length, 0)
        const calls = fake.calls.splice(0)
        assert.deepStrictEqual([calls.filter(isManagement).length, calls.length], [0, 3])
      }).pipe(Effect.provide(Vertex.layer({ dataDir: yield* tempFolder, project: "p1", location: "us-central1", baseUrl: fake.baseUrl })))
    }).pipe(Effect.scoped))
})
