import { PerformanceObserver } from "node:perf_hooks"
import { getHeapSpaceStatistics, setFlagsFromString } from "node:v8"

/** Size of the main thread's young generation, both halves included, at which its growth is stopped, in bytes. */
const mostYoung = 16 * 1024 * 1024

/** How much the old generation may grow beyond what was in use after the last collection, before the next, in percent. */
const growth = 100

/** Initial size of each half of a thread's young generation, in megabytes. */
const youngHalf = 4

/**
 * Bounds the garbage in this process, for commands that process any number of files or requests. V8 lets the young
 * generation of a main thread grow to 128 MB as long as anything in it lives on, and the old one to four times what is in
 * use. Threads have their own limits, which can only be set for a main thread before it starts; so its growth is stopped
 * once it is large enough. Only for whole processes: the flags apply to all threads.
 */
export const boundHeap = (): void => {
  setFlagsFromString(`--heap-growing-percent=${growth}`)
  const observer = new PerformanceObserver(() => {
    const young = getHeapSpaceStatistics().find(({ space_name }) => space_name === "new_space")
    if (young !== undefined && young.space_size < mostYoung) return
    setFlagsFromString("--semi-space-growth-factor=1")
    observer.disconnect()
  })
  observer.observe({ entryTypes: ["gc"] })
}

/**
 * For commands whose threads answer questions; call it before they start. A thread starts with halves of one megabyte,
 * and after {@link boundHeap} has stopped growth it never gets more: it was collected on every second question. Threads
 * with explicit limits keep them.
 */
export const giveThreadsRoom = (): void => setFlagsFromString(`--min-semi-space-size=${youngHalf}`)
