import { Worker, workerData } from "node:worker_threads"
import type { Limits } from "../Prepared.ts"

/** How a worker process ends itself, so that the pool can tell why. Nothing else in it uses these signals. */
export const overTime = "SIGALRM"
export const overMemory = "SIGUSR2"

/** Milliseconds between looks. A parser that allocates 1 GB/s overshoots its limit by 50 MB. */
const interval = 50

/**
 * Shared with the guarding thread: milliseconds of processor time for the current file, 0 between files, and how many
 * files were begun. That thread reads the clocks: asking the system at every file can cost more than a small file.
 */
const shared = 16

/** A file may take this many times its processor time on the clock: other processes take their share of it. */
export const patience = 5

/** A file of this many bytes has the time of the limit, and a larger one more in proportion. */
const timedBytes = 16 * 1024 * 1024

/** Milliseconds of processor time for a file. */
export const timeFor = ({ timeMs }: Pick<Limits, "timeMs">, { content }: { readonly content: Uint8Array }): number =>
  timeMs * Math.max(1, content.byteLength / timedBytes)

/**
 * Watches this process from a thread of its own, which no loop in a parser can stop: ends the process when a file's
 * time or the process's memory is over, and when the parent is gone, however that one died.
 */
export class Guard {
  readonly #current = new Float64Array(new SharedArrayBuffer(shared))
  #watching = false

  begin({ memory, timeMs }: Limits): void {
    this.#current[1]!++
    this.#current[0] = timeMs
    if (this.#watching) return
    this.#watching = true
    // The entry of this process: it finds itself in a thread and calls `watch`.
    const thread = new Worker(process.argv[1]!, {
      workerData: { current: this.#current, memory, parent: process.ppid } satisfies Watch,
      resourceLimits: { maxOldGenerationSizeMb: 16, maxYoungGenerationSizeMb: 2 },
      execArgv: []
    })
    thread.unref()
  }

  end(): void {
    this.#current[0] = 0
  }
}

interface Watch {
  readonly current: Float64Array
  readonly memory: number
  readonly parent: number
}

/** The guarding thread. */
export const watch = (): void => {
  // Typed by the one place that starts this thread, above.
  const { current, memory, parent } = workerData as Watch
  let watched = 0
  let processor = 0
  let clock = 0
  setInterval(() => {
    const [timeMs = 0, file = 0] = current
    if (process.ppid !== parent) process.kill(process.pid, "SIGKILL")
    else if (process.memoryUsage.rss() > memory) process.kill(process.pid, overMemory)
    else if (timeMs > 0 && file !== watched) {
      watched = file
      processor = processorTime() + timeMs
      clock = now() + timeMs * patience
    } else if (timeMs > 0 && (processorTime() > processor || now() > clock)) process.kill(process.pid, overTime)
  }, interval)
}

/** The same clock in every thread, which no change of the wall clock moves. */
const now = (): number => Number(process.hrtime.bigint() / 1_000_000n)

/** Milliseconds that all threads of this process have computed. */
export const processorTime = (): number => {
  const { system, user } = process.cpuUsage()
  return (system + user) / 1_000
}
