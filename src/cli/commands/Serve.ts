import { resolve } from "node:path"
import { Config, Effect, Fiber, FileSystem, Layer, Logger, Option, Redacted, Schema } from "effect"
import { Command, Flag } from "effect/cli"
import { defined } from "../../domain/Defined.ts"
import { isModelFolder, type LocalModel, localModelForm } from "../../domain/LocalModel.ts"
import { SecretVersion } from "../../domain/Secret.ts"
import { secretGrant } from "../../domain/SecretGrant.ts"
import { askerFlag, optionalInt, optionalText } from "../Flags.ts"
import { boundHeap, giveThreadsRoom } from "../Heap.ts"
import { Output } from "../Output.ts"
import packageJson from "../../../package.json" with { type: "json" }
import { whereFlag } from "../Question.ts"
import { given, root } from "../Root.ts"
import { fromHere } from "../Paths.ts"
import { BuiltInConnectors, openPipeline } from "../Session.ts"
import { unreadable, type UsageError, wrongFlag } from "../UsageError.ts"

const vendors = ["googleDrive", "slack", "sharePoint", "microsoftLogin"] as const
type Vendor = typeof vendors[number]

/** `sluice serve`: the RAG API of Vertex AI, over HTTP, on this machine. */
export const serve = Command.make(
  "serve",
  {
    host: Flag.String("host").pipe(
      Flag.withDescription("Address to listen on. One that other machines can reach needs a token. Default 127.0.0.1"),
      Flag.withDefault("127.0.0.1")
    ),
    port: Flag.Int("port").pipe(
      Flag.filter((port) => port >= 0 && port <= 65_535, () => "Expected a port, from 0 to 65535"),
      Flag.withDescription("Port to listen on; 0 picks a free one. Default 8686"),
      Flag.withDefault(8686)
    ),
    tokenFile: optionalText("token-file", "FILE", "A file with the token every request must carry; SLUICE_SERVER_TOKEN does the same"),
    bundle: Flag.Path("bundle").pipe(
      Flag.map(fromHere),
      Flag.withDescription("A bundle that `sluice export` wrote: its corpus is served too, read-only. May be repeated"),
      Flag.withMetavar("FILE"),
      Flag.atLeast(0),
      Flag.withDefault([])
    ),
    bucket: Flag.KeyValuePair("bucket").pipe(
      Flag.withDescription("A folder that stands in for a bucket: imports and batch jobs of gs://NAME/… use it. May be repeated"),
      Flag.withMetavar("NAME=FOLDER"),
      Flag.withDefault({})
    ),
    tables: optionalText("tables", "FILE", "A SQLite file for batch jobs: bq://ANY.main.NAME is its table NAME. Default none"),
    batchConcurrency: optionalInt("batch-concurrency", [1, 100], "N", "Rows of batch jobs put to the model at once, 1 to 100. Default 4"),
    allowRemote: Flag.Boolean("allow-remote").pipe(
      Flag.withDescription(
        "Let imports fetch from Cloud Storage, S3, public https addresses, Drive, Slack, Jira and SharePoint, and batch jobs and results reach Cloud Storage and BigQuery; Cloud Storage, BigQuery, S3 and Drive with this machine's credentials"
      ),
      Flag.withDefault(false)
    ),
    secretManager: Flag.Boolean("secret-manager").pipe(
      Flag.withDescription(
        "Look for secrets that imports name in Secret Manager too, with this machine's Google credentials. Default: only in SLUICE_SECRET_… and the data directory"
      ),
      Flag.withDefault(false)
    ),
    allowHost: Flag.String("allow-host").pipe(
      Flag.withDescription(
        "Your own Jira server that imports may name, besides *.atlassian.net, or Weaviate server that corpora may name. Without a port, all ports are allowed. May be repeated"
      ),
      Flag.withMetavar("HOST[:PORT]"),
      Flag.atLeast(0),
      Flag.withDefault([])
    ),
    allowSecret: Flag.String("allow-secret").pipe(
      Flag.withDescription(
        "A secret that imports and corpora of callers may name, and the only host that it may be sent to: jira=acme.atlassian.net, slack=slack.com. May be repeated. Default: none if the server has a token, otherwise any"
      ),
      Flag.withMetavar("NAME=HOST[:PORT]"),
      Flag.atLeast(0),
      Flag.withDefault([])
    ),
    allowOrigin: Flag.String("allow-origin").pipe(
      Flag.withDescription("A web page that may call the server, by its origin: https://app.example.org. May be repeated. Default none"),
      Flag.withMetavar("ORIGIN"),
      Flag.atLeast(0),
      Flag.withDefault([])
    ),
    vendorUrl: Flag.KeyValuePair("vendor-url").pipe(
      Flag.withDescription(`Another address of a vendor's service: ${vendors.join(", ")}. May be repeated`),
      Flag.withMetavar("VENDOR=URL"),
      Flag.withDefault({})
    ),
    hooks: Flag.Path("hooks").pipe(
      Flag.map(fromHere),
      Flag.withDescription(
        "Receive notices for this pipeline's hooks, at /hooks/{pipeline}/{hook}, and run the pipeline after each burst of them. May be repeated"
      ),
      Flag.withMetavar("PIPELINE"),
      Flag.atLeast(0),
      Flag.withDefault([])
    ),
    mcpAs: askerFlag("mcp-as", "Agents at /mcp, and chats, see only what this principal may read. Default: everything"),
    mcpWhere: whereFlag("mcp-where").pipe(
      Flag.withDescription("Agents at /mcp, and chats, see only files whose metadata pass this filter. Default: all files"),
      Flag.optional
    ),
    chatModel: Flag.KeyValuePair("chat-model").pipe(
      Flag.withDescription("A model name under which a corpus answers chats, besides corpus/CORPUS. May be repeated"),
      Flag.withMetavar("MODEL=CORPUS"),
      Flag.withDefault({})
    ),
    embedding: optionalText(
      "embedding",
      "MODEL",
      "Embed corpora with this local ONNX model: a folder (./all-MiniLM-L6-v2) or a name on the hub. Default: the offline embedder"
    ),
    embeddingModel: optionalText("embedding-model", "MODEL", "The model told for corpora that named none. Default text-embedding-004"),
    quotas: Flag.Literals("quotas", ["vertex", "none"]).pipe(
      Flag.withDescription("vertex: enforce the service's quotas and file sizes. Default none"),
      Flag.withDefault("none")
    ),
    faults: optionalText(
      "faults",
      "FILE",
      "A YAML script of failures, to test a client with, such as faults: [{ method: importRagFiles, at: 7, error: RESOURCE_EXHAUSTED, retryAfter: 2 }]. Choose calls with at (one or a list) or every; choose the failure with error, delay, operation (seconds it takes) or drop (request, reply, middle)"
    ),
    catalog: optionalText(
      "catalog",
      "FILE",
      "A file of the models that can be deployed, YAML or JSON. Read again when it changes. Default: models.yaml in the data directory, or else a small built-in catalog"
    ),
    endpointUpstream: Flag.KeyValuePair("endpoint-upstream").pipe(
      Flag.withDescription("The model server that answers for an endpoint, given by its id or display name. May be repeated"),
      Flag.withMetavar("NAME=URL"),
      Flag.withDefault({})
    ),
    upstream: optionalText(
      "upstream",
      "URL",
      "Answer with the model at this OpenAI-compatible address, whatever model is requested. Default: quote the given text"
    ),
    upstreamModel: optionalText("upstream-model", "NAME", "The model there. Default: the only one it lists"),
    upstreamKey: optionalText(
      "upstream-key",
      "SECRET",
      "The secret version of its key, projects/…/versions/…; SLUICE_UPSTREAM_KEY can hold the key itself"
    ),
    upstreamEmbeddingModel: optionalText(
      "upstream-embedding-model",
      "NAME",
      "The model there that embeds texts of :predict and :embedContent. Default: the offline embedder"
    ),
    upstreamImages: Flag.Boolean("upstream-images").pipe(
      Flag.withDescription(
        "The upstream's model accepts images: llm_parser sends it pages of PDFs, and pictures, as images, along with their text. Default: text only"
      ),
      Flag.withDefault(false)
    ),
    upstreamRetries: optionalInt(
      "upstream-retries",
      [0, 10],
      "N",
      "How often a call that the upstream refuses temporarily is retried, 0 to 10, honouring its Retry-After. Default 0: the client gets the error at once"
    ),
    reranker: optionalText(
      "reranker",
      "URL or MODEL",
      "Answer rank_service with the reranker at this address, whose /rerank is compatible with Cohere's, or with a local cross encoder in ONNX: a folder or a name on the hub. Default: the offline ranker"
    ),
    rerankerModel: optionalText("reranker-model", "NAME", "The model there"),
    rerankerKey: optionalText("reranker-key", "SECRET", "The secret version with its key; SLUICE_RERANKER_KEY may hold the key itself"),
    log: Flag.Literals("log", ["none", "text", "json"]).pipe(
      Flag.withDescription("Log each request to stderr, as text or as JSON, one line each; keys in queries are removed. Default none"),
      Flag.withDefault("none")
    ),
    drain: Flag.Int("drain").pipe(
      Flag.filter((n) => n >= 0 && n <= 3_600, () => "Expected 0 to 3600"),
      Flag.withDescription("Seconds after SIGTERM in which calls in progress can finish; new ones are refused. Default 30"),
      Flag.withMetavar("SECONDS"),
      Flag.withDefault(30)
    ),
    grpc: optionalInt(
      "grpc",
      [0, 65_535],
      "PORT",
      "Serve gRPC too, on this port; 0 picks a free one. With TLS, and HTTP/1.1 over TLS beside it; on loopback without TLS as well. Default: no gRPC"
    ),
    grpcTlsCert: optionalText(
      "grpc-tls-cert",
      "FILE",
      "The certificate of the gRPC port, PEM. Default: one made in the data directory, for clients to trust"
    ),
    grpcTlsKey: optionalText("grpc-tls-key", "FILE", "Its key, PEM"),
    maxCalls: optionalInt("max-calls", [1, 100_000], "N", "Calls under way at once; a further one is answered 503. Default 512"),
    maxConnections: optionalInt("max-connections", [1, 100_000], "N", "Connections open at once; a further one is closed. Default 4096")
  },
  Effect.fn(function*(args) {
    const { dataDir, json } = yield* root
    const output = yield* Output
    const { ofServer } = yield* BuiltInConnectors
    const { serveEmbedded } = yield* Effect.promise(() => import("../../compose/Server.ts"))
    const faults = Option.isNone(args.faults) ? undefined : yield* readText("faults", args.faults.value)
    const token = yield* tokenOf(given(args.tokenFile))
    const embeddingModel = given(args.embeddingModel)
    const catalog = given(args.catalog)
    const tables = given(args.tables)
    const batchConcurrency = given(args.batchConcurrency)
    const upstream = yield* upstreamOf(given(args.upstream), {
      model: given(args.upstreamModel),
      embeddingModel: given(args.upstreamEmbeddingModel),
      key: given(args.upstreamKey),
      images: args.upstreamImages ? true : undefined,
      retries: given(args.upstreamRetries)
    })
    const embedder = yield* localModelOf("--embedding", given(args.embedding))
    const reranker = yield* rerankerOf(given(args.reranker), given(args.rerankerModel), given(args.rerankerKey))
    const pipelines = yield* Effect.forEach(args.hooks, (file) => openPipeline(Option.some(file)))
    boundHeap()
    giveThreadsRoom()
    return yield* Effect.scoped(Effect.gen(function*() {
      const noticed = pipelines.length === 0 ? undefined : yield* Effect.flatMap(
        Effect.promise(() => import("../Hooks.ts")),
        ({ openHooks }) => openHooks(pipelines, { dataDir, secretManager: args.secretManager })
      )
      const { drain, grpc, url } = yield* serveEmbedded({
        ...yield* ofServer,
        dataDir,
        bundles: args.bundle,
        version: packageJson.version,
        host: args.host,
        port: args.port,
        buckets: new Map(Object.entries(args.bucket)),
        allowRemote: args.allowRemote,
        secretManager: args.secretManager,
        allowHosts: args.allowHost,
        allowSecrets: yield* grantsOf(args.allowSecret),
        origins: args.allowOrigin,
        endpoints: yield* endpointsOf(args.vendorUrl),
        vertexQuotas: args.quotas === "vertex",
        endpointUpstreams: args.endpointUpstream,
        catalog,
        token,
        embeddingModel,
        faults,
        tables,
        batchConcurrency,
        upstream,
        embedder,
        reranker,
        grpc: yield* grpcOf(given(args.grpc), given(args.grpcTlsCert), given(args.grpcTlsKey)),
        logAccess: args.log !== "none",
        chatModels: args.chatModel,
        hooks: noticed?.hooks,
        agents: defined({ principal: args.mcpAs, where: given(args.mcpWhere) }),
        limits: defined({ calls: given(args.maxCalls), connections: given(args.maxConnections) })
      })
      Object.assign(output.interrupted, stopped)
      const hooks = noticed?.hooks.hooks.map(({ name, pipeline }) => `${url}/hooks/${pipeline}/${name}`)
      // Listens before the address is printed: a program that reads the address may stop the server at once.
      const end = yield* Effect.forkScoped(terminated, { startImmediately: true })
      yield* json ? output.json(defined({ version: 1, url, grpc, hooks })) : output.print(url)
      if (noticed !== undefined) {
        if (!json) yield* Effect.forEach(hooks ?? [], (address) => output.say(`notices are received at ${address}`), { discard: true })
        yield* Effect.forkScoped(noticed.runs)
      }
      if (grpc !== undefined && !json) yield* output.say(`gRPC on ${grpc.address}, with the certificate ${grpc.certificate}`)
      yield* Fiber.join(end)
      const left = yield* drain(args.drain * 1_000)
      // A call that changes something is not interrupted; beyond the time limit it ends with the process, as in a crash.
      if (left > 0) setTimeout(() => process.exit(0), lastMoments).unref()
      yield* output.say(
        left === 0
          ? "stopped: every call was answered; imports that were under way are parked, and go on when it is started again"
          : `stopped: ${left} calls were not answered within ${args.drain} s`
      )
    })).pipe(
      Effect.provide(
        args.log === "none"
          ? Layer.empty
          : Logger.layer([Logger.withConsoleError(args.log === "json" ? Logger.formatJson : Logger.formatLogFmt)])
      )
    )
  })
).pipe(
  Command.withShortDescription("Serve the RAG API of Vertex AI on this machine, to its own client libraries."),
  Command.withDescription(
    "Serve the RAG API of Vertex AI on this machine, over the embedded engine: its client libraries, pointed here, work unchanged. Prints the base URL once it is ready. SIGTERM stops it in order and exits 0: new calls are refused, those in progress are answered, imports are suspended, and the next server continues them; Ctrl-C does not wait, and exits 130. /healthz, /readyz and /metrics (Prometheus) report its state."
  ),
  Command.withExamples([
    { command: "sluice serve", description: "on http://127.0.0.1:8686" },
    { command: "sluice serve --port 0 --bucket docs=./docs", description: "on a free port; gs://docs/ is the folder ./docs" },
    { command: "sluice serve --bundle handbook.bundle", description: "and the corpus that `sluice export` wrote" },
    { command: "sluice serve --quotas vertex --faults faults.yaml", description: "as strict and as fragile as the real thing" },
    {
      command: "sluice serve --upstream http://127.0.0.1:11434/v1 --upstream-model qwen3",
      description: "generation and chat with your own model"
    }
  ])
)

/**
 * Waits for SIGTERM. The runtime would treat it as an interrupt, which ends a command at once and with another exit code;
 * a second SIGTERM ends the process.
 */
const terminated: Effect.Effect<void> = Effect.callback((resume) => {
  const others = process.listeners("SIGTERM")
  process.removeAllListeners("SIGTERM")
  process.once("SIGTERM", () => resume(Effect.void))
  return Effect.sync(() => {
    process.removeAllListeners("SIGTERM")
    for (const listener of others) process.on("SIGTERM", listener)
  })
})

/** Milliseconds for the remaining work after the time for calls is over. */
const lastMoments = 2_000

const stopped = { what: "stopped: imports that were under way are parked", next: "they go on when it is started again" }

/** The given value is not repeated: it may be the secret itself. */
const grantsOf = Effect.fnUntraced(function*(given: ReadonlyArray<string>) {
  const grants = yield* Effect.forEach(given, (text) => {
    const grant = secretGrant(text)
    return grant === undefined
      ? wrongFlag(
        "--allow-secret",
        "takes the name of a secret and the host that it may be sent to, NAME=HOST or NAME=HOST:PORT",
        "write it as jira=acme.atlassian.net, without https://; the secret itself goes into SLUICE_SECRET_{NAME}"
      )
      : Effect.succeed(grant)
  })
  return grants.length === 0 ? undefined : grants
})

const endpointsOf = Effect.fnUntraced(function*(given: Readonly<Record<string, string>>) {
  const endpoints: Partial<Record<Vendor, string>> = {}
  for (const [name, url] of Object.entries(given)) {
    const vendor = vendors.find((each) => each === name)
    if (vendor === undefined) return yield* wrongFlag("--vendor-url", `${name} is no vendor`, `name one of ${vendors.join(", ")}`)
    if (!/^https?:$/.test(URL.parse(url)?.protocol ?? "")) {
      return yield* wrongFlag("--vendor-url", `${url} is no http(s) address`, `write it as ${name}=https://HOST`)
    }
    endpoints[vendor] = url
  }
  return endpoints
})

const readText = Effect.fnUntraced(function*(flag: string, file: string) {
  const fs = yield* FileSystem.FileSystem
  return yield* fs.readFileString(file).pipe(
    Effect.catch(() => unreadable(`--${flag}`, file))
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
    : yield* wrongFlag(
      file === undefined ? "SLUICE_SERVER_TOKEN" : "--token-file",
      "a token must have at least 16 characters, and no white space",
      "make one with `openssl rand -hex 32`"
    )
})

/** Fails if a flag is given that only makes sense with `flag`, which is absent. */
const useless = (flag: string, more: Readonly<Record<string, unknown>>): Effect.Effect<undefined, UsageError> => {
  const [stray] = Object.keys(defined(more))
  return stray === undefined ? Effect.undefined : wrongFlag(stray, `is of no use without ${flag}`, `give ${flag} too, or leave it out`)
}

const grpcOf = (port: number | undefined, cert: string | undefined, key: string | undefined) => {
  if (port === undefined) {
    return useless("--grpc", { "--grpc-tls-cert": cert, "--grpc-tls-key": key })
  }
  if (cert === undefined && key === undefined) return Effect.succeed({ port })
  return cert === undefined || key === undefined
    ? wrongFlag(
      cert === undefined ? "--grpc-tls-cert" : "--grpc-tls-key",
      "is missing: a certificate and its key go together",
      "give both, or neither: it then makes its own"
    )
    : Effect.succeed({ port, tls: { cert, key } })
}

const isSecretVersion = Schema.is(SecretVersion)

interface UpstreamFlags {
  readonly model: string | undefined
  readonly embeddingModel: string | undefined
  readonly key: string | undefined
  readonly images: true | undefined
  readonly retries: number | undefined
}

const upstreamOf = Effect.fnUntraced(
  function*(url: string | undefined, { embeddingModel, images, key: secret, model, retries }: UpstreamFlags) {
    if (url === undefined) {
      return yield* useless("--upstream", {
        "--upstream-model": model,
        "--upstream-embedding-model": embeddingModel,
        "--upstream-key": secret,
        "--upstream-images": images,
        "--upstream-retries": retries
      })
    }
    const apiKey = yield* keyOf("--upstream-key", secret, "SLUICE_UPSTREAM_KEY")
    return defined({ url, model, embeddingModel, apiKey, images, retry: retries === undefined ? undefined : { times: retries } })
  }
)

const rerankerOf = Effect.fnUntraced(function*(url: string | undefined, model: string | undefined, secret: string | undefined) {
  if (url === undefined) {
    return yield* useless("--reranker", { "--reranker-model": model, "--reranker-key": secret })
  }
  if (!/^https?:/i.test(url)) {
    const [stray] = Object.keys(defined({ "--reranker-model": model, "--reranker-key": secret }))
    return stray === undefined
      ? yield* localModelOf("--reranker", url)
      : yield* wrongFlag(stray, "is of no use with a model of this machine", "leave it out")
  }
  if (model === undefined) return yield* wrongFlag("--reranker-model", "is missing", "name the model of --reranker")
  return defined({ url, model, apiKey: yield* keyOf("--reranker-key", secret, "SLUICE_RERANKER_KEY") })
})

/** A local model, its folder relative to the working directory. */
const localModelOf = (flag: string, model: string | undefined): Effect.Effect<LocalModel | undefined, UsageError> => {
  if (model === undefined) return Effect.undefined
  if (!localModelForm.pattern.test(model)) return wrongFlag(flag, localModelForm.rule, "write it as ./my-model or owner/name")
  return Effect.succeed({ model: isModelFolder(model) ? resolve(model) : model })
}

/** A secret version, or the key in an environment variable. */
const keyOf = Effect.fnUntraced(function*(flag: string, secret: string | undefined, variable: string) {
  // A key given by mistake is not repeated.
  if (secret !== undefined && !isSecretVersion(secret)) {
    return yield* wrongFlag(
      flag,
      "takes the name of a secret version, projects/{project}/secrets/{secret}/versions/{number or latest}, and never a key",
      `put the key itself into ${variable}`
    )
  }
  const inEnvironment = yield* Config.option(Config.Redacted(variable)).pipe(
    Effect.map(Option.filter((key) => Redacted.value(key) !== "")),
    Effect.orElseSucceed(() => Option.none<Redacted.Redacted<string>>())
  )
  return secret ?? given(inEnvironment)
})
