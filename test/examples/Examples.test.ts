import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { spawn } from "node:child_process"
import { once } from "node:events"
import { dirname, join } from "node:path"
import { createInterface } from "node:readline"
import { dist } from "../support/Built.ts"
import { tempFolder } from "../support/TempFolder.ts"

/** Runs an example as a user would, on the package as it is built. */
const run = (example: string) =>
  Effect.gen(function*() {
    const cwd = yield* tempFolder
    return yield* Effect.promise(() =>
      new Promise<{ code: number | null; stdout: string; stderr: string }>((resolve) => {
        const child = spawn(process.execPath, [join(dirname(dist), "examples", example)], { cwd })
        let stdout = ""
        let stderr = ""
        child.stdout.on("data", (data) => void (stdout += data))
        child.stderr.on("data", (data) => void (stderr += data))
        child.on("close", (code) => resolve({ code, stdout, stderr }))
      })
    )
  })

describe("the examples", () => {
  it.live("ingest and ask: files in, a cited answer out", () =>
    Effect.gen(function*() {
      const { code, stderr, stdout } = yield* run("ingest-and-ask.ts")
      assert.strictEqual(code, 0, stderr)
      assert.match(stdout, /^2\d added, 0 unchanged, \d+ skipped, 0 failed\n/)
      assert.include(stdout, "five unused days")
      assert.include(stdout, "[1] people/leave-policy.md")
    }).pipe(Effect.scoped))

  it.live("a custom stage composes with the built-in ones", () =>
    Effect.gen(function*() {
      const { code, stderr, stdout } = yield* run("custom-stage.ts")
      assert.strictEqual(code, 0, stderr)
      assert.match(stdout, /^\d+ files, one context each\n\S/)
    }).pipe(Effect.scoped))

  it.live("passages: whole sections that do not repeat one another", () =>
    Effect.gen(function*() {
      const { code, stderr, stdout } = yield* run("passages.ts")
      assert.strictEqual(code, 0, stderr)
      const passages = stdout.match(/^\S+\.\w+, bytes \d+ to \d+$/gm) ?? []
      assert.isTrue(passages.length >= 1 && passages.length <= 4, stdout)
      assert.match(stdout, /\[1\]/)
    }).pipe(Effect.scoped))

  it.live("a source of one's own is read page by page", () =>
    Effect.gen(function*() {
      const { code, stderr, stdout } = yield* run("own-source.ts")
      assert.strictEqual(code, 0, stderr)
      assert.strictEqual(stdout, "3 notes\nManagers approve travel. [1]\n")
    }).pipe(Effect.scoped))

  it.live("a file uses a parser and a chunker of one's own", () =>
    Effect.gen(function*() {
      const { code, stderr, stdout } = yield* run("own-parser.ts")
      assert.strictEqual(code, 0, stderr)
      assert.strictEqual(
        stdout,
        "2 calls in 3 chunks\nThe warehouse in Porto gets its scanners on the ninth of April. [1] (rollout.call.jsonl)\n"
      )
    }).pipe(Effect.scoped))

  it.live("a file uses a stage of one's own", () =>
    Effect.gen(function*() {
      const { code, stderr, stdout } = yield* run("own-stage.ts")
      assert.strictEqual(code, 0, stderr)
      const [, contexts, files] = /^(\d+) contexts of (\d+) files\n\S/.exec(stdout) ?? []
      assert.isDefined(contexts, stdout)
      assert.strictEqual(contexts, files)
    }).pipe(Effect.scoped))

  it.live("a model of effect/ai answers, and what it invents has no citation", () =>
    Effect.gen(function*() {
      const { code, stderr, stdout } = yield* run("own-model.ts")
      assert.strictEqual(code, 0, stderr)
      assert.match(stdout, /^1 citations: Five unused days carry over/m)
      assert.match(stdout, /^0 citations: Zebras/m)
    }).pipe(Effect.scoped))

  it.live("a web site is crawled as its robots.txt allows", () =>
    Effect.gen(function*() {
      const { code, stderr, stdout } = yield* run("web-crawl.ts")
      assert.strictEqual(code, 0, stderr)
      assert.strictEqual(stdout, "3 pages\nManagers approve travel that costs more than 500 euros. [1] (Travel.md)\n")
    }).pipe(Effect.scoped))

  it.live("an HTTP app streams answers in promises, and closes when it is told to", () =>
    Effect.gen(function*() {
      const cwd = yield* tempFolder
      const child = yield* Effect.acquireRelease(
        Effect.sync(() =>
          spawn(process.execPath, [join(dirname(dist), "examples/http-app.ts")], {
            cwd,
            env: { ...process.env, PORT: "0" },
            stdio: ["ignore", "pipe", "inherit"]
          })
        ),
        (started) => Effect.sync(() => started.kill("SIGKILL"))
      )
      yield* Effect.promise(async () => {
        const [line] = await once(createInterface({ input: child.stdout }), "line") as [string]
        const origin = `http://127.0.0.1:${/\d+/.exec(line)?.[0]}`
        const answer = await (await fetch(`${origin}/ask?q=How+many+unused+days+of+annual+leave+carry+over`)).text()
        assert.match(answer, /five unused days[\s\S]*\[1\] people\/leave-policy\.md/)
        assert.strictEqual((await fetch(origin)).status, 400)
        const closed = once(child, "exit")
        child.kill("SIGTERM")
        assert.strictEqual((await closed)[0], 0)
      })
    }).pipe(Effect.scoped))

  it.live("a custom embedder takes the place of the built-in one", () =>
    Effect.gen(function*() {
      const { code, stderr, stdout } = yield* run("custom-embedder.ts")
      assert.strictEqual(code, 0, stderr)
      assert.match(stdout, /^[1-9]\d* chunks embedded\n(.+ at \d\.\d{3}\n){3}$/)
    }).pipe(Effect.scoped))
})
