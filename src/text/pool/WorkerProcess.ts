import { type ChildProcess, fork } from "node:child_process"
import { getCompileCacheDir } from "node:module"
import { Socket } from "node:net"
import { fileURLToPath } from "node:url"
import type { Limits } from "../Prepared.ts"
import { overMemory, overTime, patience, timeFor } from "./Guard.ts"
import type { Job } from "./Job.ts"
import { type Answer, mostKept, type Ready, type Reply, type Request } from "./Messages.ts"

/** Why a worker ended. `unready`: before it could take a file, so no file is to blame. */
export type Ending = "timeout" | "memory" | "crash" | "unready"

/** Milliseconds over a file's own time after which a silent worker counts as dead; its guard should have ended it. */
const silence = 10_000
/**
 * Milliseconds of wall-clock time that a worker has to start. It takes a second; with the processor busy elsewhere it has taken more than
 * thirty, which is nobody's fault.
 */
const defaultStartup = 30_000 * patience

/** MB of heap above the memory limit, so that it is the guard that sees the limit crossed. */
const heapSlack = 512

/** MB of newly allocated heap between collections: a parser's garbage dies young, and more room only keeps it longer. */
const youngHeap = 4

/** The environment variables that a worker needs. The rest stays here: parsers of untrusted files have no use for secrets. */
export const workerEnvironment = (): NodeJS.ProcessEnv => {
  const inherited = ["PATH", "SystemRoot", "TEMP", "TMP", "TMPDIR", "TZ", "LANG", "LC_ALL", "NODE_COMPILE_CACHE"]
  const env = Object.fromEntries(inherited.map((name) => [name, process.env[name]]))
  // With this program's compile cache, its workers start in half the time.
  return { ...env, NODE_COMPILE_CACHE: getCompileCacheDir() ?? env["NODE_COMPILE_CACHE"] }
}

/** Milliseconds for which a worker has to be observed before its share of the processor is computed. */
const leastSeen = 200

/** Processor time that a worker had used, and when it reported that. */
interface Seen {
  readonly at: number
  readonly processor: number
}

interface Events {
  readonly onReady: () => void
  readonly onAnswer: (worker: WorkerProcess, job: Job, result: Answer["result"]) => void
  readonly onEnd: (worker: WorkerProcess, ending: Ending) => void
}

/** One worker process, seen from the parent: the files that were sent and not yet answered, in order. */
export class WorkerProcess {
  /** Files sent and not yet answered, in order. */
  readonly jobs: Array<Job> = []
  /** Bytes of the files in `jobs`. */
  bytes = 0
  /** Files answered since the last were sent. */
  answered = 0
  /** Whether the worker asked to be sent no more. */
  spent = false
  /** The first report since the worker was idle. */
  #first: Seen | undefined
  /** The last report of the worker. */
  #last: Seen | undefined
  readonly #child: ChildProcess
  readonly #limits: Limits
  /** Whether the worker has started. */
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
      // A setting of the C library of most Linux systems: one memory pool for all threads, since only one does the work.
      env: { ...workerEnvironment(), MALLOC_ARENA_MAX: "1" },
      // None of the parent's flags: an inspector port or a test runner's loader does not belong here.
      execArgv: [`--max-semi-space-size=${youngHeap}`, `--max-old-space-size=${Math.ceil(limits.memory / 2 ** 20) + heapSlack}`]
    })
    this.#child.stderr?.on("data", (data) => {
      if (!this.ready) this.#errors = (this.#errors + String(data)).slice(-2_000)
    })
    // These are our own worker's messages, so they have the types it sends.
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
   * Share of a processor that the worker has had while it had files, 0 to 1 or more; undefined where unknown. A worker that is silent for
   * long may have a slow file, or no processor: its share until then shows which is likely.
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
      // A broken pipe is followed by the worker's exit, where its files are handled.
    })
  }

  /** The files, one of which the worker was reading when it ended: the answers to the earlier ones may have been kept back. */
  get doubtful(): ReadonlyArray<Job> {
    const known = this.jobs.slice(0, mostKept).findIndex(({ atOnce }) => atOnce)
    return this.jobs.slice(0, known < 0 ? mostKept : Math.max(1, known))
  }

  /** Lets the idle process end. */
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

  /** Makes a worker with files keep this process alive, and an idle one not. */
  #hold(busy: boolean): void {
    const errors = this.#child.stderr instanceof Socket ? this.#child.stderr : undefined
    for (const handle of [this.#child, this.#child.channel, errors]) {
      if (busy) handle?.ref()
      else handle?.unref()
    }
  }
}
