import { Worker } from "node:worker_threads"
import type { Limits } from "../Prepared.ts"

/**
 * The signal with which a worker process ends itself when a file's time is over. Nothing else in it uses this signal, so the pool knows the
 * cause.
 */
export const overTime = "SIGALRM"
/**
 * The signal with which a worker process ends itself when its memory is over. Nothing else in it uses this signal, so the pool knows the
 * cause.
 */
export const overMemory = "SIGUSR2"

/**
 * Bytes shared with the guarding thread: milliseconds of processor time for the current file (0 between files), and how many files were
 * started. That thread reads the clocks: a system call for every file can cost more than a small file.
 */
const shared = 16

/** A file may take this many times its processor time on the wall clock: other processes take their share of the processor. */
export const patience = 5

/** Bytes of the largest file that has exactly the limit's time; a larger one has more in proportion. */
const timedBytes = 16 * 1024 * 1024

/** Milliseconds of processor time that a file may take. */
export const timeFor = ({ timeMs }: Pick<Limits, "timeMs">, { content }: { readonly content: Uint8Array }): number =>
  timeMs * Math.max(1, content.byteLength / timedBytes)

/** Entry of the guarding thread: a separate file, since the parsers take longer to load than a thread takes to start. */
const entry = new URL(import.meta.url.endsWith(".ts") ? "./guard.worker.ts" : "./textGuard.js", import.meta.url)

/**
 * Watches this process from a separate thread, which no loop in a parser can stop. Ends the process when a file's time or the process's
 * memory is exceeded, and when the parent is gone, however it died.
 */
export class Guard {
  readonly #current = new Float64Array(new SharedArrayBuffer(shared))
  #watching = false

  begin({ memory, timeMs }: Limits): void {
    this.#current[1]!++
    this.#current[0] = timeMs
    if (this.#watching) return
    this.#watching = true
    const thread = new Worker(entry, {
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

/** What the guarding thread receives at its start. */
export interface Watch {
  readonly current: Float64Array
  readonly memory: number
  readonly parent: number
}

/** Milliseconds of processor time that all threads of this process have used. */
export const processorTime = (): number => {
  const { system, user } = process.cpuUsage()
  return (system + user) / 1_000
}
