import { assert, describe, it } from "@effect/vitest"
import { Effect, Exit } from "effect"
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { onTestFinished } from "vitest"
import { analysisOf, analyzeChunks, buffersOf } from "../../../../src/engines/embedded/store/AnalyzedFile.ts"
import { unpackChunks } from "../../../../src/engines/embedded/store/ChunkPage.ts"
import type { NewFile } from "../../../../src/engines/embedded/store/Commands.ts"
import { FileWords, languageOf } from "../../../../src/engines/embedded/store/FileWords.ts"
import { textHash } from "../../../../src/engines/embedded/store/Hash.ts"
import { Writer } from "../../../../src/engines/embedded/store/Writer.ts"
import { DocumentTerms, MetWords } from "../../../../src/search/analysis/DocumentTerms.ts"
import { Vocabulary } from "../../../../src/search/analysis/Vocabulary.ts"
import { readerOf } from "../../../../src/engines/embedded/kernel/TextKernel.ts"
import { StoreBench } from "../support/StoreBench.ts"

const texts: ReadonlyArray<string> = [
  "The keeper’s lantern is trimmed before dusk; it isn't lit later.",
  "Die Leuchtturmwärterin putzt die Linse, wenn der Nebel sich verzieht.",
  "北京大学 is in 海淀区, 日本語の3つ, ภาษาไทย 😀",
  "const lamp = light({ on: true })\nif (lamp.on) { lamp.off() }\nreturn lamp;",
  "1,024 parcels — ½ of them naïve, ﬁnal and ① late"
]

const fileOf = (name: string, own: ReadonlyArray<string>): NewFile => ({
  name,
  displayName: name,
  sourceUri: name,
  sizeBytes: 1,
  tokens: 1,
  title: "The lighthouse",
  chunks: own.map((text, at) => ({
    text,
    headings: at % 2 === 0 ? [] : ["Über १२"],
    byteStart: at,
    byteEnd: at + 1,
    tokens: 1,
    hash: textHash(text)
  }))
})

const sent = <A>(value: A, transfer: ReadonlyArray<ArrayBuffer>): A => structuredClone(value, { transfer: [...transfer] })

describe("what is found in a file on its way to the writer", () => {
  it("is what the writer finds itself, also after words were forgotten", () => {
    const documents = new DocumentTerms(new Vocabulary(), undefined, readerOf)
    const [here, there] = [new Vocabulary(), new Vocabulary()]
    const [own, far] = [new DocumentTerms(here), new DocumentTerms(there)]
    const termsOf = (from: DocumentTerms, names: Vocabulary) => [...from.terms.subarray(0, from.length)].map((term) => names.term(term))
    let met = new MetWords()
    const check = (file: NewFile): void => {
      const analyzed = analyzeChunks(file.chunks, new FileWords(documents, file.chunks, file.title, true), true)
      met.surfaces.push(...documents.surfaces.slice(met.surfaces.length))
      const { pages, words } = analysisOf(sent(analyzed, buffersOf(analyzed)), met)
      const plain = new FileWords(own, file.chunks, file.title)
      assert.deepStrictEqual(
        pages.flatMap(({ body }) => unpackChunks(body)).map(({ headings, text }) => ({ headings, text })),
        file.chunks.map(({ headings, text }) => ({ headings, text }))
      )
      assert.strictEqual(languageOf(words.surveyed()), languageOf(plain.surveyed()))
      file.chunks.forEach((_, place) => {
        const decision = far.take(words.of(place), {}, words.met)
        assert.deepStrictEqual(decision, own.take(plain.of(place), {}))
        assert.deepStrictEqual(termsOf(far, there), termsOf(own, here))
        assert.deepStrictEqual(words.headingsOf(place), plain.headingsOf(place))
        assert.deepStrictEqual(Buffer.from(words.vectorOf(place)), Buffer.from(plain.vectorOf(place)))
      })
    }
    check(fileOf("a", texts))
    check(fileOf("b", texts.toReversed()))
    // The terms are forgotten here, the words there.
    there.clear()
    check(fileOf("c", texts))
    documents.scan(Array.from({ length: 200_001 }, (_, i) => `w${i.toString(36)}`).join(" "))
    assert.isTrue(documents.forgetIfFull())
    met = new MetWords()
    check(fileOf("d", ["others get the numbers", ...texts]))
  })
})

describe("many files at once", () => {
  it.live.each([true, false])(
    "are all kept but the one that is refused, with a thread that reads them: %s",
    (withReader) =>
      Effect.gen(function*() {
        const dir = mkdtempSync(join(tmpdir(), "sluice-"))
        onTestFinished(() => rmSync(dir, { recursive: true, force: true }))
        const bench = new StoreBench(dir)
        bench.send("createCorpus", { name: "c", displayName: "c", vectorDb: { _tag: "managed" }, embedder: "none", at: 0 })
        const count = 80
        const exits = yield* Effect.gen(function*() {
          const writer = yield* Writer
          return yield* Effect.forEach(Array.from({ length: count }, (_, at) => at), (at) =>
            Effect.exit(writer.send("putFile", {
              corpus: at === 50 ? "nobody" : "c",
              // A large one goes another way.
              file: fileOf(
                `f${at}`,
                at === 40 ? [`lantern${at} `.repeat(120_000)] : [`lantern${at} of the keeper`, "equal in all of them"]
              ),
              vectors: "hashed",
              at: 0
            })), { concurrency: "unbounded" })
        }).pipe(Effect.provide(Writer.layer(dir, { withReader })), Effect.scoped)
        assert.deepStrictEqual(exits.flatMap((exit, at) => Exit.isSuccess(exit) ? [] : [at]), [50])
        bench.reopen()
        assert.strictEqual(bench.row("c").files, count - 1)
        // The chunk that all of them share has one vector.
        assert.strictEqual(bench.count("embeddings"), count)
        for (const at of [0, 39, 40, 41, 79]) assert.strictEqual(bench.find("c", `lantern${at}`)[0]?.sourceDisplayName, `f${at}`)
        assert.isUndefined(bench.find("c", "lantern50")[0])
      })
  )
})
