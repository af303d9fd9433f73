import { NodeRuntime, NodeServices } from "@effect/platform-node"
import { Effect } from "effect"
import { ExitCode } from "./domain/Errors.ts"
import { program } from "./Program.ts"

// The first Ctrl-C ends the command in order, which records the run; a second one does not wait for that.
process.once("SIGINT", () => process.on("SIGINT", () => process.exit(ExitCode.interrupted)))
// `sluice … | head` closes the pipe when it has seen enough.
process.stdout.on("error", (error: NodeJS.ErrnoException) => process.exit(error.code === "EPIPE" ? ExitCode.done : ExitCode.error))

program.pipe(
  Effect.provide(NodeServices.layer),
  NodeRuntime.runMain({ disableErrorReporting: true })
)
