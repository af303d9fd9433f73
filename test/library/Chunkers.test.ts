import { assert, describe, it } from "@effect/vitest"
import { Context, Effect, Schema } from "effect"
import { writeFileSync } from "node:fs"
import { join } from "node:path"
import { describe as describeSuite, expectTypeOf, it as itSuite } from "vitest"
import { connectors } from "../../connectors/index.ts"
import { capabilitiesOf } from "../../src/compose/Capabilities.ts"
import { chunk } from "../../src/text/chunk/Chunk.ts"
import { type CutText, defineChunker, DocumentError, type Host, Pipeline, type TextSpan } from "../../src/index.ts"
import { chunkerSuite } from "../../src/kit/ChunkerSuite.ts"
import { definePipeline } from "../../src/pipeline/definition/DefinePipeline.ts"
import { fitness } from "../../src/pipeline/definition/Fitness.ts"
import { faultySource, isolatedEngine } from "../../src/Testing.ts"
import { tempFolder } from "../support/TempFolder.ts"

/** A chunk for each block, or what a text says should be done with it. */
const blocksOf = (version: number, cutTexts: Array<string> = []) =>
  defineChunker({
    kind: "blocks",
    description: "A chunk a block.",
    version,
    fields: {
      kinds: Schema.optionalKey(Schema.Array(Schema.String).annotate({ description: "Blocks that become chunks." })),
      rate: Schema.optionalKey(Schema.Int.annotate({ description: "How fast." }))
    },
    unversioned: ["rate"],
    make: ({ kinds }) =>
      Effect.succeed((document) => {
        const { blocks, text } = document
        cutTexts.push(text)
        const whole = { start: 0, end: text.length }
        const given: Record<string, () => ReturnType<CutText>> = {
          throws: () => {
            throw new TypeError("blocks is undefined")
          },
          hangs: () => Effect.never,
          refuses: () => Effect.fail(new DocumentError({ problem: "unsupported", message: "no turns in it" })),
          nothing: () => Effect.succeed([]),
          odd: () => Effect.succeed(undefined as never),
          beyond: () => Effect.succeed([{ start: 0, end: text.length + 1 }]),
          empty: () => Effect.succeed([{ start: 3, end: 3 }]),
          blank: () => Effect.succeed([{ start: 5, end: 7 }]),
          order: () => Effect.succeed([{ start: 7, end: text.length }, { start: 0, end: 4 }]),
          half: () => Effect.succeed([{ start: 0, end: text.indexOf("\u{1F600}") + 1 }]),
          large: () => Effect.succeed([whole])
        }
        const act = given[/^\w+/.exec(text)?.[0] ?? ""]
        if (act !== undefined) return act()
        return Effect.succeed(blocks.filter(({ kind }) => kinds === undefined || kinds.includes(kind)))
      })
  })

const texts = {
  "leave.md": "# Leave\n\nFive unused days of leave carry over.\n\nIn Japan six days carry over. \u{1F5FE}\n",
  "vpn.md": "# VPN\n\nThe VPN needs a key.\n"
}

describe("a chunker of one's own", () => {
  const pipelineOf = (source: ReturnType<typeof faultySource>, chunker?: ReturnType<ReturnType<typeof blocksOf>>, size = 64) =>
    Pipeline.make("chunks", {
      corpus: { displayName: "Chunks" },
      sources: { texts: source.source },
      chunking: { size, overlap: 0, ...(chunker === undefined ? {} : { chunker }) }
    })

  it("shares nothing between chunks where nothing is said of it, and what does not fit a size is a fifth of it", () => {
    const chunkingOf = (chunking: NonNullable<Parameters<typeof Pipeline.make>[1]["chunking"]>) =>
      Pipeline.make("p", { corpus: { displayName: "P" }, sources: {}, chunking }).definition.chunking
    const chunker = blocksOf(1)({})
    assert.deepStrictEqual(
      [{}, { size: 201 }, { size: 200 }, { size: 4 }, { size: 64, overlap: 8 }, { size: 64, chunker }, { chunker, overlap: 8 }].map(
        (chunking) => {
          const { overlap, size } = chunkingOf(chunking)
          return [size, overlap]
        }
      ),
      [[1024, 200], [201, 200], [200, 40], [4, 0], [64, 8], [64, 0], [1024, 8]]
    )
  })

  it.live("cuts every document, in plan and run alike, and is cited to the byte", () =>
    Effect.gen(function*() {
      const source = faultySource(texts)
      const cut: Array<string> = []
      const pipeline = pipelineOf(source, blocksOf(1, cut)({}))
      assert.deepInclude(yield* pipeline.plan(), { chunks: 5 })
      const report = yield* pipeline.run
      assert.deepInclude([report.totals.added, report.chunks], 5)
      assert.lengthOf(cut, 4)
      const { contexts } = yield* pipeline.retrieve("days carry over in Japan, leave")
      assert.sameDeepMembers(
        contexts.filter(({ sourceDisplayName }) => sourceDisplayName === "leave.md").map(({ headings, text }) => [text, headings]),
        [
          ["Leave", []],
          ["Five unused days of leave carry over.", ["Leave"]],
          ["In Japan six days carry over. \u{1F5FE}", ["Leave"]]
        ]
      )
      const { answer } = yield* pipeline.ask("How many days carry over in Japan?")
      const [citation] = answer.citations
      const all = Buffer.from("Leave\n\nFive unused days of leave carry over.\n\nIn Japan six days carry over. \u{1F5FE}")
      assert.strictEqual(
        (citation?.offsets === "file" ? Buffer.from(texts["leave.md"]) : all).subarray(citation?.byteStart, citation?.byteEnd).toString(),
        citation?.quote
      )
      assert.deepInclude((yield* pipeline.run).totals, { unchanged: 2 })
      assert.lengthOf(cut, 4)
    }).pipe(Effect.provide(isolatedEngine())))

  it.live("has everything cut again where it, its version or a setting of it changes", () =>
    Effect.gen(function*() {
      const source = faultySource(texts)
      const changed = Effect.fnUntraced(function*(chunker?: ReturnType<ReturnType<typeof blocksOf>>, size?: number) {
        const pipeline = pipelineOf(source, chunker, size)
        const { totals } = yield* pipeline.plan()
        const report = yield* pipeline.run
        assert.deepStrictEqual(report.totals, totals)
        return report.totals.changed
      })
      yield* changed()
      assert.strictEqual(yield* changed(blocksOf(1)({})), 2)
      assert.strictEqual(yield* changed(blocksOf(1)({ rate: 2, maxSeconds: 7 })), 0)
      assert.strictEqual(yield* changed(blocksOf(2)({})), 2)
      assert.strictEqual(yield* changed(blocksOf(2)({ kinds: ["paragraph", "heading"] })), 2)
      assert.strictEqual(yield* changed(blocksOf(2)({ kinds: ["paragraph", "heading"] }), 32), 2)
      assert.strictEqual(yield* changed(undefined, 32), 2)
      assert.strictEqual(yield* changed(undefined, 32), 0)
    }).pipe(Effect.provide(isolatedEngine())))

  it.live("costs one file where its spans break a rule, and tells what text it leaves out", () =>
    Effect.gen(function*() {
      const kinds = ["throws", "hangs", "refuses", "nothing", "odd", "beyond", "empty", "order"]
      const source = faultySource({
        ...texts,
        ...Object.fromEntries(kinds.map((kind) => [`${kind}.md`, `${kind} is what the chunker does here.`])),
        "blank.md": "blank\n\nwords",
        "half.md": "half of a face \u{1F600} is none.",
        "large.md": `large ${"words of a text ".repeat(40)}`
      })
      const found: Record<string, string> = {}
      const report = yield* pipelineOf(source, blocksOf(1)({ kinds: ["paragraph"], maxSeconds: 1 })).runWith({
        observe: (event) =>
          Effect.sync(() => {
            if (event.type === "file") {
              found[event.path.slice(0, -3)] = `${event.outcome} ${event.reason ?? ""}: ${event.message ?? event.remark ?? ""}`
            }
          })
      })
      assert.deepStrictEqual(found, {
        leave: "added : chunker blocks: 5 of 62 characters are in no chunk",
        vpn: "added : chunker blocks: 3 of 19 characters are in no chunk",
        throws: "failed crash: chunker blocks: blocks is undefined",
        hangs: "failed timeout: chunker blocks: took more than 1 s",
        refuses: "skipped unsupported: chunker blocks: no turns in it",
        nothing: "skipped empty: chunker blocks: it made no chunk of 32 characters",
        odd: "failed crash: chunker blocks: it returned no list of spans",
        beyond: "failed crash: chunker blocks: chunk 1 is 0 to 38, and the text 0 to 37",
        empty: "failed crash: chunker blocks: chunk 1 is empty",
        blank: "failed crash: chunker blocks: chunk 1 is empty",
        order: "failed crash: chunker blocks: chunk 2 begins or ends no later than the one before it",
        half: "failed crash: chunker blocks: chunk 1 cuts a character in two",
        large: "failed crash: chunker blocks: chunk 1 has more tokens than the 64 of chunking.size"
      })
      assert.deepInclude(report.totals, { listed: 13, added: 2, skipped: 2, failed: 9 })
    }).pipe(Effect.provide(isolatedEngine())))

  it.live("is named in a file as chunking.chunker, and is refused by name where the engine cuts by itself", () =>
    Effect.gen(function*() {
      const folder = yield* tempFolder
      const index = JSON.stringify(join(import.meta.dirname, "../../src/index.ts"))
      writeFileSync(
        join(folder, "own.ts"),
        `
import { Effect, Schema } from "effect"
import { defineChunker } from ${index}
export const halves = defineChunker({
  kind: "halves", description: "Two halves.", version: 1,
  fields: { at: Schema.optionalKey(Schema.Finite.annotate({ description: "Where." })) },
  make: ({ at = 0.5 }) => Effect.succeed(({ text }) => {
    const middle = Math.floor(text.length * at)
    return Effect.succeed([{ start: 0, end: middle }, { start: middle, end: text.length }])
  })
})
`
      )
      writeFileSync(join(folder, "a.txt"), "The door is green.")
      const load = (chunking: string, use = "use: [./own.ts]") => {
        const file = join(folder, "pipeline.yaml")
        writeFileSync(
          file,
          `name: own\ncorpus: { displayName: Own }\n${use}\nsources: { here: { local: { path: ., include: [a.txt] } } }\n${chunking}\n`
        )
        return Pipeline.load(file, connectors)
      }
      const issues = (chunking: string, use?: string) =>
        Effect.map(Effect.flip(load(chunking, use)), ({ issues }) =>
          issues.map(({ column, fix, line, path, rule, suggestion }) =>
            `${line}:${column} ${path} ${rule} (${suggestion ?? fix})`
          ))
      const pipeline = yield* load("chunking:\n  chunker: { halves: { at: 0.45 } }")
      yield* pipeline.run.pipe(
        Effect.andThen(pipeline.retrieve("door green")),
        Effect.provide(isolatedEngine()),
        Effect.map(({ contexts }) => {
          assert.sameMembers(contexts.map(({ text }) => text), ["The door", " is green."])
        })
      )
      assert.deepStrictEqual(yield* issues("chunking:\n  chunker: { halfs: {} }"), [
        "6:14 chunking.chunker.halfs is not a key that belongs here (halves)"
      ])
      assert.deepStrictEqual(yield* issues("chunking: { chunker: { halves: {} } }", ""), [
        "5:22 chunking.chunker names a chunker, and no module under use exports one (name the module that exports it: use: [./chunkers.ts])"
      ])
      const problems = fitness(
        { ...pipeline.definition, engine: { _tag: "vertex", project: "p1", location: "us-central1" }, stages: [] },
        capabilitiesOf("vertex", Object.keys(connectors))
      )
      assert.deepStrictEqual(problems.map(({ path, rule }) => `${path.join(".")}: ${rule}`), [
        "chunking.chunker: the vertex engine has no custom chunkers: it cuts documents itself (port Files)"
      ])
      const there = definePipeline({
        name: "own",
        engine: { vertex: { project: "p1", location: "us-central1" } },
        corpus: { displayName: "Own" },
        sources: {},
        engines: { vertex: { chunking: { size: 512 } } },
        stages: [{ retrieve: {} }]
      })
      assert.deepStrictEqual(
        fitness({ ...there, chunking: pipeline.definition.chunking }, capabilitiesOf("vertex", Object.keys(connectors))),
        []
      )
    }).pipe(Effect.scoped))

  it("has what it needs of the program in the pipeline's type", () => {
    class Model extends Context.Service<Model, (text: string) => ReadonlyArray<TextSpan>>()("test/Model") {}
    const semantic = defineChunker({
      kind: "semantic",
      description: "By a model.",
      version: 1,
      fields: {},
      make: () => Effect.map(Model, (model) => ({ text }: { readonly text: string }) => Effect.succeed(model(text)))
    })
    const pipeline = Pipeline.make("p", {
      corpus: { displayName: "P" },
      sources: { texts: faultySource().source },
      chunking: { chunker: semantic({}) }
    })
    expectTypeOf(pipeline.run).toExtend<Effect.Effect<unknown, unknown, Host | Model>>()
    expectTypeOf(pipeline.run).not.toExtend<Effect.Effect<unknown, unknown, Host>>()
  })
})

/** What comes with Sluice, as one's own. */
const structured = defineChunker({
  kind: "structured",
  description: "As strategy structure.",
  version: 1,
  fields: {},
  make: () =>
    Effect.succeed(({ blocks, format, overlap, size, text }) =>
      Effect.succeed(chunk({ blocks, format, text }, { strategy: "structure", size, overlap }))
    )
})
const files = Object.entries(texts).map(([name, text]) => ({ name, content: new TextEncoder().encode(text) }))

chunkerSuite("structured", Effect.succeed({ chunker: structured({}), files }), { describe: describeSuite, it: itSuite })

describe("chunkerSuite", () => {
  it.live("fails a chunker that loses text, cuts otherwise the second time, or makes chunks too large", () =>
    Effect.gen(function*() {
      const saysOf = (cut: CutText) => {
        const tests: Array<() => Promise<void>> = []
        const chunker = defineChunker({ kind: "a", description: "A.", version: 1, fields: {}, make: () => Effect.succeed(cut) })({})
        chunkerSuite("a", Effect.succeed({ chunker, files }), { describe: (_, body) => body(), it: (_, test) => void tests.push(test) })
        return Effect.promise(async () => {
          const said: Array<string> = []
          for (const test of tests) await test().catch((error: Error) => said.push(error.message.split("\n")[0] ?? ""))
          return said
        })
      }
      let cuts = 0
      assert.deepStrictEqual(yield* saysOf(({ text }) => Effect.succeed([{ start: 0, end: text.length }])), [
        "chunks of a line without a blank have 256 tokens at most"
      ])
      assert.match(
        (yield* saysOf(({ text }) => Effect.succeed([{ start: 0, end: text.lastIndexOf(" ") }])))[0] ?? "",
        /^all of leave\.md is in its/
      )
      assert.include(
        yield* saysOf(({ text }) => Effect.succeed([{ start: cuts++ % 3, end: text.length }])),
        "the same text is cut alike, several at a time"
      )
    }))
})
