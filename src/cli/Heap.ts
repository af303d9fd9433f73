import { PerformanceObserver } from "node:perf_hooks"
import { getHeapSpaceStatistics, setFlagsFromString } from "node:v8"

/** Bytes of the main thread's young generation, both halves of it, at which it stops growing. */
const mostYoung = 16 * 1024 * 1024

/** How much larger than what was in use after the last collection an old generation may become before the next, in percent. */
const growth = 100

/** Megabytes of each half of a thread's young generation, from its start. */
const youngHalf = 4

/**
 * Bounds the garbage that this process holds, for a command that works through any number of files or requests. V8 lets
 * the young generation of a main thread grow to 128 MB as long as anything in it lives on, and the old one to four times
 * what is in use. Threads have bounds of their own, which can only be given to a main thread before it starts, so that its
 * growth is ended once it is large enough. For whole processes only: the flags are those of all threads.
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
 * For a command whose threads answer questions, before they start. A thread begins with halves of a megabyte, and once
 * {@link boundHeap} has ended growth never has more: it was collected with every second question. Threads that were given
 * bounds of their own keep to them.
 */
export const giveThreadsRoom = (): void => setFlagsFromString(`--min-semi-space-size=${youngHalf}`)
