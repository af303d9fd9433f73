import { Context, Duration, Effect, Layer, type Scope } from "effect"
import { existsSync } from "node:fs"
import { join } from "node:path"
import { CorpusName } from "../domain/Corpus.ts"
import type { SecretError, ServiceError, StateError } from "../domain/Errors.ts"
import * as Embedded from "../engines/embedded/Embedded.ts"
import { makeEmbeddingBudget } from "../engines/embedded/LimitedEmbedding.ts"
import { textsAtOnce } from "../engines/embedded/store/EmbeddingQueue.ts"
import { HashEmbedder, hashEmbedder } from "../models/HashEmbedder.ts"
import { fileLimits, limitsSignature } from "../pipeline/definition/FileLimits.ts"
import type { Definition } from "../pipeline/definition/Definition.ts"
import type { Connectors, Services } from "../pipeline/Services.ts"
import { decodeBuilt } from "../pipeline/sync/Built.ts"
import { Embedder, OtherEmbedders } from "../ports/Embedder.ts"
import { EmbeddingBudget } from "../ports/EmbeddingBudget.ts"
import { Rankers } from "../ports/Ranker.ts"
import { VectorStores } from "../ports/VectorStore.ts"
import { Engine } from "../ports/Engine.ts"
import { FileMetadataStore } from "../ports/FileMetadataStore.ts"
import { Retrieval } from "../ports/Retrieval.ts"
import type { Secrets } from "../ports/Secrets.ts"
import * as LocalSecrets from "../secrets/LocalSecrets.ts"
import { allOperations } from "../server/operations/AllOperations.ts"
import { databaseFile } from "../state/Database.ts"
import * as Lock from "../state/Lock.ts"
import * as SqliteLedger from "../state/SqliteLedger.ts"
import { State } from "../state/State.ts"
import { defaultLimits, parserVersion } from "../text/Prepared.ts"
import { TextPool } from "../text/TextPool.ts"
import { localEmbedder, localRankers } from "./LocalModels.ts"
import * as models from "./Models.ts"
import { embeddedParent, lastSegment } from "../domain/ResourceNames.ts"
import { documentProperties } from "./DocumentProperties.ts"
import { checkVectors, vectorStores } from "./VectorStores.ts"

export interface EmbeddedServicesOptions {
  readonly dataDir: string
  /** A bundle that is read instead of the data directory's own corpora. */
  readonly bundle?: string
  /** Bytes of the index kept in memory for searching. Default 256 MB. */
  readonly memory?: number
  /** Threads that search, at most. Default 0: a search runs on the thread that asks. */
  readonly searchThreads?: number
  /** Locks the data directory for one writer, with this description of the holder. Absent: opens it for reading. */
  readonly writes?: string
  /** Milliseconds to wait for another writer. Default 0. */
  readonly waitMs?: number
  /** Called once, where another writer has to be waited for. */
  readonly waiting?: (error: StateError) => Effect.Effect<void>
  /** Replaces the embedder that the pipeline names. */
  readonly embedder?: Layer.Layer<Embedder, ServiceError>
}

/** The embedder of a pipeline: the offline one, unless it names another. */
export const embedderOf = (
  pipeline: Definition,
  budget: EmbeddingBudget["Service"],
  dataDir: string
): Layer.Layer<Embedder, ServiceError, Secrets> => {
  const { corpus: { embedding }, import: { maxEmbeddingRequestsPerMinute, retries } } = pipeline
  if (embedding?._tag === "local") return localEmbedder(embedding, dataDir)
  if (embedding?._tag !== "openai") return HashEmbedder
  const { apiKey, batch, dimensions, maxRequestsPerMinute, model, url } = embedding
  return Layer.unwrap(Effect.promise(async () => {
    // The HTTP client is large, and the offline embedder does not need it.
    const [http, openai, { RateLimit }] = await Promise.all([
      import("../net/Http.ts"),
      import("../models/OpenAiEmbedder.ts"),
      import("../net/RateLimit.ts")
    ])
    const turn = Effect.flatMap(RateLimit, (limits) => limits.take(`documents of ${url} ${model}`, maxEmbeddingRequestsPerMinute))
    return openai.layer({
      baseUrl: url,
      model,
      dimensions,
      batch: { texts: batch },
      admit: Effect.andThen(budget.request, turn),
      retry: { times: retries },
      apiKey,
      maxRequestsPerMinute
    }).pipe(Layer.provide(http.layer()))
  }))
}

/**
 * Embedders of the corpora in a data directory, by the settings each was built with; the offline one is among them. Each
 * is made when first needed, and lives as long as the scope.
 */
export const recordedEmbedders = Effect.fnUntraced(function*(
  pipeline: Definition,
  budget: EmbeddingBudget["Service"],
  dataDir: string
): Effect.fn.Return<(id: string) => Effect.Effect<Embedder["Service"] | undefined>, never, State | Secrets | Scope.Scope> {
  const { database } = yield* State
  const scope = yield* Effect.scope
  const secrets = yield* Effect.context<Secrets>()
  const made = new Map<string, Embedder["Service"]>()
  const settings = database.prepare("SELECT built FROM generations WHERE built IS NOT NULL AND role != 'gone' ORDER BY number DESC")
  return Effect.fnUntraced(function*(id) {
    if (id === hashEmbedder.id) return hashEmbedder
    for (const row of settings.all()) {
      const { embedding } = decodeBuilt(String(row["built"]))
      if (embedding === undefined) continue
      const key = JSON.stringify(embedding)
      const known = made.get(key)
      // An embedder that cannot be made here is not the requested one.
      const embedder = known ?? (yield* Layer.buildWithScope(
        embedderOf({ ...pipeline, corpus: { ...pipeline.corpus, embedding } }, budget, dataDir),
        scope
      ).pipe(
        Effect.map((context) => Context.get(context, Embedder)),
        Effect.provideContext(secrets),
        Effect.orElseSucceed(() => undefined)
      ))
      if (embedder === undefined) continue
      made.set(key, embedder)
      if (embedder.id === id) return embedder
    }
    return undefined
  })
})

/** Number of requests for the queue's batches of texts; a partial batch takes its own request. */
const requestsOf = ({ corpus: { embedding } }: Definition) => (texts: number): number => {
  if (embedding?._tag !== "openai") return 0
  const inRequests = (n: number) => Math.ceil(n / embedding.batch)
  return Math.floor(texts / textsAtOnce) * inRequests(textsAtOnce) + inRequests(texts % textsAtOnce)
}

/**
 * Concurrent uploads: several times the number that the writer commits together, so that it and the parsers have work
 * while the others wait for a commit.
 */
const concurrency = 256

/** All services of a pipeline on this machine: engine, ledger, parsers, models, secrets. */
export const embeddedServices = (
  pipeline: Definition,
  options: EmbeddedServicesOptions
): Layer.Layer<Exclude<Services, Connectors> | FileMetadataStore | Embedder | Secrets, ServiceError | StateError | SecretError> => {
  const { dataDir } = options
  const limits = fileLimits(pipeline)
  const secrets = LocalSecrets.layer(join(dataDir, "secrets"))
  const budget = makeEmbeddingBudget()
  const embedder = options.embedder ?? embedderOf(pipeline, budget, dataDir).pipe(Layer.provide(secrets))
  const engine = Layer.effect(
    Engine,
    Effect.gen(function*() {
      const { dimensions, embed, id } = yield* Embedder
      const stores = yield* VectorStores
      const metadata = yield* FileMetadataStore
      const pool = yield* TextPool
      return Engine.of({
        name: "embedded",
        parent: embeddedParent,
        target: embeddedParent,
        signature: `parser ${parserVersion}, embedder ${id}${limitsSignature(pipeline)}`,
        maxFileBytes: limits.bytes ?? defaultLimits.bytes,
        budget,
        embedder: id,
        checkVectors: (db, corpus = CorpusName.make("none")) =>
          Effect.provideService(checkVectors(db, { corpus: lastSegment(corpus), dimensions }), VectorStores, stores),
        embeddingRequests: requestsOf(pipeline),
        checkEmbedder: pipeline.corpus.embedding === undefined
          ? undefined
          : Effect.as(embed(["yes"], "query"), `${id} opens, and gives ${dimensions} dimensions`),
        remoteEmbedding: pipeline.corpus.embedding?._tag === "openai",
        concurrency,
        ledgerWithFiles: true,
        metadata: { store: metadata, withFiles: true, properties: documentProperties(pool) }
      })
    })
  )
  const state = State.layer(options.bundle ?? dataDir)
  // A writer to an empty directory has files to parse.
  const started = options.writes !== undefined && !existsSync(join(dataDir, databaseFile))
  const databases = vectorStores().pipe(Layer.provide(secrets))
  const { keepEmbeddings } = pipeline.import
  const store = Embedded.layer({
    dataDir,
    bundle: options.bundle,
    memory: options.memory,
    searchThreads: options.searchThreads,
    rebuildsOutdated: options.writes !== undefined,
    started,
    keepVectors: keepEmbeddings === undefined ? undefined : Duration.toMillis(keepEmbeddings)
  }).pipe(
    Layer.provide(Layer.effect(Rankers, localRankers(dataDir))),
    Layer.provide(Layer.succeed(EmbeddingBudget, budget)),
    Layer.provide(Layer.effect(OtherEmbedders, recordedEmbedders(pipeline, budget, dataDir)).pipe(Layer.provide([state, secrets]))),
    Layer.provide(databases)
  )
  const lock = options.writes === undefined
    ? Layer.empty
    : Layer.effectDiscard(Lock.acquire(dataDir, options.writes, options.waitMs, options.waiting))
  const storeAndLedger = Layer.mergeAll(SqliteLedger.layer, Layer.unwrap(Effect.map(State, ({ database }) => allOperations(database))))
    .pipe(Layer.provideMerge(store), Layer.provide(state))
  return Layer.mergeAll(
    storeAndLedger,
    engine.pipe(Layer.provide(databases), Layer.provide(store)),
    Layer.unwrap(Effect.map(Retrieval, ({ embedderOf }) => models.layer(dataDir, embedderOf))).pipe(Layer.provide([secrets, store]))
  ).pipe(
    Layer.provideMerge(Layer.mergeAll(embedder, TextPool.layer({ limits, started }), secrets)),
    Layer.provide(lock)
  )
}
