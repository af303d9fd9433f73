import { assert, describe, it } from "@effect/vitest"
import { Context, Effect, Layer, Result, Schema, Stream } from "effect"
import { mkdirSync, readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { expectTypeOf } from "vitest"
import { connectors, local, records } from "../../connectors/index.ts"
import type { Answer } from "../../src/domain/Answer.ts"
import {
  compose,
  type Connector,
  defineConnector,
  defineParser,
  Embedded,
  generate,
  type Host,
  type HostedModels,
  type Parser,
  Pipeline,
  type PipelineInvalid,
  rank,
  retrieve,
  type Retrieved,
  type Source,
  type Stage,
  Vertex
} from "../../src/index.ts"
import { tempFolder } from "../support/TempFolder.ts"

/** Notes that a program holds: what the connector below lists. */
class Notes extends Context.Service<Notes, ReadonlyMap<string, string>>()("test/Notes") {}

const notes = defineConnector({
  kind: "notes",
  description: "Notes of a program.",
  fields: { folder: Schema.String.annotate({ description: "The folder of notes." }) },
  shorthand: "folder",
  connect: ({ folder }) =>
    Effect.map(Notes, (all): Connector => ({
      kind: "notes",
      check: Effect.void,
      list: () =>
        Stream.concat(
          Stream.fromIterable(
            [...all].filter(([path]) => path.startsWith(`${folder}/`)).map(([path, text]) => ({
              _tag: "item" as const,
              item: { path, uri: `notes://${path}`, displayName: path, revision: text, mimeType: "text/markdown" }
            }))
          ),
          Stream.make({ _tag: "complete" as const })
        ),
      read: ({ path }) => Stream.make(new TextEncoder().encode(all.get(path) ?? ""))
    }))
})

const some = new Map([["hr/leave.md", "# Leave\n\nFive unused days of leave carry over."], ["it/vpn.md", "# VPN\n\nThe VPN needs a key."]])

/** Counts the contexts that came through. */
const counted = (seen: Array<number>): Stage<Retrieved, Retrieved> => (input) =>
  Effect.sync(() => {
    seen.push(input.contexts.length)
    return input
  })

describe("Pipeline.make", () => {
  it.live("runs and answers with a source and a stage of one's own", () =>
    Effect.scoped(Effect.gen(function*() {
      const dataDir = join(yield* tempFolder, "data")
      const seen: Array<number> = []
      const handbook = Pipeline.make("handbook", {
        corpus: { displayName: "Handbook" },
        sources: { hr: notes("hr"), it: notes({ folder: "it" }) },
        stages: compose(retrieve({ topK: 3 }), counted(seen), generate())
      })
      expectTypeOf(handbook.run).toExtend<Effect.Effect<unknown, unknown, Host | Notes>>()
      // What the connector needs is not forgotten.
      expectTypeOf(handbook.run).not.toExtend<Effect.Effect<unknown, unknown, Host>>()
      assert.deepStrictEqual(handbook.sources, ["hr", "it"])
      yield* Effect.gen(function*() {
        const { totals } = yield* handbook.run
        assert.strictEqual(totals.added, 2)
        const { answer } = yield* handbook.ask("How many days of leave carry over?")
        expectTypeOf(answer).toEqualTypeOf<Answer>()
        assert.match(answer.text, /^Five unused days/)
        const parts = yield* Stream.runCollect(handbook.stream("How many days of leave carry over?"))
        assert.deepStrictEqual([parts[0]?._tag, parts.at(-1)?._tag], ["contexts", "done"])
        assert.isTrue(parts[0]?._tag === "contexts" && parts[0].contexts.length > 0)
        const { contexts } = yield* handbook.retrieve("VPN key", { topK: 1 })
        assert.strictEqual(contexts.length, 1)
        assert.strictEqual((yield* handbook.run).embedded ?? 0, 0)
      }).pipe(Effect.provide(Layer.merge(Embedded.layer({ dataDir }), Layer.succeed(Notes, some))))
      assert.isTrue(seen.length === 3 && seen.every((count) => count > 0))
    })))

  it.live("reads an item by the format that its path tells, whatever its title ends with", () =>
    Effect.scoped(Effect.gen(function*() {
      const titled = defineConnector({
        kind: "titled",
        description: "Two documents with titles.",
        fields: {},
        connect: () =>
          Effect.succeed<Connector>({
            kind: "titled",
            check: Effect.void,
            list: () =>
              Stream.fromIterable([
                ...["Alpha v1.2", "About Node.js"].map((displayName, at) => ({
                  _tag: "item" as const,
                  item: { path: `${at}.md`, uri: `titled://${at}?as=x.csv#y.csv`, displayName, revision: "1" }
                })),
                { _tag: "complete" as const }
              ]),
            read: ({ path }) =>
              Stream.make(new TextEncoder().encode(`# Leave\n\nFive **unused** days of leave carry over, says ${path}.\n`))
          })
      })
      const p = Pipeline.make("p", { corpus: { displayName: "P" }, sources: { titled: titled({}) } })
      yield* Effect.gen(function*() {
        yield* p.run
        const { contexts } = yield* p.retrieve("unused days of leave")
        assert.strictEqual(contexts.length, 2)
        for (const { text } of contexts) assert.match(text, /Five unused days/)
      }).pipe(Effect.provide(Embedded.layer({ dataDir: join(yield* tempFolder, "data") })))
    })))

  it("holds code to the rules of files", () => {
    const made = Result.try({
      try: () =>
        Pipeline.make("p", {
          corpus: { displayName: "" },
          sources: { docs: local("") },
          stages: compose(retrieve({ topK: 0 }), generate())
        }),
      catch: (error) => error as Error & { readonly issues: ReadonlyArray<{ readonly path: string }> }
    })
    assert.isTrue(Result.isFailure(made))
    if (Result.isFailure(made)) {
      assert.sameMembers(made.failure.issues.map(({ path }) => path), [
        "corpus.displayName",
        "sources.docs.local.path",
        "stages[0].retrieve.topK"
      ])
    }
  })

  it("tells everything that is wrong at once, what JavaScript alone gives too", () => {
    const problemsOf = (stages: unknown, sources: unknown = {}) => {
      const made = Result.try({
        try: () => Pipeline.make("p", { corpus: { displayName: "P" }, sources: sources as never, stages: stages as never }),
        catch: (error) => error as PipelineInvalid
      })
      if (Result.isSuccess(made)) return []
      assert.strictEqual(made.failure._tag, "PipelineInvalid")
      return made.failure.issues.map(({ path, rule }) => `${path} ${rule}`)
    }
    // What is undefined is as if it were not there.
    const unsaid = { topK: undefined, filter: { maxDistance: undefined }, hybrid: { alpha: undefined } }
    assert.deepStrictEqual(problemsOf(compose(retrieve(unsaid), generate({ temperature: undefined }))), [])
    const model = { openai: { url: "notaurl", model: "m" } }
    assert.deepStrictEqual(problemsOf(compose(retrieve({ topK: 0 }), generate({ model })), { docs: "./docs", more: local("") }), [
      "sources.docs is no source",
      "sources.more.local.path must not be empty",
      "stages[0].retrieve.topK must be a whole number, 1 or more",
      "stages[1].generate.model.openai.url must be an http:// or https:// address, with no user name or password in it"
    ])
    assert.deepStrictEqual(problemsOf(compose(retrieve({ topK: "5" as never }), rank({ _tag: "lexicl" } as never))), [
      "stages[0].retrieve.topK must be a number, not text",
      "stages[1].rank.lexicl is not a key that belongs here"
    ])
    assert.deepStrictEqual(problemsOf([retrieve()]), ["stages[0] is no stage"])
    assert.deepStrictEqual(problemsOf(compose(retrieve(), undefined as never)), ["stages[1] is no stage"])
  })

  it("refuses two definitions of one kind: one would be read in the place of the other", () => {
    const pipelineOf = (sources: Readonly<Record<string, Source>>, parsers: ReadonlyArray<Parser> = []) => () =>
      Pipeline.make("p", { corpus: { displayName: "P" }, sources, parsers })
    const apples = records("fruit", new Map([["a.md", "Apples."]]))
    const pears = records("fruit", new Map([["a.md", "Pears."]]))
    const reads = (extension: string) =>
      defineParser({
        kind: "reads",
        description: "Reads.",
        version: 1,
        extensions: [extension],
        fields: {},
        make: () => Effect.succeed(() => Effect.succeed("# Read"))
      })({})
    assert.throws(
      pipelineOf({ apples, pears, more: local("docs"), most: local("more") }, [reads("a"), reads("b")]),
      /: 2 problems[^]*sources\.pears\n {2}is of kind fruit, which sources\.apples has of another definition[^]*parsers\[1\]\n {2}is of kind reads/
    )
    assert.throws(pipelineOf({ mine: records("local", new Map()) }), /sources\.mine\n {2}is of kind local, .* comes with Sluice/)
    // A kind is the scheme of its documents' addresses.
    assert.throws(() => records("my docs", new Map()), /kind: "my docs" is no name of a kind/)
    assert.doesNotThrow(pipelineOf({ apples, pears: records("pears", new Map()) }, [reads("a")]))
  })

  it("does not compile where the engine lacks something", () => {
    const hosted = Pipeline.make("p", {
      corpus: { displayName: "P" },
      sources: { docs: local("docs") },
      stages: compose(retrieve(), generate({ model: "gemini-2.0-flash-001" }))
    })
    expectTypeOf(hosted.ask("q")).toExtend<Effect.Effect<unknown, unknown, Host | HostedModels>>()
    // The embedded engine has no hosted models.
    const onEmbedded = hosted.run.pipe(Effect.provide(Embedded.layer({ dataDir: "d" })))
    expectTypeOf(onEmbedded).not.toExtend<Effect.Effect<unknown, unknown>>()
    const onVertex = hosted.run.pipe(Effect.provide(Vertex.layer({ dataDir: "d", project: "p", location: "us-central1" })))
    expectTypeOf(onVertex).toExtend<Effect.Effect<unknown, unknown>>()
    // @ts-expect-error Contexts come before answers.
    assert.throws(() => Pipeline.make("p", { corpus: { displayName: "P" }, sources: {}, stages: compose(generate(), retrieve()) }))
  })

  it.live("is one typed error where the types cannot tell", () =>
    Effect.scoped(Effect.gen(function*() {
      const dataDir = join(yield* tempFolder, "data")
      const layout = Pipeline.make("p", {
        corpus: { displayName: "P" },
        sources: { docs: local("docs") },
        parsing: { layout: { processor: "projects/p/locations/us/processors/x" } }
      })
      const error = yield* Effect.flip(layout.run).pipe(Effect.provide(Embedded.layer({ dataDir })))
      assert.strictEqual(error._tag, "PipelineInvalid")
      assert.match(error.message, /embedded engine has no layout parser/)
    })))

  it.live("asks while another run writes, in the same process", () =>
    Effect.scoped(Effect.gen(function*() {
      const folder = yield* tempFolder
      mkdirSync(join(folder, "docs"))
      writeFileSync(join(folder, "docs/a.md"), "# Leave\n\nFive unused days of leave carry over.\n")
      const pipeline = Pipeline.make("p", { corpus: { displayName: "P" }, sources: { docs: local(join(folder, "docs")) } })
      yield* Effect.gen(function*() {
        yield* pipeline.run
        for (let n = 0; n < 40; n++) writeFileSync(join(folder, `docs/more-${n}.md`), `# Note ${n}\n\nText of note number ${n}.\n`)
        const [report, answers] = yield* Effect.all([
          pipeline.run,
          Effect.forEach([1, 2, 3, 4], () => pipeline.ask("How many days of leave carry over?"), { concurrency: 4 })
        ], { concurrency: 2 })
        assert.strictEqual(report.totals.added, 40)
        for (const { answer } of answers) assert.match(answer.text, /^Five unused days/)
        assert.isAbove((yield* pipeline.retrieve("note 7")).contexts.length, 0)
      }).pipe(Effect.provide(Embedded.layer({ dataDir: join(folder, "data") })))
    })))
})

describe("a file that uses modules", () => {
  const modules = (folder: string) => {
    const source = JSON.stringify(join(import.meta.dirname, "../../src/index.ts"))
    writeFileSync(
      join(folder, "own.ts"),
      `
import { Effect, Schema, Stream } from "effect"
import { defineConnector, defineStage } from ${source}
export const lines = defineConnector({
  kind: "lines", description: "A document a line.",
  fields: { text: Schema.String.annotate({ description: "The lines." }), limit: Schema.optionalKey(Schema.Int) },
  connect: ({ text }) => Effect.succeed({
    kind: "lines",
    check: Effect.void,
    list: () => Stream.fromIterable([
      ...text.split("|").map((line, n) => ({ _tag: "item", item: { path: "line-" + n + ".md", uri: "lines://" + n, displayName: "line-" + n + ".md", revision: line } })),
      { _tag: "complete" }
    ]),
    read: (item) => Stream.make(new TextEncoder().encode("# Line\\n\\n" + text.split("|")[Number(/\\d+/.exec(item.path)[0])]))
  })
})
export const firstOnly = defineStage({
  kind: "firstOnly", description: "Keeps the first contexts.", takes: "retrieved", gives: "retrieved",
  fields: { keep: Schema.Int.annotate({ description: "How many." }) },
  make: ({ keep }) => (input) => Effect.succeed({ ...input, contexts: input.contexts.slice(0, keep) })
})
`
    )
  }
  const file = (folder: string, yaml: string): string => {
    modules(folder)
    const path = join(folder, "pipeline.yaml")
    writeFileSync(path, `name: own\ncorpus: { displayName: Own }\nuse: [./own.ts]\n${yaml}`)
    return path
  }

  it.live("runs their connectors and stages", () =>
    Effect.scoped(Effect.gen(function*() {
      const folder = yield* tempFolder
      const path = file(
        folder,
        `sources:
  lines: { lines: { text: "Leave carries over.|Travel is approved by managers.", poll: 5m } }
stages: [{ retrieve: {} }, { firstOnly: { keep: 1 } }, { generate: {} }]
`
      )
      const pipeline = yield* Pipeline.load(path, connectors)
      yield* Effect.gen(function*() {
        assert.strictEqual((yield* pipeline.run).totals.added, 2)
        const { answer, contexts } = yield* pipeline.ask("Who approves travel?")
        assert.strictEqual(contexts.length, 1)
        assert.match(answer.text, /managers/)
      }).pipe(Effect.provide(Embedded.layer({ dataDir: join(folder, "data") })))
    })))

  it.live("may be a module that exports a pipeline, whose own stages then run", () =>
    Effect.scoped(Effect.gen(function*() {
      const folder = yield* tempFolder
      mkdirSync(join(folder, "docs"))
      writeFileSync(
        join(folder, "docs/a.md"),
        "# Leave\n\nFive unused days of leave carry over.\n\n# Leave in Japan\n\nSix days of leave carry over in Japan.\n"
      )
      const path = join(folder, "pipeline.ts")
      writeFileSync(
        path,
        `
import { Effect } from "effect"
import { compose, generate, Pipeline, retrieve } from ${JSON.stringify(join(import.meta.dirname, "../../src/index.ts"))}
import { local } from ${JSON.stringify(join(import.meta.dirname, "../../connectors/index.ts"))}
export default Pipeline.make("typed", {
  corpus: { displayName: "Typed" },
  sources: { docs: local("./docs") },
  stages: compose(retrieve(), (input) => Effect.succeed({ ...input, contexts: input.contexts.slice(0, 1) }), generate())
})
`
      )
      const pipeline = yield* Pipeline.load(path, connectors)
      yield* Effect.gen(function*() {
        assert.strictEqual((yield* pipeline.run).totals.added, 1)
        assert.strictEqual((yield* pipeline.ask("How many days of leave carry over?")).contexts.length, 1)
      }).pipe(Effect.provide(Embedded.layer({ dataDir: join(folder, "data") })))
    })))

  it.live("is told what is wrong with them, with line and column", () =>
    Effect.scoped(Effect.gen(function*() {
      const folder = yield* tempFolder
      const refused = (yaml: string) =>
        Effect.map(Effect.flip(Pipeline.load(file(folder, yaml), connectors)), ({ issues }) =>
          issues.map(({ column, line, path, rule }) => `${line}:${column} ${path} ${rule}`))
      assert.deepStrictEqual(yield* refused("sources:\n  a: { lines: { text: 7 } }\n"), [
        "5:23 sources.a.lines.text must be text, not a number"
      ])
      const [unknown] = yield* refused("sources:\n  a: { lines: { text: x, limits: 3 } }\n")
      assert.match(unknown ?? "", /^5:26 sources\.a\.lines\.limits /)
      const [order] = yield* refused("sources: {}\nstages: [{ firstOnly: { keep: 1 } }, { retrieve: {} }]\n")
      assert.match(order ?? "", /stages\[0\] firstOnly takes what retrieve returns/)
      writeFileSync(join(folder, "none.ts"), "export const nothing = 1\n")
      const missing = yield* Effect.flip(Pipeline.load(
        (() => {
          const path = join(folder, "p.yaml")
          writeFileSync(path, "name: p\ncorpus: { displayName: P }\nsources: {}\nuse: [./none.ts]\n")
          return path
        })(),
        connectors
      ))
      assert.match(missing.message, /exports no connector, parser, chunker or stage/)
      // One definition may come by two ways, but not two with one name.
      writeFileSync(join(folder, "again.ts"), "export { firstOnly as again } from './own.ts'\n")
      const twice = file(folder, "sources: {}\n").replace("pipeline.yaml", "twice.yaml")
      writeFileSync(twice, "name: p\ncorpus: { displayName: P }\nsources: {}\nuse: [./own.ts, ./again.ts]\n")
      yield* Pipeline.load(twice, connectors)
      writeFileSync(join(folder, "copy.ts"), readFileSync(join(folder, "own.ts")))
      writeFileSync(twice, "name: p\ncorpus: { displayName: P }\nsources: {}\nuse: [./own.ts, ./copy.ts]\n")
      const refusal = yield* Effect.flip(Pipeline.load(twice, connectors))
      assert.match(refusal.message, /use\[1\]\n {2}exports connector lines, of which there is another definition/)
    })))
})
