import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { join } from "node:path"
import { local } from "../../connectors/local/Local.ts"
import * as Embedded from "../../src/compose/EmbeddedEntry.ts"
import * as Vertex from "../../src/compose/VertexEntry.ts"
import { definePipeline, type PipelineInput } from "../../src/pipeline/definition/DefinePipeline.ts"
import { make as makeRateLimits, RateLimit } from "../../src/net/RateLimit.ts"
import { fakeOpenAi, sendEmbeddings } from "../fakes/Openai.ts"
import { type ConnectorSet, pipelineOf } from "../support/Sources.ts"
import { tempFolder, write } from "../support/TempFolder.ts"

const place = { project: "p1", location: "us-central1" }

const withDocuments = Effect.map(tempFolder, (cwd) => {
  write(cwd, { "docs/a.md": "# Leave\n\nFive days carry over.\n", "docs/b.md": "# Travel\n\nLeave by train; five days.\n" })
  const define = (more: Partial<PipelineInput>, connectors: ConnectorSet = { local }) =>
    pipelineOf(
      definePipeline({
        name: "handbook",
        corpus: { displayName: "Handbook" },
        sources: { docs: { local: { path: join(cwd, "docs") } } },
        ...more
      }),
      connectors
    )
  const dataDir = join(cwd, "data")
  return { define, embedded: Embedded.layer({ dataDir }), vertex: Vertex.layer({ dataDir, ...place }) }
})

describe("a program's pipeline on an engine", () => {
  it.live("takes a turn of the import's rate for every request to the embedding server", () =>
    Effect.gen(function*() {
      const { define, embedded } = yield* withDocuments
      const { baseUrl, received } = yield* fakeOpenAi((request, response) => sendEmbeddings(request, response, () => [1, 0, 0]))
      const pipeline = define({
        corpus: { displayName: "Handbook", embedding: { openai: { url: baseUrl, model: "m", dimensions: 3, batch: 1 } } },
        import: { maxEmbeddingRequestsPerMinute: 7_000 }
      })
      const turns: Array<readonly [string, number]> = []
      const limits = { ...makeRateLimits(), take: (key: string, perMinute: number) => Effect.sync(() => void turns.push([key, perMinute])) }
      const { embedded: texts } = yield* pipeline.run.pipe(
        Effect.provide(embedded),
        Effect.provideService(RateLimit, limits)
      )
      assert.strictEqual(texts, 2)
      const turn = [`documents of ${baseUrl} m`, 7_000] as const
      assert.deepStrictEqual(turns.filter(([key]) => key.startsWith("documents of ")), [turn, turn])
      assert.strictEqual(received.length, 2)
    }).pipe(Effect.scoped))

  it.live("runs on the engine it names, or has a section for, and on no other", () =>
    Effect.gen(function*() {
      const { define, embedded, vertex } = yield* withDocuments
      const onEmbedded = yield* define({ engine: { vertex: place } }).run.pipe(Effect.provide(embedded), Effect.flip)
      assert.deepInclude(onEmbedded, { _tag: "PipelineInvalid" })
      assert.match(
        onEmbedded.message,
        /engine\n.*is for the vertex engine, and this program provides the embedded one\n.*engines\.embedded/
      )

      const onVertex = yield* define({}).run.pipe(Effect.provide(vertex), Effect.flip)
      assert.match(onVertex.message, /is for the embedded engine, and this program provides the vertex one/)

      const { totals } = yield* define({ engine: { vertex: place }, engines: { embedded: {} } }).run.pipe(Effect.provide(embedded))
      assert.strictEqual(totals.added, 2)
    }).pipe(Effect.scoped))

  it.live("is held against what the engine has, connectors included, before anything is done", () =>
    Effect.gen(function*() {
      const { define, embedded } = yield* withDocuments
      const wants = define({
        parsing: { llm: { model: "gemini-2.0-flash-001" } },
        stages: [{ retrieve: {} }, { generate: { model: "gemini-2.0-flash-001" } }]
      }, {})
      const refused = yield* wants.run.pipe(Effect.provide(embedded), Effect.flip)
      for (const lacking of [/no connector for local folders/, /no language-model parser/, /no hosted models/]) {
        assert.match(refused.message, lacking)
      }
    }).pipe(Effect.scoped))

  it.live("takes the sections that are meant for it", () =>
    Effect.gen(function*() {
      const { define, embedded } = yield* withDocuments
      const pipeline = define({ stages: [{ retrieve: { topK: 8 } }], engines: { embedded: { stages: [{ retrieve: { topK: 1 } }] } } })
      const contexts = yield* Effect.gen(function*() {
        yield* pipeline.run
        return (yield* pipeline.retrieve("five days")).contexts
      }).pipe(Effect.provide(embedded))
      assert.strictEqual(contexts.length, 1)
    }).pipe(Effect.scoped))
})
