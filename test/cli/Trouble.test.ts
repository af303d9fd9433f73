import { assert, describe, it } from "@effect/vitest"
import { Deferred, Effect } from "effect"
import { execFileSync, spawnSync } from "node:child_process"
import { closeSync, mkdirSync, openSync, readFileSync, rmSync, statSync, writeFileSync, writeSync } from "node:fs"
import { join } from "node:path"
import { fakeOpenAi, sendEmbeddings } from "../fakes/Openai.ts"
import { bin } from "../support/Built.ts"
import { eventually } from "../support/Eventually.ts"
import { events, type Finished } from "../support/Finished.ts"
import { sluice, start } from "../support/Sluice.ts"
import { pipelineFile, project } from "./Project.ts"

const run = (cwd: string, ...args: ReadonlyArray<string>) => Effect.promise(() => sluice(args, { cwd }))

const isRoot = process.getuid?.() === 0

/** One clear error: a line that says what, a line that says what to do, nothing else, and the same as JSON. */
const assertOneError = ({ code, stderr, stdout }: Finished, says: RegExp) => {
  assert.strictEqual(code, 1, stdout)
  assert.strictEqual(stdout, "")
  assert.match(stderr, /^error: .*\nfix: .*\n$/)
  assert.match(stderr, says)
}

/** Pages of some ten chunks each. */
const pages = (count: number) =>
  Object.fromEntries(
    Array.from(
      { length: count },
      (_, i) => [`docs/pages/${i}.md`, `# Page ${i}\n\n${`Sentence ${i} about valve ${i * 7} and meter ${i * 13}.\n\n`.repeat(40)}`]
    )
  )

/**
 * A run that is under way, some of it written, for as long as the test wants it to be: its embeddings come from here,
 * and after the first few none comes before `goOn`.
 */
const underWay = Effect.gen(function*() {
  const reached = yield* Deferred.make<void>()
  const kept: Array<() => void> = []
  const asked: Array<string> = []
  let held = true
  const server = yield* fakeOpenAi((request, response, count) => {
    const answer = () => sendEmbeddings(request, response, (text) => [text.length, 1, 2, 3])
    asked.push(JSON.stringify(request.body.input))
    if (!held || count < 2) return answer()
    kept.push(answer)
    Effect.runSync(Deferred.succeed(reached, undefined))
  })
  const cwd = yield* project({
    ...pages(40),
    "pipeline.yaml": pipelineFile.replace(
      "{ displayName: Test }",
      `{ displayName: Test, embedding: { openai: { url: "${server.baseUrl}", model: m, dimensions: 4 } } }`
    )
  })
  const { child, finished } = start(["run", "--json"], { cwd })
  yield* Effect.raceFirst(
    Deferred.await(reached),
    Effect.flatMap(Effect.promise(() => finished), ({ stderr }) => Effect.die(new Error(`it ended: ${stderr}`)))
  )
  const goOn = () => {
    held = false
    for (const answer of kept.splice(0)) answer()
  }
  return { cwd, child, finished: Effect.promise(() => finished), goOn, asked }
})

describe("trouble", () => {
  it.live("Ctrl-C ends a run in order with 130, and the next run goes on", () =>
    Effect.gen(function*() {
      const { child, cwd, finished, goOn } = yield* underWay
      child.kill("SIGINT")
      const interrupted = yield* finished
      assert.strictEqual(interrupted.code, 130, interrupted.stderr)
      assert.strictEqual(interrupted.stderr, "interrupted: what was written stays; run it again to go on from here\n")
      assert.deepInclude(events(interrupted).at(-1), { version: 1, type: "error", error: "Interrupted" })
      const [status] = events(yield* run(cwd, "status", "--json"))
      const last = status?.["lastRun"] as { report: { ended: string; totals: Record<string, number> } }
      assert.strictEqual(last.report.ended, "interrupted")
      assert.isAbove(last.report.totals["pending"] ?? 0, 0)
      goOn()
      const rest = yield* run(cwd, "run")
      assert.strictEqual(rest.code, 0, rest.stderr)
      assert.lengthOf(events(yield* run(cwd, "files", "list", "--json")), 43)
    }).pipe(Effect.scoped))

  it.live("Ctrl-C ends a question without claims of what was written", () =>
    Effect.gen(function*() {
      const { asked, child, cwd, finished } = yield* underWay
      const question = start(["ask", "Where is page three?"], { cwd })
      yield* eventually("its embedding is requested", Effect.sync(() => asked.some((input) => input.includes("Where is page three?"))))
      question.child.kill("SIGINT")
      const { code, stderr } = yield* Effect.promise(() => question.finished)
      assert.deepStrictEqual([code, stderr], [130, "interrupted; nothing was changed\n"])
      child.kill("SIGKILL")
      yield* finished
    }).pipe(Effect.scoped))

  it.live("a second Ctrl-C does not wait, and nothing is lost", () =>
    Effect.gen(function*() {
      const { child, cwd, finished, goOn } = yield* underWay
      child.kill("SIGINT")
      child.kill("SIGINT")
      assert.strictEqual((yield* finished).code, 130)
      goOn()
      assert.strictEqual((yield* run(cwd, "run")).code, 0)
      assert.lengthOf(events(yield* run(cwd, "files", "list", "--json")), 43)
    }).pipe(Effect.scoped))

  it.live("a second writer is told who writes, or waits; readers go on", () =>
    Effect.gen(function*() {
      const { child, cwd, finished, goOn } = yield* underWay
      const refused = yield* run(cwd, "run")
      assertOneError(refused, new RegExp(`\`sluice run pipeline\\.yaml\` \\(process ${child.pid}, since 20`))
      const asked = yield* run(cwd, "status")
      assert.strictEqual(asked.code, 0, asked.stderr)
      const waiting = start(["run", "--wait", "600"], { cwd })
      yield* Effect.promise(() => new Promise((resolve) => waiting.child.stderr?.once("data", resolve)))
      goOn()
      const waited = yield* Effect.promise(() => waiting.finished)
      assert.strictEqual(waited.code, 0, waited.stderr)
      assert.match(waited.stderr, new RegExp(`^waiting: .*\`sluice run pipeline\\.yaml\` \\(process ${child.pid}, since 20`))
      assert.match(waited.stdout, /0 chunks embedded/)
      assert.strictEqual((yield* finished).code, 0)
    }).pipe(Effect.scoped))

  it.live("a damaged database is reported and left as it is", () =>
    Effect.gen(function*() {
      const cwd = yield* project()
      yield* run(cwd, "run")
      const database = join(cwd, ".sluice/sluice.db")
      const file = openSync(database, "r+")
      const { size } = statSync(database)
      for (let at = 4096; at + 64 < size; at += 4096) writeSync(file, Buffer.alloc(64, 0xa5), 0, 64, at)
      closeSync(file)
      const damaged = readFileSync(database)
      for (const args of [["run"], ["status"], ["retrieve", "leave"], ["files", "list"]]) {
        assertOneError(yield* run(cwd, ...args), /\.sluice\/sluice\.db is damaged/)
      }
      const doctor = yield* run(cwd, "doctor")
      assert.strictEqual(doctor.code, 1)
      assert.match(doctor.stdout, /^FAILED +database +.*is damaged/m)
      assert.isTrue(damaged.equals(readFileSync(database)))
      writeFileSync(database, "this is a letter to my aunt, kept under an unlucky name\n")
      assertOneError(yield* run(cwd, "run"), /is not a Sluice database\nfix: move the file away/)
      assert.strictEqual(readFileSync(database, "utf8").slice(0, 7), "this is")
    }).pipe(Effect.scoped))

  it.live("a folder that cannot be written is one error", () =>
    Effect.gen(function*() {
      const cwd = yield* project()
      yield* run(cwd, "run")
      const before = readFileSync(join(cwd, ".sluice/sluice.db"))
      // The superuser may write everywhere, so the command runs as somebody else.
      execFileSync("chmod", ["-R", "a+rX,a-w", cwd])
      const spawned = spawnSync(process.execPath, [bin, "run"], {
        cwd,
        encoding: "utf8",
        env: { ...process.env, NO_COLOR: "1" },
        ...(isRoot ? { uid: 65_534, gid: 65_534 } : {})
      })
      execFileSync("chmod", ["-R", "u+w", cwd])
      assertOneError({ ...spawned, code: spawned.status }, /cannot be written .*\nfix: make the directory writable/)
      assert.isTrue(before.equals(readFileSync(join(cwd, ".sluice/sluice.db"))))
    }).pipe(Effect.scoped))

  it.live.runIf(isRoot && canMount())("a full disk is one error, and the run goes on when there is space", () =>
    Effect.gen(function*() {
      const cwd = yield* project(pages(150))
      const disk = join(cwd, "disk")
      mkdirSync(disk)
      yield* Effect.acquireRelease(
        Effect.sync(() => execFileSync("mount", ["-t", "tmpfs", "-o", "size=700k", "tmpfs", disk])),
        () => Effect.sync(() => execFileSync("umount", ["-l", disk]))
      )
      const full = yield* run(cwd, "run", "--data-dir", "disk")
      assert.strictEqual(full.code, 1)
      assert.match(full.stderr, /error: disk\/.*(the disk is full|cannot grow).*\nfix: free some space/)
      const checked = yield* run(cwd, "doctor", "--data-dir", "disk")
      assert.strictEqual(checked.code, 1)
      assert.match(checked.stdout, /^FAILED +data directory +disk has no space for a file of 1 MB\n +fix: free some space/m)
      assert.match(checked.stdout, /^ok +database +(none yet|disk\/sluice\.db is whole, 0\.[1-9] MB)/m)
      execFileSync("mount", ["-o", "remount,size=100m", disk])
      const rest = yield* run(cwd, "run", "--data-dir", "disk")
      assert.strictEqual(rest.code, 0, rest.stderr)
      assert.lengthOf(events(yield* run(cwd, "files", "list", "--data-dir", "disk", "--json")), 153)
    }).pipe(Effect.scoped))

  it.live.runIf(process.platform === "linux")("a limit of a file's size is one error, which names it", () =>
    Effect.gen(function*() {
      const cwd = yield* project(pages(40))
      const spawned = spawnSync("sh", ["-c", `ulimit -f 800; exec "$0" "$1" run`, process.execPath, bin], {
        cwd,
        encoding: "utf8",
        env: { ...process.env, NO_COLOR: "1" }
      })
      assert.strictEqual(spawned.status, 1)
      assert.match(spawned.stderr, /^error: .*sluice\.db cannot be read or written: .*\nfix: .*ulimit -f/m)
    }).pipe(Effect.scoped))

  it.live("output that nobody reads any more is no error", () =>
    Effect.gen(function*() {
      const cwd = yield* project(pages(150))
      const shown = execFileSync("sh", ["-c", `"$0" "$1" plan --json | head -n 1`, process.execPath, bin], {
        cwd,
        encoding: "utf8",
        stdio: ["ignore", "pipe", "pipe"]
      })
      assert.deepInclude(JSON.parse(shown), { version: 1, type: "file" })
    }).pipe(Effect.scoped))
})

function canMount(): boolean {
  const folder = execFileSync("mktemp", ["-d"], { encoding: "utf8" }).trim()
  const mounted = spawnSync("mount", ["-t", "tmpfs", "-o", "size=64k", "tmpfs", folder]).status === 0
  if (mounted) spawnSync("umount", [folder])
  rmSync(folder, { recursive: true, force: true })
  return mounted
}
