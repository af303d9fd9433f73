import { Context, type Effect, type Result, type Scope } from "effect"
import type { SecretError, ServiceError, StateError } from "../domain/Errors.ts"
import type { Secrets } from "../ports/Secrets.ts"
import type { AnyConnectorDefinition } from "../ports/Source.ts"
import type { Definition } from "./definition/Definition.ts"
import type { EngineName } from "./definition/EngineSettings.ts"
import type { PipelineInvalid, Problem } from "./definition/PipelineInvalid.ts"
import type { Extensions } from "./Extensions.ts"
import type { Connectors, Services } from "./Services.ts"

/** Whether a pipeline is opened for reading or for writing. */
export type Access =
  /**
   * Takes no lock: any number of readers can be open, beside a writer too. `of`: the generation to read; absent: the one
   * that the file's settings describe.
   */
  | { readonly mode: "read"; readonly of?: "live" | "candidate" }
  | {
    /**
     * The generation of the corpus to write to. With `live`, where the file describes another generation, such as its
     * candidate, the live one is kept up to date with the settings it was built with. Default `live`.
     */
    readonly of?: "live" | "candidate"
    /** Locks the data directory for one writer. */
    readonly mode: "write"
    /** How this writer is named to another one that finds the lock taken. Default: the program's path. */
    readonly holder?: string
    /** Milliseconds to wait for another writer. Default 0: fails at once, naming the holder. */
    readonly waitMs?: number
    /** Called once, where another writer has to be waited for. */
    readonly waiting?: (error: StateError) => Effect.Effect<void>
  }

/** Errors of opening a pipeline on an engine. */
export type OpenError = PipelineInvalid | ServiceError | StateError | SecretError

/** A pipeline, and what it needs to run besides an engine. */
export interface PipelineParts {
  readonly definition: Definition
  /** Path of the bundle it comes from: the bundle is read, and cannot be written. */
  readonly bundle?: string
  /** Whether it names no engine, so that any will do. */
  readonly anyEngine: boolean
  /** Connectors, parsers, chunkers and stages that do not come with Sluice. */
  readonly extensions: Extensions
  /** Connectors that its sources may name, by kind. */
  readonly connectors: Readonly<Record<string, AnyConnectorDefinition>>
  /** Makes the error of problems, each at its place in the file, where the pipeline came from one. */
  readonly invalid: (problems: ReadonlyArray<Problem>) => PipelineInvalid
}

/** A pipeline on an engine. */
export interface Opened {
  /**
   * The pipeline as the engine runs it: with the sections under `engines` applied, and the settings of the generation it
   * is opened for.
   */
  readonly definition: Definition
  readonly services: Context.Context<Exclude<Services, Connectors> | Secrets>
}

/** Runs pipelines on an engine. `Embedded.layer` and `Vertex.layer` provide it; a pipeline's methods need it. */
export class Host extends Context.Service<Host, {
  /** Directory that holds the state; never listed as documents. */
  readonly dataDir: string
  /**
   * Fits a pipeline to the engine: returns it as the engine runs it. Fails with every place where the engine and the
   * connectors lack something that the pipeline needs, or where its file names another engine. `engine` chooses one,
   * where the host has several.
   */
  readonly fit: (pipeline: PipelineParts, engine?: EngineName) => Result.Result<Definition, PipelineInvalid>
  /**
   * Opens everything that a pipeline needs of the engine. What readers share is kept open until the layer closes; a
   * writer's is closed with its scope. Fails like `fit` before anything is opened.
   */
  readonly open: (pipeline: PipelineParts, access: Access) => Effect.Effect<Opened, OpenError, Scope.Scope>
  /**
   * Checks the whole database of the data directory, checksums included, and describes its state; `undefined` where there
   * is none yet. Damaged files are marked, so that the next run reads them again; nothing else changes.
   */
  readonly inspect: Effect.Effect<string | undefined, StateError>
}>()("sluice/pipeline/Host") {}

/** States that the engine has hosted models that can be named: Gemini, Claude, ranking models. The embedded engine has none. */
export class HostedModels extends Context.Service<HostedModels, { readonly location: string }>()("sluice/pipeline/HostedModels") {}
