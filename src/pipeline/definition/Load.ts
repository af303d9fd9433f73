import { pathToFileURL } from "node:url"
import { Effect, FileSystem, Path, Schema } from "effect"
import type { VectorDb } from "../../domain/Corpus.ts"
import { defined } from "../../domain/Defined.ts"
import { isModelFolder } from "../../domain/LocalModel.ts"
import { builtInSources } from "../../domain/sources/BuiltInSources.ts"
import { type Extensions, extensionsIn, mergeExtensions, namedDefinitionsIn, noExtensions } from "../Extensions.ts"
import type { EmbeddingChoice } from "./CorpusSettings.ts"
import type { Definition } from "./Definition.ts"
import { builtInStageNames, type StageSettings } from "./StageSettings.ts"
import { decode } from "./Decode.ts"
import type { Environment } from "./Environment.ts"
import { type ParsedPipeline, parsePipeline } from "./Parse.ts"
import { PipelineInvalid, type Problem } from "./PipelineInvalid.ts"
import { issueOf, placed } from "./Place.ts"
import { pipelineHash } from "./Print.ts"
import { readYaml, type YamlText } from "./YamlText.ts"

/** A pipeline and the file it came from. */
export interface LoadedPipeline extends ParsedPipeline {
  /** Absolute path of the file. */
  readonly file: string
  /** The pipeline, with relative local paths resolved against the file's folder. */
  readonly pipeline: Definition
  /** {@link pipelineHash} of the pipeline as written, so that it does not depend on where the file is. */
  readonly hash: string
}

const maxBytes = 256 * 1024

const modules = new Set([".ts", ".mts", ".js", ".mjs"])

/**
 * Loads a pipeline from YAML, JSON, or a TypeScript or JavaScript module (its `default` or `pipeline` export). Fails with
 * every problem at once. `env` holds the variables for `${VAR}` in YAML and JSON; modules read their own.
 */
export const loadPipeline = Effect.fn("loadPipeline")(function*(
  file: string,
  env: Environment = process.env
): Effect.fn.Return<LoadedPipeline, PipelineInvalid, FileSystem.FileSystem | Path.Path> {
  const path = yield* Path.Path
  const absolute = path.resolve(file)
  const isModule = modules.has(path.extname(absolute))
  const read = isModule ? yield* readModule(file, absolute) : yield* readText(file, absolute, env)
  const { pipeline } = read
  const directory = path.dirname(absolute)
  const { extensions, invalid } = read
  const absoluteIn = (settings: object, fields: ReadonlyArray<string>) =>
    Object.fromEntries(
      Object.entries(settings).map((
        [field, value]
      ) => [field, fields.includes(field) && typeof value === "string" ? path.resolve(directory, value) : value])
    )
  const sources = Object.fromEntries(
    Object.entries(pipeline.sources).map(([id, source]) => {
      if (source._tag === "local") return [id, { ...source, path: path.resolve(directory, source.path) }]
      if (source._tag === "git") {
        return [id, { ...source, ...(source.path === undefined ? {} : { path: path.resolve(directory, source.path) }) }]
      }
      if (source._tag !== "own") {
        return [id, source]
      }
      return [id, { ...source, settings: absoluteIn(source.settings, extensions.connectors[source.kind]?.paths ?? []) }]
    })
  )
  const placedDb = (db: VectorDb): VectorDb =>
    db._tag === "lanceDb" && !db.uri.includes("://") ? { ...db, uri: path.resolve(directory, db.uri) } : db
  const placedModel = <M extends { readonly model: string }>(model: M): M =>
    isModelFolder(model.model) ? { ...model, model: path.resolve(directory, model.model) } : model
  const placedEmbedding = (embedding: EmbeddingChoice): EmbeddingChoice => embedding._tag === "local" ? placedModel(embedding) : embedding
  const placedStage = (stage: StageSettings): StageSettings =>
    "rank" in stage && stage.rank?._tag === "crossEncoder" ? { ...stage, rank: placedModel(stage.rank) } : stage
  const { embedding, vectorDb } = pipeline.corpus
  const corpus = defined({
    ...pipeline.corpus,
    vectorDb: placedDb(vectorDb),
    embedding: embedding === undefined ? undefined : placedEmbedding(embedding)
  })
  const { embedded } = pipeline.engines
  const engines = embedded === undefined ? pipeline.engines : {
    ...pipeline.engines,
    embedded: defined({
      ...embedded,
      vectorDb: embedded.vectorDb === undefined ? undefined : placedDb(embedded.vectorDb),
      embedding: embedded.embedding === undefined ? undefined : placedEmbedding(embedded.embedding),
      stages: embedded.stages?.map(placedStage)
    })
  }
  return {
    file: absolute,
    pipeline: { ...pipeline, corpus, engines, sources, stages: pipeline.stages.map(placedStage) },
    extensions,
    hash: pipelineHash(pipeline, extensions),
    invalid
  }
})

const failure = (file: string, rule: string, fix?: string): PipelineInvalid =>
  new PipelineInvalid({ file, issues: [{ file, path: "", rule, fix }] })

const notFound = (file: string): PipelineInvalid =>
  failure(file, "the file cannot be found or read", "check the name, or write one with sluice init")

/** Loads the extensions that a file may use, even if the rest of the file is not valid yet. */
export const loadExtensions = Effect.fn("loadExtensions")(function*(
  file: string,
  env: Environment = process.env
): Effect.fn.Return<Extensions, PipelineInvalid, FileSystem.FileSystem | Path.Path> {
  const path = yield* Path.Path
  const absolute = path.resolve(file)
  if (modules.has(path.extname(absolute))) return (yield* readModule(file, absolute)).extensions
  return yield* usedExtensions(readYaml(yield* textOf(file, absolute), env), file, absolute)
})

const textOf = Effect.fnUntraced(
  function*(file: string, absolute: string): Effect.fn.Return<string, PipelineInvalid, FileSystem.FileSystem> {
    const fileSystem = yield* FileSystem.FileSystem
    const size = yield* fileSystem.stat(absolute).pipe(Effect.mapError(() => notFound(file)))
    if (size.type === "Directory") {
      return yield* failure(file, "is a folder, and not a pipeline file", `write one for its documents with sluice init ${file}`)
    }
    if (size.type !== "File") return yield* failure(file, "is not a file", "name a pipeline file")
    if (size.size > maxBytes) return yield* failure(file, `is larger than ${maxBytes / 1024} KiB, too large for a pipeline`)
    return yield* fileSystem.readFileString(absolute).pipe(Effect.mapError(() => failure(file, "the file cannot be read")))
  }
)

const readText = Effect.fnUntraced(function*(
  file: string,
  absolute: string,
  env: Environment
): Effect.fn.Return<ParsedPipeline, PipelineInvalid, FileSystem.FileSystem | Path.Path> {
  const text = yield* textOf(file, absolute)
  const extensions = yield* usedExtensions(readYaml(text, env), file, absolute)
  return yield* Effect.fromResult(parsePipeline(text, file, env, extensions))
})

/** Loads the definitions in the modules that a file names under `use`. */
const usedExtensions = Effect.fnUntraced(function*(
  source: YamlText,
  file: string,
  absolute: string
): Effect.fn.Return<Extensions, PipelineInvalid, Path.Path> {
  const { value } = source
  const names: unknown = typeof value === "object" && value !== null && "use" in value ? value.use : undefined
  if (!Array.isArray(names) || names.length === 0) return noExtensions
  const path = yield* Path.Path
  const refused = (at: number, rule: string, fix: string) => placed(file, source, [{ path: ["use", at], rule, fix }])
  const known = new Map<string, unknown>()
  const all = yield* Effect.forEach(
    names,
    Effect.fnUntraced(function*(name: unknown, at: number) {
      // The schema refuses names that are not text.
      if (typeof name !== "string") return noExtensions
      const module = path.resolve(path.dirname(absolute), name)
      const exports = yield* Effect.tryPromise({
        try: (): Promise<object> => import(pathToFileURL(module).href),
        catch: (cause) => {
          const missing = missingModule(cause)
          return missing === undefined
            ? refused(at, "the module cannot be loaded", `run it with node to see why: node ${name}`)
            : refused(at, `the module, or what it imports, cannot be found: ${missing}`, "check the name, or install it where the file is")
        }
      })
      const found = extensionsIn(exports)
      const all = [found.connectors, found.parsers, found.chunkers, found.stages].flatMap((kinds) => Object.values<Made>(kinds))
      if (all.some(isOfAnotherEffect)) {
        return yield* refused(
          at,
          "is made with a copy of effect other than the running one",
          "make sure that there is only one (npm ls effect), and run the command again"
        )
      }
      const kinds = [...Object.keys(found.connectors), ...Object.keys(found.stages)]
      if (all.length === 0) {
        return yield* refused(
          at,
          "exports no connector, parser, chunker or stage",
          "export what defineConnector, defineParser, defineChunker or defineStage returns"
        )
      }
      const taken = kinds.find((kind) => kind in builtInSources || builtInStageNames.has(kind))
      if (taken !== undefined) {
        return yield* refused(at, `exports ${taken}, which is the name of a source or stage that comes with Sluice`, "give it another kind")
      }
      for (const [name, definition] of namedDefinitionsIn(exports)) {
        if ((known.get(name) ?? definition) !== definition) {
          return yield* refused(at, `exports ${name}, of which there is another definition`, "give each its own kind")
        }
        known.set(name, definition)
      }
      return found
    })
  )
  return mergeExtensions(all)
})

const readModule = Effect.fnUntraced(function*(
  file: string,
  absolute: string
): Effect.fn.Return<ParsedPipeline, PipelineInvalid, FileSystem.FileSystem> {
  yield* (yield* FileSystem.FileSystem).access(absolute).pipe(Effect.mapError(() => notFound(file)))
  const { default: main, pipeline: named } = yield* Effect.tryPromise({
    try: (): Promise<{ readonly default?: unknown; readonly pipeline?: unknown }> => import(pathToFileURL(absolute).href),
    catch: (cause) =>
      isPipelineInvalid(cause)
        ? new PipelineInvalid({ file, issues: cause.issues.map((issue) => ({ ...issue, file })) })
        : unloadable(file, cause)
  })
  const value = main ?? named
  if (value === undefined) {
    return yield* failure(file, "exports no pipeline", "write export default Pipeline.make(\"name\", { ... }), or definePipeline({ ... })")
  }
  const invalid = (problems: ReadonlyArray<Problem>) =>
    new PipelineInvalid({ file, issues: problems.map((problem) => issueOf(file, problem)) })
  if (isTyped(value)) return { pipeline: value.definition, extensions: value.extensions, invalid }
  const pipeline = isDecoded(value) ? value : yield* Effect.fromResult(decode(value)).pipe(Effect.mapError(invalid))
  return { pipeline, extensions: noExtensions, invalid }
})

/** A definition that a module exports for pipeline files. */
interface Made {
  readonly settings: Schema.Top
}

/** Schemas of two copies of effect cannot be combined: each copy has its own symbols for missing values. */
const isOfAnotherEffect = ({ settings }: Made): boolean => !(settings.ast instanceof Node)
const Node: abstract new() => unknown = Object.getPrototypeOf(Schema.String.ast.constructor) // the class of all schemas of this copy

/** Names a missing module. Of other errors nothing is repeated: a message from a module may contain anything. */
const unloadable = (file: string, cause: unknown): PipelineInvalid => {
  const missing = missingModule(cause)
  if (missing !== undefined) {
    return failure(file, `imports ${missing}, which cannot be found`, "install it where the file is, or check the name")
  }
  return failure(file, "the module cannot be loaded", `run it with node to see why: node ${file}`)
}

const missingModule = (cause: unknown): string | undefined => {
  const code = typeof cause === "object" && cause !== null && "code" in cause ? cause.code : undefined
  return cause instanceof Error && code === "ERR_MODULE_NOT_FOUND" ? /'([^']+)'/.exec(cause.message)?.[1] : undefined
}

/** Checked by its tag: the module may have its own copy of this package. */
const isPipelineInvalid = (cause: unknown): cause is PipelineInvalid =>
  typeof cause === "object" && cause !== null && "_tag" in cause && cause._tag === "PipelineInvalid"

/** Whether it was made by `Pipeline.make`: its connectors and stages come with it. */
const isTyped = (value: unknown): value is { readonly definition: Definition; readonly extensions: Extensions } =>
  typeof value === "object" && value !== null && "definition" in value && isDecoded(value.definition) && "extensions" in value

/** Whether it was made by `definePipeline`: there the engine is a tagged value, which a written pipeline never has. */
const isDecoded = (value: unknown): value is Definition =>
  typeof value === "object" && value !== null && "engine" in value && typeof value.engine === "object" &&
  value.engine !== null && "_tag" in value.engine
