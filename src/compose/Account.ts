import { join } from "node:path"
import { Effect, type Path, Stream } from "effect"
import { askerText } from "../domain/Asker.ts"
import type { CorpusName } from "../domain/Corpus.ts"
import { defined } from "../domain/Defined.ts"
import type { StateError } from "../domain/Errors.ts"
import type { RagFileName } from "../domain/RagFile.ts"
import type { Definition } from "../pipeline/definition/Definition.ts"
import { type Comparison, compare } from "../pipeline/eval/Comparison.ts"
import type { Evaluation } from "../pipeline/eval/Evaluation.ts"
import { disagrees, type Judging } from "../pipeline/eval/Judging.ts"
import { measures as allMeasures, measureTitles } from "../pipeline/eval/Measures.ts"
import { type readEvaluation, savedEvaluations } from "../pipeline/eval/SavedEvaluations.ts"
import { whyNotFound, whyNotIn } from "../pipeline/eval/WhyNot.ts"
import type { Question } from "../pipeline/stages/Retrieve.ts"
import { findGenerations, type Generations, liveRuns, namesIn } from "../pipeline/sync/Generations.ts"
import { type Generation, Ledger, type LedgerEntry } from "../ports/Ledger.ts"
import { Retrieval } from "../ports/Retrieval.ts"
import type { EvaluationCard, EvaluationView, Version } from "../ui/Api.ts"
import { type Account, idOf } from "../ui/Inspector.ts"

/** Most saved evaluations listed, and most results of one that are returned. */
const mostEvaluations = 50
const mostResults = 1_000

/** Characters shown of a hash: enough to distinguish versions of one file. */
const shownOfHash = 12

/** The parts in which accounts differ. */
interface Accounted {
  readonly pipeline: string
  readonly generations: Effect.Effect<Pick<Generations, "pipelineKey" | "live" | "all">, StateError>
  /** Folder of the saved evaluations. */
  readonly evaluations: string
  readonly why: Account["why"]
}

/** The account of a pipeline: what the ledger knows of it, and its saved evaluations in a folder. */
export const accountOf = Effect.fn("accountOf")(
  function*(pipeline: Definition, evaluations: string) {
    const within = Effect.provideContext(yield* Effect.context<Effect.Services<ReturnType<typeof findGenerations | typeof whyNotFound>>>())
    return yield* accounted({
      pipeline: pipeline.name,
      generations: findGenerations(namesIn(pipeline)).pipe(within),
      evaluations,
      why: (question, path, { as, where }) =>
        whyNotFound(pipeline, { question, principal: as }, path, { filter: filterOf(where) }).pipe(within)
    })
  }
)

/**
 * The account of a corpus whose pipeline is known only from the ledger; undefined where no pipeline fills the corpus. Why
 * a file is not found is explained by the server's own search, without the stages of the pipeline.
 */
export const accountOfCorpus = Effect.fn("accountOfCorpus")(function*(corpus: CorpusName, dataDir: string) {
  const ledger = yield* Ledger
  const retrieval = yield* Retrieval
  const pipelineKey = yield* ledger.pipelineOf(corpus)
  if (pipelineKey === undefined) return undefined
  const pipeline = pipelineKey.slice(pipelineKey.indexOf("#") + 1)
  const generations = Effect.map(
    ledger.generations(pipelineKey),
    (all) => ({ pipelineKey, all, live: all.find(({ role }) => role === "live") })
  )
  return yield* accounted({
    pipeline,
    generations,
    evaluations: join(dataDir, "evaluations", pipeline),
    why: Effect.fnUntraced(function*(question, path, { as, where }) {
      const { live } = yield* generations
      const best = (asking: Question, files?: ReadonlyArray<RagFileName>) =>
        Effect.map(
          retrieval.retrieve(defined({
            corpus,
            query: asking.question,
            principal: asking.principal,
            files,
            filter: filterOf(where),
            topK: 1,
            explain: true
          })),
          ([first]) => first
        )
      return yield* whyNotIn(live?.scope ?? pipelineKey, path, { question, principal: as }, best).pipe(
        Effect.provideService(Ledger, ledger)
      )
    })
  })
})

const filterOf = (where: string | undefined) => where === undefined ? undefined : { metadataFilter: where }

const accounted = Effect.fnUntraced(
  function*({ evaluations, generations: generation, pipeline, why }: Accounted): Effect.fn.Return<
    Account,
    never,
    Ledger | Effect.Services<ReturnType<typeof readEvaluation>> | Path.Path
  > {
    const ledger = yield* Ledger
    const within = Effect.provideContext(yield* Effect.context<Effect.Services<ReturnType<typeof readEvaluation>> | Path.Path>())
    /** The ledger's key of the live generation. */
    const scope = Effect.map(generation, ({ live, pipelineKey }) => live?.scope ?? pipelineKey)
    const saved = savedEvaluations(evaluations)
    return {
      pipeline,
      count: Effect.flatMap(scope, ledger.count),
      runs: (limit) => Effect.flatMap(generation, (found) => liveRuns(found, limit)).pipe(Effect.provideService(Ledger, ledger)),
      entries: (states, among) => Stream.unwrap(Effect.map(scope, (at) => ledger.entries(at, states, among))),
      versions: Effect.fnUntraced(function*(document, path) {
        const { all, live, pipelineKey } = yield* generation
        const [entry] = yield* ledger.entries(live?.scope ?? pipelineKey, undefined, { containing: path }).pipe(
          Stream.filter(({ file }) => file === document),
          Stream.take(1),
          Stream.runCollect
        )
        if (entry === undefined) return []
        const versions = yield* Effect.forEach(all.filter(({ role }) => role !== "retired" && role !== "gone"), (each) =>
          Effect.map(
            Stream.runCollect(ledger.entries(each.scope, undefined, { at: entry })),
            (entries) => entries.map((entry) => versionOf(each, entry))
          ))
        return versions.flat()
      }),
      evaluations: Effect.gen(function*() {
        const names = (yield* saved.names).slice(0, mostEvaluations)
        return yield* Effect.forEach(names, (name) => Effect.map(saved.read(name), (evaluation) => cardOf(name, evaluation)))
      }).pipe(within),
      evaluation: (name) =>
        Effect.gen(function*() {
          const evaluation = yield* saved.read(name)
          const names = yield* saved.names
          const older = names[names.indexOf(name) + 1]
          return viewOf(name, evaluation, older === undefined ? undefined : compare(yield* saved.read(older), evaluation))
        }).pipe(within),
      why
    }
  }
)

const versionOf = (
  { corpus, made, number, role }: Generation,
  { file, fingerprint, message, revision, size, state }: LedgerEntry
): Version =>
  defined({
    generation: number,
    role,
    made: made === undefined ? undefined : new Date(made).toISOString(),
    state,
    corpus: idOf(corpus),
    document: file === undefined ? undefined : idOf(file),
    bytes: size,
    revision,
    content: fingerprint.split(".", 1)[0]?.slice(0, shownOfHash) ?? "",
    message
  })

const cardOf = (name: string, { failed, measures, passed, started }: Evaluation): EvaluationCard => ({
  name,
  started: new Date(started).toISOString(),
  passed,
  failed,
  measures: Object.fromEntries(
    allMeasures.flatMap((measure) => {
      const estimate = measures[measure]
      return estimate === undefined ? [] : [[measureTitles[measure], estimate.mean]]
    })
  )
})

const judgeOf = ({ agreed, agreement, failed, model, notAsked, right, unclear, wrong }: Judging): EvaluationView["judge"] => ({
  model,
  right,
  wrong,
  without: failed + unclear + notAsked,
  agreed,
  of: agreement?.n ?? 0
})

const viewOf = (name: string, evaluation: Evaluation, drift: Comparison | undefined): EvaluationView =>
  defined({
    ...cardOf(name, evaluation),
    p50: evaluation.latency.p50,
    p95: evaluation.latency.p95,
    results: evaluation.results.toSorted((a, b) => Number(a.passed) - Number(b.passed)).slice(0, mostResults).map(
      ({ checks, error, judgement, measures, passed, principal, question }) =>
        defined({
          question,
          principal: principal === undefined ? undefined : askerText(principal),
          passed,
          checks: checks.map(({ expected, found, kind, passed }) => defined({ expected: `${kind}: ${expected}`, found, passed })),
          error: error === undefined ? undefined : `${error.code}: ${error.message}`,
          otherwise: disagrees({ judgement, measures }) ? judgement?.right : undefined
        })
    ),
    judge: evaluation.judge === undefined ? undefined : judgeOf(evaluation.judge),
    drift: drift === undefined ? undefined : {
      since: new Date(drift.before).toISOString(),
      tests: drift.tests,
      measures: drift.measures.map((change) => ({ ...change, measure: measureTitles[change.measure] }))
    }
  })
