import { Config, Context, Effect, FileSystem, Logger, Option, Redacted, type Scope } from "effect"
import { Command, Flag } from "effect/cli"
import { ServiceError, type StateError } from "../../domain/Errors.ts"
import { Output } from "../Output.ts"
import { given, root } from "../Root.ts"

export interface ServeOptions {
  readonly dataDir: string
  readonly host: string
  readonly port: number
  readonly token?: Redacted.Redacted<string>
  /** Folders by the name of the bucket they stand for. */
  readonly buckets: ReadonlyMap<string, string>
  readonly allowRemote: boolean
  readonly embeddingModel?: string
  readonly vertexQuotas: boolean
  /** The text of a fault script. */
  readonly faults?: string
}

/** Starts a server over the engine of a data directory. Given by the composition root. */
export class ServerLauncher extends Context.Service<ServerLauncher, {
  readonly start: (options: ServeOptions) => Effect.Effect<{ readonly url: string }, ServiceError | StateError, Scope.Scope>
}>()("sluice/cli/ServerLauncher") {}

/** `sluice serve`: the RAG API of Vertex AI, over HTTP, on this machine. */
export const serve = Command.make(
  "serve",
  {
    host: Flag.String("host").pipe(
      Flag.withDescription("Address to listen on. Any that others can reach needs a token. Default 127.0.0.1"),
      Flag.withDefault("127.0.0.1")
    ),
    port: Flag.Int("port").pipe(Flag.withDescription("0 picks a free one. Default 8686"), Flag.withDefault(8686)),
    tokenFile: Flag.String("token-file").pipe(
      Flag.withDescription("A file with the token every request must carry; SLUICE_SERVER_TOKEN does the same"),
      Flag.withMetavar("FILE"),
      Flag.optional
    ),
    bucket: Flag.KeyValuePair("bucket").pipe(
      Flag.withDescription("A folder that stands for a bucket: imports of gs://NAME/… read it"),
      Flag.withMetavar("NAME=FOLDER"),
      Flag.withDefault({})
    ),
    allowRemote: Flag.Boolean("allow-remote").pipe(
      Flag.withDescription("Let imports fetch from Cloud Storage, S3 and public https addresses"),
      Flag.withDefault(false)
    ),
    embeddingModel: Flag.String("embedding-model").pipe(
      Flag.withDescription("The model told for corpora that named none. Default text-embedding-004"),
      Flag.withMetavar("MODEL"),
      Flag.optional
    ),
    quotas: Flag.Literals("quotas", ["vertex", "none"]).pipe(
      Flag.withDescription("vertex: enforce the service's quotas and file sizes. Default none"),
      Flag.withDefault("none")
    ),
    faults: Flag.String("faults").pipe(
      Flag.withDescription("A YAML script of failures, to test a client with"),
      Flag.withMetavar("FILE"),
      Flag.optional
    )
  },
  Effect.fn(function*(args) {
    const { dataDir, json } = yield* root
    const output = yield* Output
    const { start } = yield* ServerLauncher
    const faults = Option.isNone(args.faults) ? undefined : yield* readText("faults", args.faults.value)
    const token = yield* tokenOf(given(args.tokenFile))
    const embeddingModel = given(args.embeddingModel)
    return yield* Effect.scoped(Effect.gen(function*() {
      const { url } = yield* start({
        dataDir,
        host: args.host,
        port: args.port,
        buckets: new Map(Object.entries(args.bucket)),
        allowRemote: args.allowRemote,
        vertexQuotas: args.quotas === "vertex",
        ...(token === undefined ? {} : { token }),
        ...(embeddingModel === undefined ? {} : { embeddingModel }),
        ...(faults === undefined ? {} : { faults })
      })
      yield* json ? output.json({ version: 1, url }) : output.print(url)
      return yield* Effect.never
    })).pipe(Effect.provideService(Logger.LogToStderr, true))
  })
).pipe(
  Command.withDescription(
    "Serve the RAG API of Vertex AI on this machine, over the embedded engine: its client libraries, pointed here, work unchanged. Prints the base URL once it is ready."
  ),
  Command.withExamples([
    { command: "sluice serve", description: "on http://127.0.0.1:8686" },
    { command: "sluice serve --port 0 --bucket docs=./docs", description: "on a free port; gs://docs/ is the folder ./docs" },
    { command: "sluice serve --quotas vertex --faults faults.yaml", description: "as strict and as fragile as the real thing" }
  ])
)

const readText = Effect.fnUntraced(function*(flag: string, file: string) {
  const fs = yield* FileSystem.FileSystem
  return yield* fs.readFileString(file).pipe(
    Effect.mapError(() => ServiceError.invalid(`--${flag}`, `${file} cannot be read`))
  )
})

const tokenOf = Effect.fnUntraced(function*(file: string | undefined) {
  const text = file === undefined
    ? yield* Config.option(Config.Redacted("SLUICE_SERVER_TOKEN")).pipe(
      Effect.map(Option.map(Redacted.value)),
      Effect.orElseSucceed(() => Option.none<string>())
    )
    : Option.some(yield* readText("token-file", file))
  if (Option.isNone(text)) return undefined
  const token = text.value.trim()
  return /^\S{16,}$/.test(token)
    ? Redacted.make(token)
    : yield* ServiceError.invalid("token", "must have at least 16 characters, and no white space")
})
