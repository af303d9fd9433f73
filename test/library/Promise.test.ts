import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { mkdirSync, readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { expectTypeOf } from "vitest"
import { connectors, local, records } from "../../connectors/index.ts"
import { diversify, expand, generateBy as generateByGenerator, rank, type Retrieved, type Stage } from "../../src/index.ts"
import {
  type Answered,
  chunker,
  compose,
  DocumentError,
  Embedded,
  embedder,
  generate,
  generateBy,
  load,
  loadBundle,
  open,
  parser,
  Pipeline,
  PipelineInvalid,
  type Question,
  rankBy,
  retrieve,
  retrieveEach,
  ServiceError,
  stage,
  StateError,
  Vertex
} from "../../src/Promise.ts"
import { scriptedModel } from "../../src/Testing.ts"
import { until } from "../support/Eventually.ts"
import { tempFolder } from "../support/TempFolder.ts"

const inFolder = (test: (folder: string) => Promise<void>) =>
  Effect.scoped(Effect.flatMap(tempFolder, (folder) => Effect.promise(() => test(folder))))

const partsIn = (folder: string) => {
  mkdirSync(join(folder, "docs"), { recursive: true })
  writeFileSync(join(folder, "docs/leave.md"), "# Leave\n\nFive unused days of leave carry over.\n")
  return { corpus: { displayName: "P" }, sources: { docs: local(join(folder, "docs")) } }
}

const handbook = (folder: string) => Pipeline.make("p", partsIn(folder))

const rejection = async (call: Promise<unknown>): Promise<ServiceError> => {
  const error = await call.then(() => undefined, (error: unknown) => error)
  assert.instanceOf(error, ServiceError)
  return error as ServiceError
}

describe("sluice/promise", () => {
  it.live("runs, asks, streams and converses", () =>
    inFolder(async (folder) => {
      await using app = await open(handbook(folder), Embedded.layer({ dataDir: join(folder, "data") }))
      assert.strictEqual((await app.run()).totals.added, 1)
      assert.strictEqual((await app.plan()).totals.unchanged, 1)
      const { answer } = await app.ask("How many days of leave carry over?")
      assert.match(answer.text, /^Five unused days/)
      let text = ""
      let shown: ReadonlyArray<string> | undefined
      for await (const part of app.stream("How many days of leave carry over?")) {
        // What an answer is made from is known before its first word.
        if (part._tag === "contexts" && text === "") shown = part.contexts.map(({ sourceDisplayName }) => sourceDisplayName)
        if (part._tag === "text") text += part.text
      }
      assert.strictEqual(text, answer.text)
      assert.deepStrictEqual(shown, ["leave.md"])
      const history = [{
        question: "How many days of leave carry over?",
        standalone: "How many days of leave carry over?",
        answer: answer.text
      }]
      const kinds: Array<string> = []
      for await (const part of app.chat({ question: "And leave?", history })) kinds.push(part._tag)
      assert.deepStrictEqual([kinds[0], kinds.at(-1)], ["contexts", "done"])
      assert.strictEqual(kinds.filter((kind) => kind === "contexts").length, 1)
    }))

  it.live("converses with the model of one's own that answers, and with no function that gives its answer whole", () =>
    inFolder(async (folder) => {
      const { generator, requests } = scriptedModel(["Five [1: \"Five unused days of leave carry over.\"]."])
      const pipeline = Pipeline.make("own", { ...partsIn(folder), stages: compose(retrieve(), generateByGenerator(generator)) })
      await using app = await open(pipeline, Embedded.layer({ dataDir: join(folder, "data") }))
      await app.run()
      const question = "How many days of leave carry over?"
      const history = [{ question, standalone: question, answer: "Five." }]
      const texts: Array<string> = []
      for await (const part of app.chat({ question: "And unused ones?", history })) if (part._tag === "done") texts.push(part.answer.text)
      assert.deepStrictEqual(texts, ["Five [1]."])
      assert.strictEqual(requests.length, 1)

      const whole = Pipeline.make("own", {
        ...partsIn(folder),
        stages: compose(retrieve(), generateByGenerator(generator), stage((input: Answered) => input))
      })
      await using other = await open(whole, Embedded.layer({ dataDir: join(folder, "data") }))
      const { code, message } = await rejection(other.chat({ question: "And leave?", history: [] })[Symbol.asyncIterator]().next())
      assert.deepStrictEqual([code, message], [
        "FAILED_PRECONDITION",
        "pipeline own answers with a function that does not stream, and a conversation needs one that does"
      ])
    }))

  it.live("cites bytes of the file as it is, and of the parsed text once that says something else", () =>
    inFolder(async (folder) => {
      await using app = await open(handbook(folder), Embedded.layer({ dataDir: join(folder, "data") }))
      const file = join(folder, "docs/leave.md")
      writeFileSync(file, "\ufeff# Leave\r\n\r\nFive **unused** days of leave carry over.\r\n")
      await app.run()
      const written = "Five **unused** days of leave carry over."
      const { answer } = await app.ask("How many days of leave carry over?")
      const [cited] = answer.citations
      assert.strictEqual(cited?.offsets, "file")
      assert.strictEqual(readFileSync(file).toString("utf8", cited?.byteStart, cited?.byteEnd), written)
      for (
        const parts of [
          app.stream("How many days of leave carry over?"),
          app.chat({ question: "How many days of leave carry over?", history: [] })
        ]
      ) {
        let cited: unknown
        for await (const part of parts) if (part._tag === "done") cited = part.answer.citations
        assert.deepStrictEqual(cited, answer.citations)
      }
      const { nearest = [] } = (await app.ask("How many days of sick leave are paid in Peru?")).answer
      assert.isTrue(nearest.every(({ offsets }) => offsets === "file"))
      writeFileSync(file, "# Leave\n\nSix days of leave carry over.\n")
      const [later] = (await app.ask("How many days of leave carry over?")).answer.citations
      assert.deepStrictEqual([later?.offsets, later?.byteStart, later?.byteEnd], ["parsed", 7, 44])
    }))

  it.live("rejects with the errors' own classes, and with the reason of a signal", () =>
    inFolder(async (folder) => {
      await using app = await open(handbook(folder), Embedded.layer({ dataDir: join(folder, "data") }))
      const early = await app.ask("Anything?").then(() => undefined, (error: unknown) => error)
      assert.instanceOf(early, ServiceError)
      assert.strictEqual((early as ServiceError).code, "NOT_FOUND")
      const reason = new Error("enough")
      assert.strictEqual(await app.run({ signal: AbortSignal.abort(reason) }).catch((error: unknown) => error), reason)
      await app.run()
      const stopped = (async () => {
        for await (const _ of app.stream("How many days?", { signal: AbortSignal.abort(reason) }));
      })()
      assert.strictEqual(await stopped.catch((error: unknown) => error), reason)
    }))

  it.live("streams answers alone", () =>
    inFolder(async (folder) => {
      const { corpus, sources } = partsIn(folder)
      const found = Pipeline.make("p", { corpus, sources, stages: retrieve() })
      await using app = await open(found, Embedded.layer({ dataDir: join(folder, "data") }))
      await app.run()
      expectTypeOf(app.stream).toBeNever()
      const stream: (question: string) => AsyncIterable<unknown> = app.stream
      const error = await rejection((async () => {
        for await (const _ of stream("How many days?"));
      })())
      assert.deepStrictEqual([error.code, error.message], [
        "FAILED_PRECONDITION",
        "pipeline p has no generate stage, so it cannot answer"
      ])
    }))

  it.live("names a stage that gives no effect, and says that it is closed", () =>
    inFolder(async (folder) => {
      const { corpus, sources } = partsIn(folder)
      const later = (async (input: Retrieved) => input) as unknown as Stage<Retrieved, Retrieved> // as JavaScript may have it
      const waits = Pipeline.make("p", { corpus, sources, stages: compose(retrieve(), later, generate()) })
      const app = await open(waits, Embedded.layer({ dataDir: join(folder, "data") }))
      await app.run()
      for (const call of [app.ask("How many days?"), app.retrieve("How many days?")]) {
        const { fix, message } = await rejection(call)
        assert.strictEqual(message, "stage 2 (later) gave a Promise and no Effect")
        assert.match(fix ?? "", /Effect\.promise/)
      }
      await app.close()
      const streamed = (async () => {
        for await (const _ of app.stream("How many days?"));
      })()
      for (const call of [app.ask("How many days?"), app.run(), streamed]) {
        const { code, message } = await rejection(call)
        assert.deepStrictEqual([code, message], ["FAILED_PRECONDITION", "the app of pipeline p is closed"])
      }
    }))

  it.live("takes every part of a pipeline as a function: parser, chunker, embedder, queries, ranker, stage and model", () =>
    inFolder(async (folder) => {
      const embedded: Array<number> = []
      const seen: Array<string> = []
      let reply: AsyncIterable<string> | string = "Six days carry over in Japan [1: \"six days in Japan\"]. Pigs fly [1: \"pigs fly\"]."
      let failing = true
      const pipeline = Pipeline.make("all", {
        corpus: { displayName: "All" },
        sources: {
          calls: records("calls", new Map([["a.call", "five days at home|six days in Japan"], ["b.call", "broken"], ["c.call", "bug"]]))
        },
        parsers: [parser({
          kind: "calls",
          version: 1,
          extensions: ["call"],
          parse: async ({ content, path }) => {
            const text = new TextDecoder().decode(content)
            if (text === "broken") throw new DocumentError({ problem: "corrupt", message: `${path} has no turns` })
            if (text === "bug") throw new TypeError("a bug of the parser")
            return text.split("|").join("\n\n")
          }
        })],
        chunking: {
          chunker: chunker({ kind: "turns", version: 1, cut: ({ blocks }) => blocks.map(({ end, start }) => ({ start, end })) })
        },
        stages: compose(
          retrieveEach({ queries: async (question) => [question, "days in Japan"] }),
          rankBy(async (_, contexts) => contexts.map(({ text }) => text.includes("Japan") ? 1 : 0)),
          stage(async (input: Retrieved) => ({ ...input, contexts: input.contexts.slice(0, 1) })),
          generateBy({
            model: "mine",
            write: async ({ messages }) => {
              seen.push(...messages.map(({ role }) => role))
              return reply
            }
          })
        )
      })
      const words = embedder({
        id: "words-v1",
        dimensions: 2,
        batch: 1,
        retries: 0,
        embed: async (texts) => {
          embedded.push(texts.length)
          if (failing && texts[0]?.startsWith("five") === true) throw new TypeError("fetch failed")
          return texts.map((text) => text.includes("Japan") ? [1, 0] : [0, 3])
        }
      })
      await using app = await open(pipeline, Embedded.layer({ dataDir: join(folder, "data"), embedder: words }))
      const events: Array<string> = []
      const first = await app.run({ observe: ({ type }) => events.push(type) })
      assert.deepInclude(first.totals, { added: 0, failed: 3 })
      assert.includeMembers(events, ["listed", "file", "report"])
      failing = false
      const second = await app.run()
      assert.deepInclude(second.totals, { added: 1 })
      // A call whose vectors came was not made again.
      assert.strictEqual(embedded.length, 3)
      assert.isTrue(embedded.every((count) => count === 1))

      const { answer, contexts } = await app.ask("How many days?")
      assert.deepStrictEqual(contexts.map(({ text }) => text), ["six days in Japan"])
      assert.deepStrictEqual(seen, ["system", "user"])
      assert.strictEqual(answer.model, "mine")
      assert.deepStrictEqual(answer.citations.map(({ quote, sourceDisplayName }) => [sourceDisplayName, quote]), [[
        "a.call",
        "six days in Japan"
      ]])
      assert.match(answer.text, /^Six days carry over in Japan \[1\]\. Pigs fly \[unverified\]/)

      // Whoever leaves a stream stops the model.
      let stopped = false
      reply = (async function*() {
        try {
          for (;;) yield "Six days in Japan. "
        } finally {
          stopped = true
        }
      })()
      for await (const part of app.stream("How many days?")) if (part._tag === "text") break
      assert.isTrue(stopped)

      assert.strictEqual((await app.generations()).length, 1)
      assert.deepStrictEqual((await rejection(app.promote())).code, "FAILED_PRECONDITION")
      assert.strictEqual(typeof (await app.diff()), "object")
      reply = "Six days [1: \"six days in Japan\"]."
      const answered: Array<string> = []
      for await (
        const { answer, customId } of app.batch([{ customId: "a", question: "How many?" }, { customId: "b", question: "Where?" }])
      ) {
        answered.push(`${customId} ${answer?.text}`)
      }
      assert.deepStrictEqual(answered, ["a Six days [1].", "b Six days [1]."])
    }))

  it.live("calls an embedder again that is asked to wait, with so many texts and calls at a time", () =>
    inFolder(async (folder) => {
      let running = 0
      let most = 0
      let refused = 0
      const sizes = new Set<number>()
      const slow = embedder({
        id: "slow",
        dimensions: 2,
        batch: 4,
        concurrency: 2,
        embed: async (texts) => {
          if (refused++ < 2) throw new ServiceError({ code: "RESOURCE_EXHAUSTED", message: "slow down", retryAfter: 1 })
          most = Math.max(most, ++running)
          sizes.add(texts.length)
          await new Promise((resolve) => setImmediate(resolve))
          running--
          return texts.map(() => [3, 4])
        }
      })
      const docs = new Map(Array.from({ length: 12 }, (_, at) => [`${at}.md`, `Text ${at}.`]))
      const pipeline = Pipeline.make("p", { corpus: { displayName: "P" }, sources: { docs: records("docs", docs) }, stages: retrieve() })
      await using app = await open(pipeline, Embedded.layer({ dataDir: join(folder, "data"), embedder: slow }))
      assert.deepInclude((await app.run()).totals, { added: 12 })
      assert.isAtMost(most, 2)
      assert.isAtMost(Math.max(...sizes), 4)
    }))

  it.live("compares passages with the question by the embedder of the corpus, where no model writes the answer", () =>
    inFolder(async (folder) => {
      const embedded: Array<string> = []
      const lengths = embedder({
        id: "lengths",
        dimensions: 2,
        embed: async (texts) => {
          embedded.push(...texts)
          return texts.map((text) => [text.length, 100])
        }
      })
      const docs = new Map(["A card that lapses is put aside.", "A card has a front."].map((text, at) => [`${at}.md`, text]))
      const sources = { docs: records("docs", docs) }
      const pipeline = Pipeline.make("p", { corpus: { displayName: "P" }, sources, stages: compose(retrieve(), generate()) })
      await using app = await open(pipeline, Embedded.layer({ dataDir: join(folder, "data"), embedder: lengths }))
      await app.run()
      embedded.length = 0
      const question = "What happens to a card that lapses?"
      assert.strictEqual((await app.ask(question)).answer.citations[0]?.sourceDisplayName, "0.md")
      assert.includeMembers(embedded, [question, ...docs.values()])
    }))

  it.live("rejects with what a function threw, and aborts it with the signal of the call", () =>
    inFolder(async (folder) => {
      const bug = new TypeError("a bug of the stage")
      let waiting: AbortSignal | undefined
      const parts = partsIn(folder)
      const fails = Pipeline.make("p", {
        ...parts,
        stages: compose(
          retrieve(),
          stage((_: Retrieved): Retrieved => {
            throw bug
          }),
          generate()
        )
      })
      const waits = Pipeline.make("p", {
        ...parts,
        stages: compose(
          retrieve(),
          rankBy((_, __, signal) => {
            waiting = signal
            return new Promise(() => {})
          }),
          generate()
        )
      })
      const wrong = Pipeline.make("p", {
        ...parts,
        stages: compose(retrieve(), generateBy({ model: "mine", write: () => Promise.reject(new TypeError("fetch failed")) }))
      })
      const engine = Embedded.layer({ dataDir: join(folder, "data") })
      await using first = await open(fails, engine)
      await first.run()
      assert.strictEqual(await first.ask("How many days?").catch((error: unknown) => error), bug)
      await using second = await open(waits, engine)
      const controller = new AbortController()
      const asked = second.ask("How many days?", { signal: controller.signal }).catch((error: unknown) => error)
      await until("the ranker is asked", () => waiting !== undefined)
      const reason = new Error("enough")
      controller.abort(reason)
      assert.strictEqual(await asked, reason)
      assert.isTrue(waiting?.aborted)
      await using third = await open(wrong, engine)
      const { code, message } = await rejection(third.ask("How many days?"))
      assert.deepStrictEqual([code, message], ["UNAVAILABLE", "mine failed: fetch failed"])
    }))

  it.live("says what a function gave in the place of what it should, and shows no secret of what it threw", () =>
    inFolder(async (folder) => {
      const engine = Embedded.layer({ dataDir: join(folder, "data") })
      const parts = partsIn(folder)
      {
        await using app = await open(Pipeline.make("p", parts), engine)
        await app.run()
      }
      const refused = async (stages: ReturnType<typeof compose<Question, Retrieved, Answered, never, never, unknown, never>>) => {
        await using app = await open(Pipeline.make("p", { ...parts, stages: stages as Stage<Question, Answered> }), engine)
        const { code, message } = await rejection(app.ask("How many days?"))
        return `${code} ${message}`
      }
      const model = (write: () => unknown) =>
        refused(compose(retrieve(), generateBy({ model: "mine", write: write as () => string })) as never)
      assert.strictEqual(await model(async () => null), "FAILED_PRECONDITION mine gave null where text is wanted")
      assert.strictEqual(
        await model(async function*() {
          yield "Five "
          yield { text: "days" }
        }),
        "FAILED_PRECONDITION mine gave object where text is wanted"
      )
      assert.strictEqual(
        await model(() => {
          throw new Error("401 of https://me:hunter2@host/v1?api_key=SECRET for sk-live-abcdefgh")
        }),
        "UNAVAILABLE mine failed: 401 of https://me:<redacted>@host/v1?api_key=<redacted> for <redacted>"
      )
      assert.strictEqual(
        await refused(compose(retrieveEach({ queries: () => "leave" as never }), generate()) as never),
        "INVALID_ARGUMENT queries: gave something other than a list of texts"
      )
      assert.strictEqual(
        await refused(compose(retrieve(), stage((_: Retrieved) => undefined as never), generate()) as never),
        "FAILED_PRECONDITION stage 2 gave nothing for stage 3"
      )
      const bare = stage(({ question }: Retrieved) => ({ question }) as never)
      for (
        const [name, next] of [
          ["rank", rank()],
          ["rankBy", rankBy(() => [])],
          ["diversify", diversify()],
          ["expand", expand()],
          ["generate", generate()],
          ["generateBy", generateBy({ model: "mine", write: () => "Five" })]
        ] as const
      ) {
        assert.strictEqual(
          await refused(compose(retrieve(), bare, next as never) as never),
          `FAILED_PRECONDITION ${name} was given no contexts: the field contexts of its input must be a list`
        )
      }
      {
        await using app = await open(
          Pipeline.make("p", { ...parts, stages: compose(retrieve(), stage((_: Retrieved) => undefined as never), generate()) as never }),
          engine
        )
        const streamed = app.stream("How many days?")[Symbol.asyncIterator]()
        assert.strictEqual((await rejection(streamed.next())).message, "stage 2 gave nothing for stage 3")
      }
      const embedding = async (embed: (texts: ReadonlyArray<string>) => unknown) => {
        const own = embedder({ id: "own", dimensions: 2, retries: 0, embed: embed as () => ReadonlyArray<ReadonlyArray<number>> })
        await using app = await open(handbook(folder), Embedded.layer({ dataDir: join(folder, "own"), embedder: own }))
        return (await rejection(app.run())).message
      }
      assert.strictEqual(await embedding(() => undefined), "embedder own gave undefined for 1 texts")
      assert.strictEqual(await embedding(() => []), "embedder own gave 0 vectors for 1 texts")
      assert.strictEqual(await embedding(() => [[1]]), "embedder own gave a vector of 1 numbers for text 1 of 1")
    }))

  it.live("names the field of a question or a conversation that is none", () =>
    inFolder(async (folder) => {
      await using app = await open(handbook(folder), Embedded.layer({ dataDir: join(folder, "data") }))
      await app.run()
      for (const question of [undefined, null, {}, { question: 5 }, { query: "leave" }]) {
        const { code, fix, message } = await rejection(app.ask(question as never))
        assert.deepStrictEqual([code, message], ["INVALID_ARGUMENT", "question: must be a text"])
        assert.include(fix, "{ question:")
      }
      const chat = async (question: unknown) => (await rejection(app.chat(question as never)[Symbol.asyncIterator]().next())).message
      assert.strictEqual(await chat({ question: "leave" }), "history: must be a list of the earlier exchanges, oldest first")
      assert.strictEqual(await chat({ history: [] }), "question: must be a text")
    }))

  it.live("takes no filter and no principal for given that is none", () =>
    inFolder(async (folder) => {
      await using app = await open(handbook(folder), Embedded.layer({ dataDir: join(folder, "data") }))
      await app.run()
      const refused = async (question: unknown, options: unknown = {}) =>
        (await rejection(app.retrieve(question as string, options as {}))).message
      assert.strictEqual(await refused("leave", { where: "year >= 2025" }), "where: is no option of a question")
      assert.strictEqual(await refused("leave", { filter: "year >= 2025" }), "filter: must be an object")
      assert.strictEqual(await refused("leave", { filter: { metaData: { year: "2025" } } }), "filter.metaData: is no option of a question")
      const rule = "principal: must be a text, such as user:ann@acme.com, or a list of them"
      for (const principal of [undefined, null, 5, {}]) assert.strictEqual(await refused({ question: "leave", principal }), rule)
      for (const wrong of [undefined, null, ""]) {
        assert.strictEqual(
          await refused({ question: "leave", principal: ["user:ann@acme.com", wrong] }),
          "principal[1]: must be a text, and not empty"
        )
      }
      const corpus = (await app.retrieve("leave")).contexts[0]?.file.split("/ragFiles/")[0]
      assert.strictEqual(
        await refused({ question: "leave", principal: undefined }, { also: [{ corpus }] }),
        rule
      )
      assert.lengthOf((await app.retrieve({ question: "leave", principal: "" })).contexts, 1)
    }))

  it.live("streams nothing for a signal that has aborted already", () =>
    inFolder(async (folder) => {
      await using app = await open(handbook(folder), Embedded.layer({ dataDir: join(folder, "data") }))
      await app.run()
      // Once all of it is at hand, the first part comes without any wait.
      for await (const _ of app.stream("leave")) break
      for await (const _ of app.stream("leave")) break
      const reason = new Error("enough")
      const parts: Array<unknown> = []
      try {
        for await (const part of app.stream("leave", { signal: AbortSignal.abort(reason) })) parts.push(part)
      } catch (error) {
        parts.push(error)
      }
      assert.deepStrictEqual(parts, [reason])
    }))

  it.live("loads a pipeline from a file, and a bundle, or rejects with what is wrong with it", () =>
    inFolder(async (folder) => {
      partsIn(folder)
      const file = join(folder, "pipeline.yaml")
      writeFileSync(file, "name: p\ncorpus: { displayName: P }\nsources: { docs: { local: { path: ./docs } } }\n")
      await using app = await open(await load(file, connectors), Embedded.layer({ dataDir: join(folder, "data") }))
      assert.strictEqual((await app.run()).totals.added, 1)
      assert.match((await app.ask("How many days of leave carry over?")).answer.text, /^Five unused days/)
      writeFileSync(file, "name: p\nsources: {}\n")
      const invalid = await load(file, connectors).catch((error: unknown) => error)
      assert.instanceOf(invalid, PipelineInvalid)
      assert.match(String(invalid), /corpus\n {2}is required/)
      assert.instanceOf(await loadBundle(file).catch((error: unknown) => error), StateError)
    }))

  it("opens a pipeline that names a hosted model on the engine that has it, and on no other", () => {
    const hosted = Pipeline.make("p", {
      corpus: { displayName: "P" },
      sources: {},
      stages: compose(retrieve(), generate({ model: "gemini-2.0-flash-001" }))
    })
    const plain = Pipeline.make("p", { corpus: { displayName: "P" }, sources: {} })
    const vertex = Vertex.layer({ dataDir: "d", project: "p", location: "us-central1" })
    const embedded = Embedded.layer({ dataDir: "d" })
    const compiled = () => [
      open(hosted, vertex),
      open(plain, vertex),
      open(plain, embedded),
      // @ts-expect-error The embedded engine has no hosted models.
      open(hosted, embedded)
    ]
    assert.isFunction(compiled)
  })
})
