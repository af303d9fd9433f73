import { join } from "node:path"
import { Context, Deferred, Effect, Layer, type Redacted, type Scope } from "effect"
import type { ServiceError, StateError } from "../domain/Errors.ts"
import * as Embedded from "../embedded/Embedded.ts"
import { Importer } from "../embedded/Importer.ts"
import * as ExtractiveGenerator from "../models/ExtractiveGenerator.ts"
import { HashEmbedder } from "../models/HashEmbedder.ts"
import * as LexicalRanker from "../models/LexicalRanker.ts"
import type { Embedder } from "../ports/Embedder.ts"
import { Engine } from "../ports/Engine.ts"
import { Files } from "../ports/Files.ts"
import { readFaults } from "../server/faults/FaultFile.ts"
import { ownFileBytes, serviceFileBytes } from "../server/import/ImportLimits.ts"
import { importFiles } from "../server/import/ImportRun.ts"
import { serve, type ServeLimits } from "../server/Server.ts"
import * as Lock from "../state/Lock.ts"
import { State } from "../state/State.ts"
import { defaultLimits, parserVersion } from "../text/Prepared.ts"
import { TextPool } from "../text/TextPool.ts"
import { countTokens } from "../text/Tokens.ts"
import { buckets, type StorageFactory } from "./buckets.ts"
import { contentTerms } from "./contentTerms.ts"

export interface EmbeddedServerOptions {
  readonly dataDir: string
  readonly version: string
  readonly host?: string
  readonly port?: number
  readonly token?: Redacted.Redacted<string>
  readonly storage: StorageFactory
  /** Folders that stand for buckets in imports. Default none. */
  readonly buckets?: ReadonlyMap<string, string>
  /** Let imports fetch from real storage and the public web. Default false. */
  readonly allowRemote?: boolean
  readonly embeddingModel?: string
  readonly vertexQuotas?: boolean
  /** A script of faults, in YAML: see `readFaults`. */
  readonly faults?: string
  readonly limits?: Partial<ServeLimits>
  /** Bytes of the index kept in memory for searching. Default 256 MB. */
  readonly memory?: number
  /** Default: the offline embedder. */
  readonly embedder?: Layer.Layer<Embedder, ServiceError>
}

const parent = "projects/local/locations/local"

/** Serves the embedded engine of a data directory for as long as the scope lives. Gives the base URL once it is ready. */
export const serveEmbedded = (
  options: EmbeddedServerOptions
): Effect.Effect<{ readonly url: string }, ServiceError | StateError, Scope.Scope> =>
  Effect.gen(function*() {
    const { dataDir, faults: script, ...rest } = options
    const faults = script === undefined ? undefined : yield* Effect.fromResult(readFaults(script))
    // Two servers would both go on with the imports that are not done.
    yield* Lock.acquire(join(dataDir, "server"), "sluice serve")
    const remote = options.allowRemote ?? false
    const storage = buckets({ storage: options.storage, buckets: options.buckets ?? new Map(), remote, dataDir })
    const stores = yield* Deferred.make<Files["Service"]>()
    const importer = Layer.succeed(Importer, {
      run: Effect.fnUntraced(function*(request, report) {
        const files = yield* Deferred.await(stores)
        const fileBytes = options.vertexQuotas === true ? serviceFileBytes : () => ownFileBytes
        return yield* importFiles({ ...storage, files, fileBytes })(request, report)
      })
    })
    const embedder = options.embedder ?? HashEmbedder
    const engine = yield* Layer.build(
      Embedded.layer({ dataDir, ...(options.memory === undefined ? {} : { memory: options.memory }) }).pipe(
        Layer.provide([LexicalRanker.layer(), importer]),
        Layer.provideMerge(Layer.mergeAll(embedder, TextPool.layer(), State.layer(dataDir), ExtractiveGenerator.layer(), engineLayer))
      )
    )
    // The importer puts files into the engine that runs it.
    yield* Deferred.succeed(stores, Context.get(engine, Files))
    return yield* serve({
      ...rest,
      ...(faults === undefined ? {} : { faults }),
      database: Context.get(engine, State).database,
      refuseImport: storage.refuse,
      countTokens,
      terms: contentTerms
    }).pipe(Effect.provide(engine))
  })

const engineLayer = Layer.succeed(Engine, {
  name: "embedded",
  parent,
  target: parent,
  signature: `parser ${parserVersion}`,
  maxFileBytes: defaultLimits.bytes,
  remoteEmbedding: false,
  concurrency: 64
})
