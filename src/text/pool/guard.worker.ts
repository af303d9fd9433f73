import { workerData } from "node:worker_threads"
import { overMemory, overTime, patience, processorTime, type Watch } from "./Guard.ts"

// The entry of the guarding thread: `pool/guard.worker.ts` from source, `textGuard.js` beside the bundle.

/** Milliseconds between measurements. A parser that allocates 1 GB/s overshoots its limit by 50 MB. */
const interval = 50

/** A clock that is the same in every thread, and that no change of the wall clock moves. */
const now = (): number => Number(process.hrtime.bigint() / 1_000_000n)

// Typed by the only place that starts this thread, `Guard`.
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
