import { spawn } from "node:child_process"
import { readdirSync, readFileSync } from "node:fs"

/** What a process did and what it took. */
export interface Finished {
  readonly exitCode: number | null
  readonly stdout: string
  readonly stderr: string
  /** From before the spawn to the exit: what a person waits. */
  readonly seconds: number
  /** Resident bytes of the process and all its descendants at the worst moment seen; absent without /proc. */
  readonly peakRss?: number
  /** Absent without /proc. */
  readonly cpu?: Cpu
}

/** Seconds of processor time: of a process with all its threads, and of all its descendants. */
export interface Cpu {
  readonly own: number
  readonly descendants: number
}

const sampleEvery = 20
const familyEvery = 5
const pageSize = 4096
/** Of the times in /proc, on every Linux. */
const ticksPerSecond = 100

/** Runs a program to its end, watching the memory of its whole process tree. */
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
    // A child that ends without reading its input is not our failure.
    child.stdin.on("error", () => undefined)
    child.stdin.end(options.input ?? "")
    let family: ReadonlyArray<number> = []
    let samples = 0
    let peak = 0
    /** Last seen of each process: what it takes after that, up to {@link sampleEvery}, is missed. */
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

/** Like {@link run}, failing with the program's own words unless it ends well. */
export const succeed = async (...call: Parameters<typeof run>): Promise<Finished> => {
  const finished = await run(...call)
  if (finished.exitCode !== 0) {
    throw new Error(`${[call[0], ...call[1]].join(" ")} ended with ${finished.exitCode}\n${finished.stderr.slice(-4000)}`)
  }
  return finished
}

/** The process and its descendants, by the parents that /proc names. */
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

/** What follows the program's name, which stands in brackets and may hold blanks: state, parent, … (proc(5)). */
const statOf = (pid: number): ReadonlyArray<string> => contentOf(`/proc/${pid}/stat`).replace(/^.*\) /s, "").split(" ")

/** In user and in system mode, all threads together. */
const cpuSeconds = (pid: number): number => {
  const stat = statOf(pid)
  return (Number(stat[11] ?? 0) + Number(stat[12] ?? 0)) / ticksPerSecond
}

const residentBytes = (pid: number): number => Number(contentOf(`/proc/${pid}/statm`).split(" ")[1] ?? 0) * pageSize

/** Empty for a process that has just ended. */
const contentOf = (path: string): string => {
  try {
    return readFileSync(path, "utf8")
  } catch {
    return ""
  }
}
