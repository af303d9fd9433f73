import { Clock, Effect, Stream } from "effect"
import { type Answer, outcomeOf } from "../../domain/Answer.ts"
import type { Asker } from "../../domain/Asker.ts"
import { defined } from "../../domain/Defined.ts"
import { messageOf, ServiceError } from "../../domain/Errors.ts"
import type { Context } from "../../domain/Retrieval.ts"
import { Ledger } from "../../ports/Ledger.ts"
import { answerStages, askPipeline, cannotAnswer, retrieveFrom } from "../AskPipeline.ts"
import { corpusOf } from "../RunPipeline.ts"
import type { Definition } from "../definition/Definition.ts"
import { type EvaluationTest, idOf } from "../definition/TestSettings.ts"
import { ExtensionsInUse } from "../Extensions.ts"
import { Models } from "../Services.ts"
import type { Question, RetrieveOptions } from "../stages/Retrieve.ts"
import { findScope, namesIn } from "../sync/Generations.ts"
import { type Judgement, judging, type Judging, judgingOf, needsJudge, onlyJudged } from "./Judging.ts"
import { type Measure, type Measures, measures } from "./Measures.ts"
import { whyNotFound } from "./WhyNot.ts"
import { type Estimate, estimate, quantile } from "./Statistics.ts"

/** One expectation of a test, and whether it was met. */
export interface Check {
  readonly kind: "file" | "context" | "answer" | "judgement" | "citation" | "refusal"
  readonly expected: string
  readonly passed: boolean
  /** What was found instead, where the check failed. */
  readonly found?: string
}

/** Result of one test. */
export interface TestResult {
  readonly id: string
  readonly question: string
  readonly principal?: Asker
  /** Whether every check passed. */
  readonly passed: boolean
  readonly checks: ReadonlyArray<Check>
  readonly measures: Measures
  /** Files found, best first, by the names that citations show. */
  readonly files: ReadonlyArray<string>
  readonly answer?: {
    readonly text: string
    readonly grounded: boolean
    readonly cites: ReadonlyArray<string>
    readonly confidence?: number
  }
  /** The judge's verdict on the answer, where there is a judge and the test expects something of the answer. */
  readonly judgement?: Judgement
  /** Why the question could not be answered. */
  readonly error?: { readonly code: string; readonly message: string }
  readonly milliseconds: number
}

/** Results of all tests of a pipeline. */
export interface Evaluation {
  readonly version: 1
  readonly pipeline: string
  /** When it started, in milliseconds since the epoch. */
  readonly started: number
  readonly passed: number
  readonly failed: number
  readonly measures: { readonly [M in Measure]?: Estimate }
  /** Milliseconds from question to answer: the median and the 95th percentile. */
  readonly latency: { readonly p50: number; readonly p95: number }
  readonly results: ReadonlyArray<TestResult>
  /** Verdicts of the judge over all answers, where one was used. */
  readonly judge?: Judging
  /**
   * Version of each file that was expected or found, from the ledger, "" where it has none: shows whether a document
   * changed between two evaluations.
   */
  readonly documents: Readonly<Record<string, string>>
}

/** Options of an evaluation. */
export interface EvaluateOptions {
  readonly tests: ReadonlyArray<EvaluationTest>
  /** Options of retrieval that differ from the pipeline's. */
  readonly overrides?: RetrieveOptions
  /** Questions answered concurrently. Default 4. */
  readonly concurrency?: number
  /** Whether the pipeline's `judge` judges the answers. Default true. Without a judge, `means` is not checked. */
  readonly judge?: boolean
  /** Files whose versions are looked up although no question finds them: those of an earlier result to compare with. */
  readonly documents?: Iterable<string>
  /** Called with each result as it is ready. */
  readonly observe?: (result: TestResult) => Effect.Effect<void>
}

/** Contexts searched for a file that was expected and not found. */
const farthest = 100

/**
 * Runs a pipeline's tests and checks the results against what they expect. A test that expects something of the answer
 * runs all stages, any other the stages up to the contexts. A question that fails counts as failed. `NOT_FOUND` before
 * the pipeline's first run; `FAILED_PRECONDITION` without tests, where answers are expected of a pipeline without a
 * generate stage, and where a test needs a judge and the pipeline names none. Exact checks take precedence over a judge;
 * a judge that fails is counted in the result, and fails no test.
 */
export const evaluatePipeline = Effect.fn("evaluatePipeline")(function*(
  pipeline: Definition,
  { concurrency = 4, documents = [], judge: judged = true, observe = () => Effect.void, overrides = {}, tests }: EvaluateOptions
) {
  if (tests.length === 0) {
    return yield* new ServiceError({
      code: "FAILED_PRECONDITION",
      message: `pipeline ${pipeline.name} has no tests`,
      fix: "write questions under `tests`, or name a file of them with --tests"
    })
  }
  if (tests.some(wantsAnswer) && answerStages(pipeline, yield* ExtensionsInUse) === undefined) return yield* cannotAnswer(pipeline)
  const judgeAlone = onlyJudged(tests)
  if (judgeAlone > 0 && pipeline.judge === undefined) return yield* needsJudge(pipeline, judgeAlone)
  const judge = judged && pipeline.judge !== undefined && tests.some(({ answer }) => answer !== undefined)
    ? yield* (yield* Models).judge(pipeline.judge.model)
    : undefined
  const judgeAnswer = judge === undefined ? undefined : judging(judge)
  // Without a corpus every question would fail for the same reason.
  yield* corpusOf(pipeline)
  const started = yield* Clock.currentTimeMillis
  const results = yield* Effect.forEach(
    tests,
    (test) => Effect.tap(evaluateTest(pipeline, test, overrides, judgeAnswer), observe),
    { concurrency }
  )
  const passed = results.filter((result) => result.passed).length
  const times = results.map(({ milliseconds }) => milliseconds)
  return {
    version: 1,
    pipeline: pipeline.name,
    started,
    passed,
    failed: results.length - passed,
    measures: defined(
      Object.fromEntries(measures.map((measure) => [measure, estimate(results.flatMap(({ measures }) => measures[measure] ?? []))]))
    ),
    latency: { p50: quantile(times, 0.5), p95: quantile(times, 0.95) },
    results,
    ...(judge === undefined ? {} : { judge: judgingOf(judge.model, results) }),
    documents: yield* versionsOf(
      pipeline,
      new Set([...results.flatMap(({ files }) => files.slice(0, 10)), ...tests.flatMap(filesIn), ...documents])
    )
  } as Evaluation // the measures are those named
}, Effect.scoped)

const wantsAnswer = ({ answer, cites, refused }: EvaluationTest): boolean =>
  answer !== undefined || cites !== undefined || refused !== undefined

const expectedFiles = ({ files = [] }: EvaluationTest) => files.map((file) => (typeof file === "string" ? { path: file } : file))

const filesIn = (test: EvaluationTest): ReadonlyArray<string> => [...expectedFiles(test).map(({ path }) => path), ...test.cites ?? []]

/** The answer to a test's question, where the test needs one, and the contexts it was made from. */
const outcome = Effect.fnUntraced(function*(pipeline: Definition, test: EvaluationTest, question: Question, overrides: RetrieveOptions) {
  if (!wantsAnswer(test)) return { answer: undefined, contexts: (yield* retrieveFrom(pipeline, question, overrides)).contexts }
  const { answer, contexts } = yield* askPipeline(pipeline, question, overrides)
  return { answer, contexts }
})

const evaluateTest = (
  pipeline: Definition,
  test: EvaluationTest,
  overrides: RetrieveOptions,
  judgeAnswer: ReturnType<typeof judging> | undefined
) =>
  Effect.gen(function*(): Effect.fn.Return<TestResult, never, Effect.Services<ReturnType<typeof outcome>>> {
    const question = { question: test.question, principal: test.principal }
    const started = performance.now()
    const given = yield* Effect.result(outcome(pipeline, test, question, overrides))
    const milliseconds = performance.now() - started
    const facts = defined({ id: idOf(test), question: test.question, principal: test.principal, milliseconds })
    if (given._tag === "Failure") {
      const { code, message } = codeOf(given.failure)
      return { ...facts, passed: false, checks: [], measures: {}, files: [], error: { code, message } }
    }
    const { answer, contexts = [] } = given.success
    const files = rankedFiles(contexts)
    const missed = expectedFiles(test).filter(({ path, rank = Infinity }) => {
      const at = rankOf(files, path)
      return at === undefined || at > rank
    })
    // Where a file would have been found, and why it was not, is only looked up for a failure: it takes further searches.
    const all = missed.length > 0
      ? yield* retrieveFrom(pipeline, question, { ...overrides, topK: farthest }).pipe(
        Effect.map((found) => rankedFiles(found.contexts)),
        Effect.orElseSucceed((): ReadonlyArray<FoundFile> => [])
      )
      : files
    const reasons = new Map(
      yield* Effect.forEach(missed, ({ path }) =>
        // The expected path may start above the source's root: the ledger knows the file by its own path.
        whyNotFound(pipeline, question, all.find((file) => isFile(file, path))?.name ?? path, overrides).pipe(
          Effect.orElseSucceed(() => undefined),
          Effect.map((why) => [path, why] as const)
        ))
    )
    const judgement = answer === undefined || test.answer === undefined
      ? undefined
      : yield* (judgeAnswer?.({ question: test.question, answer: answer.text, expected: test.answer }) ?? Effect.undefined)
    const checks = [
      ...fileChecks(test, files, all, reasons),
      ...contextChecks(test, contexts),
      ...answerChecks(test, answer),
      ...judgementChecks(test, answer, judgement)
    ]
    return defined<TestResult>({
      ...facts,
      passed: checks.every((check) => check.passed),
      checks: checks.map((check) => defined(check)),
      measures: measuresOf(test, files, checks, answer, judgement),
      ...(judgement === undefined ? {} : { judgement }),
      files: files.map(({ name }) => name),
      answer: answer === undefined ? undefined : defined({
        text: answer.text,
        grounded: answer.grounded,
        cites: [...new Set(answer.citations.map(({ sourceDisplayName }) => sourceDisplayName))],
        confidence: answer.confidence
      })
    })
  })

/** A custom stage may fail with anything. */
const codeOf = (error: unknown): { readonly code: string; readonly message: string } => ({
  code: error instanceof ServiceError
    ? error.code
    : typeof error === "object" && error !== null && "_tag" in error && typeof error._tag === "string"
    ? error._tag
    : "UNKNOWN",
  message: messageOf(error)
})

interface FoundFile {
  readonly name: string
  readonly uri: string
}

/** The files of the contexts, each at the rank of its best context. */
const rankedFiles = (
  contexts: ReadonlyArray<Context>
): ReadonlyArray<FoundFile> => [
  ...new Map(contexts.map(({ file, sourceDisplayName, sourceUri }) => [file, { name: sourceDisplayName, uri: sourceUri }])).values()
]

const isFile = ({ name, uri }: FoundFile, path: string): boolean => name === path || uri === path || decoded(uri).endsWith(`/${path}`)

const decoded = (uri: string): string => {
  try {
    return decodeURI(uri)
  } catch {
    return uri
  }
}

/** Rank of a file, from 1; undefined where it was not found. */
const rankOf = (files: ReadonlyArray<FoundFile>, path: string): number | undefined => {
  const at = files.findIndex((file) => isFile(file, path))
  return at === -1 ? undefined : at + 1
}

const listed = (names: ReadonlyArray<string>): string =>
  names.length === 0 ? "nothing" : names.slice(0, 3).join(", ") + (names.length > 3 ? `, ${names.length - 3} more` : "")

const fileChecks = (
  test: EvaluationTest,
  files: ReadonlyArray<FoundFile>,
  all: ReadonlyArray<FoundFile>,
  reasons: ReadonlyMap<string, string | undefined>
): ReadonlyArray<Check> =>
  expectedFiles(test).map(({ path, rank }) => {
    const at = rankOf(files, path)
    const passed = at !== undefined && at <= (rank ?? Infinity)
    const far = rankOf(all, path)
    const instead = `${listed(files.map(({ name }) => name))} ${files.length === 1 ? "was" : "were"} found`
    return {
      kind: "file",
      expected: rank === undefined ? path : `${path} at ${rank} or better`,
      passed,
      found: passed
        ? undefined
        : withReason(
          reasons.get(path),
          at !== undefined
            ? `at ${at}: ${instead}`
            : far === undefined
            ? `not among the first ${farthest} contexts: ${instead}`
            : `file ${far} of a longer search: ${instead}`
        )
    }
  })

const withReason = (why: string | undefined, found: string): string => why === undefined ? found : `${found}; ${why}`

const plain = (text: string): string => text.replace(/\s+/gu, " ").trim()

const contextChecks = ({ contexts: expected = [] }: EvaluationTest, contexts: ReadonlyArray<Context>): ReadonlyArray<Check> => {
  const all = contexts.map(({ text }) => plain(text))
  return expected.map((text) => {
    const passed = all.some((context) => context.includes(plain(text)))
    return { kind: "context", expected: text, passed, found: passed ? undefined : `in none of ${all.length} contexts` }
  })
}

const answerChecks = (test: EvaluationTest, answer: Answer | undefined): ReadonlyArray<Check> => {
  if (answer === undefined) return []
  const said = plain(answer.text)
  const refused = outcomeOf(answer) === "refused"
  const check = (kind: Check["kind"], expected: string, passed: boolean, found: string): Check => ({
    kind,
    expected,
    passed,
    found: passed ? undefined : found
  })
  const cited = answer.citations.map((citation) => ({ name: citation.sourceDisplayName, uri: citation.sourceUri }))
  const { matches } = test.answer ?? {}
  return [
    ...(test.refused === undefined ? [] : [check("refusal", test.refused ? "a refusal" : "an answer", refused === test.refused, said)]),
    ...(test.answer?.contains ?? []).map((text) => check("answer", text, said.toLowerCase().includes(plain(text).toLowerCase()), said)),
    ...(matches === undefined ? [] : [check("answer", `/${matches}/`, new RegExp(matches, "iu").test(said), said)]),
    ...(test.cites ?? []).map((path) =>
      check(
        "citation",
        path,
        cited.some((file) => isFile(file, path)),
        `${listed([...new Set(cited.map(({ name }) => name))])} ${cited.length === 1 ? "is" : "are"} cited`
      )
    )
  ]
}

/** A judge's verdict fails a test only where the test has no exact expectation of the answer. */
const judgementChecks = (
  { answer: expected = {} }: EvaluationTest,
  answer: Answer | undefined,
  judgement: Judgement | undefined
): ReadonlyArray<Check> => {
  const { contains, matches, means } = expected
  if (means === undefined || contains !== undefined || matches !== undefined || judgement?.right === undefined) return []
  const passed = judgement.right
  return [{ kind: "judgement", expected: means, passed, found: passed ? undefined : plain(answer?.text ?? "") }]
}

const share = (checks: ReadonlyArray<Check>): number | undefined =>
  checks.length === 0 ? undefined : checks.filter(({ passed }) => passed).length / checks.length

const measuresOf = (
  test: EvaluationTest,
  files: ReadonlyArray<FoundFile>,
  checks: ReadonlyArray<Check>,
  answer: Answer | undefined,
  judgement: Judgement | undefined
): Measures => {
  const wanted = expectedFiles(test)
  const ranks = wanted.flatMap(({ path }) => rankOf(files, path) ?? [])
  const first = Math.min(...ranks)
  const ofKind = (kind: Check["kind"]) => checks.filter((check) => check.kind === kind)
  const said = ofKind("answer")
  const refused = answer !== undefined && outcomeOf(answer) === "refused"
  return defined({
    ...(wanted.length === 0 ? {} : {
      hitAt1: Number(first === 1),
      hit: Number(ranks.length > 0),
      reciprocalRank: ranks.length === 0 ? 0 : 1 / first,
      ndcgAt10: gain(ranks.filter((rank) => rank <= 10)) / gain(wanted.slice(0, 10).map((_, at) => at + 1))
    }),
    contextRecall: share(ofKind("context")),
    answerRight: said.length === 0 ? undefined : Number(said.every(({ passed }) => passed)),
    judgedRight: judgement?.right === undefined ? undefined : Number(judgement.right),
    citationRight: share(ofKind("citation")),
    refusedRight: test.refused === true ? Number(refused) : undefined,
    refusedFalse: answer === undefined || test.refused === true ? undefined : Number(refused)
  })
}

/** Discounted cumulative gain of files of relevance 1 at these ranks. */
const gain = (ranks: ReadonlyArray<number>): number => ranks.reduce((sum, rank) => sum + 1 / Math.log2(rank + 1), 0)

/** The ledger's versions of the files with these names. */
const versionsOf = Effect.fnUntraced(function*(pipeline: Definition, names: ReadonlySet<string>) {
  const scope = yield* findScope(namesIn(pipeline))
  const versions: Record<string, string> = Object.fromEntries([...names].map((name) => [name, ""]))
  yield* Stream.runForEach((yield* Ledger).entries(scope, ["done"]), ({ fingerprint, path }) =>
    Effect.sync(() => {
      // The content part of the fingerprint: the other parts say how the file was stored.
      if (names.has(path)) versions[path] = fingerprint.split(".")[0] ?? fingerprint
    }))
  return versions
})
