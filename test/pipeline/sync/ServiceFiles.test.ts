import { assert, describe, it } from "@effect/vitest"
import { Deferred, Effect, Fiber, Layer } from "effect"
import { defaultChunking } from "../../../src/domain/Chunking.ts"
import { ServiceError } from "../../../src/domain/Errors.ts"
import type { ImportSource } from "../../../src/domain/Import.ts"
import { type Marker, type RagFile, RagFileName } from "../../../src/domain/RagFile.ts"
import { nameServiceFiles, serviceEntry } from "../../../src/pipeline/sync/ServiceFiles.ts"
import { sync } from "../../../src/pipeline/sync/Sync.ts"
import type { SyncOptions, SyncSource } from "../../../src/pipeline/sync/Session.ts"
import { LedgerWrites } from "../../../src/state/LedgerWrites.ts"
import * as SqliteLedger from "../../../src/state/SqliteLedger.ts"
import { State } from "../../../src/state/State.ts"
import { MemoryEngine } from "../../support/MemoryEngine.ts"
import { MemorySource } from "../../support/MemorySource.ts"
import { tempFolder } from "../../support/TempFolder.ts"

const drive: ImportSource = { _tag: "googleDrive", resources: [{ kind: "folder", id: "f" }] }
const chat: ImportSource = { _tag: "slack", workspaces: [] }
const link = (id: string) => `https://drive.google.com/open?id=${id}`
const file = (id: string, sourceUri: string, more: Partial<RagFile> = {}): RagFile => ({
  name: RagFileName.make(`c/ragFiles/${id}`),
  displayName: id,
  sourceUri,
  state: "ACTIVE",
  createTime: "1",
  updateTime: "1",
  ...more
})
const byName = (...files: ReadonlyArray<RagFile>) => new Map(files.map((one) => [one.name, one]))
const marker: Marker = { source: "test/docs", pathHash: "0", fingerprint: "0" }
const none = { results: [], known: [] }
const said = (named: ReturnType<typeof nameServiceFiles>) => named.map(({ file, outcome, uri }) => `${outcome} ${file} ${uri}`)

describe("files that an import of a whole source counted", () => {
  it("are those that are new while it ran, where there are no more than it counted", () => {
    const before = byName(file("1", link("a")), file("2", "by hand.md"))
    const counts = { imported: 2, skipped: 0, failed: 0 }
    const after = byName(file("3", link("a"), { updateTime: "2" }), file("4", link("b")), file("2", "by hand.md"))
    assert.deepStrictEqual(said(nameServiceFiles({ ...none, source: drive, before, after, counts })), [
      `changed c/ragFiles/3 ${link("a")}`,
      `added c/ragFiles/4 ${link("b")}`
    ])
    // Somebody else's import beside it: nobody can tell whose is whose.
    const more = new Map([...after, ...byName(file("5", link("z")))])
    assert.deepStrictEqual(nameServiceFiles({ ...none, source: drive, before, after: more, counts }), [])
    // Nor where nobody looked before, unless they are all there are.
    assert.strictEqual(nameServiceFiles({ ...none, source: drive, before: undefined, after, counts }).length, 2)
    assert.deepStrictEqual(nameServiceFiles({ ...none, source: drive, before: undefined, after: more, counts }), [])
  })

  it("are never files with a mark of ours, nor those of another kind", () => {
    const after = byName(file("1", "general.md", { marker }), file("2", "gs://b/x.md"), file("3", link("a")), file("4", "general.md"))
    const counts = { imported: 1, skipped: 0, failed: 0 }
    assert.deepStrictEqual(said(nameServiceFiles({ ...none, source: chat, before: byName(), after, counts })), [
      "added c/ragFiles/4 general.md"
    ])
    assert.deepStrictEqual(said(nameServiceFiles({ ...none, source: drive, before: byName(), after, counts })), [
      `added c/ragFiles/3 ${link("a")}`
    ])
  })

  it("stay named once they were, and are named by the result where there is one", () => {
    const after = byName(file("1", "a.md"), file("2", "by hand.md"))
    const counts = { imported: 0, skipped: 1, failed: 0 }
    assert.deepStrictEqual(nameServiceFiles({ ...none, source: chat, before: after, after, counts }), [])
    const known = [serviceEntry("s", { file: RagFileName.make("c/ragFiles/1"), uri: "a.md" })]
    assert.deepStrictEqual(said(nameServiceFiles({ ...none, known, source: chat, before: after, after, counts })), [
      "unchanged c/ragFiles/1 a.md"
    ])
    const results = [
      { uri: "https://acme.slack.com/1", status: "skipped" as const, file: "1" },
      { uri: "https://acme.slack.com/9", status: "failed" as const }
    ]
    assert.deepStrictEqual(said(nameServiceFiles({ known: [], results, source: chat, before: after, after, counts })), [
      "unchanged c/ragFiles/1 https://acme.slack.com/1"
    ])
  })
})

describe("who lists a source that the engine can fetch", () => {
  const setUp = Effect.gen(function*() {
    const engine = new MemoryEngine()
    const source = new MemorySource()
    engine.objects = { [link("a")]: "theirs" }
    source.items = { "a.md": { text: "ours" } }
    const ledger = SqliteLedger.layer.pipe(Layer.provide(LedgerWrites.layerDirect), Layer.provide(State.layer(yield* tempFolder)))
    const run = (more: Partial<SyncSource> = {}, options: SyncOptions = {}) =>
      Effect.suspend(() =>
        sync({
          pipeline: "test",
          corpus: { displayName: "Test", vectorDb: { _tag: "managed" } },
          chunking: defaultChunking,
          parsing: { _tag: "default" },
          sources: [{ id: "drive", connector: source.connector, imports: drive, ...more }],
          maxDelete: { percent: 10 },
          onFileError: "continue"
        }, options).pipe(Effect.provide(Layer.merge(engine.layer, ledger)))
      )
    const texts = () => [...engine.files.values()].map(({ text }) => text).toSorted()
    return { engine, run, source, texts }
  })
  const refused = new ServiceError({ code: "PERMISSION_DENIED", message: "no scope" })

  it.effect("is our connector where it may, the engine where it may not, and neither because of a mistake", () =>
    Effect.gen(function*() {
      const once = Effect.fnUntraced(function*(error: ServiceError | undefined, more: Partial<SyncSource> = {}) {
        const { run, source, texts } = yield* setUp
        const connector = { ...source.connector, check: error === undefined ? Effect.void : Effect.fail(error) }
        const done = yield* Effect.result(run({ connector, ...more }))
        return done._tag === "Failure" ? done.failure : texts().join()
      })
      assert.strictEqual(yield* once(undefined), "ours")
      assert.strictEqual(yield* once(refused), "theirs")
      assert.strictEqual(yield* once(undefined, { listing: "service" }), "theirs")
      assert.deepInclude(yield* once(refused, { listing: "sluice" }), { code: refused.code, message: "sources.drive: no scope" })
      // What may be over when it is listed is no reason to have all of it imported.
      assert.strictEqual(yield* once(new ServiceError({ code: "UNAVAILABLE", message: "away" })), "ours")
      const mistake = ServiceError.invalid("folders", "f is no folder")
      assert.deepInclude(yield* once(mistake), { code: mistake.code, message: `sources.drive: ${mistake.message}` })
    }).pipe(Effect.scoped))

  it.effect("follows what the engine was asked for to its end before it takes over", () =>
    Effect.gen(function*() {
      const { engine, run, texts } = yield* setUp
      const looked = yield* Deferred.make<void>()
      engine.onLook = Effect.andThen(Deferred.succeed(looked, undefined), Effect.never)
      const fiber = yield* Effect.forkChild(run({ listing: "service" }))
      yield* Deferred.await(looked)
      yield* Fiber.interrupt(fiber)
      engine.onLook = Effect.void
      const followed = yield* run()
      assert.include(followed.sources[0]?.note, "an import that an earlier run began is followed first")
      assert.deepStrictEqual([texts(), engine.imports.length], [["theirs"], 1])
      assert.strictEqual((yield* run()).totals.added, 1)
      assert.deepStrictEqual([texts(), engine.imports.length], [["ours"], 1])
    }).pipe(Effect.scoped))

  it.effect("keeps what we stored while the engine finds far less, or not all of it", () =>
    Effect.gen(function*() {
      const { engine, run, source, texts } = yield* setUp
      const ours = Array.from({ length: 30 }, (_, i) => `ours ${i}`).toSorted()
      source.items = Object.fromEntries(ours.map((text) => [text, { text }]))
      yield* run()
      engine.refuseObject = () => ({ code: "PERMISSION_DENIED", message: "not shared with the service" })
      const failed = yield* run({ listing: "service" })
      assert.deepInclude(failed.totals, { failed: 1, deleted: 0, held: 0 })
      assert.deepStrictEqual(texts(), ours)
      engine.refuseObject = () => undefined
      const fewer = yield* run({ listing: "service" })
      assert.deepInclude(fewer.totals, { added: 1, held: 30 })
      assert.match(fewer.sources[0]?.heldBecause ?? "", /30 files would be replaced by 1/)
      assert.deepStrictEqual(texts(), [...ours, "theirs"])
      assert.deepInclude((yield* run({ listing: "service" }, { yes: true })).totals, { unchanged: 1, held: 0 })
      assert.deepStrictEqual(texts(), ["theirs"])
    }).pipe(Effect.scoped))
})
