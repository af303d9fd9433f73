import { Context, Effect, Layer } from "effect"
import { join } from "node:path"
import { local } from "../../connectors/local/Local.ts"
import { storage } from "../../connectors/storage/Storage.ts"
import { documentProperties } from "../../src/compose/DocumentProperties.ts"
import { embeddedServices } from "../../src/compose/Embedded.ts"
import * as models from "../../src/compose/Models.ts"
import { serveEmbedded } from "../../src/compose/Server.ts"
import type { SecretError, ServiceError, StateError } from "../../src/domain/Errors.ts"
import { maxUploadBytes } from "../../src/engines/vertex/HostedFiles.ts"
import { HashEmbedder } from "../../src/models/HashEmbedder.ts"
import { definePipeline, type PipelineInput } from "../../src/pipeline/definition/DefinePipeline.ts"
import type { Connectors, Services } from "../../src/pipeline/Services.ts"
import { Embedder } from "../../src/ports/Embedder.ts"
import { Engine } from "../../src/ports/Engine.ts"
import { FileMetadataStore } from "../../src/ports/FileMetadataStore.ts"
import type { Secrets } from "../../src/ports/Secrets.ts"
import * as LocalSecrets from "../../src/secrets/LocalSecrets.ts"
import { LedgerWrites } from "../../src/state/LedgerWrites.ts"
import * as SqliteLedger from "../../src/state/SqliteLedger.ts"
import { State } from "../../src/state/State.ts"
import { TextPool } from "../../src/text/TextPool.ts"
import { hosted } from "../engines/vertex/Engine.ts"
import { connectorsOf } from "./Sources.ts"
import { tempFolder } from "./TempFolder.ts"

/** The offline embedder, with a count of the embedded texts. */
const countingEmbedder = () => {
  const seen = { texts: 0 }
  const layer = Layer.effect(
    Embedder,
    Effect.map(Embedder, ({ embedSparse: _, hashed: __, ...embedder }) =>
      Embedder.of({
        ...embedder,
        embed: (texts, task) => {
          if (task === "document") seen.texts += texts.length
          return embedder.embed(texts, task)
        }
      }))
  ).pipe(Layer.provide(HashEmbedder))
  return { layer, seen }
}

const parent = "projects/p1/locations/us-central1"

/** An engine for pipelines over local folders, with the ledgers of several machines. */
export class Rig extends Context.Service<Rig, {
  readonly engine: "embedded" | "hosted"
  /** Settings of the engine in a pipeline. */
  readonly settings: NonNullable<PipelineInput["engine"]>
  /** Runs on the engine, with the ledger of a machine; the embedded engine has one machine. */
  readonly on: <A, E>(
    body: Effect.Effect<A, E, Services>,
    machine?: string
  ) => Effect.Effect<A, E | ServiceError | StateError | SecretError>
  /** The data directory of the corpora. */
  readonly store: string
  /** Number of texts embedded so far. */
  readonly embedded: () => number
}>()("sluice/test/Rig") {}

/**
 * An engine in this process: the hosted one speaks HTTP with a server over the embedded one.
 *
 * @param faults what the server does wrong, as `sluice serve --faults` reads it
 */
export const rigOf = (engine: "embedded" | "hosted", faults = "faults: []") =>
  Layer.effect(
    Rig,
    Effect.gen(function*() {
      const folder = yield* tempFolder
      const scope = yield* Effect.scope
      const { layer: embedder, seen } = countingEmbedder()
      const url = engine === "embedded"
        ? ""
        : (yield* serveEmbedded({ dataDir: join(folder, "served"), version: "test", port: 0, storage, embedder, faults })).url
      const hostedServices = (dataDir: string) =>
        Layer.mergeAll(
          Layer.effect(
            Engine,
            Effect.gen(function*() {
              return Engine.of({
                name: "vertex",
                parent,
                target: url,
                signature: "vertex",
                maxFileBytes: maxUploadBytes,
                immutableFiles: true,
                remoteEmbedding: true,
                metadata: { store: yield* FileMetadataStore, withFiles: false, properties: documentProperties(yield* TextPool) },
                concurrency: 4
              })
            })
          ).pipe(Layer.provideMerge(hosted(url)), Layer.provide(TextPool.layerInline())),
          models.layer(dataDir).pipe(Layer.provide(LocalSecrets.layer(join(dataDir, "secrets")))),
          TextPool.layerInline(),
          LocalSecrets.layer(join(dataDir, "secrets")),
          SqliteLedger.layer.pipe(Layer.provide(LedgerWrites.layerDirect), Layer.provide(State.layer(dataDir)))
        )
      const machines = new Map<string, Context.Context<Services>>()
      const at = Effect.fnUntraced(function*(machine: string) {
        const found = machines.get(machine)
        if (found !== undefined) return found
        const dataDir = join(folder, machine)
        const engineServices: Layer.Layer<Exclude<Services, Connectors> | Secrets, ServiceError | StateError | SecretError> =
          engine === "embedded"
            ? embeddedServices(anyPipeline, { dataDir, writes: "a test", embedder })
            : hostedServices(dataDir)
        const built = yield* Layer.buildWithScope(connectorsOf({ local }, { dataDir }).pipe(Layer.provideMerge(engineServices)), scope)
        machines.set(machine, built)
        return built
      })
      return Rig.of({
        engine,
        settings: engine === "embedded" ? engine : { vertex: { project: "p1", location: "us-central1" } },
        store: join(folder, engine === "embedded" ? "data" : "served"),
        on: (body, machine = "data") => Effect.flatMap(at(machine), (services) => Effect.provide(body, services)),
        embedded: () => seen.texts
      })
    })
  )

export const rigs = [["embedded", rigOf("embedded")], ["hosted", rigOf("hosted")]] as const

/** A pipeline for opening the engine, which uses nothing else of it. */
const anyPipeline = definePipeline({ name: "any", corpus: { displayName: "any" }, sources: {} })
