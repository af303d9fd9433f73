import { assert, layer } from "@effect/vitest"
import { Effect, Layer } from "effect"
import * as LexicalRanker from "../../src/models/LexicalRanker.ts"
import * as ExtractiveGenerator from "../../src/models/ExtractiveGenerator.ts"
import * as KnowledgeBase from "../../src/mcp/KnowledgeBase.ts"
import { Corpora } from "../../src/ports/Corpora.ts"
import { Files } from "../../src/ports/Files.ts"
import { Retrieval } from "../../src/ports/Retrieval.ts"
import { countTokens } from "../../src/text/Tokens.ts"
import { managed } from "../conformance/Cases.ts"
import { engine, textFile } from "../engines/embedded/support/Engine.ts"
import { tempFolder } from "../support/TempFolder.ts"

const fresh = Layer.unwrap(Effect.map(tempFolder, (folder) => engine(folder).pipe(Layer.provide(LexicalRanker.layer()))))

/** Knowledge bases of one corpus, by the limits of their operators. */
const corpusOf = Effect.fnUntraced(
  function*(
    documents: Readonly<Record<string, Partial<Parameters<Files["Service"]["upload"]>[0]> & { readonly text: string }>>,
    changed: Partial<Files["Service"]> = {}
  ) {
    const corpora = yield* Corpora
    const files = yield* Files
    const retrieval = yield* Retrieval
    const { name: corpus } = yield* corpora.create(managed("c"))
    for (const [path, { text, ...facts }] of Object.entries(documents)) yield* files.upload(textFile(corpus, path, text, facts))
    const generator = ExtractiveGenerator.make()
    return (limits?: KnowledgeBase.Limits) =>
      Effect.fromResult(KnowledgeBase.make({
        title: "c",
        corpus: Effect.succeed(corpus),
        files: { ...files, ...changed },
        retrieve: ({ question, ...inquiry }) => retrieval.retrieve({ corpus, query: question, ...inquiry }),
        answer: ({ question }) => Effect.map(generator.answer({ question, contexts: [] }), (answer) => ({ answer, contexts: [] })),
        status: Effect.succeed({})
      }, limits))
  }
)

const onlyAnn = { public: false, principals: ["user:ann@x.com"] }

layer(fresh, { excludeTestServices: true })("a knowledge base", (it) => {
  it.effect("finds a document by its path without listing the others", () =>
    Effect.gen(function*() {
      const documents = { "a.txt": { text: "one text" }, "b/a.txt": { text: "another text" } }
      const { read } = yield* (yield* corpusOf(documents, { list: () => Effect.die("listed") }))()
      assert.strictEqual((yield* read("b/a.txt")).text.trim(), "another text")
    }))

  it.effect("shows nothing that its operator left out, whatever is asked for", () =>
    Effect.gen(function*() {
      const base = yield* corpusOf({
        "all.txt": { text: "salaries of all", metadata: { team: "ops" } },
        "ann.txt": { text: "salaries of ann", metadata: { team: "ops" }, permissions: onlyAnn },
        "legal.txt": { text: "salaries of lawyers", metadata: { team: "legal" } }
      })
      const seen = (limits: KnowledgeBase.Limits, where?: string) =>
        Effect.gen(function*() {
          const { list, search } = yield* base(limits)
          const found = (yield* search("salaries", { where })).passages.map(({ sourceDisplayName }) => sourceDisplayName).toSorted()
          const listed = (yield* list({ where })).items.map(({ displayName }) => displayName).toSorted()
          assert.deepStrictEqual(listed, found, "list and search agree")
          return found
        })
      assert.deepStrictEqual(yield* seen({}), ["all.txt", "ann.txt", "legal.txt"])
      assert.deepStrictEqual(yield* seen({ principal: "user:bob@x.com" }), ["all.txt", "legal.txt"])
      assert.deepStrictEqual(yield* seen({ principal: ["user:bob@x.com", "user:ANN@x.com"] }), ["all.txt", "ann.txt", "legal.txt"])
      assert.deepStrictEqual(yield* seen({ principal: [] }), ["all.txt", "legal.txt"])
      assert.deepStrictEqual(yield* seen({ principal: "user:ANN@x.com", where: "team == \"ops\"" }), ["all.txt", "ann.txt"])
      assert.deepStrictEqual(yield* seen({ where: "team == \"ops\"" }, "team == \"legal\" || team == \"ops\""), ["all.txt", "ann.txt"])
      assert.deepStrictEqual(yield* seen({ where: "team == \"ops\"" }, "team == \"legal\""), [])
      const out = yield* Effect.flip(seen({ where: "team == \"ops\"" }, "true) || (team == \"legal\""))
      assert.strictEqual(out._tag === "ServiceError" ? out.code : undefined, "INVALID_ARGUMENT")

      const counted = (limits: KnowledgeBase.Limits, narrowing: KnowledgeBase.Narrowing = {}) =>
        Effect.gen(function*() {
          const [facet] = yield* (yield* base(limits)).facets({ keys: ["team"], ...narrowing })
          return facet?.values.map(({ files, value }) => `${value} ${files}`)
        })
      assert.deepStrictEqual(yield* counted({}), ["ops 2", "legal 1"])
      assert.deepStrictEqual(yield* counted({ principal: "user:bob@x.com" }), ["legal 1", "ops 1"])
      assert.deepStrictEqual(yield* counted({}, { as: "user:bob@x.com" }), ["legal 1", "ops 1"])
      assert.deepStrictEqual(yield* counted({ where: "team == \"ops\"" }, { where: "team == \"legal\"" }), [])
      assert.deepStrictEqual(yield* counted({}, { as: ["user:bob@x.com", "user:ann@x.com"] }), ["ops 2", "legal 1"])
      const both = ["user:bob@x.com", "user:ann@x.com"]
      assert.deepStrictEqual(yield* counted({ principal: both }, { as: ["user:Ann@x.com", "user:bob@x.com"] }), ["ops 2", "legal 1"])
      for (const as of ["user:ann@x.com", both, both.join(), []]) {
        const another = yield* Effect.flip(counted({ principal: "user:bob@x.com" }, { as }))
        assert.strictEqual(another._tag === "ServiceError" ? another.code : undefined, "PERMISSION_DENIED")
      }

      const { items } = yield* (yield* base()).list({})
      const hidden = items.find(({ displayName }) => displayName === "ann.txt")?.name ?? ""
      const { read } = yield* base({ principal: "user:bob@x.com" })
      for (const document of ["ann.txt", hidden, "missing.txt", hidden.replace(/\d+$/, "1")]) {
        const error = yield* Effect.flip(read(document))
        assert.strictEqual(error.message, `document "${document}" was not found`, "what may not be read is as if it were not there")
      }
      assert.strictEqual((yield* read("all.txt")).text, "salaries of all")
    }))

  it.effect("refuses an operator's filter that cannot be read, and principals that are empty", () =>
    Effect.gen(function*() {
      const base = yield* corpusOf({})
      assert.strictEqual((yield* Effect.flip(base({ where: "team ==" }))).code, "INVALID_ARGUMENT")
      const empty = yield* Effect.flip(base({ principal: ["user:ann@x.com", ""] }))
      assert.deepStrictEqual([empty.code, empty.message], ["INVALID_ARGUMENT", "principal[1]: must be a text, and not empty"])
    }))

  it.effect("gives texts in pieces that fit, and every piece can be gone on from", () =>
    Effect.gen(function*() {
      const paragraphs = Array.from({ length: 120 }, (_, n) =>
        `Paragraph ${n}: the kettle of café № ${n} boils at ${n} degrees, as every year.`)
      const text = paragraphs.join("\n\n")
      const base = yield* corpusOf({ "long.txt": { text, chunking: { strategy: "structure", size: 60, overlap: 20 } } })
      const { read, search } = yield* base({ tokens: 300 })
      const found = yield* search("kettle degrees", { limit: 40 })
      assert.isAtMost(
        countTokens(
          found.passages.map((passage) =>
            passage.text
          ).join("")
        ),
        300
      )
      assert.isAbove(found.leftOut, 0)
      assert.strictEqual(found.passages.length + found.leftOut, 40)

      let whole = ""
      let at: number | undefined = 0
      while (at !== undefined) {
        const piece: KnowledgeBase.Portion = yield* read("long.txt", at)
        assert.isAtMost(countTokens(piece.text), 310)
        whole += `${piece.text}\n\n`
        at = piece.next
      }
      assert.deepStrictEqual(whole.split(/\s*\n\n\s*/).filter((part) => part !== ""), paragraphs)
    }))

  it.effect("cuts a single passage that is beyond the budget", () =>
    Effect.gen(function*() {
      const text = `${"kettle ".repeat(800)}end`
      const base = yield* corpusOf({ "wide.txt": { text, chunking: { strategy: "structure", size: 1_000, overlap: 0 } } })
      const { read, search } = yield* base({ tokens: 200 })
      const { leftOut, passages: [first] } = yield* search("kettle", {})
      assert.strictEqual(leftOut, 0)
      assert.isAtMost(countTokens(first?.text ?? ""), 210)
      const { next, text: begun } = yield* read("wide.txt")
      assert.strictEqual(next, Buffer.byteLength(begun))
    }))

  it.effect("lists by prefix, page by page", () =>
    Effect.gen(function*() {
      const base = yield* corpusOf(
        Object.fromEntries(Array.from({ length: 120 }, (_, n) => [`${n % 2 === 0 ? "even" : "odd"}/${n}.txt`, { text: `number ${n}` }]))
      )
      const { list } = yield* base()
      const names: Array<string> = []
      let token: string | undefined
      do {
        const page: { readonly items: ReadonlyArray<{ readonly displayName: string }>; readonly nextToken?: string } = yield* list({
          prefix: "odd/",
          token
        })
        names.push(...page.items.map(({ displayName }) => displayName))
        token = page.nextToken
      } while (token !== undefined)
      assert.lengthOf(new Set(names), 60)
      assert.lengthOf(names, 60)
      assert.isTrue(names.every((name) => name.startsWith("odd/")))
    }))
})
