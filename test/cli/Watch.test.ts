import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { chmodSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import type { Readable } from "node:stream"
import { fakeVertex } from "../fakes/Vertex.ts"
import { sluice, start } from "../support/Sluice.ts"
import { write } from "../support/TempFolder.ts"
import { type WatchLine, Watching } from "../support/Watching.ts"
import { project } from "./Project.ts"

const isBatch = (line: WatchLine) => line["type"] === "batch"

const totalsOf = (line: WatchLine | undefined): Record<string, number> => {
  const report = line?.["report"]
  assert.isTrue(typeof report === "object" && report !== null && "totals" in report, JSON.stringify(line))
  return (report as { totals: Record<string, number> }).totals // the line above
}

const sumOf = (watching: Watching, key: string): number =>
  watching.lines.filter(isBatch).reduce((sum, line) => sum + (totalsOf(line)[key] ?? 0), 0)

const watchIn = (cwd: string, as: { readonly uid?: number } = {}) =>
  Effect.acquireRelease(Effect.sync(() => new Watching(cwd, [], as)), (watching) => Effect.promise(() => watching.kill("SIGKILL")))

const promised = <A>(body: () => Promise<A>): Effect.Effect<A> => Effect.promise(body)

const filesOf = (cwd: string) =>
  promised(() => sluice(["files", "list", "--json"], { cwd })).pipe(
    Effect.map(({ stdout }) => [...stdout.matchAll(/"displayName":"([^"]*)"/g)].map((match) => match[1]).toSorted())
  )

const numbered = (n: number) =>
  Object.fromEntries(Array.from({ length: n }, (_, i) => [`many/f${i}.md`, `# File ${i}\n\nText number ${i}.\n`]))

describe.concurrent("watch", () => {
  it.live("syncs, takes each change as a batch, and holds the data directory until Ctrl-C", () =>
    Effect.gen(function*() {
      const cwd = yield* project()
      const watching = yield* watchIn(cwd)
      const first = yield* promised(() => watching.until((line) => line["type"] === "quiet"))
      assert.strictEqual(sumOf(watching, "added"), 3)

      write(join(cwd, "docs"), { "new.md": "# New\n\nA new page.\n" })
      yield* promised(() => watching.settledAfter("new.md", first))
      renameSync(join(cwd, "docs/new.md"), join(cwd, "docs/travel/renamed.md"))
      yield* promised(() => watching.settledAfter("travel/renamed.md", first))
      assert.deepStrictEqual([sumOf(watching, "added"), sumOf(watching, "moved"), sumOf(watching, "deleted")], [4, 1, 0])

      const other = yield* promised(() => sluice(["run"], { cwd }))
      assert.strictEqual(other.code, 1)
      assert.include(other.stderr, "sluice watch pipeline.yaml")
      const { code } = yield* promised(() => watching.kill("SIGINT"))
      assert.strictEqual(code, 130)
      assert.strictEqual((yield* promised(() => sluice(["run"], { cwd }))).code, 0)
      assert.deepStrictEqual(yield* filesOf(cwd), ["batteries.txt", "leave.md", "travel/hotels.md", "travel/renamed.md"])
    }).pipe(Effect.scoped))

  it.live("says so where its database was removed, instead of writing to a file that is gone", () =>
    Effect.gen(function*() {
      const cwd = yield* project()
      const watching = yield* watchIn(cwd)
      const first = yield* promised(() => watching.until((line) => line["type"] === "quiet"))
      rmSync(join(cwd, ".sluice"), { recursive: true })
      write(join(cwd, "docs"), { "new.md": "# New\n\nA new page.\n" })
      const trouble = yield* promised(() => watching.until((line) => line["type"] === "trouble", first))
      assert.match(String(watching.lines[trouble]?.["message"]), /sluice\.db was removed or replaced while it was in use/)
      assert.strictEqual(sumOf(watching, "added"), 3)
    }).pipe(Effect.scoped))

  it.live("watches a folder that could not be read once it can be", () =>
    Effect.gen(function*() {
      const cwd = yield* project()
      const closed = join(cwd, "docs/closed")
      write(closed, { "a.md": "# Closed\n\nNot for all.\n" })
      chmodSync(closed, 0o700)
      // Somebody whom permissions bind, where this process is root.
      const as = process.getuid?.() === 0 ? { uid: 65_534 } : {}
      if (as.uid === undefined) chmodSync(closed, 0)
      else chmodSync(cwd, 0o777)
      const watching = yield* watchIn(cwd, as)
      const first = yield* promised(() => watching.until((line) => line["type"] === "quiet"))
      assert.strictEqual(sumOf(watching, "added"), 3)
      chmodSync(closed, 0o755)
      yield* promised(() => watching.settledAfter("closed/a.md", first))
      const before = watching.lines.length
      write(closed, { "a.md": "# Closed\n\nFor all now.\n" })
      yield* promised(() => watching.settledAfter("closed/a.md", before))
      assert.deepStrictEqual([sumOf(watching, "added"), sumOf(watching, "changed")], [4, 1])
    }).pipe(Effect.scoped))

  it.live("takes up an edited pipeline file, and keeps what it had where that is not valid or cannot be run", () =>
    Effect.gen(function*() {
      const cwd = yield* project()
      const written = readFileSync(join(cwd, "pipeline.yaml"), "utf8")
      const watching = yield* watchIn(cwd)
      const edit = (text: string) => {
        const from = watching.lines.length
        write(cwd, { "pipeline.yaml": text })
        return Effect.map(promised(() => watching.until((line) => line["type"] === "pipeline", from)), (at) => watching.lines[at])
      }
      yield* promised(() => watching.until((line) => line["type"] === "quiet"))
      const invalid = yield* edit(`${written}nonsense: 1\n`)
      assert.deepInclude(invalid, { taken: false })
      const taken = yield* edit(written.replace("sources: {", "sources: { more: { local: { path: ./more } },"))
      // The folder of the new source is not there: that is told, and the old one is watched on.
      assert.deepInclude(taken, { taken: true })
      const refused = yield* promised(() =>
        watching.until((line) => line["type"] === "pipeline" && line["taken"] === false, watching.lines.indexOf(taken ?? {}))
      )
      assert.include(String(watching.lines[refused]?.["message"]), "sources.more")
      const from = watching.lines.length
      write(join(cwd, "docs"), { "new.md": "# New\n\nA new page.\n" })
      yield* promised(() => watching.settledAfter("new.md", Math.min(from, refused)))
    }).pipe(Effect.scoped))

  it.live("a burst of 2,000 files is far fewer batches", () =>
    Effect.gen(function*() {
      const cwd = yield* project()
      const watching = yield* watchIn(cwd)
      yield* promised(() => watching.until((line) => line["type"] === "quiet"))
      const before = watching.lines.filter(isBatch).length
      write(join(cwd, "docs"), numbered(2_000))
      const last = yield* promised(() => watching.until((line) => isBatch(line) && sumOf(watching, "added") === 2_003))
      // It may have come together with the batch.
      yield* promised(() => watching.until((line) => line["type"] === "quiet", last))
      // A few. On a machine however slow, batches 300 ms apart are fewer than this in the time there is.
      assert.isBelow(watching.lines.filter(isBatch).length - before, 500)
      assert.strictEqual(sumOf(watching, "failed"), 0)
    }).pipe(Effect.scoped))

  it.live("deletes nothing while the folder is away, and goes on when it is back", () =>
    Effect.gen(function*() {
      const cwd = yield* project()
      const watching = yield* watchIn(cwd)
      yield* promised(() => watching.until((line) => line["type"] === "quiet"))
      renameSync(join(cwd, "docs"), join(cwd, "away"))
      const trouble = yield* promised(() => watching.until((line) => line["type"] === "trouble"))
      assert.include(String(watching.lines[trouble]?.["message"]), "docs is not there")
      assert.strictEqual(watching.lines[trouble]?.["source"], "docs")
      const batch = yield* promised(() => watching.until(isBatch, trouble))
      assert.strictEqual(totalsOf(watching.lines[batch])["deleted"], 0)

      write(join(cwd, "away"), { "written-away.md": "# Away\n\nWritten while nobody looked.\n" })
      renameSync(join(cwd, "away"), join(cwd, "docs"))
      yield* promised(() => watching.until((line) => line["type"] === "recovered", trouble))
      yield* promised(() => watching.settledAfter("written-away.md", trouble))
      // The folder is another one now, and is watched anew.
      write(join(cwd, "docs"), { "after.md": "# After\n\nWritten when it was back.\n" })
      yield* promised(() => watching.settledAfter("after.md", trouble))
      assert.strictEqual(sumOf(watching, "deleted"), 0)
      assert.strictEqual(watching.lines.filter((line) => line["type"] === "trouble").length, 1)
    }).pipe(Effect.scoped))

  it.live("takes a folder out of an ignore file into account, and its files from then on", () =>
    Effect.gen(function*() {
      const cwd = yield* project({ "docs/.sluiceignore": "drafts/\n", "docs/drafts/one.md": "# Draft\n" })
      const watching = yield* watchIn(cwd)
      yield* promised(() => watching.until((line) => line["type"] === "quiet"))
      write(join(cwd, "docs"), { ".sluiceignore": "nothing\n" })
      yield* promised(() => watching.settledAfter("drafts/one.md"))
      write(join(cwd, "docs"), { "drafts/two.md": "# Another draft\n" })
      yield* promised(() => watching.settledAfter("drafts/two.md"))
    }).pipe(Effect.scoped))

  it.live("for people: the report, then a line for each batch, and what the guard holds once", () =>
    Effect.gen(function*() {
      const cwd = yield* project()
      write(join(cwd, "docs"), numbered(40))
      const { child, finished } = start(["watch"], { cwd })
      yield* Effect.addFinalizer(() =>
        promised(() => {
          child.kill("SIGKILL")
          return finished
        })
      )
      yield* promised(() => heard(child.stderr, /Watching; Ctrl-C stops/))
      const added = heard(child.stdout, /^\d\d:\d\d:\d\d {2}1 added \(.* s\)$/m)
      write(join(cwd, "docs"), { "new.md": "# New\n\nA new page.\n" })
      yield* promised(() => added)
      // A listing that is under way as the folder goes may miss a part of it, which the guard lets pass: the rest is held then.
      const held = heard(child.stderr, /docs: \d+ of \d+ files are gone at the source/)
      renameSync(join(cwd, "docs/many"), join(cwd, "away"))
      yield* promised(() => held)
      const changed = heard(child.stdout, /^\d\d:\d\d:\d\d {2}1 changed \(.* s\)$/m)
      writeFileSync(join(cwd, "docs/new.md"), "# New\n\nA newer page.\n")
      yield* promised(() => changed)
      // The lock is no way in; the watch itself is told.
      const deleted = heard(child.stdout, /^\d\d:\d\d:\d\d {2}\d+ deleted \(.* s\)$/m)
      const released = yield* promised(() => sluice(["release"], { cwd }))
      assert.deepStrictEqual([released.code, released.stderr], [0, ""])
      yield* promised(() => deleted)
      child.kill("SIGINT")
      const { code, stderr, stdout } = yield* promised(() => finished)
      assert.strictEqual(code, 130)
      assert.strictEqual(stderr.match(/are gone at the source/g)?.length, 1, stderr)
      assert.include(stderr, "to delete them: sluice release pipeline.yaml")
      assert.match(stdout, /^docs +43 +43$/m)
      // With nobody to hear it, it says what to do instead, and leaves nothing for a later watch.
      const unheard = yield* promised(() => sluice(["release"], { cwd }))
      assert.notStrictEqual(unheard.code, 0)
      assert.include(unheard.stderr, "sluice run pipeline.yaml --yes")
      assert.deepStrictEqual(readdirSync(join(cwd, ".sluice")).filter((name) => name.startsWith("release")), [])
    }).pipe(Effect.scoped))

  it.live("a second Ctrl-C does not wait for the batch in hand", () =>
    Effect.gen(function*() {
      const cwd = yield* project()
      const fake = yield* fakeVertex
      write(cwd, {
        "pipeline.yaml": `
name: test
engine: { vertex: { project: p1, location: us-central1, baseUrl: "${fake.baseUrl}" } }
corpus: { displayName: Test }
sources: { docs: { local: { path: ./docs } } }
`
      })
      const watching = yield* watchIn(cwd)
      const first = yield* promised(() => watching.until((line) => line["type"] === "quiet"))
      const arrived = new Promise<void>((resolve) => {
        // Nobody ever hears of this upload again.
        fake.handle = ({ path }) => {
          if (path.startsWith("/upload/")) resolve()
          return path.startsWith("/upload/")
        }
      })
      write(join(cwd, "docs"), { "new.md": "# New\n\nA new page.\n" })
      yield* promised(() => arrived)
      watching.child.kill("SIGINT")
      const stopping = yield* promised(() => watching.until((line) => line["type"] === "stopping", first))
      const { code } = yield* promised(() => watching.kill("SIGINT"))
      assert.strictEqual(code, 130)
      assert.deepStrictEqual(watching.lines.slice(stopping + 1), [])
    }).pipe(Effect.scoped))

  it.live("a path that was never there ends it at once", () =>
    Effect.gen(function*() {
      const cwd = yield* project()
      rmSync(join(cwd, "docs"), { recursive: true })
      const { code, stderr } = yield* promised(() => sluice(["watch"], { cwd }))
      assert.strictEqual(code, 1)
      assert.include(stderr, "correct the source's path")
    }).pipe(Effect.scoped))
})

describe("diff", () => {
  it.live("finds what was deleted and what was put there behind the ledger's back", () =>
    Effect.gen(function*() {
      const cwd = yield* project()
      const run = (...args: ReadonlyArray<string>) => promised(() => sluice(args, { cwd }))
      yield* run("run")
      const clean = yield* run("diff", "--detailed-exitcode")
      assert.deepStrictEqual([clean.code, clean.stdout], [0, "3 files as the ledger says\n"])
      const [name] = (yield* run("files", "list", "--json")).stdout.match(/[^"]*\/ragFiles\/\d+/) ?? []
      assert.isDefined(name)
      yield* run("files", "delete", name)
      const { code, stdout } = yield* run("diff", "--detailed-exitcode")
      assert.strictEqual(code, 2)
      assert.match(stdout, /^missing +docs: .* in the ledger, not in the corpus$/m)
      assert.match(stdout, /^2 files as the ledger says, 1 missing$/m)
    }).pipe(Effect.scoped))
})

/** Waits until a stream has said something; tells what it said instead. */
const heard = (stream: Readable | null, pattern: RegExp): Promise<void> =>
  new Promise((resolve, reject) => {
    let text = ""
    const late = setTimeout(() => reject(new Error(`${pattern} was not said within 100 s, but: ${text}`)), 100_000)
    late.unref()
    stream?.on("data", (more: string) => {
      text += more
      if (!pattern.test(text)) return
      clearTimeout(late)
      resolve()
    })
  })
