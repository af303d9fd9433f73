import { Data, Effect, Runtime } from "effect"
import { ExitCode } from "../domain/Errors.ts"

/** What was asked for cannot be done as it was asked: arguments, or the pipeline file they should have named. */
export class UsageError extends Data.TaggedError("UsageError")<{ readonly message: string; readonly fix: string }> {
  override readonly [Runtime.errorExitCode] = ExitCode.invalid
}

/** A flag, or a variable in its place, whose value cannot be taken. */
export const wrongFlag = (flag: string, problem: string, fix: string): Effect.Effect<never, UsageError> =>
  Effect.fail(new UsageError({ message: `${flag}: ${problem}`, fix }))

/** The file that a flag names is not there, or may not be read. */
export const unreadable = (flag: string, file: string): Effect.Effect<never, UsageError> =>
  wrongFlag(flag, `${file} cannot be read`, "name a file that can")

/** Fails where more than one of these flags was given. */
export const notTogether = (flags: Readonly<Record<string, boolean>>): Effect.Effect<void, UsageError> => {
  const [first, second] = Object.keys(flags).filter((name) => flags[name])
  return second === undefined
    ? Effect.void
    : Effect.fail(new UsageError({ message: `${first} and ${second} cannot be given together`, fix: "leave one out" }))
}
