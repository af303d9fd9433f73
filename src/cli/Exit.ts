import { Data, Effect, Runtime } from "effect"

/** The command succeeded, and its exit code says something about the result. Nothing is printed. */
export class Exited extends Data.TaggedError("Exited")<{ readonly code: number }> {
  override readonly [Runtime.errorExitCode] = this.code
}

export const exitWith = (code: number): Effect.Effect<void, Exited> => code === 0 ? Effect.void : Effect.fail(new Exited({ code }))
