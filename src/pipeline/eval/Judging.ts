import { Effect } from "effect"
import type { ChatUsage } from "../../domain/Chat.ts"
import { defined } from "../../domain/Defined.ts"
import { ServiceError } from "../../domain/Errors.ts"
import type { Judge, JudgeRequest } from "../../ports/Judge.ts"
import type { EvaluationTest } from "../definition/TestSettings.ts"
import type { Measures } from "./Measures.ts"
import { type Estimate, estimate } from "./Statistics.ts"

/** A judge's verdict on an answer: whether it is right, or why that is unknown. */
export interface Judgement {
  readonly right?: boolean
  readonly problem?: {
    /** `failed`: the call of the model failed. `unclear`: it returned no verdict. `not asked`: it had failed too often. */
    readonly kind: "failed" | "unclear" | "not asked"
    readonly message?: string
  }
  /** Absent where the model did not report it. */
  readonly usage?: ChatUsage
}

/** The part of a test's result by which a judge and the exact checks are compared. */
interface JudgedResult {
  readonly judgement?: Judgement
  readonly measures: Measures
}

/** Verdicts of a judge over all answers. */
export interface Judging {
  readonly model: string
  readonly right: number
  readonly wrong: number
  /** Number of answers on which the judge and exact checks agree, among those that have both. */
  readonly agreed: number
  /** Share of `agreed`, over the `n` answers that have both. Absent where there are none. */
  readonly agreement?: Estimate
  /** Answers without a verdict because the call of the judge failed. */
  readonly failed: number
  readonly unclear: number
  readonly notAsked: number
  /** Tokens of all calls that reported them; `untold` counts the calls that did not. */
  readonly tokens: { readonly input: number; readonly output: number; readonly untold: number }
}

/** Failures in a row, without a verdict, after which the judge is not called again: each costs all of its retries. */
const mostFailures = 5

/** Judges answers one by one. Never fails: an answer that could not be judged says so. */
export const judging = (judge: Judge["Service"]): (request: JudgeRequest) => Effect.Effect<Judgement> => {
  let failures = 0
  return Effect.fnUntraced(function*(request: JudgeRequest): Effect.fn.Return<Judgement> {
    if (failures >= mostFailures) return { problem: { kind: "not asked", message: `${judge.model} failed ${mostFailures} times in a row` } }
    return yield* judge.judge(request).pipe(
      Effect.map(({ right, usage }): Judgement => {
        failures = 0
        return defined({ right, usage, problem: right === undefined ? { kind: "unclear" as const } : undefined })
      }),
      Effect.catch((error) => {
        failures += 1
        return Effect.succeed<Judgement>({ problem: { kind: "failed", message: `${error.code}: ${error.message}` } })
      })
    )
  })
}

/** Whether a judge and the exact checks both decided about an answer, and differ. */
export const disagrees = ({ judgement, measures: { answerRight } }: JudgedResult): boolean =>
  judgement?.right !== undefined && answerRight !== undefined && Number(judgement.right) !== answerRight

/** Summarizes a judge's verdicts over all results, and how far the exact checks confirm them. */
export const judgingOf = (model: string, results: ReadonlyArray<JudgedResult>): Judging => {
  const judgements = results.flatMap(({ judgement }) => judgement ?? [])
  const both = results.filter(({ judgement, measures }) => judgement?.right !== undefined && measures.answerRight !== undefined)
  const same = both.map((result) => Number(!disagrees(result)))
  const without = (kind: NonNullable<Judgement["problem"]>["kind"]) => judgements.filter(({ problem }) => problem?.kind === kind).length
  const told = judgements.flatMap(({ usage }) => usage ?? [])
  return defined({
    model,
    right: judgements.filter(({ right }) => right === true).length,
    wrong: judgements.filter(({ right }) => right === false).length,
    agreed: same.filter((one) => one === 1).length,
    agreement: estimate(same),
    failed: without("failed"),
    unclear: without("unclear"),
    notAsked: without("not asked"),
    tokens: {
      input: told.reduce((sum, { inputTokens }) => sum + inputTokens, 0),
      output: told.reduce((sum, { outputTokens }) => sum + outputTokens, 0),
      untold: judgements.filter(({ problem, usage }) => usage === undefined && problem?.kind !== "not asked").length
    }
  })
}

/** Number of tests whose expected answer only a judge can check. */
export const onlyJudged = (tests: ReadonlyArray<EvaluationTest>): number =>
  tests.filter(({ answer }) => answer?.means !== undefined && answer.contains === undefined && answer.matches === undefined).length

/** Error: tests need a judge, and the pipeline names none. */
export const needsJudge = ({ name }: { readonly name: string }, tests: number): ServiceError =>
  new ServiceError({
    code: "FAILED_PRECONDITION",
    message: `pipeline ${name} names no judge, and ${tests} answers are expected by \`means\` alone, which only a judge can check`,
    fix: "name one: judge: { model: ... }; or say what the answers must contain: answer: { contains: [...] }"
  })
