import { existsSync } from "node:fs"
import { Context, Effect, Layer, RcMap, Result } from "effect"
import { ServiceError } from "../domain/Errors.ts"
import { fitness } from "../pipeline/definition/Fitness.ts"
import { type Access, Host, HostedModels, type OpenError, type PipelineParts } from "../pipeline/Host.ts"
import type { Definition } from "../pipeline/definition/Definition.ts"
import type { EngineChoice } from "../pipeline/definition/EngineSettings.ts"
import { forEngine } from "../pipeline/definition/ForEngine.ts"
import { Notifier } from "../pipeline/Notify.ts"
import type { Connectors, Services } from "../pipeline/Services.ts"
import type { Embedder } from "../ports/Embedder.ts"
import { Secrets } from "../ports/Secrets.ts"
import { asBuilt } from "../pipeline/sync/Built.ts"
import { liveSettings } from "../pipeline/sync/Generations.ts"
import { OpenedFor } from "../pipeline/sync/Target.ts"
import { capabilitiesOf } from "./Capabilities.ts"
import type { EmbeddedServicesOptions } from "./Embedded.ts"
import { targetOf } from "./Targets.ts"
import type { VertexServicesOptions } from "./Vertex.ts"

/** How long services shared by readers are kept open after the last one. */
const idle = "1 minute"

type EngineServices = Exclude<Services, Connectors> | Secrets

interface HostOptions {
  readonly dataDir: string
  /** Engine to use. Absent: each pipeline's own. */
  readonly engine?: EngineChoice
  /** Makes all services of a pipeline, for reading or for writing. */
  readonly services: (pipeline: Definition, access: Access, bundle?: string) => Layer.Layer<EngineServices, OpenError>
}

/** Makes a {@link Host} over the services that engines make for a pipeline. */
const make = Effect.fnUntraced(function*({ dataDir, engine, services }: HostOptions) {
  const wanted = new Map<string, { readonly definition: Definition; readonly bundle: string | undefined }>()
  /** Pipelines opened for reading, as they run here: questions come one after the other. */
  const opened = new WeakMap<PipelineParts, { readonly key: string; readonly definition: Definition }>()
  const readers = yield* RcMap.make({
    lookup: (key: string) => {
      const { bundle, definition } = wanted.get(key)!
      return Layer.build(services(definition, { mode: "read" }, bundle))
    },
    idleTimeToLive: idle
  })
  const fit: Host["Service"]["fit"] = (pipeline, chosen) => {
    const { anyEngine, connectors, definition, invalid } = pipeline
    const name = engine?._tag ?? chosen ?? definition.engine._tag
    if (!anyEngine && engine !== undefined && definition.engine._tag !== name && definition.engines[name] === undefined) {
      return Result.fail(invalid([{
        path: ["engine"],
        rule: `the pipeline is for the ${definition.engine._tag} engine, and this program provides the ${name} one`,
        fix: `provide ${definition.engine._tag === "vertex" ? "Vertex" : "Embedded"}.layer, or add a section engines.${name}`
      }]))
    }
    const named = anyEngine && engine !== undefined ? { ...definition, engine } : definition
    const fitted = forEngine(named, name)
    if (Result.isFailure(fitted)) return Result.fail(invalid(fitted.failure))
    const problems = fitness(named, capabilitiesOf(name, Object.keys(connectors)))
    return problems.length > 0 ? Result.fail(invalid(problems)) : Result.succeed(fitted.success)
  }
  const openAnew: Host["Service"]["open"] = Effect.fnUntraced(function*(pipeline, access) {
    const declared = yield* Effect.fromResult(fit(pipeline))
    const { bundle } = pipeline
    if (bundle !== undefined && (access.mode === "write" || access.of === "candidate")) return yield* onlyRead(bundle)
    const of = bundle !== undefined ? undefined : access.of ?? (access.mode === "write" ? "live" : undefined)
    const { definition, openedFor } = of === "live" ? yield* asLive(declared, dataDir) : { definition: declared, openedFor: undefined }
    if (access.mode === "write") {
      const built = Context.add(yield* Layer.build(services(definition, access)), OpenedFor, openedFor)
      if (definition.notify.length === 0) return { definition, services: built }
      const { notifier } = yield* Effect.promise(() => import("./Notifier.ts"))
      return { definition, services: Context.add(built, Notifier, notifier(Context.get(built, Secrets))) }
    }
    const { corpus: { embedding }, import: { limits, textRecognition }, stages } = definition
    const key = JSON.stringify([
      definition.engine,
      bundle,
      embedding,
      limits,
      textRecognition,
      stages.map((stage) => "model" in stage ? stage.model : undefined)
    ])
    wanted.set(key, { definition, bundle })
    if (of === undefined) opened.set(pipeline, { key, definition })
    return { definition, services: yield* RcMap.get(readers, key) }
  })
  return Host.of({
    dataDir,
    fit,
    inspect: Effect.flatMap(Effect.promise(() => import("../engines/embedded/Inspect.ts")), ({ inspect }) => inspect(dataDir)),
    open: (pipeline, access) =>
      Effect.suspend(() => {
        const known = access.mode === "read" && access.of === undefined ? opened.get(pipeline) : undefined
        if (known === undefined) return openAnew(pipeline, access)
        return Effect.map(RcMap.get(readers, known.key), (services) => ({ definition: known.definition, services }))
      })
  })
})

const onlyRead = (bundle: string): ServiceError =>
  new ServiceError({
    code: "FAILED_PRECONDITION",
    message: `${bundle} is a bundle: it has one generation, and is read-only`,
    fix: "run the pipeline that it was exported from, and export it again"
  })

/**
 * The pipeline with the settings that its live corpus was built with, where its file describes another generation. Read
 * from the ledger alone, before the engine is opened: the embedder is among the settings.
 */
const asLive = Effect.fnUntraced(function*(declared: Definition, dataDir: string) {
  const target = yield* targetOf(declared)
  // Loaded together with the engines, which need them too.
  const [SqliteLedger, { LedgerWrites }, { State }, { databaseAt }] = yield* Effect.promise(() =>
    Promise.all([
      import("../state/SqliteLedger.ts"),
      import("../state/LedgerWrites.ts"),
      import("../state/State.ts"),
      import("../state/Database.ts")
    ])
  )
  // Creating the ledger only to read it would make the first run look like a later one, for which parsers are not started early.
  if (!existsSync(databaseAt(dataDir))) return { definition: declared, openedFor: { pipeline: declared.name, live: undefined } }
  const ledger = SqliteLedger.layer.pipe(Layer.provide(LedgerWrites.layerDirect), Layer.provide(State.layer(dataDir)))
  const { built, live } = yield* liveSettings(declared, target).pipe(Effect.provide(ledger))
  return {
    definition: built === undefined ? declared : asBuilt(declared, built),
    openedFor: { pipeline: declared.name, live: live?.scope }
  }
})

/** Options of the embedded engine: where it keeps its data, and the memory it may use. */
export interface EmbeddedHostOptions {
  /** Directory with all data: created if it does not exist, and readable by its owner alone. */
  readonly dataDir: string
  /** Bytes of the index kept in memory for searching. Default 256 MB. */
  readonly memory?: number
  /**
   * Threads that search, at most; each starts when it is needed and has its share of `memory`. Default 0: a search runs where it is
   * called and holds the event loop for a millisecond or two, longer in large corpora. Servers want as many as processors.
   */
  readonly searchThreads?: number
  /** Replaces the embedder that pipelines name. */
  readonly embedder?: Layer.Layer<Embedder, ServiceError>
}

/**
 * The embedded engine: one machine, no account, no network. Any number of programs can read beside one that writes; a
 * second writer fails with the holder's name, or waits if `runWith` says so.
 */
export const embedded = (options: EmbeddedHostOptions): Layer.Layer<Host> =>
  Layer.effect(
    Host,
    make({
      engine: { _tag: "embedded" },
      dataDir: options.dataDir,
      services: (pipeline, access, bundle) => embeddedOf(pipeline, { ...options, bundle }, access)
    })
  )

/** The project and region to use, and how to reach them. Credentials are Application Default Credentials unless `token` is given. */
export interface VertexHostOptions extends Pick<VertexServicesOptions, "dataDir" | "client" | "token"> {
  /** Id or number of the Google Cloud project. */
  readonly project: string
  /** Region, for example `us-central1`. */
  readonly location: string
  /** Another address of the service, for example a Sluice server. Default: the region's own host. */
  readonly baseUrl?: string
  /** The project whose quota is used. Default: that of the credentials. */
  readonly quotaProject?: string
  /** Calls per minute that manage corpora and files. Default 60, the service's own limit. */
  readonly requestsPerMinute?: number
}

/** Vertex AI, or a server with its API. The ledger is kept in the data directory. */
export const vertex = (options: VertexHostOptions): Layer.Layer<Host | HostedModels> => {
  const { client: _, dataDir, token: __, ...settings } = options
  return Layer.mergeAll(
    Layer.effect(
      Host,
      make({
        engine: { _tag: "vertex", ...settings },
        dataDir,
        services: (pipeline, access) => vertexOf(pipeline, options, access)
      })
    ),
    Layer.succeed(HostedModels, { location: settings.location })
  )
}

/** Every engine of this build: a pipeline runs on the one it names, or the one chosen for it. */
export const everyEngine = (options: { readonly dataDir: string }): Layer.Layer<Host> =>
  Layer.effect(
    Host,
    make({
      dataDir: options.dataDir,
      services: (pipeline, access, bundle) =>
        pipeline.engine._tag === "vertex"
          ? vertexOf(pipeline, options, access)
          : embeddedOf(pipeline, { ...options, bundle }, access)
    })
  )

/** Each engine is loaded when first needed: the embedded one does not need the HTTP client, which is large. */
const embeddedOf = (pipeline: Definition, options: EmbeddedServicesOptions, access: Access) =>
  Layer.unwrap(
    Effect.map(
      Effect.promise(() => import("./Embedded.ts")),
      ({ embeddedServices }) => embeddedServices(pipeline, { ...options, ...writing(access) })
    )
  )

const vertexOf = (pipeline: Definition, options: VertexServicesOptions, access: Access) =>
  Layer.unwrap(
    Effect.map(
      Effect.promise(() => import("./Vertex.ts")),
      ({ vertexServices }) => vertexServices(pipeline, { ...options, ...writing(access) })
    )
  )

const writing = (access: Access) => {
  if (access.mode === "read") return {}
  const { holder = process.argv[1] ?? "a program", mode: _, ...waiting } = access
  return { writes: holder, ...waiting }
}
