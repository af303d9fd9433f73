import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { join } from "node:path"
import { local } from "../../connectors/local/Local.ts"
import { embedded, vertex } from "../../src/compose/Services.ts"
import { retrieveFrom } from "../../src/pipeline/AskPipeline.ts"
import { definePipeline, type PipelineInput } from "../../src/pipeline/definition/DefinePipeline.ts"
import { pipelineFor } from "../../src/pipeline/OnEngine.ts"
import { runPipeline } from "../../src/pipeline/RunPipeline.ts"
import { make as makeRateLimits, RateLimit } from "../../src/net/RateLimit.ts"
import { fakeOpenAi, sendEmbeddings } from "../fakes/Openai.ts"
import { tempFolder, write } from "../support/TempFolder.ts"

const hosted = { vertex: { project: "p1", location: "us-central1" } }

const withDocuments = Effect.map(tempFolder, (cwd) => {
  write(cwd, { "docs/a.md": "# Leave\n\nFive days carry over.\n", "docs/b.md": "# Travel\n\nLeave by train; five days.\n" })
  const define = (more: Partial<PipelineInput>) =>
    definePipeline({ name: "handbook", corpus: { displayName: "Handbook" }, sources: { docs: { local: { path: join(cwd, "docs") } } }, ...more })
  return { dataDir: join(cwd, "data"), define }
})

describe("a program's pipeline on an engine", () => {
  it.live("takes a turn of the import's rate for every request to the embedding server", () =>
    Effect.gen(function*() {
      const { dataDir, define } = yield* withDocuments
      const { baseUrl, received } = yield* fakeOpenAi((request, response) => sendEmbeddings(request, response, () => [1, 0, 0]))
      const pipeline = define({
        corpus: { displayName: "Handbook", embedding: { openai: { url: baseUrl, model: "m", dimensions: 3, batch: 1 } } },
        import: { maxEmbeddingRequestsPerMinute: 7_000 }
      })
      const turns: Array<readonly [string, number]> = []
      const limits = { ...makeRateLimits(), take: (key: string, perMinute: number) => Effect.sync(() => void turns.push([key, perMinute])) }
      const { embedded: texts } = yield* runPipeline(pipeline).pipe(
        Effect.provide(embedded(pipeline, { dataDir, connectors: { local } })),
        Effect.provideService(RateLimit, limits)
      )
      assert.strictEqual(texts, 2)
      const turn = [`documents of ${baseUrl} m`, 7_000] as const
      assert.deepStrictEqual(turns.filter(([key]) => key.startsWith("documents of ")), [turn, turn])
      assert.strictEqual(received.length, 2)
    }).pipe(Effect.scoped))

  it.live("runs on the engine it names and on no other", () =>
    Effect.gen(function*() {
      const { dataDir, define } = yield* withDocuments
      const pipeline = define({ engine: hosted })
      const onEmbedded = yield* runPipeline(pipeline).pipe(Effect.provide(embedded(pipeline, { dataDir, connectors: { local } })), Effect.flip)
      assert.deepInclude(onEmbedded, { _tag: "PipelineInvalid" })
      assert.match(onEmbedded.message, /engine\n.*names the vertex engine, and the one it is given is embedded\n.*pipelineFor\(pipeline, "embedded"\)/)

      const other = define({})
      const onVertex = yield* runPipeline(other).pipe(Effect.provide(vertex(other, { dataDir, connectors: { local } })), Effect.flip)
      assert.match(onVertex.message, /names the embedded engine, and the one it is given is vertex/)

      // A layer made for another pipeline does not help.
      const smuggled = yield* runPipeline(pipeline).pipe(Effect.provide(embedded(other, { dataDir, connectors: { local } })), Effect.flip)
      assert.strictEqual(smuggled._tag, "PipelineInvalid")

      const taken = pipelineFor(pipeline, "embedded")
      const { totals } = yield* runPipeline(taken).pipe(Effect.provide(embedded(taken, { dataDir, connectors: { local } })))
      assert.strictEqual(totals.added, 2)
    }).pipe(Effect.scoped))

  it.live("is held against what the engine has, connectors included, before anything is done", () =>
    Effect.gen(function*() {
      const { dataDir, define } = yield* withDocuments
      const wants = define({ parsing: { llm: { model: "gemini-2.0-flash-001" } }, stages: [{ retrieve: {} }, { generate: { model: "gemini-2.0-flash-001" } }] })
      const refused = yield* runPipeline(wants).pipe(Effect.provide(embedded(wants, { dataDir, connectors: {} })), Effect.flip)
      for (const lacking of [/no connector for local folders/, /no language-model parser/, /no hosted models/]) assert.match(refused.message, lacking)
    }).pipe(Effect.scoped))

  it.live("takes the sections that are meant for it", () =>
    Effect.gen(function*() {
      const { dataDir, define } = yield* withDocuments
      const pipeline = define({ stages: [{ retrieve: { topK: 8 } }], engines: { embedded: { stages: [{ retrieve: { topK: 1 } }] } } })
      const contexts = yield* Effect.gen(function*() {
        yield* runPipeline(pipeline)
        return (yield* retrieveFrom(pipeline, { question: "five days" })).contexts
      }).pipe(Effect.provide(embedded(pipeline, { dataDir, connectors: { local } })))
      assert.strictEqual(contexts.length, 1)
    }).pipe(Effect.scoped))
})
