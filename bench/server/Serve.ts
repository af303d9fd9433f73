import { spawn } from "node:child_process"
import { once } from "node:events"
import { join } from "node:path"
import { createInterface } from "node:readline"

/** What a server took since it was asked last. */
export interface Taken {
  /** Of all its threads. */
  readonly cpuMicros: number
  /** Of the thread that has its event loop. */
  readonly mainMicros: number
  /** Milliseconds for which its event loop was held, or the machine gave it no processor: of a hundred times one was longer, … */
  readonly loopP99: number
  /** … and none was longer than this. */
  readonly loopMost: number
  readonly residentBytes: number
}

export interface Served {
  readonly url: string
  readonly taken: () => Promise<Taken>
  /** The same after a collection of its main thread's garbage, which V8 lets lie for as long as there is room. */
  readonly settled: () => Promise<Taken>
  readonly stop: () => Promise<void>
}

/** Milliseconds to get ready in, and to end in before it is made to. */
const patience = 20_000
/** Characters of its messages that are kept, for when it does not start. */
const mostSaid = 4_000

/** `sluice serve` over a data directory, on a free port of this machine, in a process of its own. @throws when it does not start */
export const serve = (commandLine: string, dataDir: string): Promise<Served> =>
  start(commandLine, ["serve", "--port", "0", "--data-dir", dataDir])

/** A server of nothing but `node:http` that reads each request and answers with `answer`: see `BareServer.ts`. */
export const serveBare = (answer: string): Promise<Served> => start(join(import.meta.dirname, "BareServer.ts"), [answer])

/** A program that says its address in its first line. @throws when it does not start */
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
