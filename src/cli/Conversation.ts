import { Effect, type Scope } from "effect"
import { createInterface } from "node:readline"

/** What a person types, line by line. */
export interface Typing {
  /** The next line; undefined at the end of the input, and on Ctrl-C while nothing is typed or running. */
  readonly next: Effect.Effect<string | undefined>
  /** Runs `work` until Ctrl-C, which ends it but not the program. Returns true if it ran to its end. */
  readonly untilStopped: <E, R>(work: Effect.Effect<void, E, R>) => Effect.Effect<boolean, E, R>
}

/** The streams from which lines are read, and to which they are echoed. */
export interface Keyboard {
  readonly input: NodeJS.ReadableStream
  readonly output: NodeJS.WritableStream
  readonly terminal: boolean
}

const own = (): Keyboard => ({ input: process.stdin, output: process.stderr, terminal: process.stdin.isTTY === true })

/**
 * Reads lines from stdin. On a terminal it shows `prompt` on stderr, keeps what is typed while something else runs, and
 * supports line editing.
 */
export const typing = (prompt: string, { input, output, terminal }: Keyboard = own()): Effect.Effect<Typing, never, Scope.Scope> =>
  Effect.gen(function*() {
    const lines = yield* Effect.acquireRelease(
      Effect.sync(() => createInterface({ input, terminal, ...(terminal ? { output, prompt } : {}) })),
      (lines) => Effect.sync(() => lines.close())
    )
    const waiting = lines[Symbol.asyncIterator]()
    const atPrompt = (): void => {
      if (lines.line === "") return lines.close()
      lines.write(null, { ctrl: true, name: "e" })
      lines.write(null, { ctrl: true, name: "u" })
    }
    let closed = false
    lines.once("close", () => {
      closed = true
    })
    let onStop = atPrompt
    lines.on("SIGINT", () => onStop())
    return {
      next: Effect.promise(async () => {
        if (terminal && !closed) lines.prompt()
        const { done, value } = await waiting.next()
        if (done !== true) return value
        // Whatever is printed next, possibly by the shell, starts on a new line.
        if (terminal) output.write("\n")
        return undefined
      }),
      untilStopped: (work) =>
        Effect.raceFirst(
          Effect.callback<boolean>((resume) => {
            onStop = () => resume(Effect.succeed(false))
          }),
          Effect.as(work, true)
        ).pipe(Effect.ensuring(Effect.sync(() => {
          onStop = atPrompt
        })))
    }
  })
