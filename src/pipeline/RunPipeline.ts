import { Effect, type Scope, Stream } from "effect"
import type { CorpusName, CorpusSpec } from "../domain/Corpus.ts"
import { ServiceError } from "../domain/Errors.ts"
import { localModelName } from "../domain/LocalModel.ts"
import { importSource } from "../domain/sources/ImportSource.ts"
import type { Connector } from "../ports/Connector.ts"
import { Engine } from "../ports/Engine.ts"
import { Ledger } from "../ports/Ledger.ts"
import { defaultLimits } from "../text/Prepared.ts"
import { makeContainers } from "./Containers.ts"
import type { EmbeddingChoice } from "./definition/CorpusSettings.ts"
import type { Definition } from "./definition/Definition.ts"
import { commonSettings, kindOf } from "./definition/SourceSettings.ts"
import { countRun } from "./Metrics.ts"
import { tellError, tellReport } from "./Notify.ts"
import { Chunkers, Connectors, Parsers } from "./Services.ts"
import { diff, type Difference } from "./sync/Diff.ts"
import { type Plan, plan, type PlanOptions } from "./sync/Plan.ts"
import type { SyncOptions, SyncSpec } from "./sync/Session.ts"
import { sync } from "./sync/Sync.ts"
import { builtBy } from "./sync/Built.ts"
import type { Held } from "./sync/Failures.ts"
import {
  dropCandidate,
  findGeneration,
  generationsStatus,
  namesIn,
  promote,
  rollback,
  pipelineKeyOf,
  type Succession
} from "./sync/Generations.ts"
import { findTarget } from "./sync/Target.ts"
import { resting } from "./watch/Attention.ts"

/** The pipeline in the form that sync takes, with connectors made of its sources. */
export const syncSpec = Effect.fnUntraced(function*(pipeline: Definition, options: { readonly writes: boolean } = { writes: true }) {
  const connectors = yield* Connectors
  const { chunker, ...chunking } = pipeline.chunking
  const parsers = yield* Effect.forEach(pipeline.parsers ?? [], (yield* Parsers).make)
  const engine = yield* Engine
  const { imports } = engine
  const { archives, limits } = pipeline.import
  const opening = yield* makeContainers({
    scope: pipelineKeyOf(engine, pipeline.name),
    archives,
    remembers: options.writes,
    isWhole: parsers.length === 0 ? undefined : (item) => parsers.some(({ reads }) => reads(item)),
    maxBytes: limits?.maxBytes ?? defaultLimits.bytes,
    settings: JSON.stringify(limits ?? {})
  })
  const sources = yield* Effect.forEach(
    Object.entries(pipeline.sources),
    Effect.fnUntraced(function*([id, settings]) {
      const source = importSource(settings)
      const { listing, poll: _, staging, ...listed } = {
        ...commonSettings(settings),
        ...(settings._tag === "own" ? { kind: settings.kind, ...settings.settings } : settings)
      }
      const given = {
        id,
        settings: source?._tag === "storage" && imports?.sources.has("storage") === true
          ? undefined
          : JSON.stringify({ ...listed, staging, listing }),
        staging,
        listing
      }
      if (source === undefined || imports?.sources.has(source._tag) !== true) {
        return { ...given, connector: opening(yield* connectors.make(settings), id) }
      }
      const connector = yield* connectors.make(settings).pipe(
        Effect.catchTag(
          "ServiceError",
          (error) => error.code === "UNIMPLEMENTED" ? Effect.succeed(noConnector(kindOf(settings), error)) : Effect.fail(error)
        )
      )
      // Objects that the service fetches by their address are opened by the service, if at all: nothing is taken out of them here.
      return { ...given, connector: source._tag === "storage" ? connector : opening(connector, id), imports: source }
    })
  )
  const { budget, concurrency, maxDelete, maxEmbeddingRequestsPerMinute, onFileError, resultSink } = pipeline.import
  const spec: SyncSpec = {
    pipeline: pipeline.name,
    renamedFrom: pipeline.renamedFrom,
    corpus: corpusSpec(pipeline),
    built: builtBy(pipeline, engine.signature),
    keep: pipeline.corpus.keepGenerations,
    chunking,
    cutting: chunker === undefined ? undefined : yield* (yield* Chunkers).make(chunker),
    parsing: pipeline.parsing,
    parsers,
    metadata: pipeline.metadata === undefined || Object.keys(pipeline.metadata).length === 0 ? undefined : pipeline.metadata,
    sources,
    maxDelete,
    onFileError,
    maxEmbeddingRequestsPerMinute,
    resultSink,
    budget: { tokens: budget.embeddedTokens, requests: budget.requests },
    concurrency
  }
  return spec
})

/** Connector of a source that only the engine can read. */
const noConnector = (kind: string, error: ServiceError): Connector => ({
  kind,
  check: Effect.fail(error),
  list: () => Stream.fail(error),
  read: () => Stream.fail(error)
})

export const corpusSpec = ({ corpus: { description, displayName, embedding, vectorDb } }: Definition): CorpusSpec => ({
  displayName,
  vectorDb,
  description,
  embeddingModel: embedding === undefined ? undefined : embeddingName(embedding)
})

const embeddingName = (embedding: EmbeddingChoice): string => {
  switch (embedding._tag) {
    case "openai":
      return `${embedding.url}#${embedding.model}`
    case "local":
      return `local:${localModelName(embedding)}`
    case "model":
      return embedding.model
  }
}

export interface PipelineRunOptions extends SyncOptions {
  /** Names of the sources to list; what is known of the others, and of the target, stays as it is. Default: all. */
  readonly sources?: ReadonlyArray<string>
}

/** Brings the pipeline's corpus in line with its sources, and notifies the recipients of `notify`; see {@link sync}. */
export const runPipeline = Effect.fn("runPipeline")(
  function*(pipeline: Definition, { observe = () => Effect.void, sources: only, ...options }: PipelineRunOptions = {}) {
    const unknown = only?.find((id) => !(id in pipeline.sources))
    if (unknown !== undefined) {
      const names = Object.keys(pipeline.sources).join(", ")
      return yield* ServiceError.invalid("sources", `pipeline ${pipeline.name} has no source ${unknown}`, `name some of ${names}`)
    }
    const spec = yield* syncSpec(pipeline)
    const whole = only === undefined || spec.sources.every(({ id }) => only.includes(id))
    const report = yield* sync(
      { ...spec, sources: spec.sources.map((source) => whole || only.includes(source.id) ? source : resting(source)) },
      {
        ...options,
        checkTarget: whole && options.checkTarget !== false,
        // The report is the last event of a run.
        observe: (event) => event.type === "report" ? Effect.void : observe(event)
      }
    ).pipe(Effect.tapError((error) => tellError(pipeline, error, observe)))
    yield* countRun(report)
    yield* tellReport(pipeline, report, observe)
    yield* observe({ type: "report", report })
    return report
  },
  Effect.scoped
)

/** Rate of an embedding server whose settings give none. */
const usualRequestsPerMinute = 500

/** Returns what {@link runPipeline} would do; see {@link plan}. */
export const planPipeline = Effect.fn("planPipeline")(function*(
  pipeline: Definition,
  options: Omit<PlanOptions, "maxEmbeddingRequestsPerMinute" | "pricePerMillionTokens"> = {}
): Effect.fn.Return<Plan, Effect.Error<ReturnType<typeof plan>>, Connectors | Scope.Scope | Effect.Services<ReturnType<typeof plan>>> {
  const { corpus: { embedding }, import: { maxEmbeddingRequestsPerMinute, pricePerMillionTokens } } = pipeline
  return yield* plan(yield* syncSpec(pipeline, { writes: false }), {
    ...options,
    maxEmbeddingRequestsPerMinute: embedding?._tag === "openai"
      ? Math.min(maxEmbeddingRequestsPerMinute, embedding.maxRequestsPerMinute ?? usualRequestsPerMinute)
      : maxEmbeddingRequestsPerMinute,
    pricePerMillionTokens
  })
}, Effect.scoped)

/** Compares the pipeline's ledger with its corpus, and reports each file that differs; see {@link diff}. */
export const diffPipeline = (pipeline: Definition, observe?: (difference: Difference) => Effect.Effect<void>) =>
  diff({ ...namesIn(pipeline), corpus: corpusSpec(pipeline) }, observe)

/** The corpus that the pipeline's runs have filled. `NOT_FOUND` before the first run. */
export const corpusOf = Effect.fn("corpusOf")(function*(pipeline: Definition) {
  const { inUse } = yield* findGeneration(namesIn(pipeline))
  const target = yield* findTarget(inUse, corpusSpec(pipeline))
  if (target._tag === "missing") {
    return yield* ServiceError.notFound(`corpus "${pipeline.corpus.displayName}"`, "run the pipeline first: sluice run")
  }
  return target.corpus
})

const successionOf = (pipeline: Definition): Succession => ({
  ...namesIn(pipeline),
  corpus: corpusSpec(pipeline),
  keep: pipeline.corpus.keepGenerations
})

/**
 * Makes the candidate of a pipeline the live corpus, in one step: every reader sees either the one or the other. `yes`
 * promotes even if it lacks more files of the live corpus than `import.maxDelete` allows.
 */
export const promotePipeline = Effect.fn("promotePipeline")(function*(pipeline: Definition, options: { readonly yes?: boolean } = {}) {
  const { import: { maxDelete }, sources } = pipeline
  return yield* promote(successionOf(pipeline), { maxDelete, sources: Object.keys(sources), yes: options.yes ?? false }).pipe(
    Effect.catchTag("Held", ({ why }: Held) =>
      Effect.fail(
        new ServiceError({
          code: "FAILED_PRECONDITION",
          message: `the live corpus has files that the candidate lacks: ${why}`,
          fix: "bring it up to date with `sluice run --candidate`, or promote it as it is with --yes"
        })
      ))
  )
})

/** Makes the previous live corpus live again, in one step. */
export const rollbackPipeline = (pipeline: Definition) => rollback(successionOf(pipeline))

/** Deletes the candidate. */
export const dropPipelineCandidate = (pipeline: Definition) => dropCandidate(successionOf(pipeline))

/** Generations of a pipeline's corpus, and how each differs from the live one. */
export const generationsOf = (pipeline: Definition) => generationsStatus(namesIn(pipeline))

/** Corpus names that were looked up and that no run has recorded. */
const lookedUp = new WeakMap<Ledger["Service"], Map<string, CorpusName>>()

/**
 * Uses the pipeline's corpus by the name that its runs recorded: looking the corpus up for every question would use up
 * the hosted service's 60 management requests per minute long before its 1,500 retrievals. Looks it up again where the
 * recorded name no longer exists.
 */
export const withCorpus = <A, E, R>(
  pipeline: Definition,
  use: (corpus: CorpusName) => Effect.Effect<A, E | ServiceError, R>
): Effect.Effect<A, E | Effect.Error<ReturnType<typeof corpusOf>>, R | Effect.Services<ReturnType<typeof corpusOf>>> =>
  Effect.gen(function*() {
    const ledger = yield* Ledger
    const { inUse, scope } = yield* findGeneration(namesIn(pipeline))
    const names = lookedUp.get(ledger) ?? new Map<string, CorpusName>()
    lookedUp.set(ledger, names)
    const known = inUse?.corpus ?? names.get(scope)
    const lookUp = Effect.suspend(() => Effect.map(corpusOf(pipeline), ({ name }) => (names.set(scope, name), name)))
    if (known === undefined) return yield* Effect.flatMap(lookUp, use)
    return yield* use(known).pipe(
      Effect.catchIf(
        (error): error is E & ServiceError => error instanceof ServiceError && error.code === "NOT_FOUND",
        (error) => Effect.flatMap(lookUp, (name): Effect.Effect<A, E | ServiceError, R> => name === known ? Effect.fail(error) : use(name))
      )
    )
  })
