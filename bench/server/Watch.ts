/**
 * Loaded into a server before its own code (`node --import`): reports to the parent process the resources taken since the last
 * reading. Garbage collection is not forced, as its pauses are part of what callers wait for, unless the parent requests the
 * memory after a collection.
 */
import { monitorEventLoopDelay } from "node:perf_hooks"
import type { Taken } from "./Serve.ts"

const delay = monitorEventLoopDelay({ resolution: 1 })
delay.enable()
let cpu = process.cpuUsage()
let main = process.threadCpuUsage()

process.on("message", (message) => {
  if (message !== "taken" && message !== "settled") return
  if (message === "settled") globalThis.gc?.()
  const { system, user } = process.cpuUsage(cpu)
  cpu = process.cpuUsage()
  const own = process.threadCpuUsage(main)
  main = process.threadCpuUsage()
  // The histogram includes the timer's interval of one millisecond.
  const held = (nanoseconds: number): number => Math.max(0, nanoseconds / 1e6 - 1)
  const taken: Taken = {
    cpuMicros: system + user,
    mainMicros: own.system + own.user,
    loopP99: held(delay.percentile(99)),
    loopMost: held(delay.max),
    residentBytes: process.memoryUsage.rss()
  }
  delay.reset()
  process.send?.(taken)
})
// The channel must not keep the server alive.
process.channel?.unref()
