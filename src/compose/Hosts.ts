import { Context, Effect, Layer, RcMap, Result } from "effect"
import { builtInSources } from "../domain/sources/BuiltInSources.ts"
import type { ServiceError } from "../domain/Errors.ts"
import { fitness } from "../pipeline/definition/Fitness.ts"
import type { PipelineInvalid, Problem } from "../pipeline/definition/PipelineInvalid.ts"
import { invalidPipeline } from "../pipeline/OnEngine.ts"
import { type Access, Host, HostedModels, HostedStores, type OpenError } from "../pipeline/Host.ts"
import type { Definition } from "../pipeline/definition/Definition.ts"
import type { EngineChoice } from "../pipeline/definition/EngineSettings.ts"
import { forEngine } from "../pipeline/definition/ForEngine.ts"
import type { Connectors, Services } from "../pipeline/Services.ts"
import type { Embedder } from "../ports/Embedder.ts"
import type { Secrets } from "../ports/Secrets.ts"
import { capabilitiesOf } from "./Capabilities.ts"
import type { VertexServicesOptions } from "./Vertex.ts"

/** How long what readers share is kept open after the last of them. */
const idle = "1 minute"

type EngineServices = Exclude<Services, Connectors> | Secrets

interface HostOptions {
  readonly engine: EngineChoice
  readonly dataDir: string
  /** All that a pipeline needs, for reading or for writing. */
  readonly services: (pipeline: Definition, access: Access) => Layer.Layer<EngineServices, OpenError>
}

/** A {@link Host} over the services that an engine makes for a pipeline. */
const make = Effect.fnUntraced(function*({ dataDir, engine, services }: HostOptions) {
  const definitions = new Map<string, Definition>()
  const readers = yield* RcMap.make({
    lookup: (key: string) => Layer.build(services(definitions.get(key)!, { mode: "read" })),
    idleTimeToLive: idle
  })
  return Host.of({
    engine: engine._tag,
    dataDir,
    open: Effect.fnUntraced(function*({ anyEngine, definition }, access) {
      const fitted = yield* Effect.fromResult(fit(definition, engine, anyEngine))
      if (access.mode === "write") return { definition: fitted, services: yield* Layer.build(services(fitted, access)) }
      const key = JSON.stringify([fitted.engine, fitted.corpus.embedding, fitted.stages.map((stage) => "model" in stage ? stage.model : undefined)])
      definitions.set(key, fitted)
      return { definition: fitted, services: yield* RcMap.get(readers, key) }
    })
  })
})

/** The pipeline as this engine runs it, or every place where the engine is another or lacks something. */
const fit = (pipeline: Definition, engine: EngineChoice, anyEngine: boolean): Result.Result<Definition, PipelineInvalid> => {
  const invalid = (problems: ReadonlyArray<Problem>) => invalidPipeline(pipeline, problems)
  if (!anyEngine && pipeline.engine._tag !== engine._tag && pipeline.engines[engine._tag] === undefined) {
    return Result.fail(invalid([{
      path: ["engine"],
      rule: `the pipeline is for the ${pipeline.engine._tag} engine, and this program provides the ${engine._tag} one`,
      fix: `provide ${pipeline.engine._tag === "vertex" ? "Vertex" : "Embedded"}.layer, or give engines.${engine._tag} a section of its own`
    }]))
  }
  const named = anyEngine ? { ...pipeline, engine } : pipeline
  const problems = fitness(named, capabilitiesOf(engine._tag, Object.keys(builtInSources)))
  if (problems.length > 0) return Result.fail(invalid(problems))
  return Result.mapError(forEngine(named, engine._tag), invalid)
}

/** Where the embedded engine keeps its data, and the memory it may use. */
export interface EmbeddedHostOptions {
  /** Holds everything: made if it is not there, and readable by its owner alone. */
  readonly dataDir: string
  /** Bytes of the index kept in memory for searching. Default 256 MB. */
  readonly memory?: number
  /** Takes the place of the embedder that pipelines name. */
  readonly embedder?: Layer.Layer<Embedder, ServiceError>
}

/**
 * The embedded engine: one machine, no account, no network. Any number of programs read beside one that writes; a second
 * writer fails with the holder's name, or waits where `runWith` is told to.
 */
export const embedded = (options: EmbeddedHostOptions): Layer.Layer<Host> =>
  Layer.effect(
    Host,
    make({
      engine: { _tag: "embedded" },
      dataDir: options.dataDir,
      services: (pipeline, access) =>
        Layer.unwrap(Effect.map(Effect.promise(() => import("./Embedded.ts")), ({ embeddedServices }) =>
          embeddedServices(pipeline, { ...options, ...writing(access) })))
    })
  )

/** The project and region to work in, and how to reach them. Credentials are Application Default Credentials unless `token` is given. */
export interface VertexHostOptions extends Pick<VertexServicesOptions, "dataDir" | "client" | "token"> {
  /** Id or number of the Google Cloud project. */
  readonly project: string
  /** Region, for example `us-central1`. */
  readonly location: string
  /** Another address to talk to, for example a Sluice server. Default: the region's own host. */
  readonly baseUrl?: string
  /** The project whose quota is used. Default: that of the credentials. */
  readonly quotaProject?: string
  /** Calls a minute about corpora and files. Default 60, the service's own. */
  readonly requestsPerMinute?: number
}

/** Vertex AI, or a server that speaks like it. The ledger is kept in the data directory. */
export const vertex = ({ client, dataDir, token, ...settings }: VertexHostOptions): Layer.Layer<Host | HostedModels | HostedStores> =>
  Layer.mergeAll(
    Layer.effect(
      Host,
      make({
        engine: { _tag: "vertex", ...settings },
        dataDir,
        services: (pipeline, access) =>
          // The HTTP client is large, and the embedded engine does without.
          Layer.unwrap(Effect.map(Effect.promise(() => import("./Vertex.ts")), ({ vertexServices }) =>
            vertexServices(pipeline, {
              dataDir,
              ...(client === undefined ? {} : { client }),
              ...(token === undefined ? {} : { token }),
              ...writing(access)
            })))
      })
    ),
    Layer.succeedContext(Context.make(HostedModels, { location: settings.location }).pipe(Context.add(HostedStores, { location: settings.location })))
  )

const writing = (access: Access) => {
  if (access.mode === "read") return {}
  const { mode: _, ...waiting } = access
  return { writes: process.argv[1] ?? "a program", ...waiting }
}
