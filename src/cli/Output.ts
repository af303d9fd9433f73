import { Console, Context, Effect, Layer, Stdio } from "effect"
import { styleText } from "node:util"

export type Paint = (format: "bold" | "dim" | "red" | "green" | "yellow" | "cyan", text: string) => string

/** Output of commands: data goes to stdout, messages for people to stderr. */
export class Output extends Context.Service<Output, {
  /** Width of tables on stdout in columns: `COLUMNS`, else the terminal's; unbounded in a pipe, where nothing should be cut. */
  readonly width: number
  /** Size of stderr's terminal, if it is one that may be redrawn. */
  readonly live: { readonly columns: number; readonly rows: number } | undefined
  /** Whether `--json` was given; known even where the arguments are wrong. */
  readonly wantsJson: boolean
  /** Colours for stdout; none in a pipe or with `NO_COLOR`. */
  readonly paint: Paint
  /** Colours for stderr; none in a pipe or with `NO_COLOR`. */
  readonly paintError: Paint
  /** Prints the command's result to stdout. */
  readonly print: (text: string) => Effect.Effect<void>
  /** Prints a piece of a streamed result, where stdout is a terminal. */
  readonly write: ((text: string) => Effect.Effect<void>) | undefined
  /** Prints one JSON line on stdout. Lines of one moment are written together: a run prints a line per file. */
  readonly json: (value: unknown) => Effect.Effect<void>
  /** Prints a line for people to stderr. */
  readonly say: (text: string) => Effect.Effect<void>
  /** Message of an interrupt of the running command, and what to do next. Commands that write, or end by an interrupt, set their own. */
  readonly interrupted: { what: string; next: string }
}>()("sluice/cli/Output") {
  static readonly layer = Layer.effect(
    Output,
    Effect.gen(function*() {
      const args = yield* (yield* Stdio.Stdio).args
      const { stderr, stdout } = process
      let lines = ""
      const flushNow = (): void => {
        if (lines !== "") stdout.write(lines)
        lines = ""
      }
      const flush = Effect.sync(flushNow)
      yield* Effect.addFinalizer(() => flush)
      const forced = columns(process.env["COLUMNS"])
      return Output.of({
        width: forced ?? (stdout.isTTY ? columnsOf(stdout) : Number.POSITIVE_INFINITY),
        live: stderr.isTTY && process.env["TERM"] !== "dumb"
          ? {
            get columns() {
              return forced ?? columnsOf(stderr)
            },
            get rows() {
              return stderr.rows
            }
          }
          : undefined,
        wantsJson: jsonAsked(args),
        paint: (format, text) => styleText(format, text, { stream: stdout }),
        paintError: (format, text) => styleText(format, text, { stream: stderr }),
        print: (text) => Effect.andThen(flush, Console.log(text)),
        write: stdout.isTTY ? (text) => Effect.sync(() => void stdout.write(text)) : undefined,
        json: (value) =>
          Effect.sync(() => {
            if (lines === "") setImmediate(flushNow)
            lines += `${JSON.stringify(value)}\n`
          }),
        say: (text) => Console.error(text),
        interrupted: { what: "interrupted", next: "nothing was changed" }
      })
    })
  )
}

/** Sets the message of an interrupt for a command that writes, and goes on where it was when it is run again. */
export const goesOnWhenRunAgain = ({ interrupted }: Output["Service"]): void =>
  void Object.assign(interrupted, { what: "interrupted: what was written stays", next: "run it again to go on from here" })

/** Prints the program's version. */
export const showVersion = ({ json, print, wantsJson }: Output["Service"], name: string, version: string): Effect.Effect<void> =>
  wantsJson ? json({ version: 1, type: "version", [name]: version }) : print(`${name} ${version}`)

/** A terminal that does not say how wide it is, such as one of a container, says 0. */
const columnsOf = ({ columns }: NodeJS.WriteStream): number => columns > 0 ? columns : 80

const columns = (written: string | undefined): number | undefined => {
  const n = Number(written)
  return Number.isInteger(n) && n > 0 ? n : undefined
}

const jsonAsked = (args: ReadonlyArray<string>): boolean => {
  const end = args.indexOf("--")
  return (end === -1 ? args : args.slice(0, end)).some((arg) => arg === "--json" || arg === "--json=true")
}
