import { assert, describe, it, layer } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { DatabaseSync } from "node:sqlite"
import { join } from "node:path"
import type { CorpusName } from "../../../src/domain/Corpus.ts"
import type { Explanation } from "../../../src/domain/Retrieval.ts"
import { Corpora } from "../../../src/ports/Corpora.ts"
import { Embedder } from "../../../src/ports/Embedder.ts"
import { Files } from "../../../src/ports/Files.ts"
import { Retrieval } from "../../../src/ports/Retrieval.ts"
import * as Embedded from "../../../src/engines/embedded/Embedded.ts"
import { hashEmbedder } from "../../../src/models/HashEmbedder.ts"
import * as LexicalRanker from "../../../src/models/LexicalRanker.ts"
import { embedWeighed } from "../../../src/text/hashed/EmbedHashed.ts"
import { databaseFile } from "../../../src/state/Database.ts"
import { managed } from "../../conformance/Cases.ts"
import { tempFolder } from "../../support/TempFolder.ts"
import { engine, paragraphs, textFile } from "./support/Engine.ts"

const newCorpus = Effect.flatMap(Corpora, (corpora) => Effect.map(corpora.create(managed("c")), ({ name }) => name))

const fresh = Layer.unwrap(Effect.map(tempFolder, (folder) => engine(folder).pipe(Layer.provide(LexicalRanker.layer()))))

layer(fresh, { excludeTestServices: true })("the embedded engine's retrieval", (it) => {
  it.effect("shows a principal what it may read, and the owner everything", () =>
    Effect.gen(function*() {
      const files = yield* Files
      const retrieval = yield* Retrieval
      const corpus = yield* newCorpus
      const permissions = {
        "all.txt": undefined,
        "public.txt": { public: true, principals: [] },
        "ann.txt": { public: false, principals: ["user:ann@x.com", "group:staff"] },
        "nobody.txt": { public: false, principals: [] }
      }
      for (const [name, permission] of Object.entries(permissions)) {
        yield* files.upload(textFile(corpus, name, `salaries in ${name}`, permission === undefined ? {} : { permissions: permission }))
      }
      const seen = (principal?: string | ReadonlyArray<string>) =>
        Effect.map(
          retrieval.retrieve({ corpus, query: "salaries", ...(principal === undefined ? {} : { principal }) }),
          (contexts) => contexts.map(({ sourceDisplayName }) => sourceDisplayName).toSorted()
        )
      assert.deepStrictEqual(yield* seen(), ["all.txt", "ann.txt", "nobody.txt", "public.txt"])
      assert.deepStrictEqual(yield* seen("user:ANN@x.com"), ["all.txt", "ann.txt", "public.txt"])
      assert.deepStrictEqual(yield* seen("user:bob@x.com"), ["all.txt", "public.txt"])
      assert.deepStrictEqual(yield* seen(["user:bob@x.com", "group:STAFF"]), ["all.txt", "ann.txt", "public.txt"])
      assert.deepStrictEqual(yield* seen(["user:bob@x.com", "group:x"]), ["all.txt", "public.txt"])
      assert.deepStrictEqual(yield* seen([]), ["all.txt", "public.txt"])
      for (
        const principal of [
          ["group:staff", ""],
          ["group:staff", " "],
          [["group:staff"]],
          [undefined, "group:staff"],
          new Set(["group:staff"])
        ]
      ) {
        const error = yield* Effect.flip(seen(principal as never))
        assert.deepInclude(error, { _tag: "ServiceError", code: "INVALID_ARGUMENT" })
        assert.match(error.message, /^principal(?:\[[01]\])?: must be a text/)
      }
      const ann = (yield* files.list(corpus, {})).items.find(({ displayName }) => displayName === "ann.txt")
      assert.isDefined(ann)
      yield* files.update(ann.name, { permissions: { public: false, principals: ["user:bob@x.com"] } })
      assert.deepStrictEqual(yield* seen("user:ann@x.com"), ["all.txt", "public.txt"])
      assert.deepStrictEqual(yield* seen("user:bob@x.com"), ["all.txt", "ann.txt", "public.txt"])
    }))

  it.effect("answers what was asked before from memory, until the corpus changes or the question does", () =>
    Effect.gen(function*() {
      const files = yield* Files
      const retrieval = yield* Retrieval
      const corpus = yield* newCorpus
      yield* files.upload(textFile(corpus, "one.txt", "the ferry leaves at noon"))
      const ask = (more: object = {}) => retrieval.retrieve({ corpus, query: "ferry noon", ...more })
      const first = yield* ask()
      assert.strictEqual(yield* ask(), first)
      for (
        const other of [{ topK: 3 }, { query: "ferry" }, { hybrid: { alpha: 0 } }, { hybrid: { alpha: 1 } }, { explain: true }, {
          principal: "ann"
        }]
      ) {
        assert.notStrictEqual(yield* ask(other), first)
      }
      const ann = yield* ask({ principal: ["user:ann@x.com", "group:staff"] })
      assert.strictEqual(yield* ask({ principal: ["group:Staff", "user:ann@x.com", "group:staff"] }), ann, "in whatever order and case")
      assert.notStrictEqual(yield* ask({ principal: ["user:ann@x.com"] }), ann)
      const { name } = (yield* files.list(corpus, {})).items[0]!
      yield* files.upload(textFile(corpus, "two.txt", "another ferry leaves before noon"))
      assert.deepStrictEqual((yield* ask()).map(({ sourceDisplayName }) => sourceDisplayName).toSorted(), ["one.txt", "two.txt"])
      yield* files.delete(name)
      assert.deepStrictEqual((yield* ask()).map(({ sourceDisplayName }) => sourceDisplayName), ["two.txt"])
    }))

  it.effect("orders equals by their files' addresses, whatever the history", () =>
    Effect.gen(function*() {
      const files = yield* Files
      const retrieval = yield* Retrieval
      const names = Array.from({ length: 150 }, (_, i) => `file${String(i).padStart(3, "0")}.md`)
      const answers = (corpus: CorpusName) =>
        Effect.forEach([0, 0.5, 1], (alpha) =>
          Effect.map(
            retrieval.retrieve({ corpus, query: "licence", topK: 20, hybrid: { alpha } }),
            (contexts) => contexts.map(({ byteStart, sourceUri }) => `${sourceUri} ${byteStart}`)
          ))
      const put = (corpus: CorpusName, name: string) => files.upload(textFile(corpus, name, "the same licence\n\nthe same licence"))
      const inOrder = yield* newCorpus
      for (const name of names) yield* put(inOrder, name)
      const other = yield* newCorpus
      for (const name of names.toReversed()) {
        const { file } = yield* put(other, name)
        if (name.endsWith("7.md")) yield* Effect.andThen(files.delete(file.name), put(other, name))
      }
      const expected = names.slice(0, 10).flatMap((name) => [`${name} 0`, `${name} 18`])
      assert.deepStrictEqual(yield* answers(inOrder), [expected, expected, expected])
      assert.deepStrictEqual(yield* answers(other), [expected, expected, expected])
    }))

  it.effect("a short list is the beginning of a long one, however both arms are mixed", () =>
    Effect.gen(function*() {
      const files = yield* Files
      const retrieval = yield* Retrieval
      const corpus = yield* newCorpus
      const words = "valve meter pump pipe seal gauge filter tank hose drain boiler vent relay motor belt shaft".split(" ")
      // The question's words are rare in what is near it by meaning, so that each arm has candidates of its own.
      const sentence = (seed: number) =>
        Array.from({ length: 4 + seed % 11 }, (_, at) => words[Math.floor(Math.abs(Math.sin(seed * 31 + at * 7)) * words.length)]).join(" ")
      yield* Effect.forEach(Array.from({ length: 600 }, (_, n) => n), (n) =>
        files.upload(textFile(corpus, `${n}.md`, `${sentence(n)}. ${n % 3 === 0 ? "boilers" : sentence(n * 7 + 1)}.`)), { concurrency: 16 })
      for (const alpha of [0, 0.25, 0.5, 1]) {
        const first = (topK: number) =>
          Effect.map(retrieval.retrieve({ corpus, query: "the valve of the boiler and its gauge", topK, hybrid: { alpha } }), (contexts) =>
            contexts.map(({ sourceUri }) =>
              sourceUri
            ))
        const long = yield* first(100)
        for (const topK of [1, 8, 30, 67, 99]) {
          assert.deepStrictEqual(yield* first(topK), long.slice(0, topK), `${topK} at ${alpha}`)
        }
      }
    }))

  it.effect("filters by metadata, and tells it", () =>
    Effect.gen(function*() {
      const files = yield* Files
      const retrieval = yield* Retrieval
      const corpus = yield* newCorpus
      yield* files.upload(textFile(corpus, "a", "rules for travel", { metadata: { team: "ops", year: "2025" } }))
      yield* files.upload(textFile(corpus, "b", "rules for travel abroad", { metadata: { team: "ops", year: "2026" } }))
      yield* files.upload(textFile(corpus, "c", "rules for travel by train"))
      const found = (metadata: Record<string, string>) => retrieval.retrieve({ corpus, query: "travel rules", filter: { metadata } })
      assert.strictEqual((yield* found({ team: "ops" })).length, 2)
      const [one, ...others] = yield* found({ team: "ops", year: "2026" })
      assert.strictEqual(one?.sourceDisplayName, "b")
      assert.deepStrictEqual(one?.metadata, { team: "ops", year: "2026" })
      assert.deepStrictEqual(others, [])
      assert.deepStrictEqual(yield* found({ constructor: "ops" }), [])
    }))

  it.effect("corrects words that no document has, and says so", () =>
    Effect.gen(function*() {
      const files = yield* Files
      const retrieval = yield* Retrieval
      const corpus = yield* newCorpus
      yield* files.upload(textFile(corpus, "a", "The reimbursement of expenses takes two weeks."))
      yield* files.upload(textFile(corpus, "b", "Parking permits are at the reception."))
      const ask = (correctSpelling: boolean) =>
        retrieval.retrieve({ corpus, query: "recpetion", hybrid: { alpha: 0 }, correctSpelling, explain: true })
      const [hit] = yield* ask(true)
      assert.strictEqual(hit?.sourceDisplayName, "b")
      const [term] = hit?.explanation?.terms ?? []
      assert.strictEqual(term?.corrected, true)
      assert.strictEqual(term?.from, "recpetion")
      assert.deepStrictEqual(yield* ask(false), [])
    }))

  it.effect("searches for synonyms as for the word itself, and for parts of a phrase as for a part of it", () =>
    Effect.gen(function*() {
      const files = yield* Files
      const retrieval = yield* Retrieval
      const corpus = yield* newCorpus
      const texts = ["PTO is for everyone.", "Vacation is booked early.", "Vacation in May.", "Paid parking is off the yard.", "Ptomaine."]
      for (const [at, text] of texts.entries()) yield* files.upload(textFile(corpus, `${at}`, text))
      const ask = (query: string, synonyms: ReadonlyArray<ReadonlyArray<string>>) =>
        retrieval.retrieve({ corpus, query, synonyms, hybrid: { alpha: 0 }, explain: true })
      const found = yield* ask("PTO", [["PTO", "vacation", "paid time off"]])
      assert.deepStrictEqual(found.map(({ sourceDisplayName }) => sourceDisplayName).toSorted(), ["0", "1", "2", "3"])
      // Rare or not, a name counts as all names of the thing together; "paid" is a third of one.
      const weights = new Map(
        found.flatMap(({ explanation }) => explanation?.terms ?? []).filter(({ weight }) => weight > 0)
          .map(({ term, weight }) => [term, weight])
      )
      assert.isAbove(weights.get("vacat")! / weights.get("pto")!, 0.8)
      assert.isBelow(weights.get("paid")! / weights.get("pto")!, 0.8)
      assert.strictEqual(
        found.find(({ sourceDisplayName }) => sourceDisplayName === "1")?.explanation?.terms
          .find(({ term }) => term === "vacat")?.from,
        "PTO"
      )
      // What has another name is no slip.
      const [first, ...rest] = yield* ask("PTX", [["PTX", "parking"]])
      assert.deepStrictEqual([first?.sourceDisplayName, rest], ["3", []])
    }))

  it.effect("corrects words by what is asked of them, not by words of grammar", () =>
    Effect.gen(function*() {
      const files = yield* Files
      const corpus = yield* newCorpus
      yield* files.upload(textFile(corpus, "a", "A clade has one ancestor."))
      yield* files.upload(textFile(corpus, "b", "What Claud painted are landscapes. What he wrote about are they."))
      const [hit] = yield* (yield* Retrieval).retrieve({ corpus, query: "What about claddes?", hybrid: { alpha: 0 }, explain: true })
      const corrected = hit?.explanation?.terms.filter(({ from }) => from === "claddes")
      assert.deepStrictEqual(corrected?.map(({ term }) => term), ["clade", "claud"])
    }))

  it.effect("explains how a score came about", () =>
    Effect.gen(function*() {
      const files = yield* Files
      const corpus = yield* newCorpus
      yield* files.upload(textFile(corpus, "a", "green apples and red apples\n\nyellow pears"))
      yield* files.upload(textFile(corpus, "b", "green cars"))
      const found = yield* (yield* Retrieval).retrieve({ corpus, query: "green apples", hybrid: { alpha: 0.25 }, explain: true })
      assert.isAbove(found.length, 1)
      for (const { distance, explanation, score } of found) {
        assert.isDefined(explanation)
        const { alpha, cosine, fused, normalizedDense, normalizedSparse, proximity, sparse, terms } = explanation
        assert.strictEqual(alpha, 0.25)
        assert.isDefined(proximity)
        assert.closeTo(score, (fused + proximity.weight * proximity.share) / (1 + proximity.weight), 1e-12)
        assert.closeTo(fused, 0.75 * normalizedSparse + 0.25 * normalizedDense, 1e-12)
        assert.closeTo(sparse, terms.reduce((sum, { weight }) => sum + weight, 0), 1e-9)
        assert.closeTo(distance ?? Number.NaN, 1 - cosine, 1e-12)
      }
      assert.deepStrictEqual(found.map(({ explanation }) => explanation?.proximity?.share), [1, ...found.slice(1).map(() => 0)])
      const apples = found[0]?.explanation?.terms.find(({ from, term }) => (from ?? term) === "apples")
      assert.strictEqual(apples?.termFrequency, 2)
      assert.strictEqual(apples?.documentFrequency, 1)
    }))

  it.effect("finds the subject of a question, not its grammar, which is rare in formal texts", () =>
    Effect.gen(function*() {
      const files = yield* Files
      const corpus = yield* newCorpus
      const texts = {
        limit: "Every line of a source file has a maximal length of 79 characters.",
        chat: "What is this about? It does what it does, and a line about that may follow.",
        dose: "The dose is written on the package.",
        ends: "A line of text ends with a mark.",
        rows: "The length of a table's row is free.",
        draw: "A drawn line has a length in millimetres."
      }
      for (const [name, text] of Object.entries(texts)) yield* files.upload(textFile(corpus, name, text))
      const ask = (query: string, alpha?: number) =>
        Effect.flatMap(Retrieval, (retrieval) =>
          retrieval.retrieve({ corpus, query, explain: true, ...(alpha === undefined ? {} : { hybrid: { alpha } }) }))

      const question = "What does it say about the maximal line length?"
      const [best] = yield* ask(question)
      assert.strictEqual(best?.sourceDisplayName, "limit")
      const [plain] = yield* ask(question, 0)
      assert.isDefined(plain)
      assert.strictEqual(plain.sourceDisplayName, "chat", "BM25 alone weighs every word, as Lucene does")
      assert.isTrue(
        plain.explanation?.terms.every(({ factor }) =>
          factor === undefined
        )
      )

      const lowered = (yield* ask(question)).find(({ sourceDisplayName }) => sourceDisplayName === "chat")?.explanation
      assert.isDefined(lowered)
      assert.deepStrictEqual(
        lowered.terms.filter(({ factor }) => factor !== undefined).map(({ factor, from, term }) => [from ?? term, factor]),
        [["What", 0.1], ["does", 0.1], ["about", 0.1]]
      )
      assert.closeTo(lowered.sparse, lowered.terms.reduce((sum, { weight }) => sum + weight, 0), 1e-9)
      const weightOf = (explanation: Explanation | undefined) =>
        explanation?.terms.find(({ term }) => term === "about")?.weight ?? Number.NaN
      assert.closeTo(weightOf(lowered), 0.1 * weightOf(plain.explanation), 1e-9)

      const [said] = yield* ask("what about")
      assert.strictEqual(said?.sourceDisplayName, "chat", "a query of nothing else keeps its words")
      yield* files.upload(textFile(corpus, "us", "Taxes in the US are due in April."))
      const [named] = yield* ask("US")
      assert.deepInclude(named?.explanation?.terms[0], { term: "us" })
      assert.isUndefined(named?.explanation?.terms[0]?.factor)
    }))

  it.effect("takes no word of grammar for a misspelling", () =>
    Effect.gen(function*() {
      const files = yield* Files
      const corpus = yield* newCorpus
      yield* files.upload(textFile(corpus, "a", "The dose is written on the package, which you may keep."))
      const [hit] = yield* (yield* Retrieval).retrieve({ corpus, query: "Does you keep the package?", explain: true })
      assert.deepStrictEqual(hit?.explanation?.terms.map(({ term }) => term), ["you", "keep", "packag"])
    }))

  it.effect("includes what only words found when it filters by distance", () =>
    Effect.gen(function*() {
      const files = yield* Files
      const retrieval = yield* Retrieval
      const corpus = yield* newCorpus
      yield* files.upload(textFile(corpus, "a", "zebra"))
      yield* files.upload(textFile(corpus, "b", `zebra ${Array.from({ length: 80 }, (_, i) => `other${i}`).join(" ")}`))
      const distances = new Map(
        (yield* retrieval.retrieve({ corpus, query: "zebra", hybrid: { alpha: 1 } })).map((c) => [c.sourceDisplayName, c.distance ?? 2])
      )
      const between = ((distances.get("a") ?? 0) + (distances.get("b") ?? 2)) / 2
      const sparseOnly = yield* retrieval.retrieve({ corpus, query: "zebra", hybrid: { alpha: 0 }, filter: { maxDistance: between } })
      assert.deepStrictEqual(sparseOnly.map((c) => c.sourceDisplayName), ["a"])
      const similar = yield* retrieval.retrieve({ corpus, query: "zebra", filter: { minSimilarity: 1 - between } })
      assert.deepStrictEqual(similar.map((c) => c.sourceDisplayName), ["a"])
    }))

  it.effect("ranks by the offline ranker, and refuses rankers it does not have", () =>
    Effect.gen(function*() {
      const files = yield* Files
      const retrieval = yield* Retrieval
      const corpus = yield* newCorpus
      yield* files.upload(textFile(corpus, "a", "annual leave is taken by the day\n\nleave the annual report on the desk"))
      const ranked = yield* retrieval.retrieve({ corpus, query: "annual leave", topK: 1, rank: { _tag: "lexical" }, explain: true })
      assert.strictEqual(ranked.length, 1)
      assert.isDefined(ranked[0]?.explanation?.ranked)
      const error = yield* Effect.flip(retrieval.retrieve({ corpus, query: "q", rank: { _tag: "llmRanker" } }))
      assert.strictEqual(error.code, "UNIMPLEMENTED")
      assert.include(error.message, "Ranker")
    }))

  it.effect("finds German by its stems and Japanese by its characters", () =>
    Effect.gen(function*() {
      const files = yield* Files
      const corpus = yield* newCorpus
      yield* files.upload(textFile(corpus, "de", "Die Häuser in der Straße wurden von den Nachbarn gemeinsam gebaut und werden gepflegt."))
      yield* files.upload(textFile(corpus, "ja", "東京都の図書館は毎週月曜日に休館します。"))
      yield* files.upload(textFile(corpus, "en", "The library in the old town is closed on Mondays."))
      const first = (query: string) =>
        Effect.map(Effect.flatMap(Retrieval, (r) => r.retrieve({ corpus, query, hybrid: { alpha: 0 } })), ([hit]) => hit?.sourceDisplayName)
      assert.strictEqual(yield* first("das Haus der Nachbarn"), "de")
      assert.strictEqual(yield* first("図書館の休館日"), "ja")
      assert.strictEqual(yield* first("libraries closing"), "en")
    }))
})

describe("the embedded engine over the same data again", () => {
  it.live("gives the same answers, and refuses another embedder", () =>
    Effect.scoped(Effect.gen(function*() {
      const folder = yield* tempFolder
      const ask = Effect.fnUntraced(function*(corpus: Effect.Success<typeof newCorpus>) {
        return yield* (yield* Retrieval).retrieve({ corpus, query: "apples and pears" })
      })
      const [corpus, before] = yield* Effect.provide(
        Effect.gen(function*() {
          const corpus = yield* newCorpus
          for (let i = 0; i < 5; i++) yield* (yield* Files).upload(textFile(corpus, `f${i}`, `apples ${i}\n\npears ${i}`))
          return [corpus, yield* ask(corpus)] as const
        }),
        engine(folder)
      )
      assert.deepStrictEqual(yield* Effect.provide(ask(corpus), engine(folder)), before)
      const other = Layer.succeed(Embedder, { id: "other-model", dimensions: 8, embed: () => Effect.die("not to be called") })
      const mismatched = Embedded.layer({ dataDir: folder }).pipe(Layer.provide([other, paragraphs]))
      const error = yield* Effect.provide(Effect.flip(ask(corpus)), mismatched)
      assert.strictEqual(error.code, "FAILED_PRECONDITION")
      assert.include(error.message, "hashed-ngrams")
      assert.include(error.message, "other-model")
      assert.include(error.fix ?? "", "--replace")
      // BM25 needs no vectors.
      const sparse = Effect.flatMap(Retrieval, (r) => r.retrieve({ corpus, query: "apples", hybrid: { alpha: 0 } }))
      assert.isNotEmpty(yield* Effect.provide(sparse, mismatched))
    })))

  it.live("finds the same in a thread and without one, whether the embedder can go into it or weighs words from outside", () =>
    Effect.scoped(Effect.gen(function*() {
      const folder = yield* tempFolder
      const corpus = yield* Effect.provide(
        Effect.gen(function*() {
          const corpus = yield* newCorpus
          for (let i = 0; i < 6; i++) {
            yield* (yield* Files).upload(textFile(corpus, `f${i}`, `the apple tree ${i}\n\nthe pears of garden ${i}`))
          }
          return corpus
        }),
        engine(folder)
      )
      const outside = Layer.succeed(Embedder, {
        ...hashEmbedder,
        embedWeighed: (text: string, weigh: (word: string) => number) => embedWeighed(text, weigh)
      })
      const ask = Effect.flatMap(Retrieval, ({ retrieve }) =>
        Effect.forEach(
          ["the appel trees", "garden 3", "the apple tree of the garden"],
          (query) => retrieve({ corpus, query, hybrid: { alpha: 0.5 }, explain: true })
        ))
      const found = yield* Effect.forEach([0, 1], (searchThreads) =>
        Effect.all([
          Effect.provide(ask, engine(folder, { searchThreads })),
          Effect.provide(ask, Embedded.layer({ dataDir: folder, searchThreads }).pipe(Layer.provide([outside, paragraphs])))
        ]))
      const [first, ...others] = found.flat()
      assert.isNotEmpty(first?.[0])
      for (const other of others) assert.deepStrictEqual(other, first)
    })))

  it.effect("measures distances by the direction of vectors, however long an embedder of one's own makes them", () =>
    Effect.scoped(Effect.gen(function*() {
      const own = Layer.succeed(Embedder, {
        id: "own",
        dimensions: 2,
        embed: (texts) =>
          texts.includes("throw")
            ? Effect.die("boom")
            : Effect.succeed(
              texts.map((text) => text.includes("NaN") ? Float32Array.of(0, Number.NaN) : Float32Array.of(3, text.length % 5))
            )
      })
      yield* Effect.gen(function*() {
        const corpus = yield* newCorpus
        for (const text of ["apple", "pear"]) yield* (yield* Files).upload(textFile(corpus, text, text))
        const ask = (query: string) => Effect.flatMap(Retrieval, (r) => r.retrieve({ corpus, query, hybrid: { alpha: 1 } }))
        const [first, second] = yield* ask("apple")
        assert.approximately(first?.distance ?? NaN, 0, 1e-3)
        assert.approximately(second?.distance ?? NaN, 1 - 3 / 5, 1e-2)
        assert.match((yield* Effect.flip(ask("a NaN"))).message, /^embedder own gave a vector with something other than finite numbers/)
        assert.strictEqual((yield* Effect.flip(ask("throw"))).message, "embedder own threw an error: boom")
      }).pipe(Effect.provide(Embedded.layer({ dataDir: yield* tempFolder }).pipe(Layer.provide([own, paragraphs]))))
    })))

  it.effect("weighs the vectors of a model more than those of words", () =>
    Effect.scoped(Effect.gen(function*() {
      const { embedWeighed: _, hashed: __, embedSparse: ___, ...model } = hashEmbedder
      const alphaBy = (embedder: Embedder["Service"]) =>
        Effect.gen(function*() {
          const ask = Effect.gen(function*() {
            const corpus = yield* newCorpus
            yield* (yield* Files).upload(textFile(corpus, "f", "the apple tree"))
            const retrieval = yield* Retrieval
            return yield* Effect.forEach([undefined, {}, { alpha: 0.1 }], (hybrid) =>
              Effect.map(
                retrieval.retrieve({ corpus, query: "apple", explain: true, ...(hybrid === undefined ? {} : { hybrid }) }),
                ([hit]) => hit?.explanation?.alpha
              ))
          })
          const layers = Layer.mergeAll(Layer.succeed(Embedder, embedder), paragraphs)
          return yield* Effect.provide(ask, Embedded.layer({ dataDir: yield* tempFolder }).pipe(Layer.provide(layers)))
        })
      assert.deepStrictEqual(yield* alphaBy(hashEmbedder), [0.25, 0.5, 0.1])
      assert.deepStrictEqual(yield* alphaBy({ ...model, id: "a-model" }), [0.5, 0.5, 0.1])
      assert.deepStrictEqual(yield* alphaBy({ ...model, id: "a-table", ofWords: true }), [0.25, 0.5, 0.1])
    })))

  it.effect("has a model read a question that is all in capitals as it would be written, and names as they are", () =>
    Effect.scoped(Effect.gen(function*() {
      const { embedWeighed: _, hashed: __, embedSparse: ___, ...model } = hashEmbedder
      const read: Array<string> = []
      const embedder = Embedder.of({
        ...model,
        id: "a-model",
        embed: (texts, task) => {
          if (task === "query") read.push(...texts)
          return model.embed(texts, task)
        }
      })
      const questions = ["DIELECTRIC CONSTANT OF LIQUIDS, WHY?", "WHO AND UNESCO", "What the WHO says of AIDS", "\u4ec0\u4e48\u662f API"]
      const ask = Effect.gen(function*() {
        const corpus = yield* newCorpus
        yield* (yield* Files).upload(textFile(corpus, "f", "the apple tree"))
        const { retrieve } = yield* Retrieval
        yield* Effect.forEach(questions, (query) => retrieve({ corpus, query }))
      })
      const layers = Layer.mergeAll(Layer.succeed(Embedder, embedder), paragraphs)
      yield* Effect.provide(ask, Embedded.layer({ dataDir: yield* tempFolder }).pipe(Layer.provide(layers)))
      assert.deepStrictEqual(read, ["dielectric constant of liquids, why?", ...questions.slice(1)])
    })))

  it.live.each([{ searchThreads: 0 }, { searchThreads: 1 }])(
    "repairs a damaged index by itself, and names the file of a damaged text: %o",
    (options) =>
      Effect.scoped(Effect.gen(function*() {
        const folder = yield* tempFolder
        const corpus = yield* Effect.provide(
          Effect.gen(function*() {
            const corpus = yield* newCorpus
            yield* (yield* Files).upload(textFile(corpus, "f", "apples\n\npears"))
            return corpus
          }),
          engine(folder)
        )
        const db = new DatabaseSync(join(folder, databaseFile), { timeout: 60_000 })
        db.exec("UPDATE posting_pages SET body = zeroblob(50)")
        db.close()
        const ask = Effect.flatMap(Retrieval, (r) => r.retrieve({ corpus, query: "apples", hybrid: { alpha: 0 } }))
        const found = yield* Effect.provide(ask, engine(folder, options))
        assert.deepStrictEqual(found.map(({ text }) => text), ["apples"])
        const again = new DatabaseSync(join(folder, databaseFile), { timeout: 60_000 })
        again.exec("UPDATE chunk_pages SET body = zeroblob(50)")
        again.close()
        const error = yield* Effect.provide(Effect.flip(ask), engine(folder, options))
        assert.strictEqual(error.code, "DATA_LOSS")
        assert.include(error.message, "a text of f is damaged")
      }))
  )
})
