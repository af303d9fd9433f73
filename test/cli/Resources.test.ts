import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { command } from "../support/Command.ts"
import { events } from "../support/Finished.ts"
import { sluice } from "../support/Sluice.ts"
import { write } from "../support/TempFolder.ts"
import { project } from "./Project.ts"

const run = (cwd: string, ...args: ReadonlyArray<string>) => Effect.promise(() => command(args, { cwd }))

/** The same by the built program, in a process of its own. */
const built = (cwd: string, ...args: ReadonlyArray<string>) => Effect.promise(() => sluice(args, { cwd }))

describe("corpora, files, operations", () => {
  it.live("are listed and shown by path, display name, id and full name", () =>
    Effect.gen(function*() {
      const cwd = yield* project()
      const none = yield* run(cwd, "corpora", "list")
      assert.deepStrictEqual([none.code, none.stdout, none.stderr], [0, "", "none\n"])
      yield* run(cwd, "run")
      const [corpus] = events(yield* run(cwd, "corpora", "list", "--json"))
      assert.deepInclude(corpus, { version: 1, displayName: "Test", filesCount: 3 })
      const corpusName = String(corpus?.["name"])
      for (const written of ["Test", corpusName, corpusName.split("/").at(-1) ?? ""]) {
        assert.deepInclude(events(yield* run(cwd, "corpora", "get", written, "--json"))[0], { name: corpusName, vectorDb: "managed" })
      }
      const files = events(yield* run(cwd, "files", "list", "--json"))
      assert.sameMembers(files.map(({ displayName }) => displayName), ["batteries.txt", "leave.md", "travel/hotels.md"])
      const name = String(files[0]?.["name"])
      for (const written of [String(files[0]?.["displayName"]), name, name.split("/").at(-1) ?? ""]) {
        assert.strictEqual(events(yield* run(cwd, "files", "get", written, "--json"))[0]?.["name"], name)
      }
      assert.match((yield* run(cwd, "files", "get", "leave.md", "--corpus", "Test")).stdout, /^displayName: leave\.md$/m)
      const missing = yield* run(cwd, "files", "get", "nope.md")
      assert.deepStrictEqual([missing.code, missing.stdout], [1, ""])
      assert.match(missing.stderr, /error: file "nope\.md" was not found\nfix: see what there is: sluice files list/)
    }).pipe(Effect.scoped))

  it.live("a file's stored text is shown in chunks", () =>
    Effect.gen(function*() {
      const sentences = Array.from({ length: 40 }, (_, i) => `Rule ${i + 1} grants café number ${i + 1} a day of rest.`)
      const cwd = yield* project({ "docs/rules.md": `# Rules\n\n${sentences.join(" ")}\n` })
      yield* run(cwd, "run")
      const shown = yield* run(cwd, "files", "show", "rules.md")
      assert.strictEqual(shown.code, 0, shown.stderr)
      assert.match(shown.stdout, /^rules\.md {2}\d+ chunks, [\d,]+ bytes/)
      assert.match(shown.stdout, /^chunk 2 \d+-\d+, \d+ tokens, Rules$/m)
      const [stored] = events(yield* run(cwd, "files", "show", "rules.md", "--json"))
      assert.deepInclude(stored?.["file"], { displayName: "rules.md" })
      const chunks = stored?.["chunks"] as ReadonlyArray<
        { readonly ordinal: number; readonly text: string; readonly byteStart: number; readonly byteEnd: number }
      >
      assert.isAbove(chunks.length, 5)
      assert.deepStrictEqual(chunks.map(({ ordinal }) => ordinal), chunks.map((_, i) => i))
      for (const sentence of sentences) assert.include(chunks.map(({ text }) => text).join(" ").replace(/\s+/g, " "), sentence)
      for (const { byteEnd, byteStart, text } of chunks) assert.strictEqual(byteEnd - byteStart, Buffer.byteLength(text))
      write(cwd, { "stored.json": JSON.stringify(stored) })
      const same = yield* run(cwd, "parse", "docs/rules.md", "--pipeline", "pipeline.yaml", "--diff", "stored.json")
      assert.match(same.stdout, new RegExp(`^${chunks.length} chunks the same, 0 gone, 0 new`))
      assert.strictEqual((yield* run(cwd, "files", "show", "nope.md")).code, 1)
    }).pipe(Effect.scoped))

  it.live("are deleted, a corpus with files only by force", () =>
    Effect.gen(function*() {
      const cwd = yield* project()
      yield* built(cwd, "run")
      assert.match((yield* built(cwd, "files", "delete", "leave.md")).stdout, /^deleted projects\/.*\/ragFiles\/\d+$/m)
      assert.lengthOf(events(yield* built(cwd, "files", "list", "--json")), 2)
      const refused = yield* built(cwd, "corpora", "delete", "Test", "--json")
      assert.strictEqual(refused.code, 1)
      assert.deepInclude(events(refused)[0], { type: "error", code: "FAILED_PRECONDITION" })
      assert.include(refused.stdout, "--force")
      assert.strictEqual((yield* built(cwd, "corpora", "delete", "Test", "--force")).code, 0)
      assert.deepStrictEqual(events(yield* built(cwd, "corpora", "list", "--json")), [])
      const operations = yield* built(cwd, "operations", "list", "--json")
      assert.strictEqual(operations.code, 0, operations.stderr)
      assert.strictEqual((yield* built(cwd, "operations", "get", "123")).code, 1)
    }).pipe(Effect.scoped))
})
