import { Effect } from "effect"
import type { CorpusName } from "../../domain/Corpus.ts"
import { defined } from "../../domain/Defined.ts"
import { ServiceError } from "../../domain/Errors.ts"
import { Corpora } from "../../ports/Corpora.ts"
import { Engine } from "../../ports/Engine.ts"
import { Ledger } from "../../ports/Ledger.ts"
import type { Definition } from "../definition/Definition.ts"
import type { EvaluationTest } from "../definition/TestSettings.ts"
import { ExtensionsInUse } from "../Extensions.ts"
import { corpusOf, runPipeline } from "../RunPipeline.ts"
import { scopeOf } from "../sync/Generations.ts"
import { compare } from "./Comparison.ts"
import { type Evaluation, evaluatePipeline } from "./Evaluation.ts"
import { type Measure, measures } from "./Measures.ts"
import type { Estimate } from "./Statistics.ts"

/** Settings to try, each in turn with each of the others. What is left out stays as the pipeline has it. */
export interface Grid {
  readonly topK?: ReadonlyArray<number>
  readonly alpha?: ReadonlyArray<number>
  readonly rank?: ReadonlyArray<"none" | "lexical">
  /** Tokens of a chunk; each builds a corpus of its own for as long as it is tried. */
  readonly size?: ReadonlyArray<number>
  readonly overlap?: ReadonlyArray<number>
}

/** One of the settings of a {@link Grid}. */
export interface Setting {
  readonly topK?: number
  readonly alpha?: number
  readonly rank?: "none" | "lexical"
  readonly size?: number
  readonly overlap?: number
}

/** What became of a setting. */
export interface Tried {
  readonly setting: Setting
  readonly mean: number
  /** Against the pipeline as it is, question by question. */
  readonly difference: Estimate
  /** How likely such a difference is by chance, 0..1, corrected (Holm) for how many settings were tried. */
  readonly chance: number
  readonly significant: boolean
  /** Milliseconds from question to answer, the median. */
  readonly p50: number
}

/** What came of trying settings. */
export interface Tuning {
  readonly version: 1
  readonly pipeline: string
  readonly measure: Measure
  /** The pipeline as it is. */
  readonly current: Estimate & { readonly p50: number }
  /** Best first. */
  readonly tried: ReadonlyArray<Tried>
  /** The best setting, where it is better than the pipeline by more than chance. */
  readonly recommended?: Setting
}

export interface TuneOptions {
  readonly tests: ReadonlyArray<EvaluationTest>
  readonly grid: Grid
  /** What is to be made better. Default: the first of nDCG@10, text in contexts, answers right that the tests say something of. */
  readonly measure?: Measure
  /** Told of each setting before it is tried. */
  readonly observe?: (setting: Setting, at: number, of: number) => Effect.Effect<void>
}

/** Settings tried at most. */
const mostSettings = 200

/**
 * Tries settings on a pipeline's tests. Corpora of other chunks are built beside the pipeline's, from the same sources,
 * with every text embedded once, and are deleted when all is tried; the pipeline's own is not touched.
 */
export const tunePipeline = Effect.fn("tunePipeline")(function*(
  pipeline: Definition,
  { grid, measure: wanted, observe = () => Effect.void, tests }: TuneOptions
) {
  const settings = settingsOf(grid)
  if (settings.length > mostSettings) {
    return yield* ServiceError.invalid(
      "grid",
      `has ${settings.length} settings, and at most ${mostSettings} are tried`,
      "try fewer values at once"
    )
  }
  const composed = (yield* ExtensionsInUse).composed !== undefined
  if (composed && grid.rank !== undefined) {
    return yield* ServiceError.invalid("rank", "cannot be tried on stages that are composed in code", "compare two pipelines instead")
  }
  // A judge costs a call for each answer of each setting, so only one who asks for its measure pays for it.
  const judge = wanted === "judgedRight"
  const base = yield* evaluatePipeline(pipeline, { tests, judge })
  const measure = wanted ?? usual.find((measure) => base.measures[measure] !== undefined) ?? "ndcgAt10"
  const current = base.measures[measure]
  if (current === undefined) {
    return yield* ServiceError.invalid(
      "measure",
      `no test says anything of ${measure}`,
      `take one of ${measures.filter((name) => base.measures[name] !== undefined).join(", ")}`
    )
  }
  const built = new Map<string, Definition>()
  const tried: Array<Omit<Tried, "significant">> = []
  let at = 0
  for (const setting of settings) {
    yield* observe(setting, ++at, settings.length)
    const chunking = { ...pipeline.chunking, ...defined({ size: setting.size, overlap: setting.overlap }) }
    const key = `${chunking.size}-${chunking.overlap}`
    const own = chunking.size === pipeline.chunking.size && chunking.overlap === pipeline.chunking.overlap
    const corpus = own ? pipeline : built.get(key) ?? (yield* beside(pipeline, chunking, key))
    if (!own) built.set(key, corpus)
    const result: Evaluation = yield* evaluatePipeline(ranked(corpus, setting.rank), {
      tests,
      judge,
      overrides: defined({ topK: setting.topK, hybrid: setting.alpha === undefined ? undefined : { alpha: setting.alpha } })
    })
    const change = compare(base, result).measures.find((change) => change.measure === measure)
    if (change !== undefined) {
      tried.push({ setting, mean: change.after, difference: change.difference, chance: change.chance, p50: result.latency.p50 })
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
}, Effect.scoped)

const usual: ReadonlyArray<Measure> = ["ndcgAt10", "contextRecall", "answerRight"]

const settingsOf = ({ alpha, overlap, rank, size, topK }: Grid): ReadonlyArray<Setting> => {
  const each = <A>(values: ReadonlyArray<A> | undefined): ReadonlyArray<A | undefined> => values ?? [undefined]
  return each(size).flatMap((size) =>
    each(overlap).flatMap((overlap) =>
      each(rank).flatMap((rank) => each(alpha).flatMap((alpha) => each(topK).map((topK) => defined({ size, overlap, rank, alpha, topK }))))
    )
  ).filter(({ overlap, size }) => overlap === undefined || size === undefined || overlap < size)
}

const ranked = (pipeline: Definition, rank: Setting["rank"]): Definition => {
  if (rank === undefined) return pipeline
  const stages = pipeline.stages.filter(({ _tag }) => _tag !== "rank")
  if (rank === "none") return { ...pipeline, stages }
  const at = stages.findIndex(({ _tag }) => _tag === "retrieve") + 1
  return { ...pipeline, stages: stages.toSpliced(at, 0, { _tag: "rank", rank: { _tag: "lexical" } }) }
}

/** A corpus with other chunks beside the pipeline's, which goes with the scope. */
const beside = (pipeline: Definition, chunking: Definition["chunking"], key: string) => {
  const name = `${pipeline.name.slice(0, 40)}.tune-${key}`
  const { renamedFrom: _, ...rest } = pipeline
  const variant: Definition = {
    ...rest,
    name,
    chunking,
    corpus: { ...pipeline.corpus, displayName: `${pipeline.corpus.displayName.slice(0, 90)} (tuning ${key})` }
  }
  return Effect.as(
    Effect.acquireRelease(
      Effect.andThen(runPipeline(variant), Effect.map(corpusOf(variant), ({ name }) => name)),
      (corpus) => Effect.ignore(forget(name, corpus))
    ),
    variant
  )
}

const forget = Effect.fnUntraced(function*(pipeline: string, corpus: CorpusName) {
  yield* (yield* Corpora).delete(corpus, { force: true })
  yield* (yield* Ledger).forget(scopeOf(yield* Engine, pipeline))
})

/** Holm's correction: of many settings, some look better by chance alone. */
const corrected = (tried: ReadonlyArray<Omit<Tried, "significant">>): ReadonlyArray<Tried> => {
  let highest = 0
  return tried.toSorted((a, b) => a.chance - b.chance).map((one, at) => {
    highest = Math.max(highest, Math.min(1, one.chance * (tried.length - at)))
    return { ...one, chance: highest, significant: highest < 0.05 }
  })
}
