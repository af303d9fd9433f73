import { assert, describe, it } from "@effect/vitest"
import { Effect, Stream } from "effect"
import { TestClock } from "effect/testing"
import { execFileSync } from "node:child_process"
import { appendFileSync, chmodSync, mkdirSync, renameSync, rmSync, symlinkSync, utimesSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { pathToFileURL } from "node:url"
import { local as connectLocal } from "../../connectors/local/Local.ts"
import { connectorSuite } from "../../src/ConnectorKit.ts"
import type { Listed, SourceItem } from "../../src/ports/Connector.ts"
import { tempFolder, touch, write } from "../support/TempFolder.ts"
import { settingsOf, type Written } from "../support/Settings.ts"

const local = (written: Written<"local">, context = {}) => connectLocal(settingsOf("local", written), context)
const list = (config: Written<"local">, context = {}) => local(config, context).list().pipe(Stream.runCollect)

const items = (listed: ReadonlyArray<Listed>): ReadonlyArray<SourceItem> =>
  listed.flatMap((event) => (event._tag === "item" ? [event.item] : []))

const paths = (listed: ReadonlyArray<Listed>) => items(listed).map((item) => item.path)

const skipped = (listed: ReadonlyArray<Listed>) =>
  Object.fromEntries(listed.flatMap((event) => (event._tag === "skipped" ? [[event.path, event.reason]] : [])))

connectorSuite(
  "local",
  Effect.map(tempFolder, (path) => {
    write(path, { "a.md": "first", "docs/b.md": "second", "docs/c.md": "third" })
    return {
      connector: local({ path }),
      sample: "docs/b.md",
      edit: Effect.sync(() => write(path, { "docs/b.md": "second again" })),
      rename: Effect.sync(() => {
        renameSync(join(path, "docs/b.md"), join(path, "docs/renamed.md"))
        return "docs/renamed.md"
      }),
      remove: Effect.sync(() => rmSync(join(path, "docs/b.md")))
    }
  }),
  { describe, it, local: true }
)

describe("the local source", () => {
  it.live("lists files in order, and says when it has seen everything", () =>
    Effect.gen(function*() {
      const path = yield* tempFolder
      write(path, { "b.md": "b", "a/z.md": "z", "a/b/c.md": "c", "ä.md": "ä" })
      const listed = yield* list({ path })
      assert.deepStrictEqual(paths(listed).toSorted(), ["a/b/c.md", "a/z.md", "b.md", "ä.md"])
      assert.strictEqual(listed.at(-1)?._tag, "complete")
      assert.deepStrictEqual(yield* list({ path }), listed)
    }).pipe(Effect.scoped))

  it.live("gives files the addresses that Node gives them, and reads them by those", () =>
    Effect.gen(function*() {
      const path = join(yield* tempFolder, "a folder & more")
      const names = ["plain-1_a.md", "a b.md", "50%.md", "what?.md", "a#b.md", "~a.md", "ä.md", "sub/x.md", "sub/y z.md"]
      write(path, Object.fromEntries(names.map((name) => [name, `in ${name}`])))
      const connector = local({ path })
      const found = items(yield* connector.list().pipe(Stream.runCollect))
      assert.deepStrictEqual(
        new Map(found.map(({ path, uri }) => [path, uri])),
        new Map(found.map((item) => [item.path, pathToFileURL(join(path, item.path)).href]))
      )
      const texts = yield* Effect.forEach(found, (item) =>
        Effect.map(Stream.runCollect(connector.read(item, 1_000)), (parts) => Buffer.concat(parts).toString()))
      assert.deepStrictEqual(
        texts.toSorted(),
        names.map((name) =>
          `in ${name}`
        ).toSorted()
      )
    }).pipe(Effect.scoped))

  it.live("lists what is next when it is asked for, and holds neither a tree nor a large folder", () =>
    Effect.gen(function*() {
      const path = yield* tempFolder
      const names = Array.from({ length: 1_200 }, (_, at) => `a/${String(at).padStart(4, "0")}.md`)
      write(path, Object.fromEntries([...names, "b/1.md"].map((name) => [name, name])))
      let listed = 0
      const found = yield* local({ path }).list().pipe(
        Stream.tap(() =>
          Effect.sync(() => {
            if (listed++ > 0) return
            write(path, { "b/2.md": "made meanwhile" })
            rmSync(join(path, "a/1199.md"))
          })
        ),
        Stream.runCollect
      )
      assert.deepStrictEqual(paths(found), [...names.slice(0, -1), "b/1.md", "b/2.md"])
    }).pipe(Effect.scoped))

  it.live("does not wait on a pipe that took a file's place since it was listed", () =>
    Effect.gen(function*() {
      const path = yield* tempFolder
      write(path, { "a.md": "a", "big.md": "b".repeat(2 * 1024 * 1024) })
      const source = local({ path })
      for (const item of items(yield* source.list().pipe(Stream.runCollect))) {
        rmSync(join(path, item.path))
        execFileSync("mkfifo", [join(path, item.path)])
        const error = yield* Effect.flip(Stream.runDrain(source.read(item, 10_000_000)))
        assert.deepInclude(error, { code: "NOT_FOUND", message: `${item.path} is not a file any more` })
      }
    }).pipe(Effect.scoped))

  it.live("takes what include matches and exclude does not, and does not enter excluded folders", () =>
    Effect.gen(function*() {
      const path = yield* tempFolder
      write(path, { "a.md": "", "a.txt": "", "drafts/x.md": "", "deep/drafts/y.md": "" })
      const listed = yield* list({ path, include: ["**/*.md"], exclude: ["drafts/**"] })
      assert.deepStrictEqual(paths(listed).toSorted(), ["a.md", "deep/drafts/y.md"])
      assert.deepStrictEqual(skipped(listed), { "a.txt": "ignored", "drafts/": "ignored" })
    }).pipe(Effect.scoped))

  it.live("obeys ignore files, nested ones and negations too", () =>
    Effect.gen(function*() {
      const path = yield* tempFolder
      write(path, {
        ".sluiceignore": "*.log\n/build\n!keep.log\n",
        "sub/.sluiceignore": "secret.md\n",
        "x.log": "",
        "keep.log": "",
        "build/out.md": "",
        "sub/build/in.md": "",
        "sub/secret.md": "",
        "secret.md": ""
      })
      const listed = yield* list({ path })
      assert.deepStrictEqual(paths(listed).toSorted(), ["keep.log", "secret.md", "sub/build/in.md"])
    }).pipe(Effect.scoped))

  it.live("lets the innermost ignore file decide, as Git does", () =>
    Effect.gen(function*() {
      const path = yield* tempFolder
      write(path, {
        ".sluiceignore": "*.log\n/off/\n",
        "sub/.sluiceignore": "!important.log\n",
        "sub/deep/.sluiceignore": "important.log\n",
        "off/.sluiceignore": "!*\n",
        "off/x.md": "",
        "important.log": "",
        "sub/important.log": "",
        "sub/other.log": "",
        "sub/deep/important.log": ""
      })
      assert.deepStrictEqual(paths(yield* list({ path })), ["sub/important.log"])
    }).pipe(Effect.scoped))

  it.live("takes nothing of a folder whose ignore file cannot be read", () =>
    Effect.gen(function*() {
      const path = yield* tempFolder
      write(path, { "a.md": "", "sub/secret.md": "", "sub/deep/x.md": "" })
      symlinkSync(".sluiceignore", join(path, "sub/.sluiceignore"))
      const listed = yield* list({ path })
      assert.deepStrictEqual(paths(listed), ["a.md"])
      const failed = listed.filter((event) => event._tag === "failed")
      assert.deepStrictEqual(failed.map((event) => event.path), ["sub/"])
      assert.match(failed[0]?.error.message ?? "", /sub\/\.sluiceignore: ELOOP/)
      symlinkSync(".sluiceignore", join(path, ".sluiceignore"))
      assert.strictEqual((yield* Effect.exit(list({ path })))._tag, "Failure")
    }).pipe(Effect.scoped))

  it.live("leaves hidden files alone unless asked", () =>
    Effect.gen(function*() {
      const path = yield* tempFolder
      write(path, { ".env": "x", ".git/config": "x", "a.md": "x" })
      assert.deepStrictEqual(paths(yield* list({ path })), ["a.md"])
      assert.deepStrictEqual(paths(yield* list({ path, hidden: true })).toSorted(), [".env", ".git/config", "a.md"])
    }).pipe(Effect.scoped))

  it.live("never lists its own data directory", () =>
    Effect.gen(function*() {
      const path = yield* tempFolder
      write(path, { "a.md": "x", "data/sluice.db": "x" })
      assert.deepStrictEqual(paths(yield* list({ path, hidden: true }, { dataDir: join(path, "data") })), ["a.md"])
    }).pipe(Effect.scoped))

  it.live("does not follow links; asked to, it stays inside and does not loop", () =>
    Effect.gen(function*() {
      const path = yield* tempFolder
      const outside = yield* tempFolder
      write(outside, { "secret.md": "x" })
      write(path, { "a/x.md": "x" })
      symlinkSync(join(outside, "secret.md"), join(path, "out.md"))
      symlinkSync(outside, join(path, "outdir"))
      symlinkSync("a/x.md", join(path, "in.md"))
      symlinkSync("..", join(path, "a/loop"))
      symlinkSync("nowhere", join(path, "broken"))
      symlinkSync("itself", join(path, "itself"))
      assert.deepStrictEqual(paths(yield* list({ path })), ["a/x.md"])
      const listed = yield* list({ path, followLinks: true })
      assert.deepStrictEqual(paths(listed).toSorted(), ["a/x.md", "in.md"])
      assert.deepStrictEqual(skipped(listed), { "out.md": "link", outdir: "link", "a/loop": "link", broken: "link", itself: "link" })
    }).pipe(Effect.scoped))

  it.live("does not read through a file that became a link after it was listed", () =>
    Effect.gen(function*() {
      const path = yield* tempFolder
      const outside = yield* tempFolder
      write(outside, { "secret.md": "secret" })
      write(path, { "a.md": "x" })
      const [item] = items(yield* list({ path }))
      rmSync(join(path, "a.md"))
      symlinkSync(join(outside, "secret.md"), join(path, "a.md"))
      const read = yield* local({ path }).read(item!, 100).pipe(Stream.runCollect, Effect.exit)
      assert.strictEqual(read._tag, "Failure")
    }).pipe(Effect.scoped))

  it.live("spells names in NFC, and keeps names apart that differ in normalisation or case only", () =>
    Effect.gen(function*() {
      const path = yield* tempFolder
      const composed = "caf\u00e9.md"
      const decomposed = "cafe\u0301.md"
      write(path, { [`alone/${decomposed}`]: "1", [`both/${composed}`]: "2", [`both/${decomposed}`]: "3", "A.md": "4", "a.md": "5" })
      const listed = items(yield* list({ path }))
      assert.deepStrictEqual(
        listed.map((item) => item.path).toSorted(),
        ["A.md", "a.md", `alone/${composed}`, `both/${composed}`, `both/${decomposed}`].toSorted()
      )
      const texts = yield* Effect.forEach(listed, (item) => local({ path }).read(item, 100).pipe(Stream.decodeText(), Stream.mkString))
      assert.deepStrictEqual(texts.toSorted(), ["1", "2", "3", "4", "5"])
    }).pipe(Effect.scoped))

  it.live("lists a FIFO as special and does not open it", () =>
    Effect.gen(function*() {
      const path = yield* tempFolder
      execFileSync("mkfifo", [join(path, "pipe")])
      assert.deepStrictEqual(skipped(yield* list({ path })), { pipe: "special" })
    }).pipe(Effect.scoped))

  it.live("gives a revision that moves with the content, even when the modification time is put back", () =>
    Effect.gen(function*() {
      const path = yield* tempFolder
      write(path, { "a.md": "one" })
      touch(join(path, "a.md"))
      const [before] = items(yield* list({ path }))
      writeFileSync(join(path, "a.md"), "two")
      touch(join(path, "a.md"))
      const [after] = items(yield* list({ path }))
      assert.notStrictEqual(before?.revision, after?.revision)
      assert.isTrue(after?.unsettled)
    }).pipe(Effect.scoped))

  it.effect("trusts the revision of a file that has grown old enough, unless it changed meanwhile", () =>
    Effect.gen(function*() {
      const path = yield* tempFolder
      const connector = local({ path })
      const settled = (item: SourceItem) => connector.settled?.(item) ?? Effect.succeed(false)
      write(path, { "a.md": "one" })
      yield* TestClock.setTime(Date.now())
      const [young] = items(yield* list({ path }))
      assert.isTrue(young?.unsettled)
      assert.isFalse(yield* settled(young!))
      yield* TestClock.adjust(3_000)
      assert.isTrue(yield* settled(young!))
      writeFileSync(join(path, "a.md"), "two")
      yield* TestClock.adjust(30_000)
      assert.isFalse(yield* settled(young!))
      rmSync(join(path, "a.md"))
      assert.isFalse(yield* settled(young!))
    }).pipe(Effect.scoped))

  it.effect("trusts the revision of a file whose modification time lies ahead once its change time is old enough", () =>
    Effect.gen(function*() {
      const path = yield* tempFolder
      write(path, { "a.md": "one" })
      utimesSync(join(path, "a.md"), 4_000_000_000, 4_000_000_000)
      yield* TestClock.setTime(Date.now())
      assert.isTrue(items(yield* list({ path }))[0]?.unsettled)
      yield* TestClock.adjust(3_000)
      assert.isUndefined(items(yield* list({ path }))[0]?.unsettled)
    }).pipe(Effect.scoped))

  it.live("refuses to read more than it may, and files that change while they are read", () =>
    Effect.gen(function*() {
      const path = yield* tempFolder
      const big = 6 * 1024 * 1024
      write(path, { "a.bin": new Uint8Array(big) })
      const [item] = items(yield* list({ path }))
      const over = yield* local({ path }).read(item!, big - 1).pipe(Stream.runDrain, Effect.flip)
      assert.deepInclude(over, { code: "OUT_OF_RANGE" })
      const grow = setInterval(() => appendFileSync(join(path, "a.bin"), "x"), 0)
      const results = yield* Effect.forEach(Array.from({ length: 20 }), () =>
        local({ path }).read(item!, big * 2).pipe(Stream.runDrain, Effect.result))
      clearInterval(grow)
      assert.isTrue(results.some((r) =>
        r._tag === "Failure" && r.failure._tag === "ServiceError" && r.failure.code === "ABORTED"
      ))
    }).pipe(Effect.scoped))

  it.live("fails when the root is gone, and then lists nothing as complete", () =>
    Effect.gen(function*() {
      const path = join(yield* tempFolder, "root")
      const error = yield* list({ path }).pipe(Effect.flip)
      assert.deepInclude(error, { code: "NOT_FOUND" })
      assert.deepInclude(yield* local({ path }).check.pipe(Effect.flip), { code: "NOT_FOUND" })
    }).pipe(Effect.scoped))

  it.live.skipIf(process.getuid?.() === 0)("reports a folder it may not read, and goes on", () =>
    Effect.gen(function*() {
      const path = yield* tempFolder
      write(path, { "locked/a.md": "", "b.md": "" })
      chmodSync(join(path, "locked"), 0)
      const listed = yield* list({ path })
      chmodSync(join(path, "locked"), 0o700)
      assert.deepStrictEqual(paths(listed), ["b.md"])
      assert.isTrue(listed.some((event) => event._tag === "failed" && event.path === "locked/"))
    }).pipe(Effect.scoped))

  it.live("walks 20,000 files in flat memory", () =>
    Effect.gen(function*() {
      const path = yield* tempFolder
      for (let d = 0; d < 100; d++) {
        mkdirSync(join(path, `d${d}`))
        for (let f = 0; f < 200; f++) writeFileSync(join(path, `d${d}`, `f${f}.md`), "x")
      }
      let count = 0
      let peak = 0
      globalThis.gc?.()
      const base = process.memoryUsage().heapUsed
      yield* local({ path }).list().pipe(Stream.runForEach((event) =>
        Effect.sync(() => {
          if (event._tag === "item") count += 1
          if (count % 1_000 === 0) peak = Math.max(peak, process.memoryUsage().heapUsed - base)
        })
      ))
      assert.strictEqual(count, 20_000)
      assert.isBelow(peak, 64 * 1024 * 1024)
    }).pipe(Effect.scoped))
})
