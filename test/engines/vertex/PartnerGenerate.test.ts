import { assert, describe, it } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { join } from "node:path"
import { local } from "../../../connectors/local/Local.ts"
import { vertexServices } from "../../../src/compose/Vertex.ts"
import { askPipeline } from "../../../src/pipeline/AskPipeline.ts"
import { definePipeline } from "../../../src/pipeline/definition/DefinePipeline.ts"
import { runPipeline } from "../../../src/pipeline/RunPipeline.ts"
import { Models } from "../../../src/pipeline/Services.ts"
import { fakeVertex } from "../../fakes/Vertex.ts"
import { connectorsOf } from "../../support/Sources.ts"
import { tempFolder, write } from "../../support/TempFolder.ts"

const setUp = Effect.fnUntraced(function*(location: string) {
  const fake = yield* fakeVertex
  const folder = yield* tempFolder
  write(folder, { "docs/claims.md": "Claims are paid within 10 working days." })
  const pipeline = definePipeline({
    name: "claims",
    engine: { vertex: { project: "p1", location, baseUrl: fake.baseUrl } },
    corpus: { displayName: "Claims" },
    sources: { docs: { local: { path: join(folder, "docs") } } },
    stages: [{ retrieve: { topK: 3 } }, { generate: { model: "claude-3-5-haiku@20241022", instruction: "Be brief." } }]
  })
  const options = { dataDir: join(folder, "data"), writes: "a test" }
  return { fake, pipeline, services: connectorsOf({ local }, options).pipe(Layer.provideMerge(vertexServices(pipeline, options))) }
})

const events = (text: string): string =>
  [
    {
      type: "message_start",
      message: { id: "m", model: "c", content: [], stop_reason: null, stop_sequence: null, usage: { input_tokens: 90, output_tokens: 1 } }
    },
    { type: "content_block_start", index: 0, content_block: { type: "text", text: "" } },
    { type: "content_block_delta", index: 0, delta: { type: "text_delta", text } },
    { type: "content_block_stop", index: 0 },
    { type: "message_delta", delta: { stop_reason: "end_turn", stop_sequence: null }, usage: { output_tokens: 12 } },
    { type: "message_stop" }
  ].map((event) => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`).join("")

describe("a pipeline whose answers Claude writes", () => {
  it.live("answers from the contexts, citations verified", () =>
    Effect.gen(function*() {
      const { fake, pipeline, services } = yield* setUp("global")
      fake.handle = ({ method, path, response }) => {
        if (method !== "POST" || !path.includes("/publishers/anthropic/")) return false
        response.writeHead(200, { "content-type": "text/event-stream" })
        response.end(events("Within ten days [1 \"paid within 10 working days\"]."))
        return true
      }
      // The fake keeps its corpora in one region.
      const act = fake.act.bind(fake)
      fake.act = (call) =>
        act({
          ...call,
          path: call.path.replace("/locations/global/", "/locations/us-central1/").replace("/locations/global:", "/locations/us-central1:")
        })
      const { answer } = yield* Effect.andThen(runPipeline(pipeline), askPipeline(pipeline, { question: "When are claims paid?" })).pipe(
        Effect.provide(services)
      )
      assert.strictEqual(answer.text, "Within ten days [1].")
      assert.strictEqual(answer.model, "claude-3-5-haiku@20241022")
      assert.deepStrictEqual(answer.usage, { promptTokens: 90, answerTokens: 12, totalTokens: 102 })
      const asked = JSON.parse(fake.calls.at(-1)?.body ?? "")
      assert.deepStrictEqual([asked.anthropic_version, asked.stream, asked.messages.length], ["vertex-2023-10-16", true, 1])
      assert.include(asked.system, "Be brief.")
      assert.include(JSON.stringify(asked.messages), "Claims are paid within 10 working days.")
    }).pipe(Effect.scoped))

  it.live("is told before anything is asked that its region does not have the model, or that it cannot search by itself", () =>
    Effect.gen(function*() {
      const { fake, services } = yield* setUp("us-central1")
      yield* Effect.gen(function*() {
        const { chat, searching } = yield* Models
        const elsewhere = yield* Effect.flip(chat({ _tag: "hosted", model: "publishers/anthropic/models/claude-3-5-haiku@20241022" }))
        assert.include(JSON.stringify(elsewhere), "use us-east5")
        const ground = yield* Effect.flip(
          searching("claude-3-5-haiku@20241022", { corpus: "projects/p1/locations/us-central1/ragCorpora/1" as never })
        ) // never looked at
        assert.include(ground.message, "does not search a corpus itself")
        assert.strictEqual((yield* chat({ _tag: "hosted", model: "gemini-2.0-flash" })).model, "gemini-2.0-flash")
      }).pipe(Effect.provide(services), Effect.scoped)
      assert.deepStrictEqual(fake.calls, [])
    }).pipe(Effect.scoped))
})
