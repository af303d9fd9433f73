import { NodeRuntime, NodeServices } from "@effect/platform-node"
import { Effect } from "effect"
import { ExitCode } from "./domain/Errors.ts"
import { program } from "./Program.ts"

// The first Ctrl-C ends the command in order and records the run; the second exits at once.
process.once("SIGINT", () => process.on("SIGINT", () => process.exit(ExitCode.interrupted)))
// `sluice … | head` closes the pipe once it has enough.
process.stdout.on("error", (error: NodeJS.ErrnoException) => process.exit(error.code === "EPIPE" ? ExitCode.done : ExitCode.error))

program.pipe(
  Effect.provide(NodeServices.layer),
  NodeRuntime.runMain({ disableErrorReporting: true })
)
