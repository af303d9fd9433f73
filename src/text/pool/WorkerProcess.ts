import { type ChildProcess, fork } from "node:child_process"
import { getCompileCacheDir } from "node:module"
import { Socket } from "node:net"
import { fileURLToPath } from "node:url"
import type { Limits } from "../Prepared.ts"
import { overMemory, overTime, patience, timeFor } from "./Guard.ts"
import type { Job } from "./Job.ts"
import { type Answer, mostKept, type Ready, type Reply, type Request } from "./Messages.ts"

/** Why a worker ended. `unready`: before it could take a file, which no file is to blame for. */
export type Ending = "timeout" | "memory" | "crash" | "unready"

/** A worker that was silent for this long over a file's own time is taken for dead; its guard should have ended it. */
const silence = 10_000
/**
 * Milliseconds by the clock that a worker has to start. It takes a second; where the processor was busy with much else it took
 * more than thirty, which is nobody's fault.
 */
const defaultStartup = 30_000 * patience

/** Heap over the memory limit, so that it is the guard that sees the limit crossed. */
const heapSlack = 512

/** What is new in the heap between collections, in MB: a parser's garbage dies young, and more room only holds it longer. */
const youngHeap = 4

/** What a worker needs of the environment. The rest stays here: parsers of untrusted files have no use for secrets. */
export const workerEnvironment = (): NodeJS.ProcessEnv => {
  const inherited = ["PATH", "SystemRoot", "TEMP", "TMP", "TMPDIR", "TZ", "LANG", "LC_ALL", "NODE_COMPILE_CACHE"]
  const env = Object.fromEntries(inherited.map((name) => [name, process.env[name]]))
  // Where this program keeps compiled code, its workers start in half the time.
  return { ...env, NODE_COMPILE_CACHE: getCompileCacheDir() ?? env["NODE_COMPILE_CACHE"] }
}

/** Milliseconds that a worker is looked at before it is said how busy it is. */
const leastSeen = 200

/** What a worker had computed, and when it said so. */
interface Seen {
  readonly at: number
  readonly processor: number
}

interface Events {
  readonly onReady: () => void
  readonly onAnswer: (worker: WorkerProcess, job: Job, result: Answer["result"]) => void
  readonly onEnd: (worker: WorkerProcess, ending: Ending) => void
}

/** One worker process, from the parent's side: what it was sent and has not answered, in order. */
export class WorkerProcess {
  /** Files sent and not answered, in order. */
  readonly jobs: Array<Job> = []
  /** Bytes of those files. */
  bytes = 0
  /** Files answered since it was last sent some. */
  answered = 0
  /** It asked to be given no more. */
  spent = false
  /** The first and the last answer since it had nothing to do. */
  #first: Seen | undefined
  #last: Seen | undefined
  readonly #child: ChildProcess
  readonly #limits: Limits
  /** It has started. */
  ready = false
  #overdue: NodeJS.Timeout | undefined
  #silent = false
  #late = false
  #errors = ""

  constructor(
    entry: URL,
    limits: Limits,
    events: Events,
    startup = defaultStartup
  ) {
    this.#limits = limits
    this.#child = fork(fileURLToPath(entry), {
      serialization: "advanced",
      stdio: ["ignore", "ignore", "pipe", "ipc"],
      // Of the C library of most Linux systems: one pool of memory for all threads, of which one does the work.
      env: { ...workerEnvironment(), MALLOC_ARENA_MAX: "1" },
      // Nothing of the parent's flags: an inspector port or a test runner's loader is not for here.
      execArgv: [`--max-semi-space-size=${youngHeap}`, `--max-old-space-size=${Math.ceil(limits.memory / 2 ** 20) + heapSlack}`]
    })
    this.#child.stderr?.on("data", (data) => {
      if (!this.ready) this.#errors = (this.#errors + String(data)).slice(-2_000)
    })
    // Our own worker's messages, of the types it sends.
    this.#child.on("message", (message) => this.#receive(message as Reply | Ready, events))
    let ended = false
    const end = (ending: Ending): void => {
      if (ended) return
      ended = true
      clearTimeout(this.#overdue)
      events.onEnd(this, ending)
    }
    this.#child.on("error", ({ message }) => {
      this.#errors ||= message
      end(this.ready ? "crash" : "unready")
    })
    this.#child.on("exit", (code, signal) => {
      this.#errors = this.#errors.trim()
      this.#errors ||= this.#late
        ? `it was not ready within ${startup / 1000} s`
        : signal === null
        ? `it ended with exit code ${code}`
        : `it was ended by ${signal}`
      if (this.#silent || signal === overTime) end("timeout")
      else if (signal === overMemory) end("memory")
      else end(this.ready ? "crash" : "unready")
    })
    this.#watch(startup)
  }

  /** The last words of a worker that did not start, or how it ended without any. */
  get errors(): string {
    return this.#errors
  }

  /**
   * How much of a processor it has had while it had files, 0 to 1 or more; undefined where that is not known. One that is silent
   * for long may have a slow file, or no processor: what it had before tells which is likely.
   */
  get share(): number | undefined {
    if (this.#first === undefined || this.#last === undefined) return undefined
    const seen = this.#last.at - this.#first.at
    if (seen < leastSeen) return undefined
    return (this.#last.processor - this.#first.processor) / seen
  }

  send(jobs: ReadonlyArray<Job>): void {
    if (this.jobs.length === 0) {
      this.#hold(true)
      if (this.ready) this.#watchFile(jobs[0])
    }
    this.answered = 0
    for (const job of jobs) {
      this.jobs.push(job)
      this.bytes += job.raw.content.byteLength
    }
    const request: Request = { limits: this.#limits, files: jobs.map(({ atOnce, id, raw }) => ({ id, raw, atOnce })) }
    this.#child.send(request, () => {
      // A pipe that broke is followed by the worker's exit, which is where its files are dealt with.
    })
  }

  /** Those of its files of which it was on one when it ended: the answers to those before may have been kept back. */
  get doubtful(): ReadonlyArray<Job> {
    const known = this.jobs.slice(0, mostKept).findIndex(({ atOnce }) => atOnce)
    return this.jobs.slice(0, known < 0 ? mostKept : Math.max(1, known))
  }

  /** Lets the process end by itself; it has nothing to do. */
  retire(): void {
    clearTimeout(this.#overdue)
    if (this.#child.connected) this.#child.disconnect()
  }

  kill(): void {
    clearTimeout(this.#overdue)
    this.#child.removeAllListeners()
    this.#child.on("error", () => {})
    this.#child.kill("SIGKILL")
  }

  #receive(message: Reply | Ready, events: Events): void {
    if ("ready" in message) {
      this.ready = true
      this.#errors = ""
      events.onReady()
    } else {
      this.spent = message.spent
      if (message.processor !== undefined) this.#last = { at: performance.now(), processor: message.processor }
      this.#first ??= this.#last
      for (const { id, result } of message.answers) {
        const job = this.jobs.shift()
        if (job === undefined || job.id !== id) return
        this.bytes -= job.raw.content.byteLength
        this.answered++
        events.onAnswer(this, job, result)
      }
    }
    if (this.jobs.length > 0) this.#watchFile(this.jobs[0])
    else {
      clearTimeout(this.#overdue)
      this.#hold(false)
      this.#first = undefined
    }
  }

  #watchFile(job: Job | undefined): void {
    if (job !== undefined) this.#watch(timeFor(this.#limits, job.raw) * patience + silence)
  }

  #watch(milliseconds: number): void {
    clearTimeout(this.#overdue)
    this.#overdue = setTimeout(() => {
      this.#silent = this.ready
      this.#late = !this.ready
      this.#child.kill("SIGKILL")
    }, milliseconds)
    this.#overdue.unref()
  }

  /** A worker with files keeps this process alive, an idle one does not. */
  #hold(busy: boolean): void {
    const errors = this.#child.stderr instanceof Socket ? this.#child.stderr : undefined
    for (const handle of [this.#child, this.#child.channel, errors]) {
      if (busy) handle?.ref()
      else handle?.unref()
    }
  }
}
