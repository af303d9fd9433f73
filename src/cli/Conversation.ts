import { Effect, type Scope } from "effect"
import { createInterface } from "node:readline"

/** What a person types, line by line. */
export interface Typing {
  /** The next line; undefined at the end of the input, and on Ctrl-C while nothing is under way. */
  readonly next: Effect.Effect<string | undefined>
  /** Runs `work` until Ctrl-C, which ends it and not the program. True: it ran to its end. */
  readonly untilStopped: <E, R>(work: Effect.Effect<void, E, R>) => Effect.Effect<boolean, E, R>
}

/** Reads stdin. On a terminal it shows `prompt` on stderr, keeps what was typed while something else ran, and edits lines. */
export const typing = (prompt: string): Effect.Effect<Typing, never, Scope.Scope> =>
  Effect.gen(function*() {
    const terminal = process.stdin.isTTY === true
    const lines = yield* Effect.acquireRelease(
      Effect.sync(() => createInterface({ input: process.stdin, terminal, ...(terminal ? { output: process.stderr, prompt } : {}) })),
      (lines) => Effect.sync(() => lines.close())
    )
    const waiting = lines[Symbol.asyncIterator]()
    let onStop = (): void => lines.close()
    lines.on("SIGINT", () => onStop())
    return {
      next: Effect.promise(async () => {
        if (terminal) lines.prompt()
        const { done, value } = await waiting.next()
        return done === true ? undefined : value
      }),
      untilStopped: (work) =>
        Effect.raceFirst(
          Effect.as(work, true),
          Effect.callback<boolean>((resume) => {
            onStop = () => resume(Effect.succeed(false))
          })
        ).pipe(Effect.ensuring(Effect.sync(() => {
          onStop = () => lines.close()
        })))
    }
  })
