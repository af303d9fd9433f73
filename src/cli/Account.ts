import { Effect, type Path, Stream } from "effect"
import { defined } from "../domain/Defined.ts"
import { type Comparison, compare } from "../pipeline/eval/Comparison.ts"
import type { Evaluation } from "../pipeline/eval/Evaluation.ts"
import { type readEvaluation, savedEvaluations } from "../pipeline/eval/SavedEvaluations.ts"
import { whyNotFound } from "../pipeline/eval/WhyNot.ts"
import type { Definition } from "../pipeline/definition/Definition.ts"
import { findGenerations, namesIn } from "../pipeline/sync/Generations.ts"
import { Ledger } from "../ports/Ledger.ts"
import type { EvaluationCard, EvaluationView } from "../ui/Api.ts"
import type { Account } from "../ui/Inspector.ts"

type Used = Effect.Services<ReturnType<typeof findGenerations | typeof whyNotFound | typeof readEvaluation>> | Path.Path

/** Saved evaluations listed, and results of one that are told. */
const mostEvaluations = 50
const mostResults = 1_000

/** What the ledger knows of a pipeline, and the results of its tests that were saved in a folder. */
export const accountOf = Effect.fn("accountOf")(
  function*(pipeline: Definition, evaluations: string): Effect.fn.Return<Account, never, Ledger | Used> {
    const ledger = yield* Ledger
    const within = Effect.provideContext(yield* Effect.context<Used>())
    const generation = findGenerations(namesIn(pipeline)).pipe(within)
    /** Where the generation that serves is accounted for. */
    const scope = Effect.map(generation, ({ key, live }) => live?.scope ?? key)
    const saved = savedEvaluations(evaluations)
    return {
      pipeline: pipeline.name,
      count: Effect.flatMap(scope, ledger.count),
      runs: (limit) => Effect.flatMap(generation, ({ key }) => ledger.runs(key, limit)),
      entries: (states, among) => Stream.unwrap(Effect.map(scope, (at) => ledger.entries(at, states, among))),
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
      why: (question, path, { as, where }) =>
        whyNotFound(pipeline, { question, principal: as }, path, { filter: where === undefined ? undefined : { metadataFilter: where } })
          .pipe(
            within
          )
    }
  }
)

const cardOf = (name: string, { failed, measures, passed, started }: Evaluation): EvaluationCard => ({
  name,
  started: new Date(started).toISOString(),
  passed,
  failed,
  measures: Object.fromEntries(
    Object.entries(measures).flatMap(([measure, estimate]) => estimate === undefined ? [] : [[measure, estimate.mean]])
  )
})

const viewOf = (name: string, evaluation: Evaluation, drift: Comparison | undefined): EvaluationView =>
  defined({
    ...cardOf(name, evaluation),
    p50: evaluation.latency.p50,
    p95: evaluation.latency.p95,
    results: evaluation.results.toSorted((a, b) => Number(a.passed) - Number(b.passed)).slice(0, mostResults).map(
      ({ checks, error, passed, principal, question }) =>
        defined({
          question,
          principal,
          passed,
          checks: checks.map(({ expected, found, kind, passed }) => defined({ expected: `${kind}: ${expected}`, found, passed })),
          error: error === undefined ? undefined : `${error.code}: ${error.message}`
        })
    ),
    drift: drift === undefined ? undefined : {
      since: new Date(drift.before).toISOString(),
      tests: drift.tests,
      measures: drift.measures
    }
  })
