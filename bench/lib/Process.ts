import { spawn } from "node:child_process"
import { readdirSync, readFileSync } from "node:fs"

/** The outcome of a process, and the resources it took. */
export interface Finished {
  readonly exitCode: number | null
  readonly stdout: string
  readonly stderr: string
  /** Seconds from before the spawn to the exit, the time that a user waits. */
  readonly seconds: number
  /** Peak resident bytes of the process and all its descendants, by samples. Absent without /proc. */
  readonly peakRss?: number
  /** Processor time. Absent without /proc. */
  readonly cpu?: Cpu
}

/** Seconds of processor time, of a process with all its threads and of all its descendants. */
export interface Cpu {
  readonly own: number
  readonly descendants: number
}

const sampleEvery = 20
const familyEvery = 5
const pageSize = 4096
/** Unit of the times in /proc, the same on every Linux. */
const ticksPerSecond = 100

/** Runs a program to its end, and samples the memory of its process tree. */
export const run = (
  command: string,
  args: ReadonlyArray<string>,
  options: { readonly cwd?: string; readonly input?: string } = {}
): Promise<Finished> =>
  new Promise((resolve, reject) => {
    const started = performance.now()
    const child = spawn(command, args, { cwd: options.cwd, stdio: ["pipe", "pipe", "pipe"] })
    const stdout: Array<Buffer> = []
    const stderr: Array<Buffer> = []
    child.stdout.on("data", (data: Buffer) => stdout.push(data))
    child.stderr.on("data", (data: Buffer) => stderr.push(data))
    // A child that ends without reading its input is no error here.
    child.stdin.on("error", () => undefined)
    child.stdin.end(options.input ?? "")
    let family: ReadonlyArray<number> = []
    let samples = 0
    let peak = 0
    /** Last sample of each process. Time taken after it, up to {@link sampleEvery}, is missed. */
    const cpu = new Map<number, number>()
    const sampler = setInterval(() => {
      if (samples++ % familyEvery === 0) family = familyOf(child.pid)
      peak = Math.max(peak, family.reduce((sum, pid) => sum + residentBytes(pid), 0))
      for (const pid of family) cpu.set(pid, Math.max(cpu.get(pid) ?? 0, cpuSeconds(pid)))
    }, sampleEvery)
    child.on("error", (cause) => {
      clearInterval(sampler)
      reject(cause)
    })
    child.on("close", (exitCode) => {
      clearInterval(sampler)
      const own = cpu.get(child.pid ?? 0) ?? 0
      const descendants = [...cpu.values()].reduce((sum, seconds) => sum + seconds, -own)
      resolve({
        exitCode,
        stdout: Buffer.concat(stdout).toString(),
        stderr: Buffer.concat(stderr).toString(),
        seconds: (performance.now() - started) / 1000,
        ...(peak === 0 ? {} : { peakRss: peak, cpu: { own, descendants } })
      })
    })
  })

/** Runs a program by {@link run}, and rejects with its output unless it exits with 0. */
export const succeed = async (...call: Parameters<typeof run>): Promise<Finished> => {
  const finished = await run(...call)
  if (finished.exitCode !== 0) {
    throw new Error(`${[call[0], ...call[1]].join(" ")} ended with ${finished.exitCode}\n${finished.stderr.slice(-4000)}`)
  }
  return finished
}

/** Ids of a process and its descendants, by the parents in /proc. */
const familyOf = (root: number | undefined): ReadonlyArray<number> => {
  if (root === undefined || process.platform !== "linux") return []
  const children = new Map<number, Array<number>>()
  for (const entry of readdirSync("/proc")) {
    const pid = Number(entry)
    if (!Number.isInteger(pid)) continue
    const parent = Number(statOf(pid)[1])
    children.set(parent, [...(children.get(parent) ?? []), pid])
  }
  const family = [root]
  for (const member of family) family.push(...(children.get(member) ?? []))
  return family
}

/** The fields of a process after the program's name, which is in brackets and may contain blanks: state, parent, … (proc(5)). */
const statOf = (pid: number): ReadonlyArray<string> => contentOf(`/proc/${pid}/stat`).replace(/^.*\) /s, "").split(" ")

/** Processor time of a process in user and system mode, of all its threads. */
const cpuSeconds = (pid: number): number => {
  const stat = statOf(pid)
  return (Number(stat[11] ?? 0) + Number(stat[12] ?? 0)) / ticksPerSecond
}

const residentBytes = (pid: number): number => Number(contentOf(`/proc/${pid}/statm`).split(" ")[1] ?? 0) * pageSize

/** Content of a file in /proc; empty for a process that has just ended. */
const contentOf = (path: string): string => {
  try {
    return readFileSync(path, "utf8")
  } catch {
    return ""
  }
}
