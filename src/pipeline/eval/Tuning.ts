import { createHash } from "node:crypto"
import { isDeepStrictEqual } from "node:util"
import { Effect, type Scope } from "effect"
import { defaultOverlap } from "../../domain/Chunking.ts"
import { defined } from "../../domain/Defined.ts"
import { ServiceError } from "../../domain/Errors.ts"
import { Corpora } from "../../ports/Corpora.ts"
import { Engine } from "../../ports/Engine.ts"
import { Ledger } from "../../ports/Ledger.ts"
import type { EmbeddingChoice } from "../definition/CorpusSettings.ts"
import type { Definition } from "../definition/Definition.ts"
import type { EvaluationTest } from "../definition/TestSettings.ts"
import { ExtensionsInUse } from "../Extensions.ts"
import type { Access } from "../Host.ts"
import { corpusOf, runPipeline } from "../RunPipeline.ts"
import type { Services } from "../Services.ts"
import { pipelineKeyOf } from "../sync/Generations.ts"
import { compare } from "./Comparison.ts"
import { type EvaluateOptions, type Evaluation, evaluatePipeline } from "./Evaluation.ts"
import { type Measure, measures } from "./Measures.ts"
import type { Estimate } from "./Statistics.ts"

/** Values of settings to try, in all combinations. Absent settings stay as in the pipeline. */
export interface Grid {
  readonly topK?: ReadonlyArray<number>
  readonly alpha?: ReadonlyArray<number>
  readonly rank?: ReadonlyArray<"none" | "lexical">
  /** Chunk sizes in tokens; a corpus is built for each while it is tried. */
  readonly size?: ReadonlyArray<number>
  readonly overlap?: ReadonlyArray<number>
  /** Embedders; a corpus is built for each, except for the pipeline's own embedder. */
  readonly embedder?: ReadonlyArray<NamedEmbedding>
}

/** An embedder with a name. */
export interface NamedEmbedding {
  /** Unique name. */
  readonly name: string
  /** Settings of the embedder. Absent: the engine's default. */
  readonly embedding?: EmbeddingChoice
}

/** One combination of the values of a {@link Grid}. */
export interface Setting {
  readonly topK?: number
  readonly alpha?: number
  readonly rank?: "none" | "lexical"
  readonly size?: number
  readonly overlap?: number
  /** Name of the embedder; see {@link NamedEmbedding.name}. */
  readonly embedder?: string
}

/** Result of trying a setting. */
export interface Tried {
  readonly setting: Setting
  readonly mean: number
  /** Difference from the current pipeline, question by question. */
  readonly difference: Estimate
  /** Probability of such a difference by chance, 0 to 1, corrected for the number of settings tried (Holm). */
  readonly chance: number
  readonly significant: boolean
  /** Median time from question to answer, in milliseconds. */
  readonly p50: number
  /** Number of files that could not be stored in the corpus built for it, and of all files. Absent where all were stored. */
  readonly missing?: { readonly files: number; readonly of: number }
}

/** Result of trying settings. */
export interface Tuning {
  readonly version: 1
  readonly pipeline: string
  readonly measure: Measure
  /** The current pipeline. */
  readonly current: Estimate & { readonly p50: number }
  /** Settings tried, best first. */
  readonly tried: ReadonlyArray<Tried>
  /** The best setting, where it is significantly better than the current pipeline. */
  readonly recommended?: Setting
}

/** A part of tuning, with its services and errors. */
type Part<A> = Effect.Effect<A, Effect.Error<ReturnType<typeof evaluatePipeline> | ReturnType<typeof runPipeline>>, Services | Scope.Scope>

export interface TuneOptions<E, R> {
  /**
   * Opens the engine for a pipeline and runs a part of the work there: the embedder of a corpus belongs to the engine.
   * Parts run one after the other.
   */
  readonly session: <A>(pipeline: Definition, access: Access, part: Part<A>) => Effect.Effect<A, E, R>
  readonly tests: ReadonlyArray<EvaluationTest>
  readonly grid: Grid
  /** Measure to improve. Default: the first of nDCG@10, text in contexts, answers right that the tests define. */
  readonly measure?: Measure
  /** Called with each setting before it is tried. */
  readonly observe?: (setting: Setting, at: number, of: number) => Effect.Effect<void>
}

/** Most settings tried. */
const mostSettings = 200

const reading: Access = { mode: "read" }
const writing: Access = { mode: "write", of: "candidate", holder: "sluice tune" }

/**
 * Tries settings on a pipeline's tests. Corpora with other chunks and embedders are built beside the pipeline's, from the
 * same sources, with every text embedded once per embedder, and are deleted after they are tried; the pipeline's own
 * corpus is not changed. An embedder that is not available fails before anything is built.
 */
export const tunePipeline = Effect.fn("tunePipeline")(function*<E, R>(
  pipeline: Definition,
  { grid, measure: wanted, observe = () => Effect.void, session, tests }: TuneOptions<E, R>
) {
  const settings = settingsOf(grid)
  if (settings.length > mostSettings) {
    return yield* ServiceError.invalid(
      "grid",
      `has ${settings.length} settings, and at most ${mostSettings} are tried`,
      "try fewer values at once"
    )
  }
  // A judge takes a call for each answer of each setting, so it is only used where its measure is requested.
  const asking = { tests, judge: wanted === "judgedRight" }
  const base = yield* session(pipeline, reading, baseline(pipeline, asking, grid))
  const measure = wanted ?? usual.find((measure) => base.measures[measure] !== undefined) ?? "ndcgAt10"
  const current = base.measures[measure]
  if (current === undefined) {
    return yield* ServiceError.invalid(
      "measure",
      `no test defines ${measure}`,
      `take one of ${measures.filter((name) => base.measures[name] !== undefined).join(", ")}`
    )
  }
  const byEmbedder = [...Map.groupBy(settings, ({ embedder }) => embedder)].map(([name, settings]) => ({
    settings,
    opened: embeddedBy(pipeline, grid.embedder?.find((embedder) => embedder.name === name))
  }))
  for (const { opened } of byEmbedder) {
    if (opened !== pipeline) yield* session(opened, reading, check(opened))
  }
  const tried: Array<Omit<Tried, "significant">> = []
  let at = 0
  for (const { opened, settings } of byEmbedder) {
    const isBuilt = (setting: Setting) => opened !== pipeline || !isDeepStrictEqual(chunkingOf(pipeline, setting), pipeline.chunking)
    const evaluated = yield* session(
      opened,
      settings.some(isBuilt) ? writing : reading,
      Effect.gen(function*() {
        const built = new Map<string, Built>()
        return yield* Effect.forEach(
          settings,
          Effect.fnUntraced(function*(setting) {
            yield* observe(setting, ++at, byEmbedder.reduce((sum, { settings }) => sum + settings.length, 0))
            const chunking = chunkingOf(pipeline, setting)
            const name = JSON.stringify(chunking)
            const corpus: Built = !isBuilt(setting) ? { pipeline } : built.get(name) ?? (yield* beside(opened, chunking))
            if (isBuilt(setting)) built.set(name, corpus)
            const evaluation: Evaluation = yield* evaluatePipeline(ranked(corpus.pipeline, setting.rank), {
              ...asking,
              overrides: defined({ topK: setting.topK, hybrid: setting.alpha === undefined ? undefined : { alpha: setting.alpha } })
            })
            return { setting, evaluation, missing: corpus.missing }
          })
        )
      }).pipe(Effect.scoped)
    )
    for (const { evaluation, missing, setting } of evaluated) {
      const change = compare(base, evaluation).measures.find((change) => change.measure === measure)
      if (change === undefined) continue
      const { after: mean, chance, difference } = change
      tried.push(defined({ setting, mean, difference, chance, p50: evaluation.latency.p50, missing }))
    }
  }
  const sign = measure === "refusedFalse" ? -1 : 1
  const best = corrected(tried).toSorted((a, b) => sign * (b.difference.mean - a.difference.mean) || a.p50 - b.p50)
  const [first] = best
  const tuning: Tuning = {
    version: 1,
    pipeline: pipeline.name,
    measure,
    current: { ...current, p50: base.latency.p50 },
    tried: best,
    recommended: first?.significant === true && sign * first.difference.mean > 0 ? first.setting : undefined
  }
  return tuning
})

/** Evaluates the current pipeline. */
const baseline = Effect.fnUntraced(function*(pipeline: Definition, asking: EvaluateOptions, grid: Grid) {
  if (grid.rank !== undefined && (yield* ExtensionsInUse).composed !== undefined) {
    return yield* ServiceError.invalid("rank", "cannot be tried on stages that are composed in code", "compare two pipelines instead")
  }
  return yield* evaluatePipeline(pipeline, asking)
})

/** The pipeline with another embedder; the pipeline itself, where it has that embedder already. */
const embeddedBy = (pipeline: Definition, named: NamedEmbedding | undefined): Definition => {
  if (named === undefined || isDeepStrictEqual(named.embedding, pipeline.corpus.embedding)) return pipeline
  const { embedding: _, ...corpus } = pipeline.corpus
  return { ...pipeline, corpus: defined({ ...corpus, embedding: named.embedding }) }
}

/** Fails where the embedder of an open pipeline is not available, or where the corpus's database does not accept its vectors. */
const check = Effect.fnUntraced(function*({ corpus: { vectorDb } }: Definition) {
  const { checkEmbedder = Effect.void, checkVectors } = yield* Engine
  yield* checkEmbedder
  if (vectorDb._tag !== "managed") yield* (checkVectors?.(vectorDb) ?? Effect.void)
})

/** A pipeline's overlap that does not fit a size to be tried is what it is where a pipeline of that size says none. */
const chunkingOf = ({ chunking }: Definition, { overlap, size = chunking.size }: Setting): Definition["chunking"] => ({
  ...chunking,
  size,
  overlap: overlap ?? (chunking.overlap < size ? chunking.overlap : defaultOverlap(size))
})

const usual: ReadonlyArray<Measure> = ["ndcgAt10", "contextRecall", "answerRight"]

const settingsOf = ({ alpha, embedder, overlap, rank, size, topK }: Grid): ReadonlyArray<Setting> => {
  const each = <A>(values: ReadonlyArray<A> | undefined): ReadonlyArray<A | undefined> => values ?? [undefined]
  // Embedders come first, so that each is opened once.
  const settings = each(embedder?.map(({ name }) => name)).flatMap((embedder) =>
    each(size).flatMap((size) =>
      each(overlap).flatMap((overlap) =>
        each(rank).flatMap((rank) =>
          each(alpha).flatMap((alpha) => each(topK).map((topK) => defined({ embedder, size, overlap, rank, alpha, topK })))
        )
      )
    )
  )
  return settings.filter(({ overlap, size }) => overlap === undefined || size === undefined || overlap < size)
}

const ranked = (pipeline: Definition, rank: Setting["rank"]): Definition => {
  if (rank === undefined) return pipeline
  const stages = pipeline.stages.filter(({ _tag }) => _tag !== "rank")
  if (rank === "none") return { ...pipeline, stages }
  const at = stages.findIndex(({ _tag }) => _tag === "retrieve") + 1
  return { ...pipeline, stages: stages.toSpliced(at, 0, { _tag: "rank", rank: { _tag: "lexical" } }) }
}

/** A corpus that was built for a setting. */
interface Built {
  readonly pipeline: Definition
  readonly missing?: Tried["missing"]
}

/** Builds a corpus with other chunks or another embedder beside the pipeline's; it is deleted with the scope. */
const beside = Effect.fnUntraced(function*(pipeline: Definition, chunking: Definition["chunking"]) {
  const embedder = createHash("sha256").update(JSON.stringify(pipeline.corpus.embedding ?? null)).digest("hex").slice(0, 6)
  const key = `${chunking.size}-${chunking.overlap}-${embedder}`
  const { renamedFrom: _, ...rest } = pipeline
  const variant: Definition = {
    ...rest,
    name: `${pipeline.name.slice(0, 40)}.tune-${key}`,
    chunking,
    corpus: { ...pipeline.corpus, displayName: `${pipeline.corpus.displayName.slice(0, 90)} (tuning ${key})` },
    // The pipeline's recipients did not ask about this corpus.
    notify: []
  }
  yield* Effect.addFinalizer(() => Effect.ignore(forget(variant)))
  const { totals: { failed, listed, pending, quarantined } } = yield* runPipeline(variant)
  const files = failed + pending + quarantined
  return defined({ pipeline: variant, missing: files === 0 ? undefined : { files, of: listed } }) satisfies Built
})

const forget = Effect.fnUntraced(function*(pipeline: Definition) {
  yield* (yield* Corpora).delete((yield* corpusOf(pipeline)).name, { force: true })
  yield* (yield* Ledger).forget(pipelineKeyOf(yield* Engine, pipeline.name))
})

/** Holm's correction: with many settings, some look better by chance alone. */
const corrected = (tried: ReadonlyArray<Omit<Tried, "significant">>): ReadonlyArray<Tried> => {
  let highest = 0
  return tried.toSorted((a, b) => a.chance - b.chance).map((one, at) => {
    highest = Math.max(highest, Math.min(1, one.chance * (tried.length - at)))
    return { ...one, chance: highest, significant: highest < 0.05 }
  })
}
