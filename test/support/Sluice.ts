import { type ChildProcess, spawn } from "node:child_process"
import { bin } from "./Built.ts"

export interface Finished {
  readonly code: number | null
  readonly signal: NodeJS.Signals | null
  readonly stdout: string
  readonly stderr: string
}

export interface Options {
  readonly cwd: string
  readonly env?: Readonly<Record<string, string>>
  /** Content of stdin. Default: none. */
  readonly input?: string
  /** Leaves stdin open, for the test to write to. Default false. */
  readonly keepsInput?: boolean
  /** User whose permissions it has. Default: the user of this process. */
  readonly uid?: number
}

/** Starts the built command line in a separate process. */
export const start = (
  args: ReadonlyArray<string>,
  options: Options
): { readonly child: ChildProcess; readonly finished: Promise<Finished> } => {
  const child = spawn(process.execPath, [bin, ...args], {
    cwd: options.cwd,
    uid: options.uid,
    env: { ...process.env, NO_COLOR: "1", ...options.env },
    stdio: [options.input === undefined && options.keepsInput !== true ? "ignore" : "pipe", "pipe", "pipe"]
  })
  if (options.keepsInput !== true) child.stdin?.end(options.input)
  let stdout = ""
  let stderr = ""
  child.stdout?.setEncoding("utf8").on("data", (text: string) => void (stdout += text))
  child.stderr?.setEncoding("utf8").on("data", (text: string) => void (stderr += text))
  const finished = new Promise<Finished>((resolve, reject) => {
    child.on("error", reject)
    child.on("close", (code, signal) => resolve({ code, signal, stdout, stderr }))
  })
  return { child, finished }
}

export const sluice = (args: ReadonlyArray<string>, options: Options): Promise<Finished> => start(args, options).finished

/** The JSON lines a command printed. */
export const events = ({ stdout }: Finished): ReadonlyArray<Record<string, unknown>> =>
  stdout.split("\n").filter((line) => line !== "").map((line) => JSON.parse(line))
