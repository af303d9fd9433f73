import { BrokenInstallation } from "../parse/ReadFailure.ts"
import type { Limits } from "../Prepared.ts"
import { timeFor } from "./Guard.ts"
import type { Job, Outcome } from "./Job.ts"
import type { Refusal, Task } from "./Messages.ts"
import { type Ending, WorkerProcess } from "./WorkerProcess.ts"

/** Most files of one message. A worker holds at most two messages. */
const batchFiles = 64
/** Most bytes of one message; a larger file goes alone. */
const batchBytes = 1024 * 1024

/** Send a worker more when at most this many files are unanswered, so it never runs dry. */
const lowWater = 24

/** A file of more bytes is answered at once: next to reading it a message costs nothing, and parsers fail on such files most. */
const smallBytes = 32 * 1024

/** Milliseconds that files wait before another worker is started: files that are read fast need only one. */
const defaultPatience = 1_000

/** Where each worker gets less of a processor than this, other processes have it, and another worker would only compete. */
const fullShare = 0.8
/** Files wait no longer than this many times the patience, however busy the processor is. */
const mostPatience = 30

/** Milliseconds after which an idle worker is ended. */
const idleTime = 5_000

/** How many workers in a row may end before they are ready; then the installation counts as broken. */
const failedStarts = 2

/**
 * Spreads files over worker processes. When a worker ends, the file it was reading runs once more, alone in a fresh worker, and only if
 * that one ends too is it a `timeout`, `crash` or `memory`: a file is never blamed for what earlier files left behind, or for a busy
 * machine. All other files simply run elsewhere. Answers about small files share messages, so the file may have been any of a few: those
 * are then answered one by one, so that the one that ends a worker again is known. The memory of all workers together is bounded: each has
 * its share of the limit, and a file that needs more gets all of it once the others are done.
 */
export class Pool {
  readonly #size: number
  readonly #entry: URL
  readonly #limits: Limits
  readonly #patience: number
  readonly #startup: number | undefined
  readonly #workers = new Set<WorkerProcess>()
  readonly #idle = new Map<WorkerProcess, NodeJS.Timeout>()
  #queue: Array<Job> = []
  #suspects: Array<Job> = []
  /** Files that needed more than a worker's share of the memory: each is tried with all of it, while no other worker runs. */
  #heavy: Array<Job> = []
  #alone: WorkerProcess | undefined
  #pumping = false
  #nextId = 0
  #failedStarts = 0
  /** When the last worker became ready, or failed to start. */
  #started = 0
  /** Runs while files wait and there may be more workers. */
  #waiting: NodeJS.Timeout | undefined

  constructor(
    options: { readonly size: number; readonly entry: URL; readonly limits: Limits; readonly patience?: number; readonly startup?: number }
  ) {
    this.#size = options.size
    this.#entry = options.entry
    this.#limits = options.limits
    this.#patience = options.patience ?? defaultPatience
    this.#startup = options.startup
  }

  /** Starts a worker, which stays idle for as long as any. */
  start(): void {
    if (this.#workers.size === 0) this.#rest(this.#spawn())
  }

  /** Ends the idle workers now, instead of after a while. */
  rest(): void {
    for (const worker of this.#idle.keys()) this.#retire(worker)
  }

  /** Calls `done` once with the outcome, unless the returned function was called first. */
  submit(raw: Task, done: (outcome: Outcome) => void): () => void {
    const job: Job = {
      id: this.#nextId++,
      raw,
      done,
      suspect: false,
      atOnce: raw.content.byteLength > smallBytes,
      cancelled: false,
      since: performance.now()
    }
    this.#queue.push(job)
    this.#wake()
    return () => {
      job.cancelled = true
    }
  }

  close(): void {
    clearTimeout(this.#waiting)
    for (const timer of this.#idle.values()) clearTimeout(timer)
    for (const worker of this.#workers) worker.kill()
    this.#workers.clear()
    this.#idle.clear()
    this.#queue = []
    this.#suspects = []
    this.#heavy = []
  }

  /** Waits until the end of this turn of the event loop, so that files submitted in it share messages. */
  #wake(): void {
    if (this.#pumping) return
    this.#pumping = true
    setImmediate(() => {
      this.#pumping = false
      this.#pump()
    })
  }

  #pump(): void {
    if (this.#isReserved()) return this.#tryHeavy()
    this.#tryAlone()
    for (let roomy = this.#roomiest(); roomy !== undefined || this.#workers.size === 0; roomy = this.#roomiest()) {
      const batch = this.#take()
      if (batch.length === 0) break
      this.#send(roomy ?? this.#spawn(), batch)
    }
    this.#wait()
  }

  /** Starts another worker, one at a time, when a file has waited long enough: many that pass quickly need only one. */
  #wait(): void {
    const starting = [...this.#workers].some(({ ready }) => !ready)
    if (this.#queue.length === 0 || this.#workers.size >= this.#size || starting) {
      clearTimeout(this.#waiting)
      this.#waiting = undefined
      return
    }
    this.#waiting ??= setTimeout(() => {
      this.#waiting = undefined
      if (this.#isReserved()) return
      if (this.#patienceLeft() <= 0 && this.#workers.size < this.#size && !this.#isOfNoUse()) {
        const batch = this.#take()
        if (batch.length > 0) this.#send(this.#spawn(), batch)
      }
      this.#wait()
    }, this.#patienceLeft() <= 0 && this.#isOfNoUse() ? this.#patience : Math.max(0, this.#patienceLeft()))
  }

  /** Whether the processor is the bottleneck, so that another worker would be of no use. */
  #isOfNoUse(): boolean {
    return this.#patienceLeft() > (1 - mostPatience) * this.#patience &&
      [...this.#workers].every(({ share = 1 }) => share < fullShare)
  }

  /** Milliseconds until the oldest file has waited too long; time without a ready worker does not count. */
  #patienceLeft(): number {
    const [oldest] = this.#queue
    return oldest === undefined ? this.#patience : this.#patience - (performance.now() - Math.max(oldest.since, this.#started))
  }

  /** Whether a file has all the memory, or waits for it. */
  #isReserved(): boolean {
    this.#heavy = this.#heavy.filter((job) => !job.cancelled)
    return this.#alone !== undefined || this.#heavy.length > 0
  }

  #tryHeavy(): void {
    if (this.#alone !== undefined || [...this.#workers].some(({ jobs }) => jobs.length > 0)) return
    for (const worker of this.#workers) this.#retire(worker)
    this.#alone = this.#spawn(this.#limits)
    this.#send(this.#alone, this.#heavy.splice(0, 1))
  }

  /** Gives each suspect a worker that has run nothing else. */
  #tryAlone(): void {
    this.#suspects = this.#suspects.filter((job) => !job.cancelled)
    while (this.#suspects.length > 0) {
      if (this.#workers.size >= this.#size) {
        const idle = this.#idle.keys().next().value
        if (idle === undefined) return
        this.#retire(idle)
      }
      this.#send(this.#spawn(), this.#suspects.splice(0, 1))
    }
  }

  #send(worker: WorkerProcess, batch: ReadonlyArray<Job>): void {
    clearTimeout(this.#idle.get(worker))
    this.#idle.delete(worker)
    worker.send(batch)
  }

  /** The next files that go in one message: no more than one worker's share of the queue. */
  #take(): Array<Job> {
    const files = Math.min(batchFiles, Math.ceil(this.#queue.length / this.#size))
    const batch: Array<Job> = []
    let bytes = 0
    let taken = 0
    for (const job of this.#queue) {
      if (!job.cancelled) {
        bytes += job.raw.content.byteLength
        if (batch.length === files || (batch.length > 0 && bytes > batchBytes)) break
        batch.push(job)
      }
      taken++
    }
    this.#queue.splice(0, taken)
    return batch
  }

  /** The worker with the fewest unanswered files that may be sent more: it has answered at least as many as it has left. */
  #roomiest(): WorkerProcess | undefined {
    let best: WorkerProcess | undefined
    for (const worker of this.#workers) {
      const left = worker.jobs.length
      if (worker.spent || left >= lowWater || left > worker.answered || worker.bytes >= batchBytes) continue
      if (worker.jobs[0]?.suspect === true) continue
      if (best === undefined || left < best.jobs.length) best = worker
    }
    return best
  }

  #spawn(limits = { ...this.#limits, memory: this.#limits.memory / this.#size }): WorkerProcess {
    const worker = new WorkerProcess(this.#entry, limits, {
      onReady: () => {
        this.#started = performance.now()
        this.#wake()
      },
      onAnswer: (from, job, result) => {
        this.#failedStarts = 0
        if (from.jobs.length === 0) this.#rest(from)
        finish(job, "broken" in result ? new BrokenInstallation(result.broken) : result)
        if (from.jobs.length < lowWater) this.#wake()
      },
      onEnd: (from, ending) => this.#ended(from, ending)
    }, this.#startup)
    this.#workers.add(worker)
    return worker
  }

  /** Handles a worker without files: ends it now if it has done its share, otherwise after a while. */
  #rest(worker: WorkerProcess): void {
    if (worker.spent || worker === this.#alone) {
      this.#retire(worker)
      if (worker === this.#alone) {
        this.#alone = undefined
        this.#wake()
      }
      return
    }
    // A worker that is still starting has not been idle: on a busy machine starting can take longer.
    const timer = setTimeout(() => worker.ready ? this.#retire(worker) : this.#rest(worker), idleTime)
    timer.unref()
    this.#idle.set(worker, timer)
  }

  #retire(worker: WorkerProcess): void {
    clearTimeout(this.#idle.get(worker))
    this.#idle.delete(worker)
    this.#workers.delete(worker)
    worker.retire()
  }

  #ended(worker: WorkerProcess, ending: Ending): void {
    clearTimeout(this.#idle.get(worker))
    this.#idle.delete(worker)
    this.#workers.delete(worker)
    if (worker === this.#alone) this.#alone = undefined
    if (ending === "unready") return this.#notStarted(worker)
    const [running, ...others] = worker.jobs
    const { doubtful } = worker
    if (doubtful.length > 1) {
      for (const job of doubtful) job.atOnce = true
      this.#queue.unshift(...worker.jobs)
    } else if (running !== undefined) {
      this.#queue.unshift(...others)
      if (running.suspect) finish(running, verdict(ending, this.#limits, running.raw))
      else {
        running.suspect = true
        if (ending === "memory") this.#heavy.push(running)
        else this.#suspects.push(running)
      }
    }
    this.#wake()
  }

  #notStarted(worker: WorkerProcess): void {
    this.#failedStarts++
    this.#started = performance.now()
    this.#queue.unshift(...worker.jobs.filter((job) => !job.suspect))
    this.#suspects.push(...worker.jobs.filter((job) => job.suspect))
    if (this.#failedStarts >= failedStarts) {
      const jobs = this.#suspects.splice(0)
      // A ready worker can still read the queue; without any, the queued files fail too.
      if (![...this.#workers].some(({ ready }) => ready)) jobs.push(...this.#queue.splice(0))
      const error = new Error(`the process that reads documents does not start: ${worker.errors}`)
      for (const job of jobs) finish(job, error)
    }
    this.#wake()
  }
}

const finish = (job: Job, outcome: Outcome): void => {
  if (!job.cancelled) job.done(outcome)
}

const verdict = (ending: Exclude<Ending, "unready">, limits: Limits, task: Task): Refusal => {
  switch (ending) {
    case "timeout":
      return { problem: "timeout", message: `the file was not read within ${Math.round(timeFor(limits, task) / 1000)} s of processor time` }
    case "memory":
      return { problem: "memory", message: `the file needs more than ${Math.round(limits.memory / 2 ** 20)} MiB of memory to read` }
    case "crash":
      return { problem: "crash", message: "the parser crashed on the file" }
  }
}
