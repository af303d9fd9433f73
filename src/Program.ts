import { Effect, Layer } from "effect"
import packageJson from "../package.json" with { type: "json" }
import { cli } from "./cli/Cli.ts"
import { BuiltInConnectors } from "./cli/Session.ts"
import { telemetry } from "./cli/Telemetry.ts"

/** Loaded when the first connector is needed: connectors are a large part of the program. */
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

/** The command line with everything it needs except the platform's services. */
export const program = Effect.provide(cli, Layer.mergeAll(connectors, telemetry(packageJson.version)))
