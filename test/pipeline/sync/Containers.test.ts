import { assert, describe, it } from "@effect/vitest"
import { Effect, Layer, Stream } from "effect"
import { readFileSync, renameSync, rmSync, utimesSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { gzipSync } from "node:zlib"
import { local } from "../../../connectors/local/Local.ts"
import * as Embedded from "../../../src/compose/EmbeddedEntry.ts"
import { addsUp, type Report, type SyncEvent } from "../../../src/domain/Report.ts"
import { definePipeline, type PipelineInput } from "../../../src/pipeline/definition/DefinePipeline.ts"
import type { Host } from "../../../src/pipeline/Host.ts"
import { makeContainers } from "../../../src/pipeline/Containers.ts"
import type { Listed } from "../../../src/ports/Connector.ts"
import { LedgerWrites } from "../../../src/state/LedgerWrites.ts"
import * as SqliteLedger from "../../../src/state/SqliteLedger.ts"
import { State } from "../../../src/state/State.ts"
import { TextPool } from "../../../src/text/TextPool.ts"
import { MemoryEngine } from "../../support/MemoryEngine.ts"
import { MemorySource } from "../../support/MemorySource.ts"
import { pipelineOf } from "../../support/Sources.ts"
import { tempFolder, write } from "../../support/TempFolder.ts"
import { zipOf } from "../../text/parse/support/ZipWriter.ts"

const mail = (subject: string, attachments: Readonly<Record<string, string>>): string =>
  [
    "From: ann@b.c",
    `Subject: ${subject}`,
    "Date: Fri, 16 Dec 2022 17:04:16 +0000",
    "MIME-Version: 1.0",
    "Content-Type: multipart/mixed; boundary=xyz",
    "",
    "--xyz",
    "Content-Type: text/plain",
    "",
    `The text of ${subject}.`,
    ...Object.entries(attachments).flatMap(([name, content]) => [
      "--xyz",
      `Content-Type: application/octet-stream; name="${name}"`,
      `Content-Disposition: attachment; filename="${name}"`,
      "Content-Transfer-Encoding: base64",
      "",
      Buffer.from(content).toString("base64")
    ]),
    "--xyz--",
    ""
  ].join("\r\n")

const setUp = Effect.gen(function*() {
  const folder = yield* tempFolder
  const docs = join(folder, "docs")
  let reads: Array<string> = []
  const connectors = {
    local: (...[settings, context]: Parameters<typeof local>) => {
      const made = local(settings, context)
      // Files of a test are younger than a listing trusts.
      return {
        ...made,
        list: (cursor?: string) =>
          made.list(cursor).pipe(
            Stream.map((event) => event._tag === "item" ? { ...event, item: { ...event.item, unsettled: false } } : event)
          ),
        read: (item: Parameters<typeof made.read>[0], limit: number) => {
          reads.push(item.path)
          return made.read(item, limit)
        }
      }
    }
  }
  const pipelineWith = (settings: NonNullable<PipelineInput["import"]>) =>
    pipelineOf(
      definePipeline({
        name: "parts",
        corpus: { displayName: "Parts" },
        sources: { docs: { local: { path: docs } } },
        import: settings
      }),
      connectors
    )
  const provided = <A, E>(
    settings: NonNullable<PipelineInput["import"]>,
    use: (pipeline: ReturnType<typeof pipelineWith>, tell: (event: SyncEvent) => Effect.Effect<void>) => Effect.Effect<A, E, Host>
  ) =>
    Effect.gen(function*() {
      const pipeline = pipelineWith(settings)
      const seen: Array<string> = []
      reads = []
      const result = yield* use(pipeline, (event) =>
        Effect.sync(() => {
          if (event.type === "file") {
            seen.push(
              `${event.outcome}${event.from === undefined ? "" : ` from ${event.from}`}${
                event.outcome === "skipped" ? ` (${event.reason})` : ""
              }: ${event.path}`
            )
          }
          if (event.type === "deleted") seen.push(`deleted: ${event.path}`)
        })).pipe(Effect.provide(Embedded.layer({ dataDir: join(folder, "data") })))
      return { result, seen: seen.toSorted(), reads }
    })
  const run = (settings: NonNullable<PipelineInput["import"]> = {}) =>
    provided(settings, (pipeline, observe) => pipeline.runWith({ observe, yes: true }))
  const look = (settings: NonNullable<PipelineInput["import"]> = {}) =>
    provided(settings, (pipeline, progress) => pipeline.plan({ progress }))
  return { docs, run, look }
})

const counts = ({ totals }: Pick<Report, "totals">) => Object.fromEntries(Object.entries(totals).filter(([, count]) => count > 0))

describe("attachments of mail", () => {
  it.live("are documents beneath their message: planned, put, left alone, changed, moved and deleted like files", () =>
    Effect.gen(function*() {
      const { docs, look, run } = yield* setUp
      write(docs, {
        "a.eml": mail("Offer", { "offer.md": "# Terms\n\nThirty days.", "prices.csv": "item,price\nnail,2\n" }),
        "b.md": "Plain."
      })
      const planned = yield* look()
      assert.deepStrictEqual(counts(planned.result), { listed: 4, added: 4 })
      const first = yield* run()
      assert.deepStrictEqual(first.seen, [
        "added: a.eml",
        "added: a.eml/attachments/offer.md",
        "added: a.eml/attachments/prices.csv",
        "added: b.md"
      ])
      assert.isTrue(addsUp(first.result.totals))
      assert.deepStrictEqual([planned.result.chunks, planned.result.tokens > 0], [first.result.chunks, true])
      // Nothing is read, so nothing is opened.
      const second = yield* run()
      assert.deepStrictEqual([counts(second.result), second.reads], [{ listed: 4, unchanged: 4 }, []])
      write(docs, {
        "a.eml": mail("Offer", { "offer.md": "# Terms\n\nSixty days.", "prices.csv": "item,price\nnail,2\n", "more.md": "More." })
      })
      const third = yield* run()
      assert.deepStrictEqual(third.seen.filter((line) => !line.startsWith("unchanged")), [
        "added: a.eml/attachments/more.md",
        "changed: a.eml",
        "changed: a.eml/attachments/offer.md"
      ])
      assert.strictEqual(third.result.totals.unchanged, 2)
      renameSync(join(docs, "a.eml"), join(docs, "c.eml"))
      const moved = yield* run()
      assert.deepStrictEqual(
        moved.seen.filter((line) => line.startsWith("moved")),
        [
          "moved from a.eml/attachments/more.md: c.eml/attachments/more.md",
          "moved from a.eml/attachments/offer.md: c.eml/attachments/offer.md",
          "moved from a.eml/attachments/prices.csv: c.eml/attachments/prices.csv",
          "moved from a.eml: c.eml"
        ].toSorted()
      )
      assert.strictEqual(moved.result.embedded, 0)
      rmSync(join(docs, "c.eml"))
      const gone = yield* run()
      assert.deepStrictEqual([counts(gone.result), gone.seen.length], [{ listed: 1, unchanged: 1, deleted: 4 }, 4])
    }).pipe(Effect.scoped))

  it.live("that cannot be read cost themselves alone, by name; a message that cannot be opened keeps what was known of it", () =>
    Effect.gen(function*() {
      const { docs, run } = yield* setUp
      write(docs, {
        "a.eml": mail("Offer", {
          "broken.pdf": "%PDF-nothing",
          "program.exe": "MZ\0\0\0\u0001",
          "note.txt": "A note.",
          "note (2).txt": "Another.",
          "../../etc/note.txt": "A third."
        })
      })
      const first = yield* run()
      assert.deepStrictEqual(first.seen, [
        "added: a.eml",
        "added: a.eml/attachments/note (2).txt",
        "added: a.eml/attachments/note (3).txt",
        "added: a.eml/attachments/note.txt",
        "failed: a.eml/attachments/broken.pdf",
        "skipped (unsupported): a.eml/attachments/program.exe"
      ])
      const again = yield* run()
      assert.deepStrictEqual(counts(again.result), { listed: 6, unchanged: 4, skipped: 1, quarantined: 1 })
      assert.deepStrictEqual(again.reads, [])
      write(docs, { "a.eml": "From: a@b.c\r\nContent-Type: multipart/encrypted; boundary=x\r\n\r\n--x--" })
      const encrypted = yield* run()
      assert.deepStrictEqual(encrypted.seen.filter((line) => !/^(?:unchanged|quarantined|skipped)/.test(line)), ["failed: a.eml"])
      assert.strictEqual(encrypted.result.totals.deleted, 0)
    }).pipe(Effect.scoped))
})

describe("archives", () => {
  it.live("are skipped by name, unless the pipeline opens them; then what they hold is put, and they are folders", () =>
    Effect.gen(function*() {
      const { docs, look, run } = yield* setUp
      const inner = zipOf({ "deep.md": "Deep text.", "deep.eml": mail("Inner", { "in.md": "Innermost." }) })
      write(docs, {
        "a.zip": zipOf({ "x/one.md": "One.", "../../up.md": "Up.", "/root.md": "Root.", "__MACOSX/._one.md": "junk", "inner.zip": inner }),
        "log.txt.gz": gzipSync("A line of a log."),
        "in.mbox": `From a@b.c Fri Dec 16 17:04:16 2022\n${mail("Letter", { "l.md": "Enclosed." })}\nFrom a@b.c Fri Dec 16 17:04:16 2022\n${
          mail("Letter", {})
        }`,
        "bad.zip": "PK\u0003\u0004 and nothing else"
      })
      const off = yield* run()
      assert.deepStrictEqual(off.seen, [
        "added: in.mbox",
        "added: in.mbox/attachments/l.md",
        "failed: bad.zip",
        "skipped (unsupported): a.zip",
        "skipped (unsupported): log.txt.gz"
      ])
      const planned = yield* look({ archives: true })
      const on = yield* run({ archives: true })
      assert.deepStrictEqual(
        on.seen,
        [
          "added: a.zip/inner.zip/deep.eml",
          "added: a.zip/inner.zip/deep.md",
          "added: a.zip/root.md",
          "added: a.zip/up.md",
          "added: a.zip/x/one.md",
          "added: in.mbox/2022-12-16 Letter (2).eml",
          "added: in.mbox/2022-12-16 Letter.eml",
          "added: log.txt.gz/log.txt",
          "deleted: in.mbox",
          "moved from in.mbox/attachments/l.md: in.mbox/2022-12-16 Letter.eml/attachments/l.md",
          "added: a.zip/inner.zip/deep.eml/attachments/in.md",
          "skipped (corrupt): bad.zip",
          "skipped (ignored): a.zip/__MACOSX/._one.md"
        ].toSorted()
      )
      assert.deepStrictEqual(counts(planned.result), counts(on.result))
      const again = yield* run({ archives: true })
      assert.deepStrictEqual([again.reads, again.result.totals.unchanged, again.result.totals.skipped], [[], 10, 2])
      // A file in an archive that changes is the only one that is put.
      const later = new Date(Date.now() - 60_000)
      writeFileSync(join(docs, "a.zip"), zipOf({ "x/one.md": "One.", "up.md": "Up.", "root.md": "Root, changed.", "inner.zip": inner }))
      utimesSync(join(docs, "a.zip"), later, later)
      const changed = yield* run({ archives: true })
      assert.deepStrictEqual(changed.seen, ["changed: a.zip/root.md", "skipped (corrupt): bad.zip"])
      assert.strictEqual(readFileSync(join(docs, "a.zip")).length > 0, true)
    }).pipe(Effect.scoped))
})

describe("a listing of changes", () => {
  it.live("tells what came into a file and what went out of it", () =>
    Effect.gen(function*() {
      const folder = yield* tempFolder
      const source = new MemorySource()
      const layer = Layer.mergeAll(
        new MemoryEngine().layer,
        TextPool.layerInline(),
        SqliteLedger.layer.pipe(Layer.provide(LedgerWrites.layerDirect), Layer.provide(State.layer(folder)))
      )
      yield* Effect.gen(function*() {
        const opening = yield* makeContainers({ scope: "s", archives: false, remembers: true, maxBytes: 1_000_000, settings: "" })
        const { list, read } = opening(source.connector, "docs")
        const told = (cursor?: string) =>
          list(cursor).pipe(
            Stream.map((event: Listed) =>
              event._tag === "item" ? event.item.path : "path" in event ? `${event._tag}: ${event.path}` : event._tag
            ),
            Stream.runCollect
          )
        source.items = {
          "a.eml": { text: mail("A", { "one.md": "One.", "two.md": "Two." }) },
          "b.eml": { text: mail("B", { "in.md": "In." }) }
        }
        assert.deepStrictEqual(yield* told(), [
          "a.eml",
          "a.eml/attachments/one.md",
          "a.eml/attachments/two.md",
          "b.eml",
          "b.eml/attachments/in.md",
          "complete"
        ])
        source.items = { "a.eml": { text: mail("A", { "two.md": "Two.", "three.md": "Three." }) } }
        source.extra = [{ _tag: "deleted", path: "b.eml" }]
        assert.deepStrictEqual(yield* told("cursor"), [
          "a.eml",
          "a.eml/attachments/two.md",
          "a.eml/attachments/three.md",
          "deleted: a.eml/attachments/one.md",
          "deleted: b.eml",
          "deleted: b.eml/attachments/in.md",
          "complete"
        ])
        source.extra = []
        const before = source.reads
        const [, , three] = yield* list().pipe(
          Stream.flatMap((event) => event._tag === "item" ? Stream.succeed(event.item) : Stream.empty),
          Stream.runCollect
        )
        assert.isDefined(three)
        assert.strictEqual(source.reads, before)
        const text = (maxBytes: number) => read(three, maxBytes).pipe(Stream.decodeText, Stream.mkString)
        assert.strictEqual(yield* text(100), "Three.")
        assert.strictEqual((yield* Effect.flip(text(3)))._tag, "ServiceError")
        // Nothing of it is kept any more: it is opened again, and found to have changed.
        source.items = { "a.eml": { text: mail("A", { "two.md": "Two." }) } }
        const other = yield* makeContainers({ scope: "s", archives: false, remembers: true, maxBytes: 1_000_000, settings: "" })
        const gone = yield* Effect.flip(other(source.connector, "docs").read(three, 100).pipe(Stream.runDrain))
        assert.isTrue(gone._tag === "ServiceError" && gone.code === "NOT_FOUND")
      }).pipe(Effect.provide(layer))
    }).pipe(Effect.scoped))
})
