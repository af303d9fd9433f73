import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { readFileSync } from "node:fs"
import { join } from "node:path"
import * as Embedded from "../../../src/compose/EmbeddedEntry.ts"
import type { Report } from "../../../src/domain/Report.ts"
import { definePipeline, type PipelineInput } from "../../../src/pipeline/definition/DefinePipeline.ts"
import { fakeOpenAi, sendEmbeddings, sendJson } from "../../fakes/Openai.ts"
import { pipelineOf } from "../../support/Sources.ts"
import { tempFolder, write } from "../../support/TempFolder.ts"

/** Files whose every paragraph is a text of its own, over a server that counts what it is asked. */
const setUp = Effect.fnUntraced(function*(files: number, answers: "well" | "never" = "well") {
  const folder = yield* tempFolder
  const fake = yield* fakeOpenAi((request, response) =>
    answers === "well" ? sendEmbeddings(request, response, ([text = ""]) => [text.length, 1]) : sendJson(response, 503, {})
  )
  const page = (n: number) =>
    `# Page ${n}\n\n${
      Array.from({ length: 6 }, (_, i) =>
        `Paragraph ${i} of page ${n} says what nobody else says, in some twenty words or so, number ${n * 100 + i}.`).join("\n\n")
    }\n`
  write(folder, Object.fromEntries(Array.from({ length: files }, (_, n) => [`docs/p${n}.md`, page(n)])))
  const pipelineWith = (settings: NonNullable<PipelineInput["import"]>) =>
    pipelineOf(definePipeline({
      name: "budget",
      corpus: { displayName: "Budget", embedding: { openai: { url: fake.baseUrl, model: "m", dimensions: 2, batch: 8 } } },
      sources: { docs: { local: { path: join(folder, "docs") } } },
      chunking: { strategy: "structure", size: 40, overlap: 0 },
      import: settings
    }))
  const engine = Embedded.layer({ dataDir: join(folder, "data") })
  const run = (settings: NonNullable<PipelineInput["import"]>) => Effect.provide(pipelineWith(settings).run, engine)
  const look = (settings: NonNullable<PipelineInput["import"]> = {}) =>
    Effect.suspend(() => Effect.provide(pipelineWith(settings).plan(), engine))
  return { folder, look, run, fake, sent: () => fake.received.flatMap(({ body }) => body.input) }
})

const tokensOf = ({ embeddedTokens = 0 }: Report) => embeddedTokens

describe("an embedding budget", () => {
  it.live("of tokens is never exceeded by more than one chunk; the next run goes on, and nothing is sent twice", () =>
    Effect.gen(function*() {
      const { run, sent } = yield* setUp(12)
      const first = yield* run({ budget: { embeddedTokens: 500 } })
      assert.strictEqual(first.ended, "budget")
      assert.isAbove(first.totals.pending, 0)
      assert.isAtLeast(tokensOf(first), 500)
      assert.isAtMost(tokensOf(first), 540)
      assert.strictEqual(first.embedded, sent().length)
      const second = yield* run({})
      assert.strictEqual(second.ended, "done")
      assert.strictEqual(second.totals.unchanged + second.totals.added, 12)
      assert.strictEqual(new Set(sent()).size, sent().length)
    }).pipe(Effect.scoped))

  it.live("of requests is one of requests as they are sent", () =>
    Effect.gen(function*() {
      const { fake, run } = yield* setUp(12)
      const report = yield* run({ budget: { requests: 3 } })
      assert.strictEqual(report.ended, "budget")
      assert.isAbove(report.totals.pending, 0)
      assert.strictEqual(fake.received.length, 3)
      assert.strictEqual((yield* run({})).ended, "done")
    }).pipe(Effect.scoped))
})

describe("a plan", () => {
  it.live("counts what will be embedded, not what is known, in requests as they are sent, and what it costs", () =>
    Effect.gen(function*() {
      const { fake, folder, look, run } = yield* setUp(8)
      write(folder, { "docs/copy.md": readFileSync(join(folder, "docs/p0.md")) })
      const planned = yield* look({ pricePerMillionTokens: 20 })
      const report = yield* run({})
      assert.isAbove(planned.chunks, planned.embeddings)
      assert.deepStrictEqual([planned.embeddings, planned.embeddedTokens], [report.embedded, report.embeddedTokens])
      assert.closeTo(planned.cost ?? 0, tokensOf(report) * 20 / 1e6, 1e-9)
      assert.strictEqual(planned.embeddingRequests, Math.ceil(planned.embeddings / 8))
      assert.isAtLeast(fake.received.length, planned.embeddingRequests)
      // Contents change places: chunks are written, and nothing is embedded.
      const [first, second] = ["p1.md", "p2.md"].map((name) => readFileSync(join(folder, "docs", name)))
      write(folder, { "docs/p1.md": second ?? "", "docs/p2.md": first ?? "" })
      const swapped = yield* look()
      assert.strictEqual(swapped.totals.changed, 2)
      assert.deepStrictEqual([swapped.embeddings, swapped.embeddingRequests], [0, 0])
    }).pipe(Effect.scoped))
})

describe("an embedding server that is away", () => {
  it.live("ends the run after a few requests", () =>
    Effect.gen(function*() {
      const { fake, run } = yield* setUp(40, "never")
      const error = yield* Effect.flip(run({ retries: 0, concurrency: 4 }))
      assert.match(error.message, /embeddings of 127\.0\.0\.1/)
      // No retries: each batch of texts is asked for once.
      assert.isAtMost(fake.received.length, 30)
    }).pipe(Effect.scoped))
})
