import { assert, describe, it } from "@effect/vitest"
import { Effect, Layer, Redacted } from "effect"
import { join } from "node:path"
import { DatabaseSync } from "node:sqlite"
import { local } from "../../../connectors/local/Local.ts"
import { vertexChecks, vertexServices } from "../../../src/compose/Vertex.ts"
import { askPipeline } from "../../../src/pipeline/AskPipeline.ts"
import { definePipeline } from "../../../src/pipeline/definition/DefinePipeline.ts"
import { runPipeline } from "../../../src/pipeline/RunPipeline.ts"
import { Corpora } from "../../../src/ports/Corpora.ts"
import { Engine } from "../../../src/ports/Engine.ts"
import { databaseFile } from "../../../src/state/Database.ts"
import { fakeVertex } from "../../fakes/Vertex.ts"
import { connectorsOf } from "../../support/Sources.ts"
import { tempFolder, write } from "../../support/TempFolder.ts"
import { eventually } from "../../support/Eventually.ts"

const pipelineInput = (baseUrl: string) => ({
  name: "claims",
  engine: { vertex: { project: "p1", location: "us-central1", baseUrl } },
  corpus: {
    displayName: "Claims",
    vectorDb: { pinecone: { indexName: "i", apiKey: "projects/p1/secrets/pinecone/versions/1" } }
  }
})

const setUp = Effect.gen(function*() {
  const fake = yield* fakeVertex
  const folder = yield* tempFolder
  write(folder, { "docs/claims.md": "Claims are paid within 10 working days." })
  const pipeline = definePipeline({
    ...pipelineInput(fake.baseUrl),
    sources: { docs: { local: { path: join(folder, "docs") } } },
    stages: [{ retrieve: { topK: 3 } }, { generate: { model: "gemini-2.0-flash" } }]
  })
  const options = { dataDir: join(folder, "data"), writes: "a test", token: Redacted.make("server-token") }
  const services = connectorsOf({ local }, options).pipe(Layer.provideMerge(vertexServices(pipeline, options)))
  return { fake, options, pipeline, services }
})

describe("a pipeline on the hosted engine", () => {
  it.live("runs and answers", () =>
    Effect.gen(function*() {
      const { fake, pipeline, services } = yield* setUp
      fake.handle = ({ path, response }) => {
        if (!path.includes(":streamGenerateContent")) return false
        const text = "Within ten days [1 \"paid within 10 working days\"]."
        response.writeHead(200, { "content-type": "text/event-stream" })
        response.end(`data: ${JSON.stringify({ candidates: [{ content: { parts: [{ text }] }, finishReason: "STOP" }] })}\n\n`)
        return true
      }
      yield* Effect.gen(function*() {
        const report = yield* runPipeline(pipeline)
        assert.strictEqual(report.totals.added, 1)
        assert.strictEqual(report.engine, "vertex")
        assert.strictEqual((yield* Engine).target, `${fake.baseUrl}/projects/p1/locations/us-central1`)
        const { answer } = yield* askPipeline(pipeline, { question: "When are claims paid?" })
        assert.strictEqual(answer.text, "Within ten days [1].")
        assert.strictEqual(answer.citations[0]?.sourceDisplayName, "claims.md")
      }).pipe(Effect.provide(services))
      assert.isTrue(fake.calls.every(({ headers }) => headers.authorization === "Bearer server-token"))
    }).pipe(Effect.scoped))

  it.live("has the service's model search the corpus by itself, where that is asked for", () =>
    Effect.gen(function*() {
      const { fake, options, pipeline, services } = yield* setUp
      const text = "Claims are paid within 10 working days."
      fake.handle = ({ path, response }) => {
        if (!path.includes(":generateContent")) return false
        response.writeHead(200, { "content-type": "application/json" })
        response.end(JSON.stringify({
          candidates: [{
            content: { parts: [{ text }] },
            groundingMetadata: {
              groundingChunks: [{ retrievedContext: { uri: "claims.md", title: "claims.md", text } }],
              groundingSupports: [{ segment: { endIndex: text.length, text }, groundingChunkIndices: [0] }]
            }
          }]
        }))
        return true
      }
      yield* runPipeline(pipeline).pipe(Effect.provide(services))
      const grounded = definePipeline({
        ...pipelineInput(fake.baseUrl),
        sources: { docs: { local: { path: options.dataDir } } },
        stages: [{ retrieve: { topK: 5, filter: { maxDistance: 0.6 } } }, {
          generate: { model: "gemini-2.0-flash", ground: "corpus", instruction: "Be brief." }
        }]
      })
      fake.calls.splice(0)
      const { answer, contexts } = yield* askPipeline(grounded, { question: "When are claims paid?" }).pipe(Effect.provide(services))
      assert.strictEqual(answer.text, `${text} [1]`)
      assert.strictEqual(answer.citations[0]?.sourceDisplayName, "claims.md")
      assert.deepStrictEqual(contexts, [])
      assert.isFalse(fake.calls.some(({ path }) => path.includes(":retrieveContexts")))
      const { systemInstruction, tools } = JSON.parse(fake.calls.find(({ path }) => path.includes(":generateContent"))?.body ?? "")
      assert.deepStrictEqual(systemInstruction, { parts: [{ text: "Be brief." }] })
      const { ragResources, ragRetrievalConfig } = tools[0].retrieval.vertexRagStore
      assert.match(ragResources[0].ragCorpus, /\/ragCorpora\/\d+$/)
      assert.deepStrictEqual(ragRetrievalConfig, { topK: 5, filter: { vectorDistanceThreshold: 0.6 } })
      // Without a retrieve stage it searches as the service does by default.
      const alone = definePipeline({
        ...pipelineInput(fake.baseUrl),
        sources: { docs: { local: { path: options.dataDir } } },
        stages: [{ generate: { model: "gemini-2.0-flash", ground: "corpus" } }]
      })
      const asked = yield* askPipeline(alone, { question: "When are claims paid?" }).pipe(Effect.provide(services))
      assert.strictEqual(asked.answer.text, `${text} [1]`)
    }).pipe(Effect.scoped))

  it.live("calls no oftener than the pipeline says, in the place of the service's 60 a minute", () =>
    Effect.gen(function*() {
      const { fake, options } = yield* setUp
      const { engine, ...others } = pipelineInput(fake.baseUrl)
      const pipeline = definePipeline({
        ...others,
        engine: { vertex: { ...engine.vertex, requestsPerMinute: 1 } },
        sources: { docs: { local: { path: options.dataDir } } }
      })
      yield* Effect.gen(function*() {
        assert.strictEqual((yield* Engine).uploadsPerMinute, 1)
        const corpora = yield* Corpora
        yield* Effect.forkScoped(Effect.all([corpora.list({}), corpora.list({})], { concurrency: 2 }))
        const state = new DatabaseSync(join(options.dataDir, databaseFile), { readOnly: true, timeout: 60_000 })
        yield* Effect.addFinalizer(() => Effect.sync(() => state.close()))
        const turns = yield* eventually(
          "both calls have a turn",
          Effect.sync(() => {
            const taken = state.prepare("SELECT at FROM quota_turns ORDER BY at").all()
            return taken.length === 2 && taken.map(({ at }) => Number(at))
          })
        )
        assert.isAtLeast((turns[1] ?? 0) - (turns[0] ?? 0), 60_000)
      }).pipe(Effect.scoped, Effect.provide(vertexServices(pipeline, options)))
    }).pipe(Effect.scoped))

  it.live("is checked without the state database, secrets too", () =>
    Effect.gen(function*() {
      const { options, pipeline } = yield* setUp
      process.env["SLUICE_SECRET_PINECONE"] = "value"
      const found = yield* vertexChecks(pipeline, options).pipe(
        Effect.ensuring(Effect.sync(() => delete process.env["SLUICE_SECRET_PINECONE"]))
      )
      assert.isTrue(found.every(({ ok }) => ok), JSON.stringify(found))
      assert.strictEqual(found.at(-1)?.check, "secret")
    }).pipe(Effect.scoped))
})
