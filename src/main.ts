import { NodeRuntime, NodeServices } from "@effect/platform-node"
import { Effect, Layer } from "effect"
import packageJson from "../package.json" with { type: "json" }
import { BatchLauncher } from "./cli/BatchLauncher.ts"
import { cli } from "./cli/Cli.ts"
import { ServerLauncher } from "./cli/commands/Serve.ts"
import { Launcher } from "./cli/Launcher.ts"
import { ModelLauncher } from "./cli/ModelLauncher.ts"
import { telemetry } from "./compose/Telemetry.ts"
import { ExitCode, type SecretError, type ServiceError, type StateError } from "./domain/Errors.ts"
import type { Secrets } from "./ports/Secrets.ts"
import type { Connectors, Services } from "./pipeline/Services.ts"

/** What only some commands need is loaded when the first of them does: it is most of the program. */
const load = <A>(module: () => Promise<A>): Effect.Effect<A> => Effect.promise(module)

/** Every connector of this build, under the names pipelines use. */
const connectors = load(async () => {
  const [{ local }, { storage }, { googleDrive }, { slack }, { jira }, { sharePoint }, { git }, { web }] = await Promise.all([
    import("../connectors/local/Local.ts"),
    import("../connectors/storage/Storage.ts"),
    import("../connectors/googleDrive/GoogleDrive.ts"),
    import("../connectors/slack/Slack.ts"),
    import("../connectors/jira/Jira.ts"),
    import("../connectors/sharePoint/SharePoint.ts"),
    import("../connectors/git/Git.ts"),
    import("../connectors/web/Web.ts")
  ])
  return { local, storage, googleDrive, slack, jira, sharePoint, git, web }
})

const launcher = Layer.succeed(Launcher, {
  version: packageJson.version,
  fit: Effect.fnUntraced(function*(loaded, engine = loaded.pipeline.engine._tag) {
    const { fit } = yield* load(() => import("./compose/Fit.ts"))
    return yield* fit(loaded, engine, Object.keys(yield* connectors))
  }),
  layer: (pipeline, { dataDir, waiting, waitMs, writes }) =>
    Layer.unwrap(Effect.gen(function*() {
      const { makeConnectors } = yield* load(() => import("./compose/Connectors.ts"))
      const options = {
        dataDir,
        ...(writes === undefined ? {} : { writes }),
        ...(waitMs === undefined ? {} : { waitMs }),
        ...(waiting === undefined ? {} : { waiting })
      }
      const engine: Layer.Layer<Exclude<Services, Connectors> | Secrets, ServiceError | StateError | SecretError> =
        pipeline.engine._tag === "vertex"
          ? (yield* load(() => import("./compose/Vertex.ts"))).vertexServices(pipeline, options)
          : (yield* load(() => import("./compose/Embedded.ts"))).embeddedServices(pipeline, options)
      return makeConnectors(yield* connectors, { dataDir }).pipe(Layer.provideMerge(engine))
    })),
  checks: Effect.fnUntraced(function*(pipeline, options) {
    if (pipeline.engine._tag !== "vertex") return []
    const { vertexChecks } = yield* load(() => import("./compose/Vertex.ts"))
    return yield* vertexChecks(pipeline, options)
  }),
  modelServers: Effect.flatMap(load(() => import("./compose/ModelServers.ts")), ({ findModelServers }) => findModelServers(process.env)),
  inspect: Effect.fnUntraced(function*(dataDir) {
    const { inspect } = yield* load(() => import("./compose/Inspect.ts"))
    return yield* inspect(dataDir)
  })
})

const modelLauncher = Layer.succeed(ModelLauncher, {
  layer: (pipeline, dataDir) =>
    Layer.unwrap(Effect.map(load(() => import("./compose/ModelGarden.ts")), ({ modelGarden }) => modelGarden(pipeline, { dataDir })))
})

const batchLauncher = Layer.succeed(BatchLauncher, {
  layer: (pipeline, options) =>
    Layer.unwrap(Effect.map(load(() => import("./compose/Batch.ts")), ({ batchServices }) => batchServices(pipeline, options)))
})

const serverLauncher = Layer.succeed(ServerLauncher, {
  start: Effect.fnUntraced(function*(options) {
    const { serveEmbedded } = yield* load(() => import("./compose/Server.ts"))
    const { storage } = yield* load(() => import("../connectors/storage/Storage.ts"))
    return yield* serveEmbedded({ ...options, version: packageJson.version, storage, vendors: connectors })
  })
})

// The first Ctrl-C ends the command in order, which records the run; a second one does not wait for that.
process.once("SIGINT", () => process.on("SIGINT", () => process.exit(ExitCode.interrupted)))
// `sluice … | head` closes the pipe when it has seen enough.
process.stdout.on("error", (error: NodeJS.ErrnoException) => process.exit(error.code === "EPIPE" ? ExitCode.done : ExitCode.error))

cli.pipe(
  Effect.provide(Layer.mergeAll(launcher, batchLauncher, modelLauncher, serverLauncher, telemetry(packageJson.version), NodeServices.layer)),
  NodeRuntime.runMain({ disableErrorReporting: true })
)
