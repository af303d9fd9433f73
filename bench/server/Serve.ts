import { spawn } from "node:child_process"
import { once } from "node:events"
import { createInterface } from "node:readline"

export interface Served {
  readonly url: string
  readonly stop: () => Promise<void>
}

/** Milliseconds to get ready in, and to end in before it is made to. */
const patience = 20_000
/** Characters of its messages that are kept, for when it does not start. */
const mostSaid = 4_000

/** `sluice serve` over a data directory, on a free port of this machine, in a process of its own. @throws when it does not start */
export const serve = async (commandLine: string, dataDir: string): Promise<Served> => {
  const child = spawn(process.execPath, [commandLine, "serve", "--port", "0", "--data-dir", dataDir], { stdio: ["ignore", "pipe", "pipe"] })
  let said = ""
  child.stderr.on("data", (data: Buffer) => {
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
  const lines = createInterface({ input: child.stdout })
  const url = await Promise.race([once(lines, "line").then(([line]) => String(line)), ended.then(() => undefined)])
  clearTimeout(late)
  if (url === undefined) throw new Error(`sluice serve ended before it was ready\n${said}`)
  return { url, stop }
}
