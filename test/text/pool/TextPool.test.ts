import { execFileSync, spawn } from "node:child_process"
import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs"
import { once } from "node:events"
import { join } from "node:path"
import { pathToFileURL } from "node:url"
import { expect, it } from "@effect/vitest"
import { Effect, Fiber, Result } from "effect"
import { describe } from "vitest"
import { defaultChunking } from "../../../src/domain/Chunking.ts"
import type { DocumentError, ServiceError } from "../../../src/domain/Errors.ts"
import type { Limits, Raw } from "../../../src/text/Prepared.ts"
import { TextPool } from "../../../src/text/TextPool.ts"
import { eventually } from "../../support/Eventually.ts"
import { tempFolder } from "../../support/TempFolder.ts"

const entry = new URL("./HostileWorker.ts", import.meta.url)
/** Time enough for anything but a parser that never ends, however busy the machine is. */
const limits: Partial<Limits> = { bytes: 10_000, timeMs: 60_000, memory: 400 * 1024 * 1024 }
const poolOf = (limits: Partial<Limits>) => TextPool.layer({ size: 2, patience: 0, entry, limits })
const pool = poolOf(limits)

const raw = (name: string, text = `The text of ${name}.`): Raw => ({
  content: new TextEncoder().encode(text),
  name,
  chunking: defaultChunking
})

const prepareAll = Effect.fnUntraced(function*(names: ReadonlyArray<string>) {
  const { prepare } = yield* TextPool
  return yield* Effect.forEach(names, (name) => Effect.result(prepare(raw(name))), { concurrency: 100 })
})

const good = (from: number, count: number): Array<string> => Array.from({ length: count }, (_, i) => `good ${from + i}`)

/** What a parser does to its process, and what that makes of the file. */
const misdeeds = {
  allocate: "memory",
  buffers: "memory",
  abort: "crash",
  exit: "crash",
  kill: "crash",
  later: "crash",
  string: "corrupt",
  undefined: "corrupt",
  error: "corrupt",
  refuse: "encrypted"
} as const

const endless = { loop: "timeout", wait: "timeout" } as const

const problemOf = (error: DocumentError | ServiceError): string => error._tag === "DocumentError" ? error.problem : error.code

/** Bad files among good ones, which are all read. */
const costTheirOwnFile = Effect.fnUntraced(function*(expected: Readonly<Record<string, string>>) {
  const names = Object.keys(expected).flatMap((misdeed, i) => [...good(i * 10, 10), misdeed])
  const results = yield* prepareAll(names)
  const failures: Record<string, string> = {}
  for (const [i, result] of results.entries()) {
    if (result._tag === "Success") expect(result.success.chunks[0]?.text).toBe(`The text of ${names[i]}.`)
    else {
      failures[names[i]!] = problemOf(result.failure)
      expect(result.failure.message).not.toMatch(/canary|second line|\n| at /)
    }
  }
  expect(failures).toEqual(expected)
})

describe("TextPool", () => {
  it.live(
    "a parser that misbehaves costs its own file, whatever it does",
    () => costTheirOwnFile(misdeeds).pipe(Effect.provide(pool))
  )

  it.live("a file that ends its process among others is tried until it is known, and once more alone", () =>
    Effect.gen(function*() {
      const { prepare } = yield* TextPool
      const folder = yield* tempFolder
      const tried = Effect.fnUntraced(function*(name: string, bytes: number) {
        const marks = join(folder, name)
        const files = [...good(0, 4).map((name) => raw(name)), raw("tally", marks.padEnd(bytes)), ...good(4, 30).map((name) => raw(name))]
        const results = yield* Effect.forEach(files, (file) => Effect.result(prepare(file)), { concurrency: 100 })
        expect(results.flatMap((result, at) => Result.isFailure(result) ? [[at, problemOf(result.failure)]] : [])).toEqual([[4, "crash"]])
        return readFileSync(marks, "utf8").length
      })
      // Once among others, by itself, and alone; but where a busy machine had the answers before it sent already, it is known.
      expect([2, 3]).toContain(yield* tried("small", 0))
      // Nothing is kept back while a large file is read, so that it is known at once.
      expect(yield* tried("large", 40_000)).toBe(2)
    }).pipe(Effect.provide(TextPool.layer({ size: 1, entry, limits: { ...limits, bytes: 50_000 } }))))

  it.live("answers about small files share messages", () =>
    Effect.gen(function*() {
      const { prepare } = yield* TextPool
      yield* prepareAll(good(0, 200))
      const { title } = yield* prepare(raw("messages"))
      expect(Number(title)).toBeLessThan(100)
    }).pipe(Effect.provide(TextPool.layer({ size: 1, entry, limits }))))

  it.live("an answer does not wait for a file that takes long", () =>
    Effect.gen(function*() {
      const { prepare } = yield* TextPool
      const { chunks } = yield* Effect.raceFirst(prepare(raw("good")), prepare(raw("wait")))
      expect(chunks[0]?.text).toBe("The text of good.")
    }).pipe(Effect.provide(TextPool.layer({ size: 1, entry, limits }))))

  const workersOfNaps = (patience: number, count: number) =>
    Effect.gen(function*() {
      const { prepare } = yield* TextPool
      const prepared = yield* Effect.forEach(Array.from({ length: count }, () => raw("nap")), prepare, { concurrency: count })
      return new Set(prepared.map(({ title }) => title)).size
    }).pipe(Effect.provide(TextPool.layer({ size: 2, patience, entry, limits })))

  it.live(
    "another worker is not started while the processor is what is short, unless files wait for very long",
    () =>
      Effect.gen(function*() {
        expect(yield* workersOfNaps(2_000, 150)).toBe(1)
        expect(yield* workersOfNaps(20, 150)).toBe(2)
      })
  )

  it.live(
    "a parser that never ends costs its own file",
    () => costTheirOwnFile(endless).pipe(Effect.provide(poolOf({ ...limits, timeMs: 500 })))
  )

  const memory = 600 * 2 ** 20
  it.live.runIf(process.platform === "linux")(
    "large files of which each fits, and some only alone, are all read within the memory of the pool together",
    () =>
      Effect.gen(function*() {
        const sums: Array<number> = []
        const timer = setInterval(() => sums.push(residentBytes()), 10)
        const names = Array.from({ length: 9 }, (_, i) => i % 3 === 1 ? "hold350" : "hold100")
        const results = yield* prepareAll(names)
        clearInterval(timer)
        expect(results.map(({ _tag }) => _tag)).toEqual(names.map(() => "Success"))
        // More than one was read at a time.
        expect(new Set(results.flatMap((result) => Result.isSuccess(result) ? [result.success.title] : [])).size).toBeGreaterThan(1)
        const most = Math.max(...sums)
        expect(most).toBeGreaterThan(memory / 2)
        // What is over a limit is seen soon after. All that is wanted at once would be 1.3 times the limit, and more.
        expect(most).toBeLessThan(1.2 * memory)
      }).pipe(Effect.provide(TextPool.layer({ size: 3, patience: 0, entry, limits: { ...limits, memory } })))
  )

  it.live("a file over the limit of bytes is never sent", () =>
    Effect.gen(function*() {
      const { prepare } = yield* TextPool
      const failure = yield* Effect.flip(prepare(raw("large", "x".repeat(10_001))))
      expect([problemOf(failure), failure._tag === "DocumentError" && failure.skips]).toEqual(["limit", true])
    }).pipe(Effect.provide(TextPool.layer({ entry: new URL("./missing.ts", import.meta.url), limits }))))

  it.live("a worker that cannot start is our fault, not the document's, and perhaps for a while", () =>
    Effect.gen(function*() {
      const { prepare } = yield* TextPool
      const failure = yield* Effect.flip(prepare(raw("good")))
      expect(failure).toMatchObject({ _tag: "ServiceError", code: "UNAVAILABLE", message: expect.stringContaining("does not start") })
    }).pipe(Effect.provide(TextPool.layer({ entry: new URL("./missing.ts", import.meta.url), limits }))))

  it.live("a worker that ends or waits before it is ready, without a word, is told of by how it did", () =>
    Effect.gen(function*() {
      const folder = yield* tempFolder
      const reasonOf = Effect.fnUntraced(function*(name: string, code: string) {
        const entry = join(folder, `${name}.mjs`)
        writeFileSync(entry, code)
        const failure = TextPool.use(({ prepare }) => Effect.flip(prepare(raw("good"))))
        return yield* failure.pipe(
          Effect.map(({ message }) => message),
          Effect.provide(TextPool.layer({ entry: pathToFileURL(entry), limits, startup: 500 }))
        )
      })
      expect(yield* reasonOf("exit", "process.exit(3)")).toMatch(/does not start: it (ended with exit code 3|was not ready within 0.5 s)$/)
      expect(yield* reasonOf("wait", "setInterval(() => {}, 1000)")).toMatch(/does not start: it was not ready within 0.5 s$/)
    }))

  it.live("files are read by the worker that is there when no other starts", () =>
    Effect.gen(function*() {
      const folder = yield* tempFolder
      const first = join(folder, "once.mjs")
      writeFileSync(
        first,
        `import { existsSync, writeFileSync } from "node:fs"
import { isMainThread } from "node:worker_threads"
if (isMainThread && existsSync("${folder}/started")) process.exit(3)
writeFileSync("${folder}/started", "")
await import("${entry}")`
      )
      const results = yield* prepareAll(Array.from({ length: 200 }, () => "nap")).pipe(
        Effect.provide(TextPool.layer({ size: 2, patience: 0, entry: pathToFileURL(first), limits }))
      )
      expect(results.filter(Result.isFailure)).toEqual([])
    }))

  it.live("a worker that was started before there are files reads them", () =>
    Effect.gen(function*() {
      const folder = yield* tempFolder
      const starts = join(folder, "starts")
      const noted = join(folder, "noted.mjs")
      writeFileSync(
        noted,
        `import { appendFileSync } from "node:fs"
import { isMainThread } from "node:worker_threads"
if (isMainThread) appendFileSync("${starts}", "x")
await import("${entry}")`
      )
      const started = () => Effect.sync(() => existsSync(starts) ? readFileSync(starts, "utf8") : "")
      yield* Effect.gen(function*() {
        yield* eventually("a worker starts without a file", Effect.map(started(), (text) => text === "x"))
        const results = yield* prepareAll(["good"])
        expect(results.filter(Result.isFailure)).toEqual([])
        expect(yield* started()).toBe("x")
      }).pipe(Effect.provide(TextPool.layer({ started: true, size: 1, entry: pathToFileURL(noted), limits })))
    }))

  it.live("processes that rest end, and others read what comes after", () =>
    Effect.gen(function*() {
      const folder = yield* tempFolder
      const starts = join(folder, "starts")
      const noted = join(folder, "noted.mjs")
      writeFileSync(
        noted,
        `import { appendFileSync } from "node:fs"
import { isMainThread } from "node:worker_threads"
if (isMainThread) appendFileSync("${starts}", process.pid + "\\n")
await import("${entry}")`
      )
      const pids = () => readFileSync(starts, "utf8").trim().split("\n").map(Number)
      const isThere = (pid: number) => {
        try {
          return process.kill(pid, 0)
        } catch {
          return false
        }
      }
      yield* Effect.gen(function*() {
        const { rest } = yield* TextPool
        expect((yield* prepareAll(["good"])).filter(Result.isFailure)).toEqual([])
        yield* rest
        yield* eventually("the process ends", Effect.sync(() => !pids().some(isThere)))
        // It is not asked to end while it reads.
        const reading = yield* Effect.forkChild(prepareAll(["nap", "good"]))
        yield* eventually("another one starts", Effect.sync(() => pids().length === 2))
        yield* rest
        expect((yield* Fiber.join(reading)).filter(Result.isFailure)).toEqual([])
        expect(pids().length).toBe(2)
      }).pipe(Effect.provide(TextPool.layer({ size: 1, entry: pathToFileURL(noted), limits })))
    }))

  it.live("an interrupted call does not disturb the others", () =>
    Effect.gen(function*() {
      const { prepare } = yield* TextPool
      const [late, result] = yield* Effect.all([
        Effect.timeoutOption(prepare(raw("wait")), 50),
        prepare(raw("good"))
      ], { concurrency: 2 })
      expect(late._tag).toBe("None")
      expect(result.chunks).toHaveLength(1)
    }).pipe(Effect.provide(pool)))

  it.live("more bytes than the pipes hold go through", () =>
    Effect.gen(function*() {
      const { prepare } = yield* TextPool
      const text = "word ".repeat(300_000)
      const results = yield* Effect.forEach([1, 2, 3, 4, 5], (i) => prepare(raw(`good ${i}`, text)), { concurrency: 5 })
      expect(results.map(({ chunks }) => chunks[0]?.text === text)).toEqual([true, true, true, true, true])
    }).pipe(Effect.provide(TextPool.layer({ size: 2, entry }))))

  it.live("workers see nothing secret of the environment", () =>
    Effect.gen(function*() {
      const { prepare } = yield* TextPool
      process.env["SLUICE_TEST_SECRET"] = "canary"
      const { title } = yield* prepare(raw("environment"))
      delete process.env["SLUICE_TEST_SECRET"]
      expect(title).toContain("PATH")
      expect(title).not.toContain("canary")
    }).pipe(Effect.provide(pool)))

  it.live("workers are gone when the scope closes", () =>
    Effect.gen(function*() {
      // They take a while, so that the first worker does not read them all before there is a second.
      const results = yield* prepareAll(Array.from({ length: 40 }, () => "nap")).pipe(Effect.provide(pool, { local: true }))
      const pids = new Set(results.map((result) => (result._tag === "Success" ? Number(result.success.title) : 0)))
      expect(pids.size).toBe(2)
      for (const pid of pids) yield* gone(pid)
    }))

  it.live("workers are gone when the parent is killed, even one that loops", () =>
    Effect.gen(function*() {
      const parent = spawn(process.execPath, [new URL("./Orphaning.ts", import.meta.url).pathname], {
        stdio: ["ignore", "pipe", "inherit"]
      })
      const [line] = yield* Effect.promise(() => once(parent.stdout, "data"))
      const pids = execFileSync("pgrep", ["-P", String(parent.pid)], { encoding: "utf8" }).trim().split("\n").map(Number)
      expect([String(line).trim(), pids.length]).toEqual(["ready", 2])
      parent.kill("SIGKILL")
      for (const pid of pids) yield* gone(pid)
    }))

  it.live("a program ends though its pool was not closed, and does not wait for a worker to go", () =>
    Effect.sync(() => {
      const program = new URL("./Unclosed.ts", import.meta.url).pathname
      expect(execFileSync(process.execPath, [program], { encoding: "utf8" })).toBe("1\nended before its idle worker\n")
    }))

  it.live("inline: the same answers without processes", () =>
    Effect.gen(function*() {
      const { prepare } = yield* TextPool
      const { chunks, format } = yield* prepare(raw("note.txt", "Hello there."))
      expect([format, chunks.map(({ text }) => text)]).toEqual(["text", ["Hello there."]])
      const failure = yield* Effect.flip(prepare(raw("empty.txt", "")))
      expect(problemOf(failure)).toBe("empty")
    }).pipe(Effect.provide(TextPool.layerInline())))
})

/** Resident bytes of all processes that this one started. */
const residentBytes = (): number =>
  readdirSync("/proc/self/task")
    .flatMap((thread) => readFileSync(`/proc/self/task/${thread}/children`, "utf8").split(" "))
    .reduce((sum, pid) => {
      try {
        return sum + Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1] ?? 0) * 1024
      } catch {
        // It has ended since.
        return sum
      }
    }, 0)

const gone = (pid: number) =>
  eventually(
    `process ${pid} is gone`,
    Effect.sync(() => {
      try {
        return !process.kill(pid, 0)
      } catch {
        return true
      }
    })
  )
