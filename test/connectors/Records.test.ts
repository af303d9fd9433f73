import { assert, describe, it } from "@effect/vitest"
import { Effect, Fiber, Stream } from "effect"
import { records as connector, type RecordListed, type RecordSource } from "../../connectors/records/Records.ts"
import { records } from "../../connectors/index.ts"
import { connectorSuite } from "../../src/ConnectorKit.ts"
import { Pipeline, retrieve } from "../../src/index.ts"
import { isolatedEngine } from "../../src/Testing.ts"
import { eventually } from "../support/Eventually.ts"

const documents = () => new Map([["a.md", "the first"], ["b/c.md", "the second"], ["d.md", "the third"]])

connectorSuite(
  "records of a map",
  Effect.sync(() => {
    const held = documents()
    return {
      connector: connector("notes", held),
      sample: "a.md",
      edit: Effect.sync(() => void held.set("a.md", "the first again")),
      rename: Effect.sync(() => {
        held.set("e.md", held.get("a.md") ?? "")
        held.delete("a.md")
        return "e.md"
      }),
      remove: Effect.sync(() => void held.delete("a.md"))
    }
  }),
  { describe, it, local: true }
)

connectorSuite(
  "records of functions",
  Effect.sync(() => {
    const held = new Map([...documents()].map(([path, text]) => [path, { text, version: 1 }]))
    return {
      connector: connector("rows", {
        list: async () => [...held].map(([path, { version }]) => ({ path, revision: version })),
        read: async (path) => held.get(path)?.text
      }),
      sample: "a.md",
      edit: Effect.sync(() => void held.set("a.md", { text: "the first again", version: 2 })),
      remove: Effect.sync(() => void held.delete("a.md"))
    }
  }),
  { describe, it, local: true, renames: false }
)

const listed = (list: RecordSource["list"]) =>
  connector("rows", { list, read: () => undefined }).list().pipe(Stream.runCollect, Effect.result)

describe("records", () => {
  it.effect("are listed from whatever gives them, one after the other", () =>
    Effect.gen(function*() {
      const day = new Date("2026-11-26T00:00:00Z")
      let given = 0
      async function* each(): AsyncGenerator<RecordListed> {
        for (; given < 3; given++) yield { path: `row ${given}.md`, revision: day, metadata: { title: "Row" } }
      }
      const { list } = connector("rows", { list: each, read: () => undefined })
      const first = yield* list().pipe(Stream.take(1), Stream.runCollect)
      assert.deepStrictEqual(first, [{
        _tag: "item",
        item: {
          path: "row 0.md",
          uri: "rows:///row%200.md",
          displayName: "row 0.md",
          revision: "2026-11-26T00:00:00.000Z",
          metadata: { title: "Row" }
        }
      }])
      assert.isAtMost(given, 1)
    }))

  it.effect("with a wrong path or revision fail by themselves, and name both", () =>
    Effect.gen(function*() {
      const wrong = [
        { path: "/a.md", revision: 1 },
        { path: "a/../b.md", revision: 1 },
        { path: "cafe\u0301.md", revision: 1 },
        {
          path: "c.md",
          revision: ""
        },
        { path: "", revision: 1 },
        { path: "e.md", revision: Number.NaN },
        "f.md" as never,
        { path: "d.md", revision: 1 }
      ]
      const found = yield* listed(() => wrong)
      assert.deepStrictEqual(found._tag === "Success" ? found.success.map(({ _tag }) => _tag) : found, [
        ...Array.from({ length: 7 }, () => "failed" as const),
        "item",
        "complete"
      ])
    }))

  it.live("that are read as null are gone, and as something else fail by themselves, and say what is wanted", () =>
    Effect.gen(function*() {
      const contents: Readonly<Record<string, unknown>> = { "gone.md": null, "rows.md": { text: "one" }, "text.md": "The door is green." }
      const pipeline = Pipeline.make("app", {
        corpus: { displayName: "App" },
        sources: {
          rows: records("rows", {
            list: () => [...Object.keys(contents).map((path) => ({ path, revision: 1 })), { path: "", revision: 1 }],
            read: (path) => contents[path] as string
          })
        }
      })
      const { reasons, totals } = yield* pipeline.run
      assert.deepInclude(totals, { added: 1, failed: 2 })
      const said = reasons?.map(({ message, path }) => `${path}: ${message}`).join("\n") ?? ""
      assert.include(
        said,
        "rows.md: reading rows.md of source rows gave neither text nor bytes (give a text, a Uint8Array, or an async iterable of Uint8Array)"
      )
      assert.include(said, "(no path): path: must be names in NFC with / between them")
    }).pipe(Effect.provide(isolatedEngine())))

  it.live("are kept in step by runs: added, edited, deleted, and not read again", () =>
    Effect.gen(function*() {
      const texts = new Map([["leave.md", "Five unused days carry over."], ["door.md", "The door is green."]])
      const versions = new Map([["leave.md", 1], ["door.md", 1]])
      let [fails, read] = [false, 0]
      const pipeline = Pipeline.make("app", {
        corpus: { displayName: "App" },
        sources: {
          articles: records("articles", {
            *list() {
              for (const [path, revision] of versions) yield { path, revision }
              if (fails) throw new Error("the connection is closed")
            },
            read: (path) => {
              read++
              return texts.get(path)
            }
          }),
          notes: records("notes", new Map([["pager.txt", "The pager is on the desk."]]))
        }
      })
      const totals = Effect.map(pipeline.run, ({ totals }) => totals)
      assert.deepInclude(yield* totals, { added: 3, failed: 0 })
      assert.strictEqual((yield* pipeline.retrieve("where is the pager")).contexts[0]?.sourceDisplayName, "pager.txt")
      assert.deepInclude(yield* totals, { added: 0, unchanged: 3 })
      assert.strictEqual(read, 2)
      texts.set("door.md", "The door is red.")
      versions.set("door.md", 2)
      assert.deepInclude(yield* totals, { changed: 1, unchanged: 2 })
      assert.include((yield* pipeline.retrieve("door")).contexts[0]?.text, "red")
      // Of one source alone: nothing else is listed.
      versions.set("door.md", 3)
      assert.deepInclude((yield* pipeline.runWith({ sources: ["notes"] })).totals, { listed: 1, changed: 0, deleted: 0 })
      versions.set("door.md", 2)
      const unknown = yield* Effect.flip(pipeline.runWith({ sources: ["note"] }))
      assert.deepInclude(unknown, {
        code: "INVALID_ARGUMENT",
        message: "sources: pipeline app has no source note",
        fix: "name some of articles, notes"
      })
      // A listing that throws deletes nothing.
      versions.delete("leave.md")
      fails = true
      const cut = yield* pipeline.run
      assert.strictEqual(cut.totals.deleted, 0)
      assert.include(JSON.stringify(cut), "the listing of source articles failed: the connection is closed")
      fails = false
      assert.deepInclude((yield* pipeline.runWith({ yes: true })).totals, { deleted: 1 })
      assert.notInclude((yield* pipeline.retrieve("unused days")).contexts.map(({ sourceDisplayName }) => sourceDisplayName), "leave.md")
      // What the program no longer has when it is read is gone, not an error of the run.
      versions.set("gone.md", 1)
      assert.deepInclude(yield* totals, { failed: 0, unchanged: 2 })
    }).pipe(Effect.provide(isolatedEngine())))

  it.live("aborts a listing that is not wanted any more", () =>
    Effect.gen(function*() {
      const signals: Array<AbortSignal> = []
      const { list } = connector("rows", {
        list: (signal) => {
          signals.push(signal)
          return new Promise(() => {})
        },
        read: () => undefined
      })
      const fiber = yield* Effect.forkChild(Stream.runDrain(list()))
      yield* eventually("the listing starts", Effect.sync(() => signals.length > 0))
      assert.isFalse(signals[0]?.aborted)
      yield* Fiber.interrupt(fiber)
      assert.isTrue(signals[0]?.aborted)
    }))

  it.live("is read by the principals it names, in whatever case", () =>
    Effect.gen(function*() {
      const permissions = { public: false, principals: ["user:Ann@Acme.com"] }
      const pipeline = Pipeline.make("p", {
        corpus: { displayName: "P" },
        sources: {
          rows: records("rows", {
            list: () => [{ path: "a.md", revision: 1, permissions }],
            read: () => "Five unused days of leave carry over."
          })
        },
        stages: retrieve()
      })
      yield* pipeline.run
      const found = (principal: string) =>
        Effect.map(pipeline.retrieve({ question: "unused days", principal }), ({ contexts }) => contexts.length)
      assert.strictEqual(yield* found("user:Ann@Acme.com"), 1)
      assert.strictEqual(yield* found("user:ann@acme.com"), 1)
      assert.strictEqual(yield* found("user:ben@acme.com"), 0)
      assert.deepInclude((yield* pipeline.run).totals, { unchanged: 1 })
    }).pipe(Effect.provide(isolatedEngine())))
})
