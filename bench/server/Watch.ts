/**
 * Loaded into a server before its own code (`node --import`): tells whoever started it what it took since it was asked last.
 * The collector of garbage is left alone, as its pauses are part of what callers wait for, unless it is asked for what is
 * left after it.
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
  // The histogram has the timer's own millisecond in it.
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
// It ends when it would without us.
process.channel?.unref()
