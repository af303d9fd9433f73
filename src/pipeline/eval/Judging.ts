import { Effect } from "effect"
import type { ChatUsage } from "../../domain/Chat.ts"
import { defined } from "../../domain/Defined.ts"
import { ServiceError } from "../../domain/Errors.ts"
import type { Judge, JudgeRequest } from "../../ports/Judge.ts"
import type { EvaluationTest } from "../definition/TestSettings.ts"
import type { Measures } from "./Measures.ts"
import { type Estimate, estimate } from "./Statistics.ts"

/** What a judge said of an answer: whether it is right, or else why that is not known. */
export interface Judgement {
  readonly right?: boolean
  readonly problem?: {
    /** `failed`: the model could not be asked. `unclear`: it wrote no verdict. `not asked`: it had failed too often. */
    readonly kind: "failed" | "unclear" | "not asked"
    readonly message?: string
  }
  /** Absent where the model did not tell. */
  readonly usage?: ChatUsage
}

/** The part of a test's result that a judge and the exact checks are compared by. */
interface JudgedResult {
  readonly judgement?: Judgement
  readonly measures: Measures
}

/** What a judge said of all answers. */
export interface Judging {
  readonly model: string
  readonly right: number
  readonly wrong: number
  /** Of the answers that exact checks were held against too, those of which both say the same. */
  readonly agreed: number
  /** Their share, over `n` such answers. Absent where there is none. */
  readonly agreement?: Estimate
  /** Answers without a verdict, by why. */
  readonly failed: number
  readonly unclear: number
  readonly notAsked: number
  /** Tokens of all its calls that told them; `untold` counts those that did not. */
  readonly tokens: { readonly input: number; readonly output: number; readonly untold: number }
}

/** Failures without a verdict between them, after which a judge is asked no more: each costs all of its retries. */
const mostFailures = 5

/** Asks a judge answer by answer. Never fails: what could not be judged says so. */
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

/** Whether a judge and the exact checks were both held against an answer, and say different things of it. */
export const disagrees = ({ judgement, measures: { answerRight } }: JudgedResult): boolean =>
  judgement?.right !== undefined && answerRight !== undefined && Number(judgement.right) !== answerRight

/** What a judge said over all results, and how far the exact checks bear it out. */
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

/** How many tests expect an answer that only a judge can tell. */
export const onlyJudged = (tests: ReadonlyArray<EvaluationTest>): number =>
  tests.filter(({ answer }) => answer?.means !== undefined && answer.contains === undefined && answer.matches === undefined).length

/** Tests that expect an answer which only a judge can tell, of a pipeline that names none. */
export const needsJudge = ({ name }: { readonly name: string }, tests: number): ServiceError =>
  new ServiceError({
    code: "FAILED_PRECONDITION",
    message: `pipeline ${name} names no judge, and what is expected of ${tests} answers by \`means\` alone only a judge can tell`,
    fix: "name one: judge: { model: ... }; or say what the answers must hold: answer: { contains: [...] }"
  })
