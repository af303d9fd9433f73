import { spawn } from "node:child_process"
import { once } from "node:events"
import { join } from "node:path"
import { createInterface } from "node:readline"

/** Resources that a server has taken since the last reading. */
export interface Taken {
  /** Microseconds of processor time of all its threads. */
  readonly cpuMicros: number
  /** Microseconds of processor time of its main thread. */
  readonly mainMicros: number
  /** 99th percentile of the milliseconds for which its event loop was blocked, or had no processor. */
  readonly loopP99: number
  /** Longest time in milliseconds for which its event loop was blocked. */
  readonly loopMost: number
  readonly residentBytes: number
}

export interface Served {
  readonly url: string
  readonly taken: () => Promise<Taken>
  /** Reads the resources after a garbage collection in its main thread: V8 delays collections while there is room. */
  readonly settled: () => Promise<Taken>
  readonly stop: () => Promise<void>
}

/** Milliseconds within which a server has to start, and within which it has to end before it is killed. */
const patience = 20_000
/** Most characters kept of its output, for the error where it does not start. */
const mostSaid = 4_000

/** Starts `sluice serve` over a data directory, on a free port, in a separate process. @throws when it does not start */
export const serve = (commandLine: string, dataDir: string): Promise<Served> =>
  start(commandLine, ["serve", "--port", "0", "--data-dir", dataDir])

/** Starts a bare `node:http` server that responds to every request with `answer`: see `BareServer.ts`. */
export const serveBare = (answer: string): Promise<Served> => start(join(import.meta.dirname, "BareServer.ts"), [answer])

/** Starts a program that prints its address in its first line. @throws when it does not start */
const start = async (program: string, args: ReadonlyArray<string>): Promise<Served> => {
  const watch = join(import.meta.dirname, "Watch.ts")
  const child = spawn(process.execPath, ["--expose-gc", "--import", watch, program, ...args], { stdio: ["ignore", "pipe", "pipe", "ipc"] })
  let said = ""
  child.stderr?.on("data", (data: Buffer) => {
    said = `${said}${data.toString()}`.slice(-mostSaid)
  })
  const ended = once(child, "exit")
  const stop = async (): Promise<void> => {
    child.kill("SIGTERM")
    const force = setTimeout(() => child.kill("SIGKILL"), patience)
    await ended
    clearTimeout(force)
  }
  const late = setTimeout(() => child.kill("SIGKILL"), patience)
  const lines = createInterface({ input: child.stdout! })
  const url = await Promise.race([once(lines, "line").then(([line]) => String(line)), ended.then(() => undefined)])
  clearTimeout(late)
  if (url === undefined) throw new Error(`${program} ended before it was ready\n${said}`)
  const ask = (what: "taken" | "settled") => async (): Promise<Taken> => {
    const told = once(child, "message")
    child.send(what)
    const [taken] = await told
    return taken as Taken // Watch.ts sends nothing else
  }
  return { url, taken: ask("taken"), settled: ask("settled"), stop }
}
