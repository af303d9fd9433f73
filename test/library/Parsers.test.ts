import { assert, describe, it } from "@effect/vitest"
import { Context, Effect, Redacted, Schema } from "effect"
import { writeFileSync } from "node:fs"
import { join } from "node:path"
import { expectTypeOf, describe as describeSuite, it as itSuite } from "vitest"
import { connectors } from "../../connectors/index.ts"
import { capabilitiesOf } from "../../src/compose/Capabilities.ts"
import { SecretVersion, withDefault } from "../../src/ConnectorKit.ts"
import { defineParser, DocumentError, Embedded, type FileToParse, type Host, Pipeline, ServiceError } from "../../src/index.ts"
import { parserSuite } from "../../src/kit/ParserSuite.ts"
import { definePipeline } from "../../src/pipeline/definition/DefinePipeline.ts"
import { fitness } from "../../src/pipeline/definition/Fitness.ts"
import { faultySource, isolatedEngine } from "../../src/Testing.ts"
import { tempFolder } from "../support/TempFolder.ts"

const textOf = ({ content }: Pick<FileToParse, "content">): string => new TextDecoder().decode(content)

/** Notes of the form `title|text`, and what they were asked to read. */
const notesOf = (version: number, read: Array<string> = []) =>
  defineParser({
    kind: "notes",
    description: "Notes.",
    version,
    extensions: ["note", "Memo.xml"],
    mimeTypes: ["text/x-note"],
    maxSeconds: 1,
    fields: {
      prefix: Schema.optionalKey(Schema.String.annotate({ description: "Stands before the text." })),
      rate: Schema.optionalKey(Schema.Int.annotate({ description: "How fast." }))
    },
    unversioned: ["rate"],
    make: ({ prefix = "" }) =>
      Effect.succeed((file) => {
        const { path } = file
        const [title = "", text = ""] = textOf(file).split("|")
        read.push(path)
        switch (title) {
          case "throws":
            throw new TypeError("text is undefined")
          case "dies":
            return Effect.die("no error")
          case "hangs":
            return Effect.never
          case "nothing":
            return Effect.succeed({ markdown: undefined as never })
          case "odd":
            return Effect.fail(new Error("no typed error") as never)
          case "blank":
            return Effect.succeed(" \n")
          case "corrupt":
            return Effect.fail(new DocumentError({ problem: "corrupt", message: "it has no end" }))
          case "unsupported":
            return Effect.fail(new DocumentError({ problem: "unsupported", message: "of another version" }))
          case "down":
            return Effect.fail(new ServiceError({ code: "UNAVAILABLE", message: "the service is down" }))
          case "half":
            return Effect.succeed({ markdown: `# Half\n\n${text}`, remark: "the second half is noise" })
          default:
            return Effect.succeed(`---\nauthor: Ana\n---\n\n# ${title}\n\n${prefix}${text}\n`)
        }
      })
  })

const texts = {
  "leave.note": "Leave|Five unused days of leave carry over.",
  "vpn.memo.XML": "VPN|The VPN needs a key.",
  "plain.md": "# Plain\n\nPlain text is as it was.\n",
  "other.xml": "<a><b>Other elements are read as before.</b></a>"
}

describe("a parser of one's own", () => {
  const pipelineOf = (source: ReturnType<typeof faultySource>, ...parsers: ReadonlyArray<ReturnType<ReturnType<typeof notesOf>>>) =>
    Pipeline.make("notes", {
      corpus: { displayName: "Notes" },
      sources: { texts: source.source },
      ...(parsers.length === 0 ? {} : { parsers }),
      metadata: { author: { property: "author" } }
    })

  it("is refused at the pipeline where what it was defined with breaks a rule", () => {
    const wrong = defineParser({
      kind: "wrong",
      description: "Wrong.",
      version: 1,
      extensions: [".md"],
      maxSeconds: 0.5,
      fields: { depth: withDefault(Schema.Int.annotate({ description: "How deep." }), 1.5) },
      make: () => Effect.succeed(() => Effect.succeed("text"))
    })
    assert.throws(
      () => Pipeline.make("p", { corpus: { displayName: "P" }, sources: {}, parsers: [wrong({})] }),
      /: 3 problems[^]*parsers\[0\]\.wrong\.depth\n[^]*parsers\[0\]\.wrong\.extensions\[0\]\n {2}must be the end of a file's name[^]*parsers\[0\]\.wrong\.maxSeconds\n/
    )
  })

  it.live("reads the files that it names, once, and is cited to the byte; others are read as before", () =>
    Effect.gen(function*() {
      const source = faultySource(texts)
      const read: Array<string> = []
      const pipeline = pipelineOf(source, notesOf(1, read)({}))
      const planned = yield* pipeline.plan()
      const report = yield* pipeline.run
      assert.deepInclude(report.totals, { added: 4, failed: 0 })
      assert.deepInclude(planned, { chunks: 4 })
      assert.deepStrictEqual(read.toSorted(), ["leave.note", "leave.note", "vpn.memo.XML", "vpn.memo.XML"], "one look each by plan and run")
      const { answer, contexts } = yield* pipeline.ask("How many days of leave carry over?")
      const [citation] = answer.citations
      assert.deepInclude(citation, { sourceDisplayName: "leave.note", quote: "Five unused days of leave carry over." })
      const context = contexts.find(({ file }) => file === citation?.file)
      assert.deepStrictEqual(context?.text, "Leave\n\nFive unused days of leave carry over.")
      assert.deepStrictEqual(Buffer.from(context?.text ?? "").subarray(citation?.byteStart, citation?.byteEnd).toString(), citation?.quote)
      const byAna = yield* pipeline.retrieve("leave, a key, plain text", { filter: { metadataFilter: "author == \"Ana\"" } })
      assert.sameMembers([...new Set(byAna.contexts.map(({ sourceDisplayName }) => sourceDisplayName))], ["leave.note", "vpn.memo.XML"])
      assert.deepInclude((yield* pipeline.run).totals, { unchanged: 4, changed: 0 })
      assert.strictEqual(read.length, 4)
    }).pipe(Effect.provide(isolatedEngine())))

  it.live("has exactly its files read again where its version or a setting changes, or others are its", () =>
    Effect.gen(function*() {
      const source = faultySource(texts)
      const changes = Effect.fnUntraced(function*(...parsers: ReadonlyArray<ReturnType<ReturnType<typeof notesOf>>>) {
        const pipeline = pipelineOf(source, ...parsers)
        const { totals } = yield* pipeline.plan()
        const before = source.reads.length
        const report = yield* pipeline.run
        assert.deepStrictEqual(report.totals, totals)
        assert.strictEqual(report.totals.listed, 4)
        return source.reads.slice(before).toSorted()
      })
      const [leave, other, vpn] = ["leave.note", "other.xml", "vpn.memo.XML"]
      assert.lengthOf(yield* changes(notesOf(1)({})), 4)
      assert.deepStrictEqual(yield* changes(notesOf(1)({})), [])
      assert.deepStrictEqual(yield* changes(notesOf(2)({})), [leave, vpn])
      assert.deepStrictEqual(yield* changes(notesOf(2)({ prefix: "> " })), [leave, vpn])
      assert.deepStrictEqual(yield* changes(notesOf(2)({ prefix: "> ", rate: 3, maxSeconds: 9, maxBytes: "1MB" })), [])
      assert.deepStrictEqual(yield* changes(notesOf(2)({ prefix: "> ", extensions: ["note", "memo.xml", "xml"] })), [other])
      assert.deepStrictEqual(yield* changes(notesOf(2)({ prefix: "> ", extensions: ["note"] })), [other, vpn])
      assert.deepStrictEqual(yield* changes(), [leave])
      assert.deepStrictEqual(yield* changes(), [])
    }).pipe(Effect.provide(isolatedEngine())))

  it.live("costs one file where it fails, in words that name it", () =>
    Effect.gen(function*() {
      const bad = ["throws", "dies", "hangs", "nothing", "odd", "blank", "corrupt", "unsupported", "down", "half"]
      const source = faultySource({
        ...texts,
        ...Object.fromEntries(bad.map((title) => [`${title}.note`, `${title}|The other half is text.`])),
        "large.note": `Large|${"x".repeat(2_000)}`
      })
      const pipeline = pipelineOf(source, notesOf(1)({ maxBytes: "1kB" }))
      const outcomes = Effect.fnUntraced(function*() {
        const found: Record<string, string> = {}
        const report = yield* pipeline.runWith({
          observe: (event) =>
            Effect.sync(() => {
              if (event.type === "file" && event.path.endsWith(".note")) {
                found[event.path.slice(0, -5)] = `${event.outcome} ${event.reason ?? ""}: ${event.message ?? event.remark ?? ""}`
              }
            })
        })
        return { found, report }
      })
      const { found, report } = yield* outcomes()
      assert.deepStrictEqual(found, {
        leave: "added : ",
        throws: "failed crash: parser notes: text is undefined",
        dies: "failed crash: parser notes: it threw a value that is not an error",
        hangs: "failed timeout: parser notes: took more than 1 s",
        nothing: "failed crash: parser notes: it returned no Markdown",
        odd: "failed crash: parser notes: no typed error",
        blank: "skipped empty: parser notes: there is no text in it",
        corrupt: "failed corrupt: parser notes: it has no end",
        unsupported: "skipped unsupported: parser notes: of another version",
        down: "failed UNAVAILABLE: parser notes: the service is down",
        half: "added : the second half is noise",
        large: "skipped limit: large.note is larger than 1000 bytes"
      })
      assert.deepInclude(report.totals, { listed: 15, added: 5, failed: 7, skipped: 3 })
      // What may pass is tried again; what is wrong with a file stands until that or the parser changes.
      assert.deepInclude((yield* outcomes()).report.totals, { unchanged: 5, failed: 1, quarantined: 6, skipped: 3 })
      const again = yield* pipelineOf(source, notesOf(2)({ maxBytes: "1kB" })).run
      assert.deepInclude(again.totals, { changed: 3, unchanged: 2, failed: 7, skipped: 3, quarantined: 0 })
    }).pipe(Effect.provide(isolatedEngine())))

  it.live("reads what is attached to mail, and takes the place of what opens it, for the files that it names", () =>
    Effect.gen(function*() {
      const mail =
        "Subject: Keys\nMIME-Version: 1.0\nContent-Type: multipart/mixed; boundary=b\n\n--b\nContent-Type: text/plain\n\nSee the note.\n--b\n" +
        "Content-Type: text/plain; name=keys.txt\nContent-Disposition: attachment; filename=keys.txt\n\nThe keys hang in the lodge.\n--b--\n"
      const source = faultySource({ "a.eml": mail })
      assert.strictEqual((yield* pipelineOf(source).run).totals.added, 2)
      const read: Array<string> = []
      assert.deepInclude((yield* pipelineOf(source, notesOf(1, read)({ extensions: ["txt"] })).run).totals, { changed: 1, unchanged: 1 })
      assert.deepStrictEqual(read, ["a.eml/attachments/keys.txt"], "what is in a file is read by it too")
      const { totals } = yield* pipelineOf(source, notesOf(1)({ extensions: ["eml"] })).run
      assert.deepInclude(totals, { listed: 1, changed: 1, deleted: 1 })
    }).pipe(Effect.provide(isolatedEngine())))

  it.live("keeps what serves as it is while a candidate is built with it", () =>
    Effect.gen(function*() {
      const source = faultySource(texts)
      const [before, after] = [pipelineOf(source, notesOf(1)({})), pipelineOf(source, notesOf(1)({ prefix: "> " }))]
      yield* before.run
      yield* after.runWith({ candidate: true })
      assert.deepInclude((yield* after.run).totals, { unchanged: 4 })
      const [, candidate] = yield* after.generations
      assert.deepStrictEqual(candidate?.differs.map(({ field }) => field), ["parsers.0"])
    }).pipe(Effect.provide(isolatedEngine())))

  it.live("has what it needs of the program, and secrets by their names", () =>
    Effect.gen(function*() {
      class Glossary extends Context.Service<Glossary, (word: string) => string>()("test/Glossary") {}
      const terms = defineParser({
        kind: "terms",
        description: "Terms.",
        version: "a",
        extensions: ["term"],
        fields: { key: SecretVersion.annotate({ description: "The key." }) },
        unversioned: ["key"],
        make: Effect.fnUntraced(function*({ key }, { secrets }) {
          const value = Redacted.value(yield* secrets.resolve(key))
          return Effect.fnUntraced(function*(file: FileToParse) {
            return `# Term\n\n${(yield* Glossary)(textOf(file))} by a key of ${value.length}`
          })
        })
      })
      const name = SecretVersion.make("projects/p/secrets/terms/versions/1")
      const pipeline = Pipeline.make("terms", {
        corpus: { displayName: "Terms" },
        sources: { texts: faultySource({ "a.term": "lien" }).source },
        parsers: [terms({ key: name })]
      })
      expectTypeOf(pipeline.run).toExtend<Effect.Effect<unknown, unknown, Host | Glossary>>()
      expectTypeOf(pipeline.run).not.toExtend<Effect.Effect<unknown, unknown, Host>>()
      const dataDir = join(yield* tempFolder, "data")
      yield* Effect.gen(function*() {
        assert.include((yield* Effect.flip(pipeline.run)).message, name)
        process.env["SLUICE_SECRET_TERMS"] = "12345"
        const { totals } = yield* pipeline.run.pipe(Effect.ensuring(Effect.sync(() => delete process.env["SLUICE_SECRET_TERMS"])))
        assert.strictEqual(totals.added, 1)
        assert.include((yield* pipeline.retrieve("lien")).contexts[0]?.text, "a claim by a key of 5")
      }).pipe(
        Effect.provideService(Glossary, (word) => word === "lien" ? "A lien is a claim" : word),
        Effect.provide(Embedded.layer({ dataDir }))
      )
    }).pipe(Effect.scoped))

  it.live("is named in a file under its kind, and what is wrong with it is told with line and column", () =>
    Effect.gen(function*() {
      const folder = yield* tempFolder
      const index = JSON.stringify(join(import.meta.dirname, "../../src/index.ts"))
      writeFileSync(
        join(folder, "parsers.ts"),
        `
import { Effect, Schema } from "effect"
import { defineParser } from ${index}
export const shouting = defineParser({
  kind: "shouting", description: "In small letters.", version: 1, extensions: ["loud"],
  fields: { marks: Schema.optionalKey(Schema.Int.annotate({ description: "Exclamation marks." })) },
  make: ({ marks = 1 }) => Effect.succeed(({ content }) => Effect.succeed(new TextDecoder().decode(content).toLowerCase() + "!".repeat(marks)))
})
export const anything = defineParser({
  kind: "anything", description: "Any file.", version: 1, fields: {}, make: () => Effect.succeed(() => Effect.succeed("text"))
})
`
      )
      writeFileSync(join(folder, "a.loud"), "THE DOOR IS GREEN")
      const load = (yaml: string, use = "use: [./parsers.ts]") => {
        const file = join(folder, "pipeline.yaml")
        writeFileSync(
          file,
          `name: loud\ncorpus: { displayName: Loud }\n${use}\nsources: { here: { local: { path: ., include: [a.loud] } } }\n${yaml}`
        )
        return Pipeline.load(file, connectors)
      }
      const issues = (yaml: string, use?: string) =>
        Effect.map(Effect.flip(load(yaml, use)), ({ issues }) =>
          issues.map(({ column, fix, line, path, rule, suggestion }) =>
            `${line}:${column} ${path} ${rule} (${suggestion ?? fix ?? "no fix"})`
          ))
      const pipeline = yield* load("parsers:\n  - shouting: { marks: 2 }\n")
      yield* Effect.gen(function*() {
        assert.strictEqual((yield* pipeline.run).totals.added, 1)
        assert.strictEqual((yield* pipeline.retrieve("door")).contexts[0]?.text, "the door is green!!")
      }).pipe(Effect.provide(isolatedEngine()))
      assert.deepStrictEqual(yield* issues("parsers:\n  - shoutin: {}\n"), [
        "6:5 parsers[0].shoutin is not a key that belongs here (shouting)"
      ])
      assert.deepStrictEqual(yield* issues("parsers: [{ shouting: { marks: many } }]\n"), [
        "5:32 parsers[0].shouting.marks must be a number, not text (no fix)"
      ])
      assert.deepStrictEqual(yield* issues("parsers: [{ anything: {} }]\n"), [
        "5:23 parsers[0].anything names no files that it reads (give extensions or mimeTypes)"
      ])
      assert.deepStrictEqual(yield* issues("parsers: [{ anything: { extensions: [.x] } }]\n"), [
        "5:38 parsers[0].anything.extensions[0] must be the end of a file's name after a dot, and not the dot (write for example jsonl, or call.jsonl)"
      ])
      assert.deepStrictEqual(yield* issues("parsers: [{ shouting: {} }]\n", ""), [
        "5:11 parsers[0] names a parser, and no module under use exports one (name the module that exports it: use: [./parsers.ts])"
      ])
    }).pipe(Effect.scoped))
})

describe("parsers on an engine that fetches files by itself", () => {
  it("are refused where it lists a source too", () => {
    const pipeline = definePipeline({
      name: "p",
      engine: { vertex: { project: "p1", location: "us-central1" } },
      corpus: { displayName: "P" },
      sources: { drive: { googleDrive: { folders: ["1AbC"], listing: "service" } }, docs: { local: { path: "docs" } } },
      stages: [{ retrieve: {} }]
    })
    const parsers = [{ _tag: "own", kind: "notes", settings: { extensions: ["note"], mimeTypes: [], maxSeconds: 1 } }] as const
    const problems = (definition: typeof pipeline) => fitness(definition, capabilitiesOf("vertex", Object.keys(connectors)))
    assert.deepStrictEqual(problems(pipeline), [])
    assert.deepStrictEqual(problems({ ...pipeline, parsers }).map(({ fix, path, rule }) => [path.join("."), rule, fix]), [[
      "sources.drive.googleDrive.listing",
      "has the vertex engine list and fetch the files itself, so that parsers see none of them",
      "leave listing out, or parsers"
    ]])
  })
})

const note = { path: "leave.note", content: new TextEncoder().encode(texts["leave.note"]), says: ["Five unused days", "Leave"] }

parserSuite("notes", Effect.succeed({ parser: notesOf(1)({}), files: [note] }), { describe: describeSuite, it: itSuite })

describe("parserSuite", () => {
  /** What the suite says of a parser; nothing: it passes. */
  const saysOf = (fixture: Parameters<typeof parserSuite>[1]): Effect.Effect<ReadonlyArray<string>> => {
    const tests: Array<() => Promise<void>> = []
    parserSuite("a", fixture, { describe: (_, body) => body(), it: (_, test) => void tests.push(test) })
    return Effect.promise(async () => {
      const said: Array<string> = []
      for (const test of tests) await test().catch((error: Error) => said.push(error.message))
      return said
    })
  }
  const parsing = (parse: (file: FileToParse) => Effect.Effect<string, DocumentError>) =>
    defineParser({ kind: "a", description: "A.", version: 1, extensions: ["note"], fields: {}, make: () => Effect.succeed(parse) })({})

  it.live("fails a parser that loses text, is not the same twice, spoils the bytes, or throws", () =>
    Effect.gen(function*() {
      const of = (parse: Parameters<typeof parsing>[0]) => saysOf(Effect.succeed({ parser: parsing(parse), files: [note] }))
      assert.deepStrictEqual(yield* of((file) => Effect.succeed(textOf(file))), [])
      assert.deepStrictEqual(yield* of(() => Effect.succeed("Leave")), ["leave.note says \"Five unused days\""])
      let count = 0
      assert.match((yield* of((file) => Effect.succeed(`${textOf(file)} ${count++}`)))[0] ?? "", /^the same bytes give the same Markdown/)
      const spoils = yield* of((file) => {
        const text = textOf({ content: file.content.slice() })
        file.content.fill(65, 0, 1)
        return Effect.succeed(text.replace(/^./, "L"))
      })
      assert.match(spoils[0] ?? "", /^the bytes are left as they are/)
      const [throws] = yield* of((file) => {
        if (!textOf(file).startsWith("Leave|F")) throw new TypeError("no title")
        return Effect.succeed(textOf(file))
      })
      assert.match(throws ?? "", /^no bytes in the place of leave\.note is a DocumentError or a ServiceError, and no TypeError: no title/)
    }))
})
