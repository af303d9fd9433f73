import { NodeServices } from "@effect/platform-node"
import { Console, Effect, Runtime, Stdio } from "effect"
import { format } from "node:util"
import { program } from "../../src/Program.ts"
import type { Finished } from "./Finished.ts"
import type { Options } from "./Sluice.ts"

/** The last command that was started. */
let last: Promise<unknown> = Promise.resolve()

/**
 * Runs a command from the source in this process, with a folder and an environment, and returns its output. Commands run one
 * after the other. It takes a fifth of the processor time of the built command in a separate process (`sluice` of `Sluice.ts`):
 * most tests use this, and one for each kind of command uses the other.
 */
export const command = (args: ReadonlyArray<string>, options: Pick<Options, "cwd" | "env">): Promise<Finished> => {
  const mine = last.then(() => run(args, options))
  last = mine.catch(() => {})
  return mine
}

const run = async (args: ReadonlyArray<string>, { cwd, env = {} }: Pick<Options, "cwd" | "env">): Promise<Finished> => {
  const printed = { stdout: "", stderr: "" }
  const before = process.cwd()
  const set = { NO_COLOR: "1", ...env }
  const others = Object.keys(set).map((name) => [name, process.env[name]] as const)
  const { stderr, stdout } = process
  const streams = [["stdout", stdout, stdout.write] as const, ["stderr", stderr, stderr.write] as const]
  const to = (name: keyof typeof printed) => (...values: ReadonlyArray<unknown>): void => void (printed[name] += `${format(...values)}\n`)
  const console: Console.Console = { ...globalThis.console, log: to("stdout"), info: to("stdout"), error: to("stderr"), warn: to("stderr") }
  const stdio = Effect.map(Stdio.Stdio, (own) => Stdio.make({ ...own, args: Effect.succeed(args) }))

  process.chdir(cwd)
  Object.assign(process.env, set)
  for (const [name, stream] of streams) {
    stream.write = (bytes: string | Uint8Array, ...rest: ReadonlyArray<unknown>): boolean => {
      printed[name] += Buffer.from(bytes as string).toString()
      for (const done of rest) if (typeof done === "function") done()
      return true
    }
  }
  try {
    const exit = await Effect.runPromiseExit(program.pipe(
      Effect.provideServiceEffect(Stdio.Stdio, stdio),
      Effect.provideService(Console.Console, console),
      Effect.provide(NodeServices.layer)
    ))
    let code = 0
    Runtime.defaultTeardown(exit, (ended) => void (code = ended))
    return { code, signal: null, ...printed }
  } finally {
    for (const [, stream, write] of streams) stream.write = write
    for (const [name, value] of others) {
      if (value === undefined) delete process.env[name]
      else process.env[name] = value
    }
    process.chdir(before)
  }
}
