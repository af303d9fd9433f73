import { Data, Effect, Runtime } from "effect"
import { ExitCode } from "../domain/Errors.ts"

/** The command cannot be run as given, because of its arguments, or of the pipeline file they should have named. */
export class UsageError extends Data.TaggedError("UsageError")<{ readonly message: string; readonly fix: string }> {
  override readonly [Runtime.errorExitCode] = ExitCode.invalid
}

/** Error of a flag, or of the variable in its place, whose value is invalid. */
export const wrongFlag = (flag: string, problem: string, fix: string): Effect.Effect<never, UsageError> =>
  Effect.fail(new UsageError({ message: `${flag}: ${problem}`, fix }))

/** Error of a flag that names a file which does not exist or cannot be read. */
export const unreadable = (flag: string, file: string): Effect.Effect<never, UsageError> =>
  wrongFlag(flag, `${file} cannot be read`, "name a file that can")

/** Fails where more than one of these flags was given. */
export const notTogether = (flags: Readonly<Record<string, boolean>>): Effect.Effect<void, UsageError> => {
  const [first, second] = Object.keys(flags).filter((name) => flags[name])
  return second === undefined
    ? Effect.void
    : Effect.fail(new UsageError({ message: `${first} and ${second} cannot be given together`, fix: "leave one out" }))
}
