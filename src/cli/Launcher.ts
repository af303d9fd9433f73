import { Context, type Effect, type Layer } from "effect"
import type { SecretError, ServiceError, StateError } from "../domain/Errors.ts"
import type { PipelineInvalid } from "../pipeline/definition/PipelineInvalid.ts"
import type { LoadedPipeline } from "../pipeline/definition/Load.ts"
import type { Definition } from "../pipeline/definition/Definition.ts"
import type { FoundModelServer } from "../ports/ModelServer.ts"
import type { Services } from "../pipeline/Services.ts"

export interface LaunchOptions {
  readonly dataDir: string
  /** Set by commands that write: what the lock says about its holder. */
  readonly writes?: string
  /** Milliseconds to wait for another writer. Default 0. */
  readonly waitMs?: number
  /** Told once, where another writer has to be waited for. */
  readonly waiting?: (error: StateError) => Effect.Effect<void>
}

/** One thing that was looked at, and what to do when it is wrong. */
export interface Check {
  readonly check: string
  readonly ok: boolean
  readonly detail: string
  readonly fix?: string
}

/** Makes the engine that a pipeline runs on. Given to the commands by the composition root. */
export class Launcher extends Context.Service<Launcher, {
  readonly version: string
  /** The pipeline as the chosen engine runs it (absent: its own); fails with every place where that engine lacks something. */
  readonly fit: (
    loaded: LoadedPipeline,
    engine: "embedded" | "vertex" | undefined
  ) => Effect.Effect<LoadedPipeline, PipelineInvalid>
  readonly layer: (
    pipeline: Definition,
    options: LaunchOptions
  ) => Layer.Layer<Services, ServiceError | StateError | SecretError>
  /** What stands between this machine and a pipeline's engine, one thing after another; nothing where that runs here. */
  readonly checks: (
    pipeline: Definition,
    options: Pick<LaunchOptions, "dataDir">
  ) => Effect.Effect<ReadonlyArray<Check>, ServiceError>
  /** The model servers of this machine and of the environment, each called once. */
  readonly modelServers: Effect.Effect<ReadonlyArray<FoundModelServer>>
  /**
   * Reads the whole state database, checksums too, and says how it is; `undefined` where there is none yet. Damaged files
   * are marked, so that the next run reads them again; nothing else changes.
   */
  readonly inspect: (dataDir: string) => Effect.Effect<string | undefined, StateError>
}>()("sluice/cli/Launcher") {}
