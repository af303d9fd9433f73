import { createServer, type Server as HttpListener, type ServerOptions } from "node:http"
import { hostname, networkInterfaces } from "node:os"
import { NodeHttpServer } from "@effect/platform-node"
import { Clock, Effect, Layer, type Redacted, type Scope } from "effect"
import { HttpServer } from "effect/http"
import type { DatabaseSync } from "node:sqlite"
import { defined } from "../domain/Defined.ts"
import { ServiceError } from "../domain/Errors.ts"
import { isLoopbackHost } from "../domain/HttpAddress.ts"
import type { ImportRequest } from "../domain/Import.ts"
import type { Parsing } from "../domain/Parsing.ts"
import type { BatchPrediction } from "../ports/BatchPrediction.ts"
import { Corpora } from "../ports/Corpora.ts"
import { ChatModel } from "../ports/ChatModel.ts"
import { Embedder } from "../ports/Embedder.ts"
import type { Endpoints } from "../ports/Endpoints.ts"
import { Engine } from "../ports/Engine.ts"
import type { FileMetadataStore } from "../ports/FileMetadataStore.ts"
import type { Files } from "../ports/Files.ts"
import type { Generation } from "../ports/Generation.ts"
import type { Generator } from "../ports/Generator.ts"
import type { ModelCatalog } from "../ports/ModelCatalog.ts"
import type { Operations } from "../ports/Operations.ts"
import type { PartnerChat } from "../ports/PartnerChat.ts"
import type { QueryRewriter } from "../ports/QueryRewriter.ts"
import type { TextEmbedder } from "../ports/TextEmbedder.ts"
import type { Retrieval } from "../ports/Retrieval.ts"
import type { Limits } from "../mcp/KnowledgeBase.ts"
import { type App, makeApp } from "./App.ts"
import { CachedContents } from "./CachedContents.ts"
import { type ChatRoutes, corpusChats } from "./CorpusChats.ts"
import { openAiEmbeddings } from "./OpenAiEmbeddings.ts"
import { vectorStores } from "./VectorStores.ts"
import type { FaultRule } from "./faults/FaultFile.ts"
import { Faults } from "./faults/Faults.ts"
import { batchHandlers } from "./handlers/BatchPrediction.ts"
import { cachedContentHandlers } from "./handlers/CachedContents.ts"
import { chatCompletionsHandlers } from "./handlers/ChatCompletions.ts"
import { corpusHandlers } from "./handlers/Corpora.ts"
import { embeddingHandlers } from "./handlers/Embeddings.ts"
import { endpointHandlers } from "./handlers/Endpoints.ts"
import { fileMetadataHandlers } from "./handlers/FileMetadata.ts"
import { fileHandlers } from "./handlers/Files.ts"
import { generationHandlers } from "./handlers/Generation.ts"
import { locationHandlers } from "./handlers/Locations.ts"
import { modelCatalogHandlers } from "./handlers/ModelCatalog.ts"
import { operationHandlers } from "./handlers/Operations.ts"
import { partnerChatHandlers } from "./handlers/PartnerChat.ts"
import { retrievalHandlers } from "./handlers/Retrieval.ts"
import { serveOn } from "./http/Listening.ts"
import { type HookOptions, hooksEndpoint, noHooks } from "./Hooks.ts"
import { inspectorEndpoint } from "./Inspector.ts"
import { mcpEndpoint } from "./Mcp.ts"
import { ownFileBytes, serviceFileBytes } from "./import/ImportLimits.ts"
import { Journal } from "./operations/Journal.ts"
import { LongRunning } from "./operations/LongRunning.ts"
import { PartnerQuotas } from "./quotas/PartnerQuotas.ts"
import { Quotas } from "./quotas/Quotas.ts"
import { type Uploads, uploads } from "./upload/Uploads.ts"

export interface ServeOptions {
  /** The address to listen on. Default `127.0.0.1`; any address that is not loopback fails without a `token`. */
  readonly host?: string
  /** The port to listen on; 0 picks a free one. Default 8686. */
  readonly port?: number
  /** Token that callers have to send, as a bearer token or as `key=`. Default: no token is required. */
  readonly token?: Redacted.Redacted<string>
  /** Origins of web pages that may call: `https://app.example.org`. Default none. */
  readonly origins?: ReadonlyArray<string>
  /** The state database, which holds operations. It has to stay open as long as the server. */
  readonly database: DatabaseSync
  /** Folder in which unfinished resumable uploads are kept, also while no server runs. */
  readonly uploadFolder: string
  /** Version that the server reports in its greeting and its metrics. */
  readonly version: string
  /** Embedding model reported for corpora that named none: an endpoint, or the name of a Google model. Default `text-embedding-004`. */
  readonly embeddingModel?: string
  /** Returns why an import is refused before anything is fetched; undefined where it is not. */
  readonly refuseImport: (request: ImportRequest) => ServiceError | undefined
  /** Returns why an upload's parsing settings are refused; undefined where they are not. */
  readonly refuseParser: (parsing: Parsing | undefined) => ServiceError | undefined
  readonly countTokens: (text: string) => number
  /** Content words of a text, folded so that forms of one word are equal. */
  readonly terms: (text: string) => ReadonlyArray<string>
  /** Enforce the service's quotas and file sizes. Default false. */
  readonly vertexQuotas?: boolean
  /** Faults to inject, for tests of clients. Default none. */
  readonly faults?: ReadonlyArray<FaultRule>
  /** Log each request with Effect's logger. Default false. */
  readonly logAccess?: boolean
  /** Limits of sizes, numbers and times. Absent ones have their defaults. */
  readonly limits?: Partial<ServeLimits>
  /** Limits on what `/mcp` and conversations show of a corpus, and on the tokens of one result. Default: everything, 4,000 tokens. */
  readonly agents?: Limits
  /** Display names or ids of corpora by further model names that they answer under, besides `corpus/{name}`. Default none. */
  readonly chatModels?: Readonly<Record<string, string>>
  /** Webhooks that are accepted under `/hooks`. Default none. */
  readonly hooks?: HookOptions
  /** Looks up the pipeline that fills a corpus, for `/ui`. Default: none is known. */
  readonly accountOf?: Parameters<typeof inspectorEndpoint>[0]
  /** Serves gRPC too. Default: no gRPC. */
  readonly grpc?: ServeGrpc
}

/** A separate port for clients that speak gRPC. */
export interface ServeGrpc {
  /** The port to listen on; 0 picks a free one. */
  readonly port: number
  /** PEM files of a certificate and its key. Default: a self-signed certificate, made in `folder` and valid for about a year. */
  readonly tls?: { readonly cert: string; readonly key: string }
  /** Folder of the self-signed certificate. */
  readonly folder: string
  /** Path of the protos: those that the build compiled, or those of the package. */
  readonly protos: string
}

export interface ServeLimits {
  /** Most bytes of one uploaded file. Default 25 MB, as on the hosted service. */
  readonly upload: number
  /** Most bytes of a JSON body. Default 20 MB. */
  readonly json: number
  /** Most bytes of the large bodies of all concurrent calls together. Default 192 MB. */
  readonly bodies: number
  /** Most bytes of a request's headers. Default 16 KB. */
  readonly headers: number
  /** Most open connections. Default 4,096. */
  readonly connections: number
  /** Most concurrent calls. Default 512. */
  readonly calls: number
  /** Most milliseconds of one call. Default 120,000. */
  readonly call: number
  /** Most milliseconds until a request's headers have arrived. Default 10,000. */
  readonly head: number
  /** Most milliseconds until a whole request has arrived. Default 120,000. */
  readonly request: number
  /** Milliseconds between pings that test whether the client of a gRPC connection is still there. Default 60,000. */
  readonly ping: number
  /** Most milliseconds until the reply to a ping; without one the connection is closed. Default 20,000. */
  readonly pong: number
}

const defaults: ServeLimits = {
  upload: 25 * 1024 * 1024,
  json: 20 * 1024 * 1024,
  // Enough for the largest body that a route accepts, and a few more; reading a body takes about five times its size.
  bodies: 192 * 1024 * 1024,
  headers: 16 * 1024,
  connections: 4_096,
  calls: 512,
  call: 120_000,
  head: 10_000,
  request: 120_000,
  ping: 60_000,
  pong: 20_000
}

/** Most bytes of all unfinished resumable uploads together. */
const uploadsUnderWay = 256 * 1024 * 1024

export type ServerNeeds =
  | Corpora
  | Files
  | FileMetadataStore
  | Retrieval
  | Operations
  | Generator
  | QueryRewriter
  | ChatModel
  | Generation
  | PartnerChat
  | BatchPrediction
  | ModelCatalog
  | Endpoints
  | Engine
  | Embedder
  | TextEmbedder

export interface Serving {
  /** Base URL of the server. */
  readonly url: string
  /** Address of gRPC, `host:port`, and the file of the certificate that its clients have to trust. */
  readonly grpc?: { readonly address: string; readonly certificate: string }
  /** Refuses new calls and waits for running ones to be answered, for at most `milliseconds`. Returns the number of those still running. */
  readonly drain: (milliseconds: number) => Effect.Effect<number>
}

/** Serves the API over an engine for as long as the scope lives. Returns once the server is ready. */
export const serve = (options: ServeOptions): Effect.Effect<Serving, ServiceError, ServerNeeds | Scope.Scope> =>
  Effect.gen(function*() {
    const host = options.host ?? "127.0.0.1"
    const loopback = isLoopbackHost(host)
    if (!loopback && options.token === undefined) {
      return yield* new ServiceError({
        code: "INVALID_ARGUMENT",
        message: `${host} can be reached from other machines, and no token is set`,
        fix: "set one with --token-file or SLUICE_SERVER_TOKEN, or serve on 127.0.0.1"
      })
    }
    const { origins = [] } = options
    const wrong = origins.find((origin) => origin !== URL.parse(origin)?.origin)
    if (wrong !== undefined) {
      return yield* ServiceError.invalid(
        "--allow-origin",
        `${wrong} is not an origin`,
        "write an origin as scheme, host and port, without a path: https://app.example.org"
      )
    }
    const limits = { ...defaults, ...defined(options.limits ?? {}) }
    const { name, parent } = yield* Engine
    const embedder = yield* Embedder
    const chat = yield* ChatModel
    const corpora = yield* Corpora
    let draining = false
    let underWay = 0
    const model = options.embeddingModel ?? "text-embedding-004"
    const defaultEmbedding = model.includes("/") ? model : `${parent}/publishers/google/models/${model}`
    const vertexQuotas = options.vertexQuotas ?? false
    const quotas = vertexQuotas ? new Quotas() : undefined

    const kept = yield* Layer.build(
      LongRunning.layer.pipe(Layer.provideMerge(Layer.merge(Journal.layer(options.database), CachedContents.layer(options.database))))
    )
    const embeddings = yield* embeddingHandlers(options.countTokens)
    const { app, uploaded } = yield* Effect.gen(function*() {
      const uploaded = yield* uploads({
        file: limits.upload,
        folder: options.uploadFolder,
        underWay: uploadsUnderWay,
        refuseParser: options.refuseParser,
        named: vertexQuotas ? serviceFileBytes : () => ownFileBytes
      })
      const app = yield* makeApp({
        access: { loopback, origins, token: options.token },
        handlers: {
          ...(yield* corpusHandlers(defaultEmbedding)),
          ...(yield* fileHandlers(options.refuseImport, defaultEmbedding)),
          ...(yield* fileMetadataHandlers(defaultEmbedding)),
          ...(yield* retrievalHandlers(options.terms, defaultEmbedding)),
          ...(yield* generationHandlers(options.countTokens, quotas)),
          ...(yield* cachedContentHandlers(options.countTokens)),
          ...(yield* chatCompletionsHandlers),
          ...(yield* partnerChatHandlers(vertexQuotas ? new PartnerQuotas() : undefined)),
          ...(yield* batchHandlers(defaultEmbedding)),
          ...(yield* modelCatalogHandlers(defaultEmbedding)),
          ...(yield* endpointHandlers(defaultEmbedding, embeddings)),
          embedContent: embeddings.embedContent,
          ...(yield* operationHandlers(defaultEmbedding)),
          ...locationHandlers
        },
        mcp: yield* mcpEndpoint({ limits: options.agents, version: options.version, origins }),
        inspector: yield* inspectorEndpoint(options.accountOf ?? (() => Effect.undefined)),
        chats: either(
          yield* corpusChats({ limits: options.agents, models: options.chatModels, countTokens: options.countTokens }),
          yield* vectorStores(options.agents),
          yield* openAiEmbeddings(options.countTokens)
        ),
        hooks: hooksEndpoint(options.hooks ?? noHooks),
        uploads: uploaded,
        quotas,
        faults: options.faults === undefined ? undefined : new Faults(options.faults),
        about: {
          name: "sluice",
          version: options.version,
          engine: name,
          embedder: embedder.id,
          model: chat.model,
          apiVersions: ["v1", "v1beta1"]
        },
        ready: Effect.asVoid(corpora.list({ size: 1 })).pipe(
          Effect.timeoutOrElse({
            duration: "2 seconds",
            orElse: () => Effect.fail(new ServiceError({ code: "DEADLINE_EXCEEDED", message: "the state database does not answer" }))
          })
        ),
        draining: () => draining,
        underWay: (change) => {
          underWay += change
        },
        logAccess: options.logAccess ?? false,
        mostCalls: limits.calls,
        callTimeout: limits.call,
        mostJsonBytes: limits.json,
        mostBodyBytes: limits.bodies
      })
      return { app, uploaded }
    }).pipe(Effect.provide(kept))

    const listener = nodeServer(limits)
    const server = yield* serveOn(listener, { host, port: options.port ?? 8686, app: app.http })
    const drain = Effect.fnUntraced(function*(milliseconds: number) {
      draining = true
      yield* Effect.sleep(20).pipe(
        Effect.repeat({ while: () => underWay > 0 }),
        Effect.timeoutOption(milliseconds)
      )
      return underWay
    })
    const grpc = options.grpc === undefined
      ? undefined
      : yield* grpcBeside({ ...options.grpc, host, loopback, app, uploaded, limits, listener })
    return { url: HttpServer.formatAddress(server.address), grpc, drain }
  })

interface GrpcBeside extends ServeGrpc {
  readonly host: string
  readonly loopback: boolean
  readonly app: App
  readonly uploaded: Uploads
  readonly limits: ServeLimits
  readonly listener: HttpListener
}

const grpcBeside = Effect.fnUntraced(function*(
  { app, folder, host, limits, listener, loopback, port, protos, tls, uploaded }: GrpcBeside
): Effect.fn.Return<NonNullable<Serving["grpc"]>, ServiceError, Scope.Scope> {
  // Loaded on use: servers without gRPC do not pay for it.
  const [{ serveGrpc }, { givenCertificate, ownCertificate }] = yield* Effect.promise(() =>
    Promise.all([import("./grpc/Grpc.ts"), import("./grpc/Certificate.ts")])
  )
  const now = yield* Clock.currentTimeMillis
  const names = [
    ...new Set(["localhost", "127.0.0.1", "::1", ...(loopback ? [] : [hostname(), ...addresses()]), ...(isWildcard(host) ? [] : [host])])
  ]
  const certificate = tls === undefined ? ownCertificate(folder, names, now) : yield* Effect.fromResult(givenCertificate(tls.cert, tls.key))
  const http2 = yield* NodeHttpServer.makeHandler(app.http, { scope: yield* Effect.scope })
  const taken = yield* serveGrpc({
    host,
    port,
    certificate,
    plaintext: loopback,
    protos,
    app,
    uploads: uploaded,
    mostJsonBytes: limits.json,
    connections: limits.connections,
    headers: limits.headers,
    head: limits.head,
    request: limits.request,
    ping: limits.ping,
    pong: limits.pong,
    http1: (socket) => void listener.emit("connection", socket),
    http2
  })
  return { address: `${host.includes(":") ? `[${host}]` : host}:${taken}`, certificate: certificate.file }
})

const isWildcard = (host: string): boolean => host === "0.0.0.0" || host === "::"

const addresses = (): ReadonlyArray<string> =>
  Object.values(networkInterfaces()).flatMap((each) => each ?? []).filter(({ internal }) => !internal).map(({ address }) => address)

const nodeServer = (limits: ServeLimits) => {
  const options: ServerOptions = {
    maxHeaderSize: limits.headers,
    headersTimeout: limits.head,
    requestTimeout: limits.request,
    // How often slow requests are looked for.
    connectionsCheckingInterval: Math.min(1_000, limits.head),
    keepAliveTimeout: 65_000
  }
  const server = createServer(options)
  server.maxConnections = limits.connections
  return server
}

/** The first table that has a route, of several. */
const either = (...tables: ReadonlyArray<ChatRoutes>): ChatRoutes => (method, path) => {
  for (const routeOf of tables) {
    const route = routeOf(method, path)
    if (route !== undefined) return route
  }
  return undefined
}
