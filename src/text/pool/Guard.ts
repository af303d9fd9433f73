import { Worker } from "node:worker_threads"
import type { Limits } from "../Prepared.ts"

/** How a worker process ends itself, so that the pool can tell why. Nothing else in it uses these signals. */
export const overTime = "SIGALRM"
export const overMemory = "SIGUSR2"

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

/** Of the guarding thread: a file of its own, since what parses takes longer to load than a thread to start. */
const entry = new URL(import.meta.url.endsWith(".ts") ? "./guard.worker.ts" : "./textGuard.js", import.meta.url)

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

/** What the guarding thread is told. */
export interface Watch {
  readonly current: Float64Array
  readonly memory: number
  readonly parent: number
}

/** Milliseconds that all threads of this process have computed. */
export const processorTime = (): number => {
  const { system, user } = process.cpuUsage()
  return (system + user) / 1_000
}
