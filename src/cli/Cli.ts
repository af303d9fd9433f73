import { Effect, Layer, Logger } from "effect"
import { Argument, CliConfig, CliError, Command, GlobalFlag } from "effect/cli"
import packageJson from "../../package.json" with { type: "json" }
import { ExitCode } from "../domain/Errors.ts"
import { ask } from "./commands/Ask.ts"
import { batch } from "./commands/Batch.ts"
import { chat } from "./commands/Chat.ts"
import { corpora } from "./commands/Corpora.ts"
import { diff } from "./commands/Diff.ts"
import { doctor } from "./commands/Doctor.ts"
import { evaluate } from "./commands/Eval.ts"
import { endpoints } from "./commands/Endpoints.ts"
import { exportCommand } from "./commands/Export.ts"
import { files } from "./commands/Files.ts"
import { init } from "./commands/Init.ts"
import { mcp } from "./commands/Mcp.ts"
import { models } from "./commands/Models.ts"
import { operations } from "./commands/Operations.ts"
import { parse } from "./commands/Parse.ts"
import { plan } from "./commands/Plan.ts"
import { promote, rollback } from "./commands/Promote.ts"
import { questions } from "./commands/Questions.ts"
import { release } from "./commands/Release.ts"
import { explain, retrieve } from "./commands/Retrieve.ts"
import { retry } from "./commands/Retry.ts"
import { run } from "./commands/Run.ts"
import { schema } from "./commands/Schema.ts"
import { serve } from "./commands/Serve.ts"
import { status } from "./commands/Status.ts"
import { tune } from "./commands/Tune.ts"
import { ui } from "./commands/Ui.ts"
import { validate } from "./commands/Validate.ts"
import { watch } from "./commands/Watch.ts"
import { Exited } from "./Exit.ts"
import { Output } from "./Output.ts"
import { presenterLayer } from "./Presenter.ts"
import { renderCause } from "./render/Error.ts"
import { root } from "./Root.ts"

const version = Command.make(
  "version",
  {},
  Effect.fnUntraced(function*() {
    yield* (yield* Output).print(`sluice ${packageJson.version}`)
  })
).pipe(
  Command.withDescription("Print the version of Sluice."),
  Command.withExamples([{ command: "sluice version", description: "as --version does" }])
)

const help = Command.make(
  "help",
  { path: Argument.String("command").pipe(Argument.variadic(), Argument.withDescription("The command; none for all of them")) },
  Effect.fnUntraced(function*({ path }) {
    let at: Command.Command.Any = command
    const commandPath = ["sluice"]
    for (const name of path) {
      const next = at.subcommands.flatMap(({ commands }) => commands).find((child) => child.name === name)
      if (next === undefined) {
        return yield* new CliError.ShowHelp({
          commandPath,
          errors: [new CliError.UnknownSubcommand({ subcommand: name, parent: commandPath, suggestions: [] })]
        })
      }
      at = next
      commandPath.push(name)
    }
    return yield* new CliError.ShowHelp({ commandPath, errors: [] })
  })
).pipe(
  Command.withDescription("Print what a command does, its arguments, flags and examples."),
  Command.withExamples([{ command: "sluice help run", description: "as `sluice run --help` does" }])
)

/** Runs pipelines for every command. Not loaded with the commands, so that help does not wait for it. */
const host = (dataDir: string) =>
  Layer.unwrap(Effect.map(Effect.promise(() => import("../compose/Host.ts")), ({ everyEngine }) => everyEngine({ dataDir })))

const command = root.pipe(
  Command.withSubcommands([
    { group: "Start", commands: [init, validate, schema, doctor, help, version] },
    { group: "Keep a corpus in sync", commands: [plan, run, watch, release, promote, rollback, exportCommand, status, diff, retry] },
    { group: "Use it", commands: [ask, chat, batch, retrieve, explain, evaluate, questions, tune, serve, mcp, ui] },
    { group: "Look inside", commands: [parse, corpora, files, models, endpoints, operations] }
  ]),
  Command.provide(({ dataDir }) => host(dataDir))
)

const builtIns = [GlobalFlag.Help, GlobalFlag.Version, GlobalFlag.Completions]

/** The command line: parses, runs, renders what went wrong. Fails with an error that carries the exit code. */
export const cli = Effect.gen(function*() {
  yield* Command.run(command, { version: packageJson.version }).pipe(
    Effect.catchTag("ShowHelp", (help) => help.errors.length === 0 ? Effect.void : Effect.fail(new Exited({ code: ExitCode.invalid }))),
    // As a finalizer, so that an interrupt does not cut its own message short.
    Effect.onError(renderCause)
  )
}).pipe(
  Effect.provide(Layer.mergeAll(presenterLayer, CliConfig.layer({ builtIns })).pipe(Layer.provideMerge(Output.layer))),
  // Output is data, whatever is logged.
  Effect.provideService(Logger.LogToStderr, true)
)
