import { Console, Context, Effect, Layer, Stdio } from "effect"
import { styleText } from "node:util"

export type Paint = (format: "bold" | "dim" | "red" | "green" | "yellow" | "cyan", text: string) => string

/** Where a command prints: data to stdout, everything meant for people in passing to stderr. */
export class Output extends Context.Service<Output, {
  /** Columns that tables on stdout may take: `COLUMNS`, else the terminal's; unbounded in a pipe, where nothing should be cut. */
  readonly width: number
  /** Whether stderr is a terminal that may be redrawn, and its size. */
  readonly live: { readonly columns: number; readonly rows: number } | undefined
  /** Whether `--json` was given; known even where the arguments are wrong. */
  readonly wantsJson: boolean
  /** Colours for stdout; none in a pipe or under `NO_COLOR`. */
  readonly paint: Paint
  /** The same for stderr. */
  readonly paintError: Paint
  /** The command's result, to stdout. */
  readonly print: (text: string) => Effect.Effect<void>
  /** A piece of the result that comes bit by bit, where stdout is a terminal for it. */
  readonly write: ((text: string) => Effect.Effect<void>) | undefined
  /** One JSON line on stdout, where many of one moment go together: a run says a line of every file. */
  readonly json: (value: unknown) => Effect.Effect<void>
  /** A line for people, to stderr. */
  readonly say: (text: string) => Effect.Effect<void>
  /** What an interrupt of the command that runs comes to, and what to do next. Commands that end by one say their own. */
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
        width: forced ?? (stdout.isTTY ? stdout.columns : Number.POSITIVE_INFINITY),
        live: stderr.isTTY && process.env["TERM"] !== "dumb"
          ? {
            get columns() {
              return forced ?? stderr.columns
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
        interrupted: { what: "interrupted: what was written stays", next: "run it again to go on from here" }
      })
    })
  )
}

const columns = (written: string | undefined): number | undefined => {
  const n = Number(written)
  return Number.isInteger(n) && n > 0 ? n : undefined
}

const jsonAsked = (args: ReadonlyArray<string>): boolean => {
  const end = args.indexOf("--")
  return (end === -1 ? args : args.slice(0, end)).some((arg) => arg === "--json" || arg === "--json=true")
}
