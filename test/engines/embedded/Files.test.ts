import { assert, describe, it } from "@effect/vitest"
import { Deferred, Effect, Fiber, Layer, Stream } from "effect"
import { existsSync } from "node:fs"
import { join } from "node:path"
import { defaultChunking } from "../../../src/domain/Chunking.ts"
import type { CorpusName } from "../../../src/domain/Corpus.ts"
import { type DocumentError, ServiceError } from "../../../src/domain/Errors.ts"
import * as Embedded from "../../../src/engines/embedded/Embedded.ts"
import { Corpora } from "../../../src/ports/Corpora.ts"
import { Embedder } from "../../../src/ports/Embedder.ts"
import { FileMetadataStore } from "../../../src/ports/FileMetadataStore.ts"
import { RagFileName } from "../../../src/domain/RagFile.ts"
import { chunksOf, Files } from "../../../src/ports/Files.ts"
import { Retrieval } from "../../../src/ports/Retrieval.ts"
import { pages } from "../../../src/ports/Paging.ts"
import { Operations } from "../../../src/ports/Operations.ts"
import { Importer } from "../../../src/engines/embedded/Importer.ts"
import { databaseFile } from "../../../src/state/Database.ts"
import { TextPool } from "../../../src/text/TextPool.ts"
import { managed } from "../../conformance/Cases.ts"
import { tempFolder } from "../../support/TempFolder.ts"
import { turns } from "../../support/Turns.ts"
import { engine, paragraphs, textFile } from "./support/Engine.ts"
import { StoreBench } from "./support/StoreBench.ts"
import { eventually } from "../../support/Eventually.ts"

/** An embedder that remembers what it was asked, and can be told to fail or to wait. */
class CountingEmbedder {
  readonly batches: Array<ReadonlyArray<string>> = []
  before: Effect.Effect<void, ServiceError> = Effect.void

  get texts(): ReadonlyArray<string> {
    return this.batches.flat()
  }

  readonly layer = Layer.succeed(Embedder, {
    id: "counting",
    dimensions: 4,
    embed: (texts) =>
      Effect.gen({ self: this }, function*() {
        this.batches.push(texts)
        yield* this.before
        return texts.map((text) => Float32Array.of(text.length % 2, 1 - (text.length % 2), 0, 0))
      })
  })
}

const withEngine = <A, E>(
  embedder: CountingEmbedder,
  body: Effect.Effect<A, E, Corpora | Files | Operations>
) =>
  Effect.scoped(
    Effect.flatMap(tempFolder, (folder) =>
      Effect.provide(body, Embedded.layer({ dataDir: folder }).pipe(Layer.provide([embedder.layer, paragraphs]))))
  )

/** Runs a test on an engine over a temporary folder. */
const onEngine = <A, E, R>(body: Effect.Effect<A, E, R>) =>
  Effect.scoped(Effect.flatMap(tempFolder, (folder) => Effect.provide(body, engine(folder))))

const newCorpus = Effect.flatMap(Corpora, (corpora) => Effect.map(corpora.create(managed("c")), ({ name }) => name))

describe("the end of the engine", () => {
  it.live("lets parsers go before the writer, which merges first, is done with the database", () =>
    Effect.gen(function*() {
      const folder = yield* tempFolder
      const open: Array<boolean> = []
      const rest = Effect.sync(() => void open.push(existsSync(join(folder, `${databaseFile}-wal`))))
      const pool = Layer.effect(TextPool, Effect.map(TextPool, (parsers) => TextPool.of({ ...parsers, rest }))).pipe(
        Layer.provide(paragraphs)
      )
      yield* Effect.gen(function*() {
        yield* (yield* Files).upload(textFile(yield* newCorpus, "a", "apples"))
        assert.deepStrictEqual(open, [])
      }).pipe(Effect.provide(engine(folder, {}, pool)))
      assert.deepStrictEqual(open, [true])
    }))
})

describe("a corpus", () => {
  it.live("is put together once for all who ask, until somebody writes", () =>
    onEngine(Effect.gen(function*() {
      const corpora = yield* Corpora
      const name = yield* newCorpus
      const first = yield* corpora.get(name)
      assert.strictEqual(yield* corpora.get(name), first)
      yield* corpora.update(name, { displayName: "another" })
      assert.strictEqual((yield* corpora.get(name)).displayName, "another")
      yield* (yield* Files).upload(textFile(name, "a", "apples"))
      assert.strictEqual((yield* corpora.get(name)).filesCount, 1)
      yield* corpora.delete(name, { force: true })
      assert.strictEqual((yield* Effect.flip(corpora.get(name))).code, "NOT_FOUND")
    })))
})

describe("what is written of a file", () => {
  it.live("stays when a newer version takes the file's place", () =>
    onEngine(Effect.gen(function*() {
      const files = yield* Files
      const store = yield* FileMetadataStore
      const corpus = yield* newCorpus
      yield* store.createSchemas(corpus, [{ key: "team", type: "string" }])
      const first = (yield* files.upload(textFile(corpus, "a", "one"))).file.name
      yield* store.create(first, [{ key: "team", value: { _tag: "string", value: "ops" } }])
      const second = (yield* files.upload({ ...textFile(corpus, "a", "two"), replaces: first })).file.name
      assert.deepStrictEqual((yield* files.get(second)).userMetadata, { team: "ops" })
      assert.deepStrictEqual((yield* store.list(second, {})).items.map(({ key }) => key), ["team"])
    })))
})

describe("the stored text of a file", () => {
  it.live("is given in pages of its chunks, of that file alone", () =>
    onEngine(Effect.gen(function*() {
      const files = yield* Files
      const corpus = yield* newCorpus
      const texts = (name: string) => Array.from({ length: 150 }, (_, i) => `${name} paragraph ${i} ${"x".repeat(i)}`)
      const names = yield* Effect.forEach(["a", "b", "c"], (name) =>
        Effect.map(files.upload(textFile(corpus, name, texts(name).join("\n\n"))), ({ file }) => file.name))
      for (const [i, name] of names.entries()) {
        for (const size of [1, 7, 1000]) {
          const chunks = yield* Stream.runCollect(pages((page) =>
            files.chunks(name, page), size))
          assert.deepStrictEqual(chunks.map(({ text }) => text), texts("abc".charAt(i)))
          assert.deepStrictEqual(chunks.map(({ ordinal }) => ordinal), chunks.map((_, at) => at))
        }
      }
      const [a, b] = names
      assert.isDefined(a)
      assert.isDefined(b)
      const from = (at: number, count: number) => Effect.map(chunksOf(files, b!, at, count), (chunks) => chunks.map(({ text }) => text))
      assert.deepStrictEqual(yield* from(147, 5), texts("b").slice(147))
      assert.deepStrictEqual(yield* from(150, 5), [])
      // An engine that finds none by their place has them read from the first one on.
      const { chunksFrom: _, ...listed } = files
      assert.deepStrictEqual((yield* chunksOf(listed, b!, 70, 2)).map(({ ordinal }) => ordinal), [70, 71])
      const found = yield* (yield* Retrieval).retrieve({ corpus, query: "b paragraph 149", files: [b!], topK: 3 })
      for (const { ordinal = -1, text } of found) assert.deepStrictEqual(yield* from(ordinal, 1), [text])
      assert.strictEqual((yield* Effect.flip(chunksOf(files, RagFileName.make(`${corpus}/ragFiles/9`), 0, 1))).code, "NOT_FOUND")
      assert.strictEqual((yield* Effect.flip(files.chunks(a!, { token: "x" }))).code, "INVALID_ARGUMENT")
      yield* files.delete(a!)
      assert.strictEqual((yield* Effect.flip(files.chunks(a!, {}))).code, "NOT_FOUND")
      assert.strictEqual((yield* files.chunks(b!, { size: 1 })).items[0]?.text, texts("b")[0])
    })))
})

const slowImport = Layer.succeed(Importer, { run: () => Effect.never })

describe("importing", () => {
  it.live("is done by one import at a time in a corpus, of whichever process", () =>
    Effect.scoped(Effect.gen(function*() {
      const folder = yield* tempFolder
      const open = Layer.build(engine(folder).pipe(Layer.provide(slowImport)))
      const one = yield* open
      const other = yield* open
      const corpus = yield* Effect.provide(newCorpus, one)
      const start = (into: CorpusName) =>
        Effect.flatMap(Files, (files) =>
          files.import({ corpus: into, source: { _tag: "storage", uris: ["gs://b/x/"] }, chunking: defaultChunking }))
      const first = yield* Effect.provide(start(corpus), one)
      for (const engine of [one, other]) {
        const error = yield* Effect.flip(Effect.provide(start(corpus), engine))
        assert.strictEqual(error._tag === "ServiceError" ? error.code : "", "FAILED_PRECONDITION")
        assert.include(error.message, first.name.split("/").at(-1) ?? "")
      }
      yield* Effect.provide(Effect.flatMap(newCorpus, start), other)
      const operations = yield* Effect.provide(Operations, one)
      yield* operations.cancel(first.name)
      yield* operations.wait(first.name, 120_000)
      assert.isFalse((yield* Effect.provide(start(corpus), other)).done)
    })))
})

describe("uploading", () => {
  it.live("embeds every text once, over files and versions", () => {
    const embedder = new CountingEmbedder()
    return withEngine(
      embedder,
      Effect.gen(function*() {
        const files = yield* Files
        const corpus = yield* newCorpus
        const first = yield* files.upload(textFile(corpus, "a", "shared\n\nown of a\n\nshared"))
        assert.strictEqual(first.embedded, 2)
        assert.strictEqual(first.embeddedTokens, 4)
        const second = yield* files.upload(textFile(corpus, "b", "shared\n\nown of b"))
        assert.strictEqual(second.embedded, 1)
        const changed = yield* files.upload(textFile(corpus, "a", "shared\n\nown of a\n\nnew", { replaces: first.file.name }))
        assert.strictEqual(changed.embedded, 1)
        assert.sameMembers([...embedder.texts], ["shared", "own of a", "own of b", "new"])
      })
    )
  })

  it.live("embeds a text once that many uploads bring at the same time, in few calls", () => {
    const embedder = new CountingEmbedder()
    embedder.before = Effect.sleep(20)
    return withEngine(
      embedder,
      Effect.gen(function*() {
        const files = yield* Files
        const corpus = yield* newCorpus
        const results = yield* Effect.forEach(
          Array.from({ length: 60 }, (_, i) => i),
          (i) => files.upload(textFile(corpus, `f${i}`, `shared by all\n\nown of ${i}`)),
          { concurrency: 30 }
        )
        assert.strictEqual(embedder.texts.length, 61)
        assert.strictEqual(new Set(embedder.texts).size, 61)
        assert.strictEqual(results.reduce((sum, { embedded }) => sum + (embedded ?? 0), 0), 61)
        assert.isBelow(embedder.batches.length, 30)
      })
    )
  })

  for (const [keepVectors, again] of [[undefined, 0], [1, 2]] as const) {
    it.live(`embeds ${again} texts that went and came back, where unused vectors are kept for ${keepVectors ?? "the default"} ms`, () => {
      const embedder = new CountingEmbedder()
      return Effect.scoped(Effect.gen(function*() {
        const folder = yield* tempFolder
        const run = <A, E>(body: Effect.Effect<A, E, Corpora | Files>) =>
          Effect.provide(
            body,
            Embedded.layer({ dataDir: folder, ...(keepVectors === undefined ? {} : { keepVectors }) }).pipe(
              Layer.provide([embedder.layer, paragraphs])
            )
          )
        const corpus = yield* run(newCorpus)
        yield* run(Effect.gen(function*() {
          const files = yield* Files
          const { file } = yield* files.upload(textFile(corpus, "a", "chapter 1\n\nchapter 2"))
          yield* files.delete(file.name)
          yield* Effect.sleep(5)
        }))
        const { embedded } = yield* run(Effect.flatMap(Files, (files) => files.upload(textFile(corpus, "b", "chapter 2\n\nchapter 1"))))
        assert.strictEqual(embedded, again)
      }))
    })
  }

  it.live("keeps what was embedded of a file that could not be finished", () => {
    const embedder = new CountingEmbedder()
    return withEngine(
      embedder,
      Effect.gen(function*() {
        const files = yield* Files
        const corpus = yield* newCorpus
        const parts = Array.from({ length: 300 }, (_, i) => `part ${i}`)
        let calls = 0
        embedder.before = Effect.suspend(() =>
          ++calls === 3 ? Effect.fail(new ServiceError({ code: "UNAVAILABLE", message: "the model is away" })) : Effect.void
        )
        const upload = files.upload(textFile(corpus, "long", parts.join("\n\n")))
        const error = yield* Effect.flip(upload)
        assert.strictEqual(error._tag === "ServiceError" && error.code, "UNAVAILABLE")
        assert.deepStrictEqual((yield* files.list(corpus, {})).items, [])
        const { embedded } = yield* upload
        assert.isBelow(embedded ?? 300, 200)
      })
    )
  })

  it.live("narrows a refusal down to the text that is refused, and keeps what was embedded beside it", () => {
    const asked: Array<ReadonlyArray<string>> = []
    const picky = Layer.succeed(Embedder, {
      id: "picky",
      dimensions: 4,
      embed: (texts) => {
        asked.push(texts)
        return texts.some((text) => text.includes("poison"))
          ? Effect.fail(ServiceError.invalid("input", "is not allowed"))
          : Effect.succeed(texts.map((text) => Float32Array.of(text.includes("zero") ? 0 : 1, 0, 0, 0)))
      }
    })
    return Effect.scoped(Effect.gen(function*() {
      const folder = yield* tempFolder
      yield* Effect.provide(
        Effect.gen(function*() {
          const files = yield* Files
          const corpus = yield* newCorpus
          const results = yield* Effect.forEach(
            Array.from({ length: 40 }, (_, i) => i === 7 ? "good too\n\npoison" : i === 9 ? "zero words" : `innocent ${i}`),
            (text, i) => Effect.result(files.upload(textFile(corpus, `f${i}`, text))),
            { concurrency: 40 }
          )
          assert.deepStrictEqual(
            results.flatMap((result, i) =>
              result._tag === "Failure" && result.failure._tag === "ServiceError" ? [[i, result.failure.code]] : []
            ),
            [[7, "INVALID_ARGUMENT"], [9, "INTERNAL"]]
          )
          // No text that was taken was sent twice.
          const taken = asked.filter((texts) => !texts.includes("poison")).flat()
          assert.strictEqual(new Set(taken).size, taken.length)
          const calls = asked.length
          assert.strictEqual((yield* files.upload(textFile(corpus, "again", "good too"))).embedded, 0)
          assert.strictEqual(asked.length, calls)
        }),
        Embedded.layer({ dataDir: folder }).pipe(Layer.provide([picky, paragraphs]))
      )
    }))
  })

  it.live("lets an embedder alone that refuses everything, or fails again and again", () => {
    const embedder = new CountingEmbedder()
    return withEngine(
      embedder,
      Effect.gen(function*() {
        const files = yield* Files
        const corpus = yield* newCorpus
        const codeOf = (name: string, texts: number) =>
          Effect.map(
            Effect.flip(files.upload(textFile(corpus, name, Array.from({ length: texts }, (_, i) => `${name} ${i}`).join("\n\n")))),
            (error) => error._tag === "ServiceError" ? error.code : error._tag
          )
        embedder.before = Effect.fail(ServiceError.invalid("model", "is not known"))
        assert.strictEqual(yield* codeOf("refused", 50), "FAILED_PRECONDITION")
        assert.isBelow(embedder.batches.length, 30)
        embedder.before = Effect.fail(new ServiceError({ code: "UNAVAILABLE", message: "nobody answers" }))
        for (let i = 0; i < 3; i++) assert.strictEqual(yield* codeOf(`away ${i}`, 1), "UNAVAILABLE")
        const calls = embedder.batches.length
        assert.strictEqual(yield* codeOf("next", 1), "FAILED_PRECONDITION")
        assert.strictEqual(embedder.batches.length, calls)
      })
    )
  })

  it.live("lets others wait for a text though the upload that asked for it is interrupted", () => {
    const embedder = new CountingEmbedder()
    const answer = Deferred.makeUnsafe<void>()
    embedder.before = Deferred.await(answer)
    return withEngine(
      embedder,
      Effect.gen(function*() {
        const files = yield* Files
        const corpus = yield* newCorpus
        const one = yield* Effect.forkChild(files.upload(textFile(corpus, "one", "wanted twice")))
        yield* eventually("the embedder was asked", Effect.sync(() => embedder.batches.length > 0))
        const two = yield* Effect.forkChild(files.upload(textFile(corpus, "two", "wanted twice")))
        yield* turns
        yield* Fiber.interrupt(one)
        yield* Deferred.succeed(answer, undefined)
        const { embedded, file } = yield* Fiber.join(two)
        assert.strictEqual(file.displayName, "two")
        assert.strictEqual(embedded, 0)
      })
    )
  })

  it.live("refuses an embedder that does not keep its word", () => {
    const embedder = new CountingEmbedder()
    const short = Layer.succeed(Embedder, { id: "short", dimensions: 4, embed: () => Effect.succeed([]) })
    return Effect.scoped(Effect.gen(function*() {
      const folder = yield* tempFolder
      const error = yield* Effect.provide(
        Effect.flatMap(newCorpus, (corpus) => Effect.flip(Effect.flatMap(Files, (files) => files.upload(textFile(corpus, "a", "text"))))),
        Embedded.layer({ dataDir: folder }).pipe(Layer.provide([short, paragraphs]))
      )
      assert.strictEqual(error._tag === "ServiceError" && error.code, "INTERNAL")
      assert.deepStrictEqual(embedder.batches, [])
    }))
  })

  it.live("takes no vector with something other than numbers, and an embedder that throws costs the file", () =>
    Effect.scoped(Effect.gen(function*() {
      const folder = yield* tempFolder
      const own = Layer.succeed(Embedder, {
        id: "own",
        dimensions: 2,
        embed: (texts) => {
          if (texts.some((text) => text.includes("throws"))) throw new Error("boom")
          if (texts.some((text) => text.includes("dies"))) return Effect.die(new Error("boom"))
          return Effect.succeed(
            texts.map((text) => Float32Array.of(text.includes("NaN") ? Number.NaN : 1, text.includes("endless") ? Infinity : 0))
          )
        }
      })
      yield* Effect.provide(
        Effect.gen(function*() {
          const files = yield* Files
          const corpus = yield* newCorpus
          const refused = (text: string) =>
            Effect.map(
              Effect.flip(files.upload(textFile(corpus, text, text))),
              (error) => `${error._tag === "ServiceError" ? error.code : error._tag} ${error.message}`
            )
          const unusable = "INTERNAL embedder own gave a vector with something other than finite numbers in it"
          assert.strictEqual(yield* refused("a NaN"), unusable)
          assert.strictEqual(yield* refused("endless"), unusable)
          yield* files.upload(textFile(corpus, "sound", "sound"))
          assert.strictEqual(yield* refused("it throws"), "INTERNAL embedder own threw an error: boom")
          assert.strictEqual(yield* refused("it dies"), "INTERNAL embedder own threw an error: boom")
          assert.deepStrictEqual((yield* files.list(corpus, {})).items.map(({ displayName }) => displayName), ["sound"])
        }),
        Embedded.layer({ dataDir: folder }).pipe(Layer.provide([own, paragraphs]))
      )
    })))

  it.live("says what is wrong with a document, and stores nothing of it", () => {
    const embedder = new CountingEmbedder()
    return withEngine(
      embedder,
      Effect.gen(function*() {
        const files = yield* Files
        const corpus = yield* newCorpus
        const corrupt = yield* Effect.flip(files.upload(textFile(corpus, "a", "corrupt")))
        assert.strictEqual(corrupt._tag === "DocumentError" && corrupt.problem, "corrupt")
        const empty = yield* Effect.flip(files.upload(textFile(corpus, "b", "  \n\n ")))
        assert.strictEqual(empty._tag === "DocumentError" && empty.problem, "empty")
        assert.deepStrictEqual((yield* files.list(corpus, {})).items, [])
      })
    )
  })

  it.live("refuses what only the hosted engine can do", () => {
    const embedder = new CountingEmbedder()
    return withEngine(
      embedder,
      Effect.gen(function*() {
        const corpora = yield* Corpora
        const files = yield* Files
        const corpus = yield* newCorpus
        const vendor = yield* corpora.create({ displayName: "v", vectorDb: { _tag: "pinecone", indexName: "docs" } })
        const refused: ReadonlyArray<Effect.Effect<unknown, ServiceError | DocumentError>> = [
          files.upload(textFile(vendor.name, "a", "text")),
          files.upload(textFile(corpus, "a", "text", { parsing: { _tag: "llm", model: "m" } })),
          files.import({ corpus, source: { _tag: "storage", uris: ["gs://b/a"] }, chunking: textFile(corpus, "a", "").chunking })
        ]
        for (const request of refused) {
          const error = yield* Effect.flip(request)
          assert.strictEqual(error._tag === "ServiceError" && error.code, "UNIMPLEMENTED")
        }
      })
    )
  })
})

describe("changing facts about a file", () => {
  it.live("keeps what is not named, and embeds nothing", () => {
    const embedder = new CountingEmbedder()
    return withEngine(
      embedder,
      Effect.gen(function*() {
        const files = yield* Files
        const corpus = yield* newCorpus
        const marker = { source: "p/docs", pathHash: "0".repeat(32), fingerprint: "1".repeat(32) }
        const { file } = yield* files.upload(textFile(corpus, "a", "text", {
          marker,
          metadata: { team: "ops" },
          permissions: { public: false, principals: ["user:a@b.c"] },
          sourceUri: "file:///a.txt"
        }))
        const moved = yield* files.update(file.name, { displayName: "b", sourceUri: "file:///b.txt" })
        const { updateTime: _, ...rest } = moved
        const { updateTime: __, ...before } = file
        assert.deepStrictEqual(rest, { ...before, displayName: "b", sourceUri: "file:///b.txt" })
        assert.deepStrictEqual((yield* files.update(file.name, { metadata: { team: "hr" } })).metadata, { team: "hr" })
        assert.strictEqual(embedder.texts.length, 1)
        yield* files.delete(file.name)
        assert.strictEqual((yield* Effect.flip(files.update(file.name, { displayName: "c" }))).code, "NOT_FOUND")
      })
    )
  })
})

describe("permissions that a source withdraws", () => {
  it.live("hold no longer: who could not read a file finds it", () =>
    onEngine(Effect.gen(function*() {
      const files = yield* Files
      const retrieval = yield* Retrieval
      const corpus = yield* newCorpus
      const permissions = { public: false, principals: ["user:a@b.c"] }
      const { file } = yield* files.upload(textFile(corpus, "a", "Five days carry over.", { permissions, metadata: { team: "ops" } }))
      const found = Effect.map(retrieval.retrieve({ corpus, query: "days", principal: "user:other@b.c" }), (contexts) => contexts.length)
      assert.strictEqual(yield* found, 0)
      // What is not named stays.
      assert.deepStrictEqual((yield* files.update(file.name, { displayName: "b" })).permissions, permissions)
      assert.strictEqual(yield* found, 0)
      const open = yield* files.update(file.name, { permissions: null })
      assert.notProperty(open, "permissions")
      assert.deepStrictEqual(open.metadata, { team: "ops" })
      assert.notProperty(yield* files.get(file.name), "permissions")
      assert.strictEqual(yield* found, 1)
    })))
})

describe("operations of a process that is gone", () => {
  it.live("end as interrupted when an engine opens", () =>
    Effect.scoped(Effect.gen(function*() {
      const folder = yield* tempFolder
      const never = Layer.succeed(Importer, {
        run: (_, report) =>
          Effect.andThen(
            report({ progress: 40, counts: { imported: 4, failed: 0, skipped: 1 }, failures: [] }),
            Effect.never
          )
      })
      const name = yield* Effect.provide(
        Effect.gen(function*() {
          const operations = yield* Operations
          const operation = yield* (yield* Files).import({
            corpus: yield* newCorpus,
            source: { _tag: "storage", uris: ["gs://b/a"] },
            chunking: { strategy: "fixed", size: 100, overlap: 0 }
          })
          yield* eventually("progress is told", Effect.map(operations.get(operation.name), ({ progress }) => progress))
          return operation.name
        }),
        engine(folder).pipe(Layer.provide(never))
      )
      const ended = yield* Effect.provide(Effect.flatMap(Operations, (operations) => operations.get(name)), engine(folder))
      assert.isTrue(ended.done)
      assert.strictEqual(ended.error?.code, "ABORTED")
      assert.strictEqual(ended.progress, 40)
      assert.deepStrictEqual(ended.counts, { imported: 4, failed: 0, skipped: 1 })
    })))

  it.live("end as interrupted though the process could not say so", () =>
    Effect.scoped(Effect.gen(function*() {
      const folder = yield* tempFolder
      const bench = new StoreBench(folder)
      const operation = { kind: "importFiles", at: 0 } as const
      // No process has so large an id; the second is another process, and alive.
      bench.send("createOperation", { ...operation, target: "a", name: "1", owner: 2 ** 31 - 1 })
      bench.send("createOperation", { ...operation, target: "b", name: "2", owner: process.ppid })
      bench.db.close()
      const ends = yield* Effect.provide(
        Effect.flatMap(Operations, (operations) => operations.list({})),
        engine(folder)
      )
      assert.deepStrictEqual(ends.items.map(({ done, error }) => [done, error?.code]), [[true, "ABORTED"], [false, undefined]])
    })))
})
