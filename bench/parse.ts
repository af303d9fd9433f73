/**
 * Parses every file of a folder, with a subfolder for each format, in a child process that is replaced when a file crashes it or
 * takes too long. Prints the outcomes and, given reference texts, recall (the share of the reference's words that were found) and
 * precision (the share of the found words that the reference has): median and lowest decile by format, and the worst files. Words
 * are compared as multisets. Words that `lib/References.ts` excuses by a rule are not expected; `strict` is the lowest decile of
 * recall with nothing excused.
 *
 * Without a folder it parses generated documents of which it knows every word and its place, and fails where one is lost or out
 * of place. `order`: pairs of lines read in order; `heads`: headings found at their level relative to the first one; `cells`:
 * cells of a table found in their row and column.
 *
 * Usage: node bench/parse.ts [<folder>] [--reference <folder with {format}/{file}.txt>] [--format <subfolder>] [--list]
 */
import { type ChildProcess, fork } from "node:child_process"
import { existsSync, readdirSync, readFileSync } from "node:fs"
import { basename, join } from "node:path"
import { parseArgs } from "node:util"
import type { ParsedDocument } from "../src/domain/Document.ts"
import type { DocumentProblem } from "../src/domain/Errors.ts"
import { parse } from "../src/text/parse/Parse.ts"
import { ReadFailure } from "../src/text/parse/ReadFailure.ts"
import { defaultLimits } from "../src/text/Prepared.ts"
import { excuses, wordCounts } from "./lib/References.ts"
import { quantile } from "./lib/Statistics.ts"
import { type Layout, syntheticDocuments } from "./lib/Synthetic.ts"

interface Result {
  readonly text?: string
  readonly problem?: DocumentProblem | "bug"
  readonly message?: string
  /** Milliseconds that parsing took. */
  readonly taken: number
  /** Peak resident bytes of the child so far. */
  readonly memory: number
}

interface Score {
  readonly recall: number
  /** Recall with no word excused. */
  readonly strict: number
  readonly precision: number
  /** Number of words in the reference. */
  readonly words: number
  /** Numbers of missing words that are excused, by rule. */
  readonly excused: ReadonlyMap<string, number>
}

interface Finding extends Result {
  readonly file: string
  readonly score: Score | undefined
}

const skips: ReadonlySet<string> = new Set(["unsupported", "empty", "pictures", "charset", "limit"])

const parseFile = async (path: string): Promise<Result> => {
  const bytes = readFileSync(path)
  const started = performance.now()
  const measured = () => ({ taken: performance.now() - started, memory: process.resourceUsage().maxRSS * 1024 })
  try {
    const { text } = await parse({ bytes, name: basename(path), limits: defaultLimits })
    return { text, ...measured() }
  } catch (error) {
    const problem = error instanceof ReadFailure ? error.problem : "bug"
    return { problem, message: error instanceof Error ? error.message : String(error), ...measured() }
  }
}

/** The process that parses one file at a time. */
class Child {
  #process: ChildProcess | undefined = undefined

  parse(path: string): Promise<Result> {
    const child = this.#process ??= fork(import.meta.filename, [], {
      env: { ...process.env, BENCH_PARSE_CHILD: "1" },
      execArgv: [`--max-old-space-size=${defaultLimits.memory / 2 ** 20}`],
      stdio: ["ignore", "ignore", "ignore", "ipc"]
    })
    return new Promise((resolve) => {
      const started = performance.now()
      const settle = (result: Result, keep: boolean): void => {
        clearTimeout(timer)
        child.removeAllListeners()
        if (!keep) this.close()
        resolve(result)
      }
      const lost = (problem: DocumentProblem): void =>
        settle({ problem, message: "the process ended", taken: performance.now() - started, memory: 0 }, false)
      const timer = setTimeout(() => lost("timeout"), defaultLimits.timeMs)
      // Only this child sends messages, and only results.
      child.once("message", (result) => settle(result as Result, true))
      child.once("exit", () => lost("crash"))
      child.send(path)
    })
  }

  close(): void {
    this.#process?.removeAllListeners()
    this.#process?.kill("SIGKILL")
    this.#process = undefined
  }
}

/** Scores the words of a document; undefined where none are expected. Excused words are expected as often as they were found. */
const scoreOf = (expected: string, actual: string, excused: ReturnType<typeof excuses> = []): Score | undefined => {
  const found = wordCounts(actual)
  let all = 0
  let there = 0
  let missed = 0
  const used = new Map<string, number>()
  for (const [word, count] of wordCounts(expected)) {
    all += count
    const had = Math.min(count, found.get(word) ?? 0)
    there += had
    let left = count - had
    for (const { rule, words } of excused) {
      const taken = Math.min(left, words.get(word) ?? 0)
      left -= taken
      if (taken > 0) used.set(rule, (used.get(rule) ?? 0) + taken)
    }
    missed += left
  }
  const given = [...found.values()].reduce((sum, count) => sum + count, 0)
  if (all === 0) return undefined
  const expects = there + missed
  return {
    recall: expects === 0 ? 1 : there / expects,
    strict: there / all,
    precision: given === 0 ? 0 : there / given,
    words: all,
    excused: used
  }
}

const against = (path: string, reference: string, text: string): Score | undefined =>
  scoreOf(reference, text, excuses(path, readFileSync(path), reference))

const filesOf = (folder: string): ReadonlyArray<string> =>
  readdirSync(folder, { withFileTypes: true }).filter((entry) => entry.isFile()).map((entry) => entry.name).toSorted()

const row = (format: string, findings: ReadonlyArray<Finding>): string => {
  const count = (test: (finding: Finding) => boolean): string => String(findings.filter(test).length).padStart(8)
  const scores = findings.flatMap(({ score }) => score === undefined ? [] : [score])
  const share = (values: ReadonlyArray<number>, q: number): string =>
    (values.length === 0 ? "-" : quantile(values, q).toFixed(3)).padStart(8)
  const recalls = scores.map(({ recall }) => recall)
  const precisions = scores.map(({ precision }) => precision)
  return [
    format.padEnd(12),
    count(() => true),
    count(({ problem }) => problem === undefined),
    count(({ problem }) => problem !== undefined && skips.has(problem)),
    count(({ problem }) => problem !== undefined && !skips.has(problem)),
    share(recalls, 0.5),
    share(recalls, 0.1),
    share(scores.map(({ strict }) => strict), 0.1),
    share(precisions, 0.5),
    share(precisions, 0.1),
    quantile(findings.map(({ taken }) => taken), 0.5).toFixed(1).padStart(8),
    Math.max(...findings.map(({ taken }) => taken)).toFixed(0).padStart(8),
    (Math.max(...findings.map(({ memory }) => memory)) / 1e6).toFixed(0).padStart(8)
  ].join(" ")
}

/** Scores of order, headings and cells; undefined for those that the document does not have. */
const layoutScores = ({ blocks, text }: ParsedDocument, { cells, headings, order }: Layout = {}): ReadonlyArray<number | undefined> => {
  const texts = blocks.map(({ end, kind, level, start }) => ({ kind, level, text: text.slice(start, end) }))
  const found = texts.filter(({ kind }) => kind === "heading")
  const rows = texts.filter(({ kind }) => kind === "table").flatMap((table) => table.text.split("\n").map((row) => row.split(" | ")))
  return [
    order === undefined ? undefined : pairsInOrder(order.map((word) => text.search(new RegExp(`\\b${word}\\b`)))),
    headings === undefined
      ? undefined
      : shareOf(
        headings,
        (one) =>
          found.some((other) =>
            other.text === one.text && (other.level ?? 1) - (found[0]?.level ?? 1) === one.level - (headings[0]?.level ?? 1)
          )
      ),
    cells === undefined
      ? undefined
      : shareOf(cells.flatMap((row, r) => row.map((cell, c) => ({ cell, r, c }))), ({ c, cell, r }) => rows[r]?.[c] === cell)
  ]
}

const excusedWords = (findings: ReadonlyArray<Finding>): ReadonlyMap<string, number> => {
  const counts = new Map<string, number>()
  for (const { score } of findings) {
    for (const [rule, count] of score?.excused ?? []) counts.set(rule, (counts.get(rule) ?? 0) + count)
  }
  return counts
}

const shareOf = <A>(all: ReadonlyArray<A>, test: (one: A) => boolean): number => all.filter(test).length / all.length

const pairsInOrder = (places: ReadonlyArray<number>): number => {
  let right = 0
  let pairs = 0
  for (const [i, a] of places.entries()) {
    for (const b of places.slice(i + 1)) {
      pairs++
      if (a >= 0 && b > a) right++
    }
  }
  return right / pairs
}

/** Parses the generated documents. All of their words have to be found, and no others. */
const synthetic = async (): Promise<void> => {
  console.log("document             pages    words   recall     prec    order    heads    cells       ms")
  let wrong = false
  for (const { bytes, layout, name, words: expected } of syntheticDocuments()) {
    const started = process.cpuUsage()
    const document = await parse({ bytes, name, limits: defaultLimits })
    const { pages = 0, text } = document
    const { system, user } = process.cpuUsage(started)
    const score = scoreOf(expected, text)
    const places = layoutScores(document, layout)
    wrong ||= score === undefined || score.recall < 1 || score.precision < 1 || places.some((share) => share !== undefined && share < 1)
    console.log([
      name.padEnd(20),
      String(pages).padStart(5),
      String(score?.words ?? 0).padStart(8),
      (score?.recall ?? 0).toFixed(4).padStart(8),
      (score?.precision ?? 0).toFixed(4).padStart(8),
      ...places.map((share) => (share === undefined ? "-" : share.toFixed(3)).padStart(8)),
      ((system + user) / 1_000).toFixed(0).padStart(8)
    ].join(" "))
  }
  if (wrong) process.exitCode = 1
}

const main = async (): Promise<void> => {
  const { positionals: [folder], values } = parseArgs({
    allowPositionals: true,
    options: { reference: { type: "string" }, format: { type: "string" }, list: { type: "boolean" } }
  })
  if (folder === undefined) return synthetic()
  const formats = readdirSync(folder, { withFileTypes: true })
    .filter((entry) => entry.isDirectory() && !entry.name.startsWith("_") && (values.format ?? entry.name) === entry.name)
    .map((entry) => entry.name)
    .toSorted()
  const child = new Child()
  const all: Array<Finding> = []
  console.log("format          files   parsed  skipped   failed   recall  and p10   strict     prec  and p10   p50 ms   max ms   MB RSS")
  for (const format of formats) {
    const findings: Array<Finding> = []
    for (const name of filesOf(join(folder, format))) {
      const result = await child.parse(join(folder, format, name))
      const reference = join(values.reference ?? folder, format, `${name}.txt`)
      // Unreadable files, such as encrypted ones, have no reference either.
      const score = values.reference !== undefined && existsSync(reference)
        ? against(join(folder, format, name), readFileSync(reference, "utf8"), result.text ?? "")
        : undefined
      findings.push({ ...result, file: `${format}/${name}`, score })
    }
    if (findings.length > 0) console.log(row(format, findings))
    all.push(...findings)
  }
  child.close()
  console.log("\nmissing and excused")
  for (const [rule, count] of excusedWords(all)) console.log(`${String(count).padStart(8)} words: ${rule}`)
  for (const measure of ["recall", "precision"] as const) {
    console.log(`\nlowest ${measure}`)
    const scored = all.flatMap(({ file, message, score }) => score === undefined ? [] : [{ file, message, ...score }])
    for (const finding of scored.toSorted((a, b) => a[measure] - b[measure]).slice(0, 10)) {
      const { file, message, words } = finding
      console.log(`${finding[measure].toFixed(3).padStart(8)}  ${file} (${words} words)${message === undefined ? "" : `: ${message}`}`)
    }
  }
  console.log("\nslowest")
  for (const { file, taken } of all.toSorted((a, b) => b.taken - a.taken).slice(0, 5)) {
    console.log(`${taken.toFixed(0).padStart(8)} ms  ${file}`)
  }
  if (values.list !== true) return
  console.log("\nnot parsed")
  for (const { file, message, problem } of all) {
    if (problem !== undefined) console.log(`${problem.padEnd(12)} ${file}: ${message}`)
  }
}

if (process.env["BENCH_PARSE_CHILD"] === "1") {
  process.on("message", (path) => void parseFile(String(path)).then((result) => process.send?.(result)))
} else await main()
