import { availableParallelism } from "node:os"
import { join } from "node:path"
import { Context, Deferred, Effect, Layer, type Scope } from "effect"
import { HttpClient } from "effect/http"
import * as NodeFileSystem from "@effect/platform-node/NodeFileSystem"
import * as NodePath from "@effect/platform-node/NodePath"
import type { ServiceError, StateError } from "../domain/Errors.ts"
import type { LocalEmbedding, LocalModel } from "../domain/LocalModel.ts"
import { embeddedParent } from "../domain/ResourceNames.ts"
import type { SecretGrant } from "../domain/SecretGrant.ts"
import * as Embedded from "../engines/embedded/Embedded.ts"
import * as EmbeddedBatchPrediction from "../engines/embedded/EmbeddedBatchPrediction.ts"
import * as EmbeddedGeneration from "../engines/embedded/EmbeddedGeneration.ts"
import { Importer } from "../engines/embedded/Importer.ts"
import { embeddedNames } from "./EmbeddedNames.ts"
import * as FolderObjectStore from "../engines/embedded/stores/FolderObjectStore.ts"
import * as SqliteTableStore from "../engines/embedded/stores/SqliteTableStore.ts"
import * as CarryOverRewriter from "../models/CarryOverRewriter.ts"
import * as ExtractiveChat from "../models/ExtractiveChat.ts"
import * as ExtractiveGenerator from "../models/ExtractiveGenerator.ts"
import { HashEmbedder } from "../models/HashEmbedder.ts"
import * as OfflineTextEmbedder from "../models/OfflineTextEmbedder.ts"
import * as LocalPartnerChat from "../models/LocalPartnerChat.ts"
import { ChatModel } from "../ports/ChatModel.ts"
import { definePipeline } from "../pipeline/definition/DefinePipeline.ts"
import { makeEmbeddingBudget } from "../engines/embedded/LimitedEmbedding.ts"
import { Corpora } from "../ports/Corpora.ts"
import { Embedder, OtherEmbedders } from "../ports/Embedder.ts"
import { Engine } from "../ports/Engine.ts"
import { FileMetadataStore } from "../ports/FileMetadataStore.ts"
import { Files } from "../ports/Files.ts"
import { Generator } from "../ports/Generator.ts"
import { QueryRewriter } from "../ports/QueryRewriter.ts"
import { ObjectStore } from "../ports/ObjectStore.ts"
import { Retrieval } from "../ports/Retrieval.ts"
import { Secrets } from "../ports/Secrets.ts"
import { TableStore } from "../ports/TableStore.ts"
import * as LocalSecrets from "../secrets/LocalSecrets.ts"
import { readFaults } from "../server/faults/FaultFile.ts"
import { ownFileBytes, serviceFileBytes } from "../server/import/ImportLimits.ts"
import { importFiles } from "../server/import/ImportRun.ts"
import * as RowModels from "../server/RowModels.ts"
import { serve, type ServeOptions, type Serving } from "../server/Server.ts"
import { countedChat, countedCorpusEmbedder, countedFiles, countedGenerator } from "../server/Telemetry.ts"
import { LedgerWrites } from "../state/LedgerWrites.ts"
import * as SqliteLedger from "../state/SqliteLedger.ts"
import * as Lock from "../state/Lock.ts"
import { State } from "../state/State.ts"
import { assetPath } from "../text/Assets.ts"
import { defaultLimits, parserVersion } from "../text/Prepared.ts"
import { TextPool } from "../text/TextPool.ts"
import { countTokens } from "../text/Tokens.ts"
import type { StorageFactory } from "./Imports.ts"
import { contentTerms } from "../models/extractive/ContentTerms.ts"
import { garden } from "./Garden.ts"
import * as upstream from "./Upstream.ts"
import { recordedEmbedders } from "./Embedded.ts"
import { imports } from "./Imports.ts"
import { accountOfCorpus } from "./Account.ts"
import { localEmbedder } from "./LocalModels.ts"
import { refuseParser, withParsers } from "./Parsers.ts"
import { mappedOr, remoteStores } from "./RemoteStores.ts"
import { openBundles, portsOf, withBundles } from "./ServedBundles.ts"
import { vectorStores } from "./VectorStores.ts"
import type { VendorConnectors, VendorEndpoints, VendorOptions } from "../server/import/Vendors.ts"

/** Options of a server of the embedded engine: what it serves, to whom, and what it may reach. */
export interface EmbeddedServerOptions extends
  Pick<
    ServeOptions,
    | "version"
    | "host"
    | "port"
    | "token"
    | "origins"
    | "embeddingModel"
    | "vertexQuotas"
    | "logAccess"
    | "limits"
    | "agents"
    | "chatModels"
    | "hooks"
  >
{
  /** Directory with all data: created if it does not exist, and readable by its owner alone. */
  readonly dataDir: string
  /** Bundles (`sluice export`) that are served beside the corpora of the directory, read-only. Default none. */
  readonly bundles?: ReadonlyArray<string>
  readonly storage: StorageFactory
  /** Makes the connectors of Drive, Slack, Jira and SharePoint. Only used when imports may fetch from elsewhere. */
  readonly vendors?: Effect.Effect<VendorConnectors>
  /** Folders that stand in for buckets in imports and batch jobs. Default none. */
  readonly buckets?: ReadonlyMap<string, string>
  /** An SQLite file with the tables that batch jobs read and write. Default: BigQuery's with `allowRemote`, else none. */
  readonly tables?: string
  /** Rows of batch jobs sent to the model concurrently. Default 4. */
  readonly batchConcurrency?: number
  /**
   * Lets imports fetch from real storage, the public web and `vendors`, and batch jobs and results of imports use Cloud
   * Storage and BigQuery with this machine's credentials. Default false.
   */
  readonly allowRemote?: boolean
  /**
   * Jira servers, besides Atlassian's, that an import may name, and Weaviate servers that a corpus may name: `HOST` on
   * any port, or `HOST:PORT`; they need not be public. Default none.
   */
  readonly allowHosts?: ReadonlyArray<string>
  /**
   * Secrets that imports and corpora of callers may name, each with the host that it may be sent to. Default: any without
   * a `token`, as then only users of this machine can call; none with one.
   */
  readonly allowSecrets?: ReadonlyArray<SecretGrant>
  /** Other addresses of `vendors`. Default: their own. */
  readonly endpoints?: VendorEndpoints
  /**
   * Resolves secret versions that imports and the catalog name. Default: the environment and files in the data directory;
   * for those that the operator names in the catalog, or with `secretManager`, Secret Manager too.
   */
  readonly secrets?: Layer.Layer<Secrets>
  /**
   * Looks for secrets that imports name in Secret Manager too, with this machine's Google credentials. Default false: a
   * request never causes a look-up of credentials.
   */
  readonly secretManager?: boolean
  /** File of a catalog of models, YAML or JSON. Default: `models.yaml` in the data directory, else the built-in catalog. */
  readonly catalog?: string
  /** Addresses of model servers by an endpoint's id or display name. Default: those that the catalog names. */
  readonly endpointUpstreams?: Readonly<Record<string, string>>
  /** A script of faults, in YAML: see `readFaults`. */
  readonly faults?: string
  /**
   * Serves gRPC too, on this port; 0 picks a free one. With TLS, and on loopback without it as well. Default certificate:
   * a self-signed one made in the data directory. Default: no gRPC.
   */
  readonly grpc?: { readonly port: number; readonly tls?: { readonly cert: string; readonly key: string } }
  /** Bytes of the index kept in memory for searching. Default 256 MB. */
  readonly memory?: number
  /** Most threads that search, each with its share of `memory`. Default: one per processor, at most 4. */
  readonly searchThreads?: number
  /** Embedder of new corpora, or the local model for it. Default: the offline embedder; its corpora can be queried in any case. */
  readonly embedder?: Layer.Layer<Embedder, ServiceError> | LocalEmbedding
  /** The model for generation and chat. Default: answers are quotes of the given text. */
  readonly upstream?: upstream.Upstream
  /** The reranker behind `rank_service`: a service or a local cross encoder. Default: the offline ranker. */
  readonly reranker?: upstream.Reranker | LocalModel
}

/** Most threads, each of which keeps its own share of the index in memory. */
const mostSearchThreads = 4

/** Serves the embedded engine of a data directory for as long as the scope is open. Returns the base URL once it is ready. */
export const serveEmbedded = (
  options: EmbeddedServerOptions
): Effect.Effect<Serving, ServiceError | StateError, Scope.Scope> =>
  Effect.gen(function*() {
    const { dataDir, faults: script, grpc, ...rest } = options
    const faults = script === undefined ? undefined : yield* Effect.fromResult(readFaults(script))
    // Two servers would both continue unfinished imports.
    yield* Lock.acquire(join(dataDir, "server"), "sluice serve")
    const remote = options.allowRemote ?? false
    const elsewhere = remote && options.vendors !== undefined ? yield* vendorsOf(options, yield* options.vendors) : undefined
    const beyond = remote ? yield* remoteStores : undefined
    // A file of tables stands in for all of BigQuery's, whatever their project.
    const tables = options.tables === undefined ? beyond?.tables : yield* SqliteTableStore.make(options.tables)
    const mapped = { buckets: options.buckets ?? new Map<string, string>(), closed: dataDir }
    const reach = imports({
      buckets: { storage: options.storage, buckets: mapped.buckets, beyond: beyond?.objects, dataDir, tables },
      vendors: elsewhere
    })
    const stores = yield* Deferred.make<Files["Service"]>()
    const importer = Layer.succeed(Importer, {
      run: Effect.fnUntraced(function*(request, report) {
        const files = yield* Deferred.await(stores)
        const fileBytes = options.vertexQuotas === true ? serviceFileBytes : () => ownFileBytes
        return yield* importFiles({ ...reach, files, fileBytes, seesPages: options.upstream?.images })(request, report)
      })
    })
    const embedder = Layer.effect(Embedder, Effect.map(Embedder, countedCorpusEmbedder)).pipe(
      Layer.provide(embedderOf(options))
    )
    const models = options.upstream === undefined
      ? Layer.mergeAll(
        Layer.succeed(Generator, countedGenerator(ExtractiveGenerator.make())),
        Layer.succeed(ChatModel, countedChat(ExtractiveChat.make(countTokens))),
        Layer.succeed(QueryRewriter, CarryOverRewriter.make()),
        OfflineTextEmbedder.layer
      )
      : upstream.layer(options.upstream, options)
    const ranking = upstream.rankersLayer(options.reranker, options.upstream !== undefined, options)
    const batch = EmbeddedBatchPrediction.layer(embeddedNames, {
      run: "always",
      concurrency: options.batchConcurrency
    }).pipe(Layer.provide([
      beyond === undefined ? FolderObjectStore.layer(mapped) : Layer.succeed(ObjectStore, mappedOr(mapped, beyond.objects)),
      tables === undefined ? SqliteTableStore.layerNone : Layer.succeed(TableStore, tables)
    ]))
    const generation = Layer.merge(LocalPartnerChat.layer(countTokens), EmbeddedGeneration.layer(countTokens))
    const secrets = yield* secretsOf(options)
    const databases = vectorStores({ allowHosts: options.allowHosts ?? [], allowSecrets: grantsOf(options) }).pipe(Layer.provide(secrets))
    const state = State.layer(dataDir)
    const others = Layer.effect(OtherEmbedders, recordedEmbedders(served, makeEmbeddingBudget(), dataDir)).pipe(
      Layer.provide([state, secrets])
    )
    const { bundles: paths = [] } = options
    const searching = {
      dataDir,
      memory: (options.memory ?? Embedded.defaultMemory) / (1 + paths.length),
      searchThreads: options.searchThreads ?? Math.min(mostSearchThreads, availableParallelism())
    }
    const engine = yield* Layer.build(
      Embedded.layer({ ...searching, serving: true }).pipe(
        Layer.provide([importer, databases, others]),
        Layer.merge(batch.pipe(Layer.provide(RowModels.layer))),
        Layer.provideMerge(
          Layer.mergeAll(
            embedder,
            TextPool.layer(),
            gardenOf(options).pipe(Layer.provideMerge(state)),
            generation.pipe(Layer.provideMerge(ranking), Layer.provideMerge(models.pipe(Layer.provide(embedder)))),
            engineLayer
          )
        )
      )
    )
    const bundles = yield* openBundles(paths, searching).pipe(Effect.provide(secrets), Effect.provideContext(engine))
    const ports = withBundles(portsOf(engine), bundles)
    // The importer puts files into the engine that runs it.
    const model = options.upstream === undefined
      ? undefined
      : { chat: Context.get(engine, ChatModel), images: options.upstream.images === true }
    const files = withParsers(countedFiles(ports.files), Context.get(engine, TextPool), model)
    const accounting = yield* Layer.build(Layer.mergeAll(
      SqliteLedger.layer.pipe(Layer.provide(LedgerWrites.layerDirect), Layer.provide(Layer.succeed(State, Context.get(engine, State)))),
      NodeFileSystem.layer,
      NodePath.layer,
      Layer.succeed(Retrieval, ports.retrieval)
    ))
    // Made before there was a corpus, the generator of batches compares no passages.
    const generator = options.upstream === undefined
      ? countedGenerator(ExtractiveGenerator.make({}, ports.retrieval.embedderOf))
      : Context.get(engine, Generator)
    const refuse = refuseParser(model !== undefined)
    yield* Deferred.succeed(stores, files)
    return yield* serve({
      ...rest,
      ...(faults === undefined ? {} : { faults }),
      ...(grpc === undefined ? {} : {
        grpc: {
          ...grpc,
          folder: join(dataDir, "server"),
          protos: assetPath("protos.json.br", "@google-cloud/aiplatform/build/protos/protos.json")
        }
      }),
      database: Context.get(engine, State).database,
      accountOf: (corpus) => Effect.provide(accountOfCorpus(corpus, dataDir), accounting),
      uploadFolder: join(dataDir, "server", "uploads"),
      refuseImport: (request) => reach.refuse(request) ?? refuse(request.parsing),
      refuseParser: refuse,
      countTokens,
      terms: contentTerms
    }).pipe(Effect.provide(engine.pipe(
      Context.add(Files, files),
      Context.add(Corpora, ports.corpora),
      Context.add(FileMetadataStore, ports.metadata),
      Context.add(Retrieval, ports.retrieval),
      Context.add(Generator, generator)
    )))
  })

/** The pipeline with which embedders of pipelines' corpora are made, besides the settings recorded for each. */
const served = definePipeline({ name: "served", corpus: { displayName: "served" }, sources: {} })

const embedderOf = ({ dataDir, embedder = HashEmbedder }: EmbeddedServerOptions): Layer.Layer<Embedder, ServiceError> =>
  "model" in embedder ? localEmbedder(embedder, dataDir) : embedder

const gardenOf = ({ catalog, dataDir, endpointUpstreams, secrets }: EmbeddedServerOptions) =>
  garden({
    dataDir,
    catalog,
    upstreams: endpointUpstreams,
    secrets
  })

/** Callers of the server need not know its paths. */
const shownSecrets = "{data directory}/secrets"

/** Secrets that requests and hooks name: of imports, and of corpora in external vector databases. */
export const secretsOf = Effect.fnUntraced(
  function*(
    { dataDir, secretManager, secrets }: Pick<EmbeddedServerOptions, "dataDir" | "secretManager" | "secrets">
  ): Effect.fn.Return<Layer.Layer<Secrets>> {
    if (secrets !== undefined) return secrets
    const folder = join(dataDir, "secrets")
    if (secretManager !== true) return LocalSecrets.layer(folder, shownSecrets)
    const [Http, SecretManager, { GoogleAuth }] = yield* Effect.promise(() =>
      Promise.all([import("../net/Http.ts"), import("../secrets/SecretManager.ts"), import("../net/GoogleAuth.ts")])
    )
    return SecretManager.layer(folder, { shown: shownSecrets }).pipe(Layer.provide([Http.layer(), GoogleAuth.layer()]))
  }
)

/** A token is for callers other than the owner of this machine, who do not get its secrets. */
const grantsOf = ({ allowSecrets, token }: EmbeddedServerOptions): ReadonlyArray<SecretGrant> | undefined =>
  allowSecrets ?? (token === undefined ? undefined : [])

/** Connectors that reach public addresses and those the operator named, and the secrets they are sent. */
const vendorsOf = Effect.fnUntraced(function*(
  options: EmbeddedServerOptions,
  connectors: VendorConnectors
): Effect.fn.Return<VendorOptions, never, Scope.Scope> {
  const { allowHosts = [], endpoints = {} } = options
  // Most servers fetch nothing.
  const Http = yield* Effect.promise(() => import("../net/Http.ts"))
  const secrets = yield* secretsOf(options)
  const hosts = Object.values(endpoints).flatMap((endpoint) => URL.parse(endpoint)?.host ?? [])
  const context = yield* Layer.build(Layer.merge(secrets, Http.layer({ publicOnly: { allowHosts: [...allowHosts, ...hosts] } })))
  return {
    connectors,
    allowHosts,
    allowSecrets: grantsOf(options),
    endpoints,
    context: { secrets: Context.get(context, Secrets), http: Context.get(context, HttpClient.HttpClient) }
  }
})

const engineLayer = Layer.succeed(Engine, {
  name: "embedded",
  parent: embeddedParent,
  target: embeddedParent,
  signature: `parser ${parserVersion}`,
  maxFileBytes: defaultLimits.bytes,
  remoteEmbedding: false,
  concurrency: 64
})
