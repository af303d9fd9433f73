import { Data, Runtime } from "effect"
import { ExitCode } from "../domain/Errors.ts"

/** What was asked for cannot be done as it was asked: arguments, or the pipeline file they should have named. */
export class UsageError extends Data.TaggedError("UsageError")<{ readonly message: string; readonly fix: string }> {
  override readonly [Runtime.errorExitCode] = ExitCode.invalid
}
