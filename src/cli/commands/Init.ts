import { Effect, FileSystem, Path } from "effect"
import { Argument, Command, Flag } from "effect/cli"
import { fromHere } from "../Paths.ts"
import { Output } from "../Output.ts"
import { printable } from "../../domain/Text.ts"
import { answeringServer, describeServer } from "../ModelServers.ts"
import { starter } from "../Starter.ts"
import { root } from "../Root.ts"
import { UsageError } from "../UsageError.ts"

/** `sluice init`: writes a commented pipeline file for a folder. */
export const init = Command.make(
  "init",
  {
    folder: Argument.Path("folder").pipe(
      Argument.map(fromHere),
      Argument.withDescription("The folder whose files go into the corpus"),
      Argument.withDefault(".")
    ),
    output: Flag.Path("output").pipe(
      Flag.map(fromHere),
      Flag.withAlias("o"),
      Flag.withDescription("The file to write"),
      Flag.withMetavar("FILE"),
      Flag.withDefault("pipeline.yaml")
    ),
    offline: Flag.Boolean("offline").pipe(
      Flag.withDescription("Do not look for a model server: answers are sentences of the corpus"),
      Flag.withDefault(false)
    ),
    force: Flag.Boolean("force").pipe(Flag.withDescription("Overwrite the file if it exists"), Flag.withDefault(false))
  },
  Effect.fn(function*(args) {
    const { json } = yield* root
    const output = yield* Output
    const fs = yield* FileSystem.FileSystem
    const path = yield* Path.Path
    const refuse = (message: string, fix: string) => new UsageError({ message, fix })
    const folder = yield* fs.stat(args.folder).pipe(
      Effect.mapError(() => refuse(`${args.folder} is not there`, "name a folder that is, or create it"))
    )
    if (folder.type !== "Directory") return yield* refuse(`${args.folder} is not a folder`, "name a folder")
    const file = path.resolve(args.output)
    const documents = path.resolve(args.folder)
    const relative = path.relative(path.dirname(file), documents)
    const written = relative.startsWith("..") ? relative : `./${relative}`
    const own = path.relative(documents, file)
    const { findModelServers } = yield* Effect.promise(() => import("../../models/ModelServers.ts"))
    const servers = args.offline ? [] : yield* findModelServers(process.env)
    const text = starter(path.basename(documents), written, own.startsWith("..") ? undefined : own, servers)
    const write = fs.writeFileString(file, text, { flag: args.force ? "w" : "wx" })
    yield* write.pipe(Effect.mapError((error) =>
      error.reason._tag === "AlreadyExists"
        ? refuse(`${args.output} is there already`, "name another with --output, or overwrite it with --force")
        : refuse(`${args.output} cannot be written`, "name another place with --output")
    ))
    if (json) return yield* output.json({ version: 1, type: "init", file, modelServers: servers })
    for (const server of servers) yield* output.say(printable(`found ${describeServer(server)}`))
    const answering = answeringServer(servers)
    if (answering !== undefined) {
      yield* output.say(
        printable(`answers are written by ${answering.answers.model}; with --offline, or \`model: extractive\`, no model is used`)
      )
    }
    yield* output.print(`wrote ${args.output}\nnext: sluice plan ${args.output}, then sluice run ${args.output}`)
  })
).pipe(
  Command.withDescription("Write a commented pipeline file for a folder of documents."),
  Command.withExamples([
    { command: "sluice init ./docs", description: "writes pipeline.yaml" },
    { command: "sluice init ./docs --output handbook.pipeline.yaml", description: "under another name" }
  ])
)
