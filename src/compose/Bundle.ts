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
import { generationsAt, namesIn, scopeOf } from "../pipeline/sync/Generations.ts"
import { checkBundle } from "../state/Bundle.ts"
import { asStateError, openDatabase } from "../state/Database.ts"
import { LedgerWrites } from "../state/LedgerWrites.ts"
import * as SqliteLedger from "../state/SqliteLedger.ts"
import { State } from "../state/State.ts"
import { embeddedParent } from "./Targets.ts"

/** How a bundle is made. */
export interface ExportOptions {
  /** Of the pipeline's generations, by number. Default: the one that serves. */
  readonly generation?: number
  /** What folders of models are named from. Default: the working directory. */
  readonly folder?: string
}

/**
 * Writes a generation of a pipeline's corpus as a bundle: one file, to be read anywhere and never written, with no path,
 * time or secret of this machine in it. The same files and settings give the same bytes. Beside a run, it holds the
 * corpus as it was when the export began; `file` is replaced once the bundle is whole and durable.
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
        message: `engine: a corpus of ${definition.engine._tag} cannot be exported: the service does not give back what it stores`,
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
        fix: there.length === 0 ? "run it first: sluice run" : "`sluice status` tells which there are"
      })
    }
    if (chosen.role === "candidate" && chosen.whole === undefined) {
      return yield* new ServiceError({
        code: "FAILED_PRECONDITION",
        message: `generation ${chosen.number}, the candidate, is not whole: no run of it has stored all that the sources have`,
        fix: "run it to its end: sluice run --candidate"
      })
    }
    const built = chosen.built === undefined ? definition : asBuilt(definition, decodeBuilt(chosen.built))
    return yield* exportCorpus({
      dataDir,
      file,
      corpus: chosen.corpus.slice(chosen.corpus.lastIndexOf("/") + 1),
      parent: embeddedParent,
      scope: chosen.scope,
      pipeline: {
        name: definition.name,
        scope: scopeOf({ target: embeddedParent }, definition.name),
        displayName: definition.corpus.displayName,
        text: writtenBundled(bundled(built, folder))
      }
    })
  })

/** The rest of it are defaults. */
const writtenBundled = (pipeline: Definition): string => {
  const { corpus, name, sources, stages } = writtenPipeline(pipeline)
  return JSON.stringify(sorted({ name, corpus, sources, stages }))
}

const sorted = (value: unknown): unknown => {
  if (Array.isArray(value)) return value.map(sorted)
  if (typeof value !== "object" || value === null) return value
  return Object.fromEntries(Object.entries(value).sort(([a], [b]) => a < b ? -1 : 1).map(([key, field]) => [key, sorted(field)]))
}

/** A bundle that was read through and found whole, and the pipeline that it is asked as. */
export interface LoadedBundle {
  /** Absolute. */
  readonly file: string
  readonly bundle: string
  readonly pipeline: Definition
  readonly extensions: Extensions
  readonly invalid: PipelineParts["invalid"]
  /** SHA-256 of the file, in hex. */
  readonly hash: string
}

/** Opens a bundle. All of it is read once, to hold it against its checksum. */
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
      message: `${shown} holds a pipeline that this Sluice cannot read: ${first?.path.join(".")} ${first?.rule}`,
      fix: "export it again with this version"
    })
  } finally {
    db.close()
  }
}

/**
 * The pipeline of a bundle, to be asked wherever `Embedded.layer` is: `retrieve`, `ask`, `stream`, `chat`, `evaluate`. What
 * writes is `FAILED_PRECONDITION`. The data directory of the layer has the secrets and models that its stages name, and is
 * not made for it. Fails with `StateError` where the file is no bundle, damaged, or of a newer Sluice.
 *
 * @example
 * ```ts
 * const handbook = yield* Embedded.fromBundle("handbook.bundle")
 * const { answer } = yield* handbook.ask("How many days carry over?")
 * ```
 */
export const fromBundle = (path: string): Effect.Effect<Pipeline, StateError> => Effect.map(loadBundle(path), pipelineOf)
