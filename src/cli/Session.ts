import { Context, Effect, FileSystem, Option, Path } from "effect"
import { Argument, Flag } from "effect/cli"
import type { StateError } from "../domain/Errors.ts"
import { printable } from "../domain/Text.ts"
import type { EmbeddedServerOptions } from "../compose/Server.ts"
import type { Definition } from "../pipeline/definition/Definition.ts"
import { noExtensions } from "../pipeline/Extensions.ts"
import type { LoadedPipeline } from "../pipeline/definition/Load.ts"
import type { PipelineInvalid } from "../pipeline/definition/PipelineInvalid.ts"
import { type Access, Host, type PipelineParts } from "../pipeline/Host.ts"
import type { AnyConnectorDefinition } from "../ports/Source.ts"
import { goesOnWhenRunAgain, Output } from "./Output.ts"
import { fromHere } from "./Paths.ts"
import { given, root } from "./Root.ts"
import { UsageError } from "./UsageError.ts"

/** The pipeline file as a command's argument. */
export const pipelineArgument = Argument.Path("pipeline").pipe(
  Argument.map(fromHere),
  Argument.withDescription("The pipeline file, or a bundle to read; optional where there is only one"),
  Argument.optional
)

/** The pipeline file of commands whose arguments are something else. */
export const pipelineFlag = Flag.Path("pipeline").pipe(
  Flag.map(fromHere),
  Flag.withAlias("p"),
  Flag.withAlias("bundle"),
  Flag.withDescription("The pipeline file, or a bundle to read; optional where there is only one"),
  Flag.withMetavar("FILE"),
  Flag.optional
)

const candidates = [/^pipeline\.(ya?ml|json|ts|mts|js|mjs)$/, /\.pipeline\.(ya?ml|json|ts|mts|js|mjs)$/]

/** Pipeline files in this folder, or else in its `pipelines`. */
const pipelinesHere = Effect.gen(function*() {
  const fs = yield* FileSystem.FileSystem
  const path = yield* Path.Path
  const list = (folder: string) => fs.readDirectory(folder).pipe(Effect.orElseSucceed((): Array<string> => []))
  const here = (yield* list(".")).filter((name) => candidates.some((pattern) => pattern.test(name)))
  if (here.length > 0) return here.toSorted()
  return (yield* list("pipelines")).filter((name) => /\.(ya?ml|ts)$/.test(name)).map((name) => path.join("pipelines", name)).toSorted()
})

/** The named file, or the only one here. */
const findPipeline = Effect.fn("findPipeline")(function*(named: Option.Option<string>) {
  if (Option.isSome(named)) return named.value
  const found = yield* pipelinesHere
  const [only, ...others] = found
  if (only !== undefined && others.length === 0) return only
  return yield* new UsageError({
    message: only === undefined
      ? "there is no pipeline.yaml here, nor a NAME.pipeline.yaml"
      : `there are several pipeline files: ${found.join(", ")}`,
    fix: only === undefined ? "write one with `sluice init`, or name the file, whatever it is called" : "name one of them"
  })
})

/** A pipeline as commands use it, fitted to the chosen engine. */
export type CommandPipeline = Pick<LoadedPipeline, "pipeline" | "extensions" | "invalid"> & Pick<PipelineParts, "bundle">

/** The built-in connectors, provided by the program: commands do not import them. They are loaded when needed. */
export class BuiltInConnectors extends Context.Service<BuiltInConnectors, {
  /** Definitions by kind. */
  readonly definitions: Effect.Effect<Readonly<Record<string, AnyConnectorDefinition>>>
  /** Connectors for a server's imports. */
  readonly ofServer: Effect.Effect<Required<Pick<EmbeddedServerOptions, "storage" | "vendors">>>
}>()("sluice/cli/BuiltInConnectors") {}

const partsOf = Effect.fnUntraced(
  function*({ bundle, extensions, invalid, pipeline }: CommandPipeline): Effect.fn.Return<PipelineParts, never, BuiltInConnectors> {
    const { definitions } = yield* BuiltInConnectors
    const connectors = { ...yield* definitions, ...extensions.connectors }
    return { definition: pipeline, bundle, anyEngine: false, extensions, invalid, connectors }
  }
)

/** Name of a file that `sluice export` writes. */
const bundleName = /\.bundle$/

const load = (
  file: string
): Effect.Effect<LoadedPipeline & Pick<PipelineParts, "bundle">, PipelineInvalid | StateError, FileSystem.FileSystem | Path.Path> =>
  bundleName.test(file)
    ? Effect.flatMap(Effect.promise(() => import("../compose/Bundle.ts")), ({ loadBundle }) => loadBundle(file))
    // This loads YAML and the schema, which help and --version need not wait for.
    : Effect.flatMap(Effect.promise(() => import("../pipeline/definition/Load.ts")), ({ loadPipeline }) => loadPipeline(file))

/** Loads a pipeline and fits it to the engine it is to run on. */
export const openPipeline = Effect.fn("openPipeline")(function*(named: Option.Option<string>) {
  const { engine } = yield* root
  const file = yield* findPipeline(named)
  const loaded = yield* load(file)
  const host = yield* Host
  const pipeline = yield* Effect.fromResult(host.fit(yield* partsOf(loaded), given(engine)))
  const { invalidOn } = yield* placing
  return { ...loaded, pipeline, invalid: invalidOn(loaded.pipeline, pipeline.engine._tag, loaded.invalid) }
})

const placing = Effect.promise(() => import("../pipeline/definition/Place.ts"))

/** Adds the places of fields in the file to errors about them. */
export const atItsPlace = <A, E, R>({ invalid }: Pick<CommandPipeline, "invalid">, body: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
  Effect.flatMap(placing, ({ placedError }) => Effect.mapError(body, placedError(invalid)))

/**
 * Runs `body` on the engine of a pipeline, with the pipeline as opened: with the settings of the generation that `access`
 * names. Reports when it has to wait for another writer.
 */
export const onEngine = <A, E, R>(
  loaded: CommandPipeline,
  access: Access,
  body: Effect.Effect<A, E, R> | ((pipeline: Definition) => Effect.Effect<A, E, R>)
) =>
  Effect.gen(function*() {
    const output = yield* Output
    const [{ openPipeline }, { generationSwitched, reopening }] = yield* Effect.promise(() =>
      Promise.all([import("../pipeline/Open.ts"), import("../pipeline/sync/Target.ts")])
    )
    if (access.mode === "write") goesOnWhenRunAgain(output)
    const waiting = ({ message }: StateError) => output.say(output.paintError("yellow", printable(`waiting: ${message}`)))
    const parts = yield* partsOf(loaded)
    return yield* Effect.gen(function*() {
      const { definition, services } = yield* openPipeline(parts, access.mode === "read" ? access : { ...access, waiting })
      return yield* atItsPlace(loaded, Effect.provideContext(typeof body === "function" ? body(definition) : body, services))
    }).pipe(
      Effect.scoped,
      Effect.tapError((error) => error === generationSwitched ? output.say("another corpus is live now; continuing with it") : Effect.void),
      reopening
    )
  })

/** Access of commands that write nothing: they take no lock. */
export const reading: Access = { mode: "read" }

/**
 * Opens the engine of commands about resources, which need no pipeline: that of the named pipeline, else of the only one
 * here, else the embedded engine of the data directory.
 */
export const openForResources = Effect.fn("openForResources")(function*(named: Option.Option<string>) {
  if (Option.isSome(named) || (yield* pipelinesHere).length === 1) return yield* openPipeline(named)
  const { engine } = yield* root
  if (given(engine) === "vertex") {
    return yield* new UsageError({
      message: "the vertex engine needs a project and a location",
      fix: "name a pipeline with --pipeline"
    })
  }
  const [{ definePipeline }, { invalidPipeline }] = yield* Effect.promise(() =>
    Promise.all([import("../pipeline/definition/DefinePipeline.ts"), import("../pipeline/definition/Place.ts")])
  )
  const pipeline = definePipeline({ name: "resources", corpus: { displayName: "resources" }, sources: {} })
  const resources: CommandPipeline = { pipeline, extensions: noExtensions, invalid: (problems) => invalidPipeline(pipeline, problems) }
  return resources
})

/** Runs `body` on the engine of a command about resources, by default without writing. */
export const onResources = <A, E, R>(
  named: Option.Option<string>,
  body: Effect.Effect<A, E, R>,
  access: Access = reading
) => Effect.flatMap(openForResources(named), (loaded) => onEngine(loaded, access, body))
