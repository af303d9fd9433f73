import { NodeRuntime, NodeServices } from "@effect/platform-node"
import { Effect, Layer } from "effect"
import packageJson from "../package.json" with { type: "json" }
import { cli } from "./cli/Cli.ts"
import { BuiltInConnectors } from "./cli/Session.ts"
import { telemetry } from "./cli/Telemetry.ts"
import { ExitCode } from "./domain/Errors.ts"

/** Loaded when the first of them is needed: they are much of the program. */
const connectors = Layer.succeed(BuiltInConnectors, {
  definitions: Effect.map(Effect.promise(() => import("../connectors/index.ts")), ({ connectors }) => connectors),
  ofServer: Effect.promise(async () => {
    const { storage } = await import("../connectors/storage/Storage.ts")
    return { storage, vendors: Effect.promise(vendors) }
  })
})

const vendors = async () => {
  const [{ googleDrive }, { slack }, { jira }, { sharePoint }] = await Promise.all([
    import("../connectors/googleDrive/GoogleDrive.ts"),
    import("../connectors/slack/Slack.ts"),
    import("../connectors/jira/Jira.ts"),
    import("../connectors/sharePoint/SharePoint.ts")
  ])
  return { googleDrive, slack, jira, sharePoint }
}

// The first Ctrl-C ends the command in order, which records the run; a second one does not wait for that.
process.once("SIGINT", () => process.on("SIGINT", () => process.exit(ExitCode.interrupted)))
// `sluice … | head` closes the pipe when it has seen enough.
process.stdout.on("error", (error: NodeJS.ErrnoException) => process.exit(error.code === "EPIPE" ? ExitCode.done : ExitCode.error))

cli.pipe(
  Effect.provide(Layer.mergeAll(connectors, telemetry(packageJson.version), NodeServices.layer)),
  NodeRuntime.runMain({ disableErrorReporting: true })
)
