import { assert, describe, it } from "@effect/vitest"
import { Effect, Stream } from "effect"
import { local } from "../../../connectors/index.ts"
import type { FileChunk } from "../../../src/domain/Document.ts"
import {
  compose,
  type Context,
  expand,
  type ExpandOptions,
  Files,
  generate,
  pages,
  Pipeline,
  retrieve,
  ServiceError,
  type Stage,
  type Retrieved
} from "../../../src/index.ts"
import { isolatedEngine, testContexts, testServices, type TestServicesOptions } from "../../../src/Testing.ts"
import { tempFolder, write } from "../../support/TempFolder.ts"
import { manualFiles, pump } from "./support/Manual.ts"

const handbook = [
  { text: "Handbook\n\nWho works here.\n\n" },
  { text: "Leave\n\nFive days carry over.\n\n", headings: ["Handbook"] },
  { text: "They lapse in March.\n\n", headings: ["Handbook", "Leave"] },
  { text: "Japan\n\nSix days carry over.\n\n", headings: ["Handbook", "Leave"] },
  { text: "Travel\n\nThe head approves.\n\n", headings: ["Handbook"] },
  { text: "Book early.\n", headings: ["Handbook", "Travel"] }
]
const [intro, leave, lapse, japan, travel, book] = handbook.map(({ text }) => text) as [string, string, string, string, string, string]

/** The texts of passages that these contexts of a file grow to. */
const grown = (texts: ReadonlyArray<string>, options?: ExpandOptions, chunks: TestServicesOptions["chunks"] = { "h.md": handbook }) =>
  compose(retrieve(), expand(options))({ question: "?" }).pipe(
    Effect.map(({ contexts }) => contexts.map(({ text }) => text)),
    Effect.provide(testServices({ contexts: texts.map((text) => ({ text, file: "h.md" })), chunks }))
  )

describe("expand", () => {
  it.effect("adds the chunks beside each context, and makes one of those that touch", () =>
    Effect.gen(function*() {
      assert.deepStrictEqual(yield* grown([lapse]), [leave + lapse + japan])
      assert.deepStrictEqual(yield* grown([intro], { after: 0 }), [intro])
      assert.deepStrictEqual(yield* grown([book, intro], { before: 0, after: 1 }), [book, intro + leave])
      assert.deepStrictEqual(yield* grown([lapse], { before: 20, after: 20 }), [handbook.map(({ text }) => text).join("")])
      // In the place of the better one.
      assert.deepStrictEqual(yield* grown([book, intro, travel, lapse], { before: 0, after: 0 }), [travel + book, intro, lapse])
      assert.deepStrictEqual(yield* grown([lapse, intro, book]), [handbook.map(({ text }) => text).join("")])
    }))

  it.effect("grows to the section, with those below it, or to the file, as far as that fits", () =>
    Effect.gen(function*() {
      assert.deepStrictEqual(yield* grown([leave], { to: "section" }), [leave + lapse + japan])
      assert.deepStrictEqual(yield* grown([lapse], { to: "section" }), [leave + lapse + japan])
      assert.deepStrictEqual(yield* grown([japan], { to: "section" }), [japan])
      assert.deepStrictEqual(yield* grown([book], { to: "section" }), [travel + book])
      assert.deepStrictEqual(yield* grown([intro], { to: "section" }), [handbook.map(({ text }) => text).join("")])
      assert.deepStrictEqual(yield* grown([travel], { to: "file" }), [handbook.map(({ text }) => text).join("")])
      const tokens = (text: string): number => Math.ceil(text.length / 4)
      assert.deepStrictEqual(yield* grown([lapse], { to: "file", maxTokens: tokens(lapse) + tokens(japan) }), [lapse + japan])
      assert.deepStrictEqual(yield* grown([lapse], { to: "file", maxTokens: 1 }), [lapse])
      // A section that begins within a chunk, as windows cut it.
      const windows = {
        "h.md": [{ text: "Intro.\n\nLeave\n\nFive days " }, { text: "carry over. And more.\n\nTravel\n\nThe head", headings: ["Leave"] }, {
          text: " approves.",
          headings: ["Travel"]
        }]
      }
      assert.deepStrictEqual(yield* grown([windows["h.md"][1]!.text], { to: "section" }, windows), [
        `${windows["h.md"][0]!.text}${windows["h.md"][1]!.text}`
      ])
    }))

  it.effect("keeps what a context says of itself, but for its place, and leaves one alone whose file is another now", () =>
    Effect.gen(function*() {
      const alsoIn = [{
        chunkId: "9",
        file: testContexts([{ text: "", file: "h.pdf" }])[0]!.file,
        sourceUri: "memory:///h.pdf",
        sourceDisplayName: "h.pdf"
      }]
      const stage = compose(retrieve(), expand({ after: 0 }))
      const { contexts } = yield* stage({ question: "?" }).pipe(Effect.provide(testServices({
        contexts: [{ text: lapse, file: "h.md", metadata: { year: "2024" }, alsoIn, distance: 0.2 }, { text: "Gone.", file: "gone.md" }, {
          text: "Other.",
          file: "h.md",
          ordinal: 1
        }],
        chunks: { "h.md": handbook }
      })))
      const [passage, gone, other] = contexts
      const byteStart = Buffer.byteLength(intro)
      assert.deepStrictEqual(
        passage,
        {
          chunkId: "1",
          file: passage!.file,
          sourceUri: "memory:///h.md",
          sourceDisplayName: "h.md",
          text: leave + lapse,
          headings: ["Handbook"],
          ordinal: 1,
          score: 1,
          distance: 0.2,
          byteStart,
          byteEnd: byteStart + Buffer.byteLength(leave + lapse),
          metadata: { year: "2024" },
          alsoIn
        } satisfies Context
      )
      assert.deepStrictEqual([gone?.text, other?.text], ["Gone.", "Other."])
    }))

  it.effect("says what it needs where an engine does not give texts back", () =>
    Effect.gen(function*() {
      const files = yield* Files
      const refused = yield* Effect.flip(
        expand()({ question: "?", contexts: testContexts([{ text: lapse }]) }).pipe(
          Effect.provideService(Files, {
            ...files,
            chunks: () => Effect.fail(new ServiceError({ code: "UNIMPLEMENTED", message: "no texts", fix: "-" }))
          })
        )
      )
      assert.deepInclude(refused, { code: "UNIMPLEMENTED", message: "expand: no texts", fix: "leave expand out, or run on another engine" })
    }).pipe(Effect.provide(testServices())))

  it.live("gives passages of the document's own text, with its bytes and pages, on the engine", () =>
    Effect.scoped(Effect.gen(function*() {
      const folder = yield* tempFolder
      write(folder, {
        "manual.pdf": manualFiles(pump)["manual.pdf"]!,
        "notes.md": `# Größen\n\n${Array.from({ length: 40 }, (_, at) => `Maß ${at}: ${at * 3} µm ± 日本.`).join("\n\n")}\n`
      })
      const pipelineOf = <E, R>(stages: Stage<Retrieved, Retrieved, E, R>) =>
        Pipeline.make("passages", {
          corpus: { displayName: "Passages" },
          sources: { docs: local(folder) },
          chunking: { size: 32, overlap: 10 },
          stages: compose(retrieve({ topK: 4 }), stages, checked, generate())
        })
      const pipeline = pipelineOf(expand({ before: 2, after: 1 }))
      yield* Effect.gen(function*() {
        assert.strictEqual((yield* pipeline.run).totals.added, 2)
        for (const question of ["What becomes of a shaft when it is driven off with a hammer?", "Maß 17"]) {
          const { answer, contexts } = yield* pipeline.ask(question)
          assert.isAtMost(contexts.length, 4)
          assert.isAbove(contexts[0]!.text.length, 150)
          assert.isTrue(answer.grounded)
          for (const { byteEnd, byteStart, firstPage, lastPage, offsets, quote } of answer.citations) {
            if (offsets === "file") continue
            const context = contexts.find(({ text }) => text.includes(quote))!
            assert.strictEqual(byteStart, context.byteStart! + Buffer.byteLength(context.text.slice(0, context.text.indexOf(quote))))
            assert.strictEqual(byteEnd! - byteStart!, Buffer.byteLength(quote))
            if (quote.includes("hammer")) assert.deepStrictEqual([firstPage, lastPage], [1, 2])
          }
        }
        const whole = yield* pipelineOf(expand({ to: "file" })).retrieve("Maß 17", { topK: 2 })
        assert.include(
          whole.contexts.find(({ sourceDisplayName }) => sourceDisplayName === "notes.md")?.text,
          "Maß 0: 0 µm ± 日本.\n\nMaß 1: 3 µm"
        )
      }).pipe(Effect.provide(isolatedEngine()))
    })))
})

/** Every context is the text of its file at its bytes. */
const checked = (input: Retrieved) =>
  Effect.gen(function*() {
    const files = yield* Files
    for (const context of input.contexts) {
      const chunks = yield* Stream.runCollect(pages((page) => files.chunks(context.file, page)))
      assert.strictEqual(context.text, textOf(chunks).subarray(context.byteStart, context.byteEnd).toString())
      assert.strictEqual(context.ordinal, chunks.find(({ byteStart }) => byteStart === context.byteStart)?.ordinal)
    }
    return input
  })

const textOf = (chunks: ReadonlyArray<FileChunk>): Buffer => {
  const bytes = Buffer.alloc(chunks.at(-1)?.byteEnd ?? 0)
  for (const { byteStart, text } of chunks) bytes.write(text, byteStart)
  return bytes
}
