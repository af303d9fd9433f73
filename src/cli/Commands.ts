import { Effect } from "effect"
import { Argument, CliError, Command } from "effect/cli"
import packageJson from "../../package.json" with { type: "json" }
import { Output, showVersion } from "./Output.ts"

/**
 * Every command by its name, in the groups that help shows. Each is loaded separately: most of the start-up time is
 * loading code, and a command needs no other.
 */
const groups = {
  "Start": {
    init: async () => (await import("./commands/Init.ts")).init,
    validate: async () => (await import("./commands/Validate.ts")).validate,
    schema: async () => (await import("./commands/Schema.ts")).schema,
    doctor: async () => (await import("./commands/Doctor.ts")).doctor,
    help: async () => help,
    version: async () => version
  },
  "Keep a corpus in sync": {
    plan: async () => (await import("./commands/Plan.ts")).plan,
    run: async () => (await import("./commands/Run.ts")).run,
    watch: async () => (await import("./commands/Watch.ts")).watch,
    release: async () => (await import("./commands/Release.ts")).release,
    promote: async () => (await import("./commands/Promote.ts")).promote,
    rollback: async () => (await import("./commands/Promote.ts")).rollback,
    export: async () => (await import("./commands/Export.ts")).exportCommand,
    status: async () => (await import("./commands/Status.ts")).status,
    diff: async () => (await import("./commands/Diff.ts")).diff,
    retry: async () => (await import("./commands/Retry.ts")).retry
  },
  "Use it": {
    ask: async () => (await import("./commands/Ask.ts")).ask,
    chat: async () => (await import("./commands/Chat.ts")).chat,
    batch: async () => (await import("./commands/Batch.ts")).batch,
    retrieve: async () => (await import("./commands/Retrieve.ts")).retrieve,
    explain: async () => (await import("./commands/Retrieve.ts")).explain,
    eval: async () => (await import("./commands/Eval.ts")).evaluate,
    questions: async () => (await import("./commands/Questions.ts")).questions,
    tune: async () => (await import("./commands/Tune.ts")).tune,
    serve: async () => (await import("./commands/Serve.ts")).serve,
    mcp: async () => (await import("./commands/Mcp.ts")).mcp,
    ui: async () => (await import("./commands/Ui.ts")).ui
  },
  "Look inside": {
    parse: async () => (await import("./commands/Parse.ts")).parse,
    corpora: async () => (await import("./commands/Corpora.ts")).corpora,
    files: async () => (await import("./commands/Files.ts")).files,
    models: async () => (await import("./commands/Models.ts")).models,
    endpoints: async () => (await import("./commands/Endpoints.ts")).endpoints,
    operations: async () => (await import("./commands/Operations.ts")).operations
  }
} as const

type Groups = typeof groups
type Loads<G> = G extends Readonly<Record<string, () => Promise<infer C>>> ? C : never
type AnyCommand = Loads<Groups[keyof Groups]>

interface Group {
  readonly group: string
  readonly commands: ReadonlyArray<AnyCommand>
}

const loaders: ReadonlyMap<string, () => Promise<AnyCommand>> = new Map(
  Object.values(groups).flatMap((commands) => Object.entries<() => Promise<AnyCommand>>(commands))
)

const allGroups: Effect.Effect<ReadonlyArray<Group>> = Effect.promise(() =>
  Promise.all(
    Object.entries(groups).map(async ([group, commands]) => ({
      group,
      commands: await Promise.all(Object.values<() => Promise<AnyCommand>>(commands).map((load) => load()))
    }))
  )
)

/** The commands needed to parse a command line: the one it starts with, or all, for help and corrections. */
export const groupsFor = ([first = ""]: ReadonlyArray<string>): Effect.Effect<ReadonlyArray<Group>> => {
  const load = first === "--version" ? loaders.get("version") : first === "help" ? undefined : loaders.get(first)
  return load === undefined ? allGroups : Effect.map(Effect.promise(load), (command) => [{ group: "", commands: [command] }])
}

const version = Command.make(
  "version",
  {},
  Effect.fnUntraced(function*() {
    yield* showVersion(yield* Output, "sluice", packageJson.version)
  })
).pipe(
  Command.withDescription("Print the version of Sluice."),
  Command.withExamples([{ command: "sluice version", description: "same as --version" }])
)

const help = Command.make(
  "help",
  {
    path: Argument.String("command").pipe(
      Argument.variadic(),
      Argument.withDescription("The command; without one, all commands are listed")
    )
  },
  Effect.fnUntraced(function*({ path }) {
    let among: ReadonlyArray<Command.Command.Any> = (yield* allGroups).flatMap(({ commands }) => commands)
    const commandPath = ["sluice"]
    for (const name of path) {
      const next = among.find((child) => child.name === name)
      if (next === undefined) {
        return yield* new CliError.ShowHelp({
          commandPath,
          errors: [new CliError.UnknownSubcommand({ subcommand: name, parent: commandPath, suggestions: [] })]
        })
      }
      among = next.subcommands.flatMap(({ commands }) => commands)
      commandPath.push(name)
    }
    return yield* new CliError.ShowHelp({ commandPath, errors: [] })
  })
).pipe(
  Command.withDescription("Print what a command does, its arguments, flags and examples."),
  Command.withExamples([{ command: "sluice help run", description: "same as `sluice run --help`" }])
)
