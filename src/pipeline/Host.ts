import { Context, type Effect, type Result, type Scope } from "effect"
import type { SecretError, ServiceError, StateError } from "../domain/Errors.ts"
import type { Secrets } from "../ports/Secrets.ts"
import type { AnyConnectorDefinition } from "../ports/Source.ts"
import type { Definition } from "./definition/Definition.ts"
import type { EngineName } from "./definition/EngineSettings.ts"
import type { PipelineInvalid, Problem } from "./definition/PipelineInvalid.ts"
import type { Extensions } from "./Extensions.ts"
import type { Connectors, Services } from "./Services.ts"

/** Whether a pipeline is opened to be asked, or to be written to. */
export type Access =
  /** Takes no lock: any number of readers, beside a writer too. `of`: as below; absent: by the file's settings. */
  | { readonly mode: "read"; readonly of?: "live" | "candidate" }
  | {
    /**
     * The generation of the corpus that is written to. Where the file describes another one than that which serves, such
     * as its candidate, the one that serves is kept up to date by the settings that it was built by. Default `live`.
     */
    readonly of?: "live" | "candidate"
    /** Takes the data directory for one writer. */
    readonly mode: "write"
    /** What another writer is told of this one. Default: the program's path. */
    readonly holder?: string
    /** Milliseconds to wait for another writer. Default 0: fail, naming the holder. */
    readonly waitMs?: number
    /** Told once, where another writer has to be waited for. */
    readonly waiting?: (error: StateError) => Effect.Effect<void>
  }

/** Why a pipeline cannot be opened on an engine. */
export type OpenError = PipelineInvalid | ServiceError | StateError | SecretError

/** A pipeline, and what running it takes besides an engine. */
export interface PipelineParts {
  readonly definition: Definition
  /** It comes from a bundle, at this path: that is asked, and can only be read. */
  readonly bundle?: string
  /** It names no engine: any will do. */
  readonly anyEngine: boolean
  /** Connectors and stages that do not come with Sluice. */
  readonly extensions: Extensions
  /** The connectors that its sources may name, by kind. */
  readonly connectors: Readonly<Record<string, AnyConnectorDefinition>>
  /** Problems at their places: in its file, where it came from one. */
  readonly invalid: (problems: ReadonlyArray<Problem>) => PipelineInvalid
}

/** A pipeline on an engine. */
export interface Opened {
  /** The pipeline as the engine runs it: the sections under `engines` in their place, and the settings of the generation it is opened for. */
  readonly definition: Definition
  readonly services: Context.Context<Exclude<Services, Connectors> | Secrets>
}

/** Runs pipelines on an engine. `Embedded.layer` and `Vertex.layer` provide it; a pipeline's methods need it. */
export class Host extends Context.Service<Host, {
  /** Holds the state, and is never listed as documents. */
  readonly dataDir: string
  /**
   * The pipeline as the engine runs it. Fails with every place where the engine, with the connectors there are, lacks
   * something that the pipeline asks for, or is not the one that its file names. `engine` chooses, where the host has several.
   */
  readonly fit: (pipeline: PipelineParts, engine?: EngineName) => Result.Result<Definition, PipelineInvalid>
  /**
   * Everything that a pipeline needs of the engine. What readers share is kept open until the layer closes; a writer's
   * is closed with its scope. Fails as `fit` does before anything is opened.
   */
  readonly open: (pipeline: PipelineParts, access: Access) => Effect.Effect<Opened, OpenError, Scope.Scope>
  /**
   * Reads the whole database of the data directory, checksums too, and says how it is; `undefined` where there is none yet.
   * Damaged files are marked, so that the next run reads them again; nothing else changes.
   */
  readonly inspect: Effect.Effect<string | undefined, StateError>
}>()("sluice/pipeline/Host") {}

/** The engine has models of its own to name: Gemini, Claude, ranking models. The embedded engine has none. */
export class HostedModels extends Context.Service<HostedModels, { readonly location: string }>()("sluice/pipeline/HostedModels") {}
