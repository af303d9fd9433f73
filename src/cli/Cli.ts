import { Effect, Layer, Logger, Stdio } from "effect"
import { CliConfig, Command, GlobalFlag } from "effect/cli"
import packageJson from "../../package.json" with { type: "json" }
import { ExitCode } from "../domain/Errors.ts"
import { groupsFor } from "./Commands.ts"
import { Exited } from "./Exit.ts"
import { Output } from "./Output.ts"
import { presenterLayer } from "./Presenter.ts"
import { renderCause } from "./render/Error.ts"
import { root } from "./Root.ts"

/** Runs pipelines for every command. Not loaded together with the commands, so that help does not wait for it. */
const host = (dataDir: string) =>
  Layer.unwrap(Effect.map(Effect.promise(() => import("../compose/Host.ts")), ({ everyEngine }) => everyEngine({ dataDir })))

const builtIns = [GlobalFlag.Help, GlobalFlag.Version, GlobalFlag.Completions]

/** The command line: parses arguments, runs the command, prints errors. Fails with an error that carries the exit code. */
export const cli = Effect.gen(function*() {
  const args = yield* (yield* Stdio.Stdio).args
  const command = root.pipe(
    Command.withSubcommands(yield* groupsFor(args)),
    Command.provide(({ dataDir }) => host(dataDir))
  )
  yield* Command.runWith(command, { version: packageJson.version })(args).pipe(
    Effect.catchTag("ShowHelp", (help) => help.errors.length === 0 ? Effect.void : Effect.fail(new Exited({ code: ExitCode.invalid }))),
    // A finalizer, so that an interrupt does not cut off its own message.
    Effect.onError(renderCause)
  )
}).pipe(
  Effect.provide(Layer.mergeAll(presenterLayer, CliConfig.layer({ builtIns })).pipe(Layer.provideMerge(Output.layer))),
  // Stdout is for data: logs go to stderr.
  Effect.provideService(Logger.LogToStderr, true)
)
