import { Effect, Layer, Redacted, Schema } from "effect"
import { join } from "node:path"
import { ServiceError, type SecretError, type StateError } from "../domain/Errors.ts"
import { refusedRegion } from "../domain/partner/PartnerChatRules.ts"
import { openModelNamed, partnerModelNamed } from "../domain/partner/PartnerModels.ts"
import { SecretVersion } from "../domain/Secret.ts"
import { checks, type Finding } from "../engines/vertex/Checks.ts"
import { chatCompletions } from "../engines/vertex/ChatCompletions.ts"
import * as GeminiChat from "../engines/vertex/GeminiChat.ts"
import * as GenerateContent from "../engines/vertex/GenerateContent.ts"
import * as HostedCorpora from "../engines/vertex/HostedCorpora.ts"
import * as HostedGeneration from "../engines/vertex/HostedGeneration.ts"
import * as HostedEndpoints from "../engines/vertex/HostedEndpoints.ts"
import * as HostedFileMetadata from "../engines/vertex/HostedFileMetadata.ts"
import * as HostedFiles from "../engines/vertex/HostedFiles.ts"
import * as HostedModelCatalog from "../engines/vertex/HostedModelCatalog.ts"
import * as HostedOperations from "../engines/vertex/HostedOperations.ts"
import * as HostedPartnerChat from "../engines/vertex/HostedPartnerChat.ts"
import * as HostedRetrieval from "../engines/vertex/HostedRetrieval.ts"
import { importResults } from "../engines/vertex/ImportResults.ts"
import * as HostedBatchPrediction from "../engines/vertex/HostedBatchPrediction.ts"
import * as GcsObjectStore from "../engines/vertex/objectStore/GcsObjectStore.ts"
import * as BigQueryTableStore from "../engines/vertex/tableStore/BigQueryTableStore.ts"
import * as RagStoreGenerator from "../engines/vertex/RagStoreGenerator.ts"
import * as Transport from "../engines/vertex/Transport.ts"
import * as OpenAiChat from "../models/OpenAiChat.ts"
import * as PartnerChatModel from "../models/PartnerChatModel.ts"
import { GoogleAuth, type GoogleAuthClient } from "../net/GoogleAuth.ts"
import * as Http from "../net/Http.ts"
import { BatchEngine, type BatchServices } from "../pipeline/batch/BatchEngine.ts"
import type { Definition } from "../pipeline/definition/Definition.ts"
import { type Connectors, Models, type Services } from "../pipeline/Services.ts"
import type { Endpoints } from "../ports/Endpoints.ts"
import { Engine } from "../ports/Engine.ts"
import { FileMetadataStore } from "../ports/FileMetadataStore.ts"
import { Generation } from "../ports/Generation.ts"
import type { ModelCatalog } from "../ports/ModelCatalog.ts"
import { ObjectStore } from "../ports/ObjectStore.ts"
import { Operations } from "../ports/Operations.ts"
import { PartnerChat } from "../ports/PartnerChat.ts"
import type { Quota } from "../ports/Quota.ts"
import type { Secrets } from "../ports/Secrets.ts"
import * as SecretManager from "../secrets/SecretManager.ts"
import { LedgerWrites } from "../state/LedgerWrites.ts"
import * as Lock from "../state/Lock.ts"
import * as QuotaBuckets from "../state/QuotaBuckets.ts"
import * as SqliteLedger from "../state/SqliteLedger.ts"
import { State } from "../state/State.ts"
import { TextPool } from "../text/TextPool.ts"
import { documentProperties } from "./DocumentProperties.ts"
import * as models from "./Models.ts"
import { targetOf } from "./Targets.ts"

export interface VertexServicesOptions {
  readonly dataDir: string
  /** Locks the data directory for one writer, with this description of the holder. Absent: opens it for reading. */
  readonly writes?: string
  /** Milliseconds to wait for another writer. Default 0. */
  readonly waitMs?: number
  /** Called once, where another writer has to be waited for. */
  readonly waiting?: (error: StateError) => Effect.Effect<void>
  /** A client of google-auth-library. Default: Application Default Credentials. */
  readonly client?: GoogleAuthClient
  /** Token of a server at `engine.vertex.baseUrl`. Default: `SLUICE_SERVER_TOKEN` of the environment. */
  readonly token?: Redacted.Redacted<string>
}

/** Concurrent uploads: more would only wait for the {@link Transport.usualPerMinute} of the service. */
const concurrency = 4

/** All services of a pipeline with its corpora on Vertex AI, or on a server with its API. The ledger stays here. */
export const vertexServices = (
  pipeline: Definition,
  options: VertexServicesOptions
): Layer.Layer<
  Exclude<Services, Connectors> | FileMetadataStore | Secrets | Generation | PartnerChat,
  ServiceError | StateError | SecretError
> => {
  const { dataDir } = options
  if (pipeline.engine._tag !== "vertex") return Layer.effectContext(Effect.fail(notVertex))
  const { location, project, requestsPerMinute } = pipeline.engine
  const engine = Layer.effect(
    Engine,
    Effect.gen(function*() {
      const operations = yield* Operations
      const objects = yield* ObjectStore
      const metadata = yield* FileMetadataStore
      const pool = yield* TextPool
      const parent = `projects/${project}/locations/${location}`
      return Engine.of({
        name: "vertex",
        parent,
        target: yield* targetOf(pipeline),
        // The service does not report the versions of its parsers and models; a corpus's model is part of the pipeline.
        signature: "vertex",
        maxFileBytes: HostedFiles.maxUploadBytes,
        uploadsPerMinute: requestsPerMinute ?? Transport.usualPerMinute.management,
        immutableFiles: true,
        remoteEmbedding: true,
        metadata: { store: metadata, withFiles: false, properties: documentProperties(pool) },
        concurrency,
        imports: {
          sources: new Set(["storage", "googleDrive", "slack", "jira", "sharePoint"]),
          operations,
          objects,
          results: (sink) => importResults(objects, sink)
        }
      })
    })
  )
  const lock = options.writes === undefined
    ? Layer.empty
    : Layer.effectDiscard(Lock.acquire(dataDir, options.writes, options.waitMs, options.waiting))
  const objects = GcsObjectStore.layer().pipe(Layer.provide(Http.layer()))
  const texts = TextPool.layer()
  const ports = Layer.mergeAll(
    HostedCorpora.layer,
    HostedFiles.layer,
    HostedFileMetadata.layer,
    HostedRetrieval.layer,
    engine.pipe(Layer.provide(Layer.mergeAll(objects, HostedFileMetadata.layer, texts)))
  ).pipe(
    Layer.provideMerge(HostedOperations.layer)
  )
  return Layer.mergeAll(
    ports,
    hostedModels(dataDir).pipe(
      Layer.provideMerge(Layer.merge(HostedGeneration.layer.pipe(Layer.provideMerge(GenerateContent.layer)), HostedPartnerChat.layer()))
    ),
    SqliteLedger.layer.pipe(Layer.provide(LedgerWrites.layerDirect)),
    texts
  ).pipe(
    Layer.provideMerge(connection(pipeline, pipeline.engine, options)),
    Layer.provide(QuotaBuckets.layer),
    Layer.provide(State.layer(dataDir)),
    Layer.provide(lock)
  )
}

/** The models and endpoints of a pipeline's project, without what its corpora need. */
export const vertexGarden = (
  pipeline: Definition,
  options: Pick<VertexServicesOptions, "dataDir" | "client" | "token">
): Layer.Layer<ModelCatalog | Endpoints | Operations, ServiceError | StateError> =>
  pipeline.engine._tag === "vertex"
    ? Layer.mergeAll(HostedModelCatalog.layer, HostedEndpoints.layer, HostedOperations.layer).pipe(
      Layer.provide(connection(pipeline, pipeline.engine, options)),
      Layer.provide(QuotaBuckets.layer),
      Layer.provide(State.layer(options.dataDir))
    )
    : Layer.effectContext(Effect.fail(notVertex))

/** Batch jobs of a pipeline's project and region, over Cloud Storage and BigQuery. */
export const vertexBatch = (
  pipeline: Definition,
  options: Pick<VertexServicesOptions, "dataDir" | "client" | "token">
): Layer.Layer<BatchServices, ServiceError | StateError> => {
  if (pipeline.engine._tag !== "vertex") return Layer.effectContext(Effect.fail(notVertex))
  const { location, project } = pipeline.engine
  const http = Http.layer()
  return Layer.mergeAll(
    HostedBatchPrediction.layer(),
    GcsObjectStore.layer().pipe(Layer.provide(http)),
    BigQueryTableStore.layer().pipe(Layer.provide(http)),
    Layer.succeed(BatchEngine, { name: "vertex", parent: `projects/${project}/locations/${location}`, location })
  ).pipe(
    Layer.provide(connection(pipeline, pipeline.engine, options)),
    Layer.provide(QuotaBuckets.layer),
    Layer.provide(State.layer(options.dataDir))
  )
}

/** Checks whether the service can be used, and says what to do where it cannot; for `sluice doctor`. Takes no lock and stores nothing. */
export const vertexChecks = (
  pipeline: Definition,
  options: VertexServicesOptions
): Effect.Effect<ReadonlyArray<Finding>, ServiceError> =>
  pipeline.engine._tag === "vertex"
    ? checks(secretVersionsIn(pipeline)).pipe(
      Effect.provide(connection(pipeline, pipeline.engine, options).pipe(Layer.provideMerge(QuotaBuckets.layerMemory)))
    )
    : Effect.fail(notVertex)

type VertexEngine = Extract<Definition["engine"], { readonly _tag: "vertex" }>

const notVertex = ServiceError.invalid("engine", "is not vertex")

const connection = (
  { import: { retries } }: Definition,
  { baseUrl, location, project, quotaProject, requestsPerMinute }: VertexEngine,
  options: VertexServicesOptions
): Layer.Layer<Transport.Transport | GoogleAuth | Secrets, ServiceError, Quota> => {
  const given = process.env["SLUICE_SERVER_TOKEN"]
  const token = options.token ?? (given === undefined || given === "" ? undefined : Redacted.make(given))
  const auth = GoogleAuth.layer({
    client: options.client,
    quotaProject
  })
  const transport = Transport.layer({
    project,
    location,
    retry: { times: retries },
    baseUrl,
    perMinute: requestsPerMinute === undefined ? undefined : { management: requestsPerMinute },
    auth: token === undefined ? undefined : { ...GoogleAuth.anonymous, token: Effect.succeed(token) }
  })
  return Layer.merge(transport, SecretManager.layer(join(options.dataDir, "secrets"))).pipe(
    Layer.provideMerge(auth),
    Layer.provide(Http.layer())
  )
}

const isSecretVersion = Schema.is(SecretVersion)

/** Every secret that a pipeline names, anywhere in it. */
const secretVersionsIn = (value: unknown): ReadonlyArray<SecretVersion> => {
  if (isSecretVersion(value)) return [value]
  return typeof value === "object" && value !== null ? [...new Set(Object.values(value).flatMap(secretVersionsIn))] : []
}

/** Models that need no engine, and the service's own. */
const hostedModels = (dataDir: string) =>
  Layer.effect(
    Models,
    Effect.gen(function*() {
      const generation = yield* Generation
      const calls = yield* GenerateContent.GenerateContent
      const others = yield* Models
      const partner = yield* PartnerChat
      const transport = yield* Transport.Transport
      const { location } = transport
      const chat: typeof others.chat = (settings) => {
        if (settings._tag !== "hosted") return others.chat(settings)
        const open = openModelNamed(settings.model)
        if (open !== undefined) return Effect.map(chatCompletions(transport, open), (service) => OpenAiChat.over(service, { model: open }))
        const claude = partnerModelNamed(settings.model)
        if (claude === undefined) return Effect.succeed(GeminiChat.make(generation, settings.model))
        return refusedRegion(claude, location) ?? Effect.succeed(PartnerChatModel.make(partner, claude))
      }
      return Models.of({
        ranker: others.ranker,
        ...models.conversing(chat),
        searching: (model, selection) =>
          (partnerModelNamed(model) ?? openModelNamed(model)) === undefined
            ? Effect.succeed(RagStoreGenerator.make({ generation: calls, model, selection }))
            : Effect.fail(
              ServiceError.invalid(
                "ground",
                `${model} does not search a corpus itself`,
                "leave ground out: it then answers from the retrieved contexts"
              )
            )
      })
    })
  ).pipe(Layer.provide(models.layer(dataDir)))
