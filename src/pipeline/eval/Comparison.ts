import type { Evaluation, TestResult } from "./Evaluation.ts"
import { type Measure, measures } from "./Measures.ts"
import { chanceOf, type Estimate, estimate } from "./Statistics.ts"

/** A question whose outcome differs between two evaluations. */
export interface ChangedTest {
  readonly id: string
  readonly change: "fixed" | "broken" | "added" | "removed"
  /** Documents expected or found that were edited, added or deleted between the two evaluations, as far as both looked for them. */
  readonly documents: ReadonlyArray<string>
}

/** How a measure changed, over the questions that both evaluations have. */
export interface MeasureChange {
  readonly measure: Measure
  readonly before: number
  readonly after: number
  readonly difference: Estimate
  /** Probability of such a difference by chance, 0 to 1. */
  readonly chance: number
  /** Whether `chance` is below 5%. */
  readonly significant: boolean
  /** Whether it changed for the worse. */
  readonly worse: boolean
}

/** Comparison of two evaluations. */
export interface Comparison {
  readonly before: number
  readonly tests: ReadonlyArray<ChangedTest>
  readonly measures: ReadonlyArray<MeasureChange>
}

/** Files that only one evaluation looked for, such as one that only it found, show nothing about edits. */
const wasEdited = (before: string | undefined, after: string | undefined): boolean =>
  before !== undefined && after !== undefined && before !== after

/** Compares an evaluation with an earlier one, question by question: measures are compared in pairs. */
export const compare = (before: Evaluation, after: Evaluation): Comparison => {
  const earlier = new Map(before.results.map((result) => [result.id, result]))
  const later = new Set(after.results.map(({ id }) => id))
  const edited = (results: ReadonlyArray<TestResult>): ReadonlyArray<string> =>
    [
      ...new Set(results.flatMap(({ checks, files }) => [
        ...files.slice(0, 10),
        ...checks.flatMap(({ expected, kind }) =>
          kind === "file" || kind === "citation" ? [expected.replace(/ at \d+ or better$/, "")] : []
        )
      ]))
    ].filter((path) => wasEdited(before.documents[path], after.documents[path])).toSorted()
  const tests: ReadonlyArray<ChangedTest> = [
    ...after.results.flatMap((result): ReadonlyArray<ChangedTest> => {
      const old = earlier.get(result.id)
      if (old === undefined) return [{ id: result.id, change: "added", documents: [] }]
      if (old.passed === result.passed) return []
      return [{ id: result.id, change: result.passed ? "fixed" : "broken", documents: edited([old, result]) }]
    }),
    ...before.results.flatMap((result): ReadonlyArray<ChangedTest> =>
      later.has(result.id) ? [] : [{ id: result.id, change: "removed", documents: [] }]
    )
  ]
  return {
    before: before.started,
    tests,
    measures: measures.flatMap((measure): ReadonlyArray<MeasureChange> => {
      // Verdicts of different judges cannot be compared.
      if (measure === "judgedRight" && before.judge?.model !== after.judge?.model) return []
      const pairs = after.results.flatMap((result) => {
        const [old, now] = [earlier.get(result.id)?.measures[measure], result.measures[measure]]
        return old === undefined || now === undefined ? [] : [{ old, now }]
      })
      const differences = pairs.map(({ now, old }) => now - old)
      const difference = estimate(differences)
      if (difference === undefined) return []
      const chance = chanceOf(differences)
      const mean = (values: ReadonlyArray<number>) => values.reduce((sum, value) => sum + value, 0) / values.length
      return [{
        measure,
        before: mean(pairs.map(({ old }) => old)),
        after: mean(pairs.map(({ now }) => now)),
        difference,
        chance,
        significant: chance < 0.05,
        worse: measure === "refusedFalse" ? difference.mean > 0 : difference.mean < 0
      }]
    })
  }
}

/** Measures that are worse than before by more than `tolerance` (0 to 1), whether or not by chance. */
export const dropped = ({ measures }: Comparison, tolerance: number): ReadonlyArray<MeasureChange> =>
  measures.filter(({ difference, worse }) => worse && Math.abs(difference.mean) > tolerance + 1e-9)
