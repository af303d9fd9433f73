import type { Comparison, MeasureChange } from "../../pipeline/eval/Comparison.ts"
import type { Check, Evaluation, TestResult } from "../../pipeline/eval/Evaluation.ts"
import { disagrees } from "../../pipeline/eval/Judging.ts"
import { measures, measureTitles } from "../../pipeline/eval/Measures.ts"
import type { Estimate } from "../../pipeline/eval/Statistics.ts"
import type { Setting, Tuning } from "../../pipeline/eval/Tuning.ts"
import { printable } from "../../domain/Text.ts"
import type { Output } from "../Output.ts"
import { count, plural } from "./Numbers.ts"
import { table } from "./Table.ts"

type Look = Pick<Output["Service"], "paint" | "width">

const fixed = (value: number): string => value.toFixed(3)

/** Most characters of a found text in a line of a table. */
const shown = 400

const shorten = (text: string): string => text.length > shown ? `${text.slice(0, shown - 1)}…` : text

const failedFirst = ({ results }: Evaluation): ReadonlyArray<TestResult> => results.toSorted((a, b) => Number(a.passed) - Number(b.passed))

const failures = ({ checks, error }: TestResult): ReadonlyArray<Pick<Check, "kind" | "expected" | "found">> =>
  error === undefined
    ? checks.filter(({ passed }) => !passed)
    : [{ kind: "answer", expected: "to be asked", found: `${error.code}: ${error.message}` }]

/** Renders an evaluation for people: failures first, then the measures. */
export const renderEvaluation = (evaluation: Evaluation, { paint, width }: Look): string => {
  const bad = failedFirst(evaluation).filter(({ passed }) => !passed)
  const rows = bad.flatMap((result) =>
    failures(result).map(({ expected, found = "", kind }, at) => [at === 0 ? result.id : "", `${kind}: ${expected}`, shorten(found)])
  )
  const estimates = measures.flatMap((measure) => {
    const known = evaluation.measures[measure]
    return known === undefined
      ? []
      : [[measureTitles[measure], fixed(known.mean), `${fixed(known.low)} to ${fixed(known.high)}`, count(known.n)]]
  })
  const otherwise = disagreements(evaluation)
  return [
    ...(rows.length === 0 ? [] : [
      table(
        [{ title: "failed", flexible: true }, { title: "expected", flexible: true }, { title: "found instead", flexible: true }],
        rows,
        width
      ),
      ""
    ]),
    ...(estimates.length === 0 ? [] : [
      table(
        [{ title: "measure" }, { title: "mean", align: "right" }, { title: "95% interval", align: "right" }, {
          title: "questions",
          align: "right"
        }],
        estimates,
        width
      ),
      ""
    ]),
    ...(otherwise.length === 0 ? [] : [
      table(
        [{ title: "judged otherwise", flexible: true }, { title: "exact checks" }, { title: "judge" }, { title: "answer", flexible: true }],
        otherwise,
        width
      ),
      ""
    ]),
    ...judgeLines(evaluation).flatMap((line) => [line, ""]),
    `${paint(evaluation.failed === 0 ? "green" : "red", summary(evaluation))}; ${
      evaluation.latency.p50.toFixed(1)
    } ms a question (median), ${evaluation.latency.p95.toFixed(1)} ms at 95%`
  ].join("\n")
}

/** Answers on which a judge and the exact checks differ, with the result of each. */
const disagreements = ({ results }: Evaluation): ReadonlyArray<ReadonlyArray<string>> => {
  const verdict = (right: boolean) => right ? "right" : "wrong"
  return results.filter(disagrees).map(({ answer, id, judgement, measures }) => [
    id,
    verdict(measures.answerRight === 1),
    verdict(judgement?.right === true),
    shorten(answer?.text.replace(/\s+/g, " ") ?? "")
  ])
}

/** Summarizes the judge's verdicts, how far the exact checks confirm them, and the answers without a verdict. */
const judgeLines = ({ judge, results }: Evaluation): ReadonlyArray<string> => {
  if (judge === undefined) return []
  const { agreed, agreement, failed, model, notAsked, right, tokens, unclear, wrong } = judge
  const agreeing = agreement === undefined
    ? "nothing to compare with the exact checks"
    : `agrees with the exact checks on ${count(agreed)} of ${count(agreement.n)} (${fixed(agreement.mean)}, ${fixed(agreement.low)} to ${
      fixed(agreement.high)
    })`
  const untold = tokens.untold === 0 ? "" : ` (${plural(tokens.untold, "call")} told none)`
  const said = `judge ${model}: ${count(right)} right, ${count(wrong)} wrong; ${agreeing}; ${count(tokens.input)} tokens in, ${
    count(tokens.output)
  } out${untold}`
  const missing = [
    ...(failed === 0 ? [] : [`${count(failed)} failed`]),
    ...(unclear === 0 ? [] : [`${count(unclear)} without a verdict in what it wrote`]),
    ...(notAsked === 0 ? [] : [`${count(notAsked)} not asked after that`])
  ]
  const [first] = results.flatMap(({ judgement }) => judgement?.problem?.message ?? [])
  const why = first === undefined ? "" : ` (${shorten(first.replace(/\s+/g, " "))})`
  return [said, ...(missing.length === 0 ? [] : [`not judged: ${missing.join(", ")}${why}`])].map((line) => printable(line))
}

const summary = ({ failed, passed }: Evaluation): string =>
  failed === 0 ? `${plural(passed, "test")} passed` : `${count(failed)} of ${plural(passed + failed, "test")} failed`

/** Renders the difference of two evaluations for people: earlier and now, or two pipelines side by side. */
export const renderComparison = (
  comparison: Comparison,
  { width }: Look,
  { before = "before", heading = `Against ${new Date(comparison.before).toISOString()}:`, now = "now" }: {
    readonly heading?: string
    readonly before?: string
    readonly now?: string
  } = {}
): string =>
  [
    heading,
    comparison.tests.length === 0 ? "  no test has another outcome" : table(
      [{ title: "change" }, { title: "test", flexible: true }, { title: "documents that changed", flexible: true }],
      comparison.tests.map(({ change, documents, id }) => [change, id, documents.join(", ") || "none of its files"]),
      width
    ),
    ...(comparison.measures.length === 0 ? [] : [
      table(
        [
          { title: "measure" },
          { title: before, align: "right" },
          { title: now, align: "right" },
          { title: "difference, 95% interval", align: "right" },
          { title: "by chance", align: "right" },
          { title: "" }
        ],
        comparison.measures.map((change) => [
          measureTitles[change.measure],
          fixed(change.before),
          fixed(change.after),
          interval(change.difference),
          change.chance.toFixed(2),
          verdict(change)
        ]),
        width
      )
    ])
  ].join("\n")

const signed = (value: number): string => (value >= 0 ? "+" : "") + fixed(value)

const interval = ({ high, low, mean }: Estimate): string => `${signed(mean)} (${signed(low)} to ${signed(high)})`

const verdict = ({ difference, significant, worse }: MeasureChange): string =>
  difference.mean === 0 ? "the same" : significant ? (worse ? "worse" : "better") : "noise"

/** Recommends one of two pipelines, in a sentence. */
export const recommendation = ({ measures }: Comparison, before: string, now: string): string => {
  const clear = measures.filter(({ significant }) => significant)
  const named = (changes: ReadonlyArray<MeasureChange>) =>
    changes.map(({ difference, measure }) => `${measureTitles[measure]} ${interval(difference)}`).join(", ")
  const [worse, better] = [clear.filter((change) => change.worse), clear.filter((change) => !change.worse)]
  if (clear.length === 0) return `No measure differs by more than chance: nothing speaks for ${now} over ${before}, or against it.`
  if (worse.length === 0) return `Take ${now}: ${named(better)}.`
  if (better.length === 0) return `Keep ${before}: with ${now} ${named(worse)}.`
  return `It depends: ${now} has ${named(better)}, and ${named(worse)}.`
}

/** Describes a setting in words. */
export const settingText = (setting: Setting): string =>
  Object.entries(setting).map(([name, value]) => `${settingNames[name as keyof Setting]} ${value}`).join(", ") // the keys are its own

const settingNames: Readonly<Record<keyof Setting, string>> = {
  topK: "topK",
  alpha: "alpha",
  rank: "rank",
  size: "chunk size",
  overlap: "overlap",
  embedder: "embedder"
}

/** Renders the results of trying settings, for people. */
export const renderTuning = ({ current, measure, recommended, tried }: Tuning, { paint, width }: Look): string => {
  const [best] = tried
  return [
    table(
      [
        { title: "setting", flexible: true },
        { title: measureTitles[measure], align: "right" },
        { title: "difference, 95% interval", align: "right" },
        { title: "by chance", align: "right" },
        { title: "ms", align: "right" }
      ],
      [
        ["current", fixed(current.mean), "", "", current.p50.toFixed(1)],
        ...tried.map(({ chance, difference, mean, p50, setting }) => [
          settingText(setting),
          fixed(mean),
          interval(difference),
          chance.toFixed(2),
          p50.toFixed(1)
        ])
      ],
      width
    ),
    "",
    ...tried.flatMap(({ missing, setting }) =>
      missing === undefined ? [] : [`${missing.files} of ${plural(missing.of, "file")} could not be stored: ${settingText(setting)}`]
    ),
    recommended === undefined || best === undefined
      ? `No setting is significantly better, over ${plural(current.n, "question")}: keep the current settings, or write more tests.`
      : paint("green", `Take ${settingText(recommended)}: ${measureTitles[measure]} ${interval(best.difference)}.`)
  ].join("\n")
}

/** Renders an evaluation as a comment on a pull request. */
export const evaluationMarkdown = (
  evaluation: Evaluation,
  comparison?: Comparison,
  { before = "before", now = "now" }: { readonly before?: string; readonly now?: string } = {}
): string => {
  const cell = (text: string) => printable(text.replace(/\s+/g, " ")).replaceAll("|", "\\|").replaceAll("<", "&lt;")
  const bad = failedFirst(evaluation).filter(({ passed }) => !passed)
  const otherwise = disagreements(evaluation)
  const rows = (
    titles: ReadonlyArray<string>,
    lines: ReadonlyArray<ReadonlyArray<string>>
  ) => [
    `| ${titles.join(" | ")} |`,
    `|${titles.map(() => " --- |").join("")}`,
    ...lines.map((line) => `| ${line.map(cell).join(" | ")} |`),
    ""
  ]
  return [
    `### ${cell(evaluation.pipeline)}: ${summary(evaluation)}`,
    "",
    ...(bad.length === 0 ? [] : rows(
      ["failed", "expected", "found instead"],
      bad.flatMap((result) => failures(result).map(({ expected, found = "", kind }) => [result.id, `${kind}: ${expected}`, shorten(found)]))
    )),
    ...rows(
      ["measure", "mean", "95% interval", "questions"],
      measures.flatMap((measure) => {
        const known = evaluation.measures[measure]
        return known === undefined
          ? []
          : [[measureTitles[measure], fixed(known.mean), `${fixed(known.low)} to ${fixed(known.high)}`, count(known.n)]]
      })
    ),
    ...(otherwise.length === 0 ? [] : rows(["judged otherwise", "exact checks", "judge", "answer"], otherwise)),
    ...judgeLines(evaluation).flatMap((line) => [cell(line), ""]),
    ...(comparison === undefined ? [] : [
      ...rows(
        ["change", "test", "documents that changed"],
        comparison.tests.map(({ change, documents, id }) => [change, id, documents.join(", ")])
      ),
      ...rows(
        ["measure", cell(before), cell(now), "difference", "verdict"],
        comparison.measures.map((
          change
        ) => [measureTitles[change.measure], fixed(change.before), fixed(change.after), signed(change.difference.mean), verdict(change)])
      )
    ])
  ].join("\n")
}

/** Renders an evaluation as JUnit's XML, for CI servers: a test case per question. */
export const evaluationJUnit = (evaluation: Evaluation): string => {
  // Characters that XML 1.0 does not allow are removed.
  const escaped = (text: string) =>
    text.replace(/[^\t\n\r\u0020-\uD7FF\uE000-\uFFFD\u{10000}-\u{10FFFF}]/gu, "").replace(/[&<>"]/g, (sign) => `&#${sign.charCodeAt(0)};`)
  const seconds = (milliseconds: number) => (milliseconds / 1000).toFixed(3)
  const total = evaluation.results.reduce((sum, { milliseconds }) => sum + milliseconds, 0)
  const cases = evaluation.results.map((result) => {
    const head = `    <testcase classname="${escaped(evaluation.pipeline)}" name="${escaped(result.id)}" time="${
      seconds(result.milliseconds)
    }"`
    if (result.passed) return `${head}/>`
    const kind = result.error === undefined ? "failure" : "error"
    const bad = failures(result)
    const text = bad.map(({ expected, found = "", kind }) => `${kind}: expected ${expected}, found ${found}`).join("\n")
    return `${head}>\n      <${kind} message="${escaped(shorten(text.split("\n")[0] ?? ""))}">${escaped(text)}</${kind}>\n    </testcase>`
  })
  const errors = evaluation.results.filter(({ error }) => error !== undefined).length
  const counts = `tests="${evaluation.results.length}" failures="${evaluation.failed - errors}" errors="${errors}" time="${seconds(total)}"`
  return [
    "<?xml version=\"1.0\" encoding=\"UTF-8\"?>",
    `<testsuites ${counts}>`,
    `  <testsuite name="${escaped(evaluation.pipeline)}" ${counts} timestamp="${new Date(evaluation.started).toISOString()}">`,
    ...cases,
    "  </testsuite>",
    "</testsuites>",
    ""
  ].join("\n")
}
