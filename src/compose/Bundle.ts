import { Effect, Layer, Result } from "effect"
import { dirname, resolve } from "node:path"
import { ServiceError, StateError } from "../domain/Errors.ts"
import { exportCorpus, type Exported } from "../engines/embedded/store/Export.ts"
import { bundled, notBundled, unbundled } from "../pipeline/definition/Bundled.ts"
import { decode } from "../pipeline/definition/Decode.ts"
import type { Definition } from "../pipeline/definition/Definition.ts"
import { forEngine } from "../pipeline/definition/ForEngine.ts"
import { invalidPipeline } from "../pipeline/definition/Place.ts"
import { writtenPipeline } from "../pipeline/definition/Print.ts"
import { type Extensions, noExtensions } from "../pipeline/Extensions.ts"
import { Host, type PipelineParts } from "../pipeline/Host.ts"
import { fromBundle as pipelineOf, type Pipeline } from "../pipeline/Pipeline.ts"
import { asBuilt, decodeBuilt } from "../pipeline/sync/Built.ts"
import { generationsAt, namesIn, pipelineKeyOf } from "../pipeline/sync/Generations.ts"
import { checkBundle } from "../state/Bundle.ts"
import { asStateError, openDatabase } from "../state/Database.ts"
import { LedgerWrites } from "../state/LedgerWrites.ts"
import * as SqliteLedger from "../state/SqliteLedger.ts"
import { State } from "../state/State.ts"
import { embeddedParent, lastSegment } from "../domain/ResourceNames.ts"

/** Options of exporting a bundle. */
export interface ExportOptions {
  /** Which of the pipeline's generations to export, by number. Default: the live one. */
  readonly generation?: number
  /** Folder to which paths of model folders are made relative. Default: the working directory. */
  readonly folder?: string
}

/**
 * Writes a generation of a pipeline's corpus as a bundle: one read-only file that can be used anywhere, without any path,
 * time or secret of this machine. The same files and settings give the same bytes. During a run, it contains the corpus
 * as of the start of the export; `file` is replaced once the bundle is complete and durable.
 *
 * @example
 * ```ts
 * yield* Embedded.exportBundle(handbook, "handbook.bundle").pipe(Effect.provide(Embedded.layer({ dataDir: ".sluice" })))
 * ```
 */
export const exportBundle = (
  pipeline: Pick<Pipeline, "definition">,
  file: string,
  { folder = process.cwd(), generation }: ExportOptions = {}
): Effect.Effect<Exported, ServiceError | StateError, Host> =>
  Effect.gen(function*() {
    const { dataDir } = yield* Host
    const fitted = forEngine(pipeline.definition)
    const definition = Result.isSuccess(fitted) ? fitted.success : pipeline.definition
    if (definition.engine._tag !== "embedded") {
      return yield* new ServiceError({
        code: "UNIMPLEMENTED",
        message: `engine: a corpus of ${definition.engine._tag} cannot be exported: the service does not return what it stores`,
        fix: "run the pipeline with --engine embedded, and export that",
        field: "engine"
      })
    }
    const refused = notBundled(definition)
    if (refused !== undefined) return yield* refused
    const ledger = SqliteLedger.layer.pipe(Layer.provide(LedgerWrites.layerDirect), Layer.provide(State.layer(dataDir)))
    const found = yield* generationsAt({ target: embeddedParent }, namesIn(definition)).pipe(Effect.provide(ledger))
    const there = found.all.filter(({ role }) => role !== "gone" && role !== "retired")
    const chosen = generation === undefined ? found.live : there.find(({ number }) => number === generation)
    if (chosen === undefined) {
      return yield* new ServiceError({
        code: "FAILED_PRECONDITION",
        message: generation === undefined
          ? `${definition.name} has no corpus yet`
          : `${definition.name} has no generation ${generation}${
            there.length === 0 ? "" : `, but ${there.map(({ number }) => number).join(", ")}`
          }`,
        fix: there.length === 0 ? "run it first: sluice run" : "`sluice status` lists them"
      })
    }
    if (chosen.role === "candidate" && chosen.whole === undefined) {
      return yield* new ServiceError({
        code: "FAILED_PRECONDITION",
        message: `generation ${chosen.number}, the candidate, is not complete: no run of it has stored everything that the sources have`,
        fix: "run it to its end: sluice run --candidate"
      })
    }
    const built = chosen.built === undefined ? definition : asBuilt(definition, decodeBuilt(chosen.built))
    return yield* exportCorpus({
      dataDir,
      file,
      corpus: lastSegment(chosen.corpus),
      parent: embeddedParent,
      scope: chosen.scope,
      pipeline: {
        name: definition.name,
        scope: pipelineKeyOf({ target: embeddedParent }, definition.name),
        displayName: definition.corpus.displayName,
        text: writtenBundled(bundled(built, folder))
      }
    })
  })

/** The other sections have their defaults. */
const writtenBundled = (pipeline: Definition): string => {
  const { corpus, name, sources, stages } = writtenPipeline(pipeline)
  return JSON.stringify(sorted({ name, corpus, sources, stages }))
}

const sorted = (value: unknown): unknown => {
  if (Array.isArray(value)) return value.map(sorted)
  if (typeof value !== "object" || value === null) return value
  return Object.fromEntries(Object.entries(value).sort(([a], [b]) => a < b ? -1 : 1).map(([key, field]) => [key, sorted(field)]))
}

/** A bundle that was read and verified, with its pipeline. */
export interface LoadedBundle {
  /** Absolute path. */
  readonly file: string
  readonly bundle: string
  readonly pipeline: Definition
  readonly extensions: Extensions
  readonly invalid: PipelineParts["invalid"]
  /** SHA-256 of the file, in hex. */
  readonly hash: string
}

/** Opens a bundle, reading all of it once to verify its checksum. */
export const loadBundle = Effect.fn("loadBundle")(function*(path: string): Effect.fn.Return<LoadedBundle, StateError> {
  const file = resolve(path)
  const { sha256 } = yield* Effect.tryPromise({ try: () => checkBundle(file), catch: (cause) => asStateError(cause, path) })
  const pipeline = yield* Effect.try({ try: () => pipelineIn(file, path), catch: (cause) => asStateError(cause, path) })
  return {
    file,
    bundle: file,
    pipeline,
    extensions: noExtensions,
    invalid: (problems) => invalidPipeline(pipeline, problems),
    hash: sha256
  }
})

const pipelineIn = (file: string, shown: string): Definition => {
  const db = openDatabase(file)
  try {
    const text = db.prepare("SELECT value FROM bundle WHERE key = 'pipeline'").get()?.["value"]
    const decoded = decode(JSON.parse(String(text)))
    if (Result.isSuccess(decoded)) return unbundled(decoded.success, dirname(file))
    const [first] = decoded.failure
    throw new StateError({
      problem: "other",
      message: `${shown} contains a pipeline that this version of Sluice cannot read: ${first?.path.join(".")} ${first?.rule}`,
      fix: "export it again with this version"
    })
  } finally {
    db.close()
  }
}

/**
 * The pipeline of a bundle, for use wherever `Embedded.layer` is provided: `retrieve`, `ask`, `stream`, `chat`,
 * `evaluate`. Methods that write are `FAILED_PRECONDITION`. The data directory of the layer has the secrets and models
 * that its stages name, and is not created for it. Fails with `StateError` if the file is not a bundle, is damaged, or
 * was written by a newer Sluice.
 *
 * @example
 * ```ts
 * const handbook = yield* Embedded.fromBundle("handbook.bundle")
 * const { answer } = yield* handbook.ask("How many days carry over?")
 * ```
 */
export const fromBundle = (path: string): Effect.Effect<Pipeline, StateError> => Effect.map(loadBundle(path), pipelineOf)
