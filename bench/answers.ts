/**
 * How well the extractive generator answers: `npm run bench:answers -- DATA [--work DIR] [--half tuning|test] [--blind SET] [--embedding MODEL] [--rank MODEL] [--generate URL#MODEL] [--contexts FILE] [--vary NAME=VALUE,VALUE…] [--show] [--train]`.
 *
 * DATA holds the collections that `answers/Corpora.ts` makes corpora of; DIR keeps the synced corpora for another run.
 * The questions are in `answers/questions.jsonl`, each with the file and the span that answer it, or with nothing where
 * the corpus does not answer it. They are split by file into a half for tuning and one for reporting.
 *
 * Right: a citation's quote holds the span, and is of its file. First: the first citation does. Refused: of those that
 * have no answer, off the corpus's subject or near it. `--train` fits the weights of units and of the answer's
 * probability to the tuning half, prints them for `src/models/extractive/Coefficients.ts`, and cross-validates them by
 * file and by corpus.
 *
 * `--embedding` and `--rank` find the contexts by a model, and the first compares passages with the question too, `URL#MODEL` of a server that speaks OpenAI's protocol (`/rerank` as
 * Cohere's does) or a model's folder. `--contexts FILE` keeps what was found for each question in FILE, and answers from there
 * the next time: what only changes the answers is measured in a fraction of the time.
 *
 * `--vary` answers with each value of a constant of `src/models/extractive/Answer.ts` and prints a row of each, of all the
 * questions of the half (or set) that is asked. "left out" is what a choice by the other corpora gives: each corpus is answered with
 * the value by which the most questions of the others end well, right where they have an answer and refused where not, and
 * are right by the first citation, each counted.
 *
 * `--generate URL#MODEL` prints the table twice, without a model and with one of a server that speaks OpenAI's protocol
 * (`http://127.0.0.1:1234/v1#qwen`; `OPENAI_API_KEY` is sent where it is set), and counts the citations that the model
 * invented: those taken out of its answers, and those shown, of which there are none by construction.
 */
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { parseArgs } from "node:util"
import { type Answerer, citedIn, extractives, servedBy } from "./answers/Answerers.ts"
import { type Corpus, keptContexts, openCorpus } from "./answers/Corpora.ts"
import { collect, train } from "./answers/Learn.ts"
import { type Asked, blindQuestions, blindSets, isOf, plain, questions } from "./answers/Questions.ts"
import { isFirst, isRight, leftOut, type Outcome, variedBy } from "./answers/Vary.ts"

const { positionals: [data], values } = parseArgs({
  allowPositionals: true,
  options: {
    work: { type: "string" },
    half: { type: "string" },
    corpus: { type: "string" },
    show: { type: "boolean", default: false },
    blind: { type: "string" },
    embedding: { type: "string" },
    rank: { type: "string" },
    generate: { type: "string" },
    contexts: { type: "string" },
    vary: { type: "string" },
    train: { type: "boolean", default: false }
  }
})

const blind = blindSets.find((set) => set === values.blind)
const askedOf = blind === undefined ? questions : blindQuestions(blind)

const isFound = ({ asked, contexts }: Outcome): boolean =>
  contexts.some(({ sourceDisplayName, text }) => isOf(asked, { sourceDisplayName, quote: text }))

const percent = (part: number, whole: number): string => (whole === 0 ? "-" : `${((100 * part) / whole).toFixed(1)}%`)

const row = (name: string, outcomes: ReadonlyArray<Outcome>): void => {
  const answerable = outcomes.filter(({ asked }) => asked.gold !== undefined)
  const share = (of: ReadonlyArray<Outcome>, test: (outcome: Outcome) => boolean): string => percent(of.filter(test).length, of.length)
  const refused = (kind: string): string => share(outcomes.filter(({ asked }) => asked.kind === kind), ({ answer }) => !answer.grounded)
  const cells = [
    String(outcomes.length),
    share(answerable, isFound),
    share(answerable, isRight),
    share(answerable, isFirst),
    share(answerable, ({ answer }) => !answer.grounded),
    refused("off-subject"),
    refused("near-subject")
  ]
  process.stdout.write(`${name.padEnd(20)}${cells.map((cell) => cell.padStart(11)).join("")}\n`)
}

const show = (outcome: Outcome): void => {
  const { answer, asked } = outcome
  const verdict = asked.gold === undefined
    ? (answer.grounded ? "ANSWERED" : "ok")
    : isFirst(outcome)
    ? "ok"
    : isRight(outcome)
    ? "right, not first"
    : `${answer.grounded ? "WRONG" : "REFUSED"}${isFound(outcome) ? "" : " (not retrieved)"}`
  process.stdout.write(
    `${verdict} | ${asked.corpus} ${asked.kind} | ${asked.question}\n  gold ${asked.file ?? ""}: ${asked.gold?.join(" | ") ?? ""}\n  ${
      answer.text.replaceAll("\n", "\n  ")
    }\n  ${answer.citations.map(({ sourceDisplayName }) => sourceDisplayName).join(", ")}\n`
  )
}

const measure = async (
  data: string,
  workspace: string,
  answerers: ReadonlyArray<Answerer>
): Promise<ReadonlyMap<Answerer, ReadonlyArray<Outcome>>> => {
  const outcomes = new Map(answerers.map((answerer): [Answerer, Array<Outcome>] => [answerer, []]))
  const kept = keptContexts(values.contexts, values)
  for (const name of new Set(askedOf.map(({ corpus }) => corpus))) {
    if (values.corpus !== undefined && values.corpus !== name) continue
    const own = askedOf.filter(({ corpus, half }) => corpus === name && (values.half === undefined || half === values.half))
    const isKept = own.every(({ question }) => kept.of(name, question) !== undefined)
    const corpus = isKept ? undefined : await openCorpus(name, data, workspace, values)
    try {
      if (corpus !== undefined) await check(corpus, own)
      for (const asked of own) {
        const contexts = kept.of(name, asked.question) ?? (await corpus!.search(asked.question))
        kept.keep(name, asked.question, contexts)
        for (const [answerer, answered] of outcomes) {
          const before = performance.now()
          const answer = await answerer.answer(asked.question, contexts)
          answered.push({ asked, contexts, answer, milliseconds: performance.now() - before })
        }
      }
    } finally {
      await corpus?.close()
    }
  }
  kept.write()
  return outcomes
}

/** Every span must stand in its file. */
const check = async (corpus: Corpus, asked: ReadonlyArray<Asked>): Promise<void> => {
  for (const { also = [], file, gold = [], question } of asked) {
    for (const place of [...gold.map((span) => ({ file: file ?? "", gold: span })), ...also]) {
      const text = plain(await corpus.textOf(place.file))
      if (!text.includes(plain(place.gold))) process.stderr.write(`not in ${place.file}: ${place.gold} (${question})\n`)
    }
  }
}

const head = (name: string): void => {
  process.stdout.write(
    `${name.padEnd(20)}${
      ["questions", "retrieved", "right", "first", "refused", "off", "near"].map((cell) => cell.padStart(11)).join("")
    }\n`
  )
}

const reportVaried = (outcomes: ReadonlyMap<Answerer, ReadonlyArray<Outcome>>): void => {
  head("")
  for (const [{ name }, answered] of outcomes) row(name, answered)
  row("left out", leftOut([...outcomes.values()]))
}

const report = ({ name }: Answerer, outcomes: ReadonlyArray<Outcome>): void => {
  if (values.show) outcomes.forEach(show)
  head(name)
  for (const half of ["tuning", "test"]) row(half, outcomes.filter(({ asked }) => asked.half === half))
  for (const group of ["kind", "corpus"] as const) {
    for (const value of new Set(outcomes.map(({ asked }) => asked[group]))) {
      row(
        value,
        outcomes.filter(({ asked }) => asked[group] === value)
      )
    }
  }
  const times = outcomes.map(({ milliseconds }) => milliseconds).sort((a, b) => a - b)
  const at = (share: number): string => (times[Math.min(times.length - 1, Math.floor(share * times.length))] ?? 0).toFixed(1)
  const lengths = outcomes.flatMap(({ answer }) => (answer.grounded ? [answer.text.length] : [])).sort((a, b) => a - b)
  process.stdout.write(
    `answering took ${at(0.5)} ms, 95th percentile ${at(0.95)} ms; ${lengths[lengths.length >> 1] ?? 0} characters an answer (median)\n`
  )
  const { invented, shown, unknown, unsupported, unverified } = citedIn(outcomes)
  process.stdout.write(
    `${shown} citations shown, ${invented} of them invented; taken out: ${unknown} of unknown contexts, ${unsupported} that do not bear it out; ${unverified} answers unverified\n`
  )
}

if (
  data === undefined || (values.blind !== undefined && blind === undefined) || (values.vary !== undefined && values.generate !== undefined)
) {
  process.stderr.write(
    "usage: node bench/answers.ts DATA [--work DIR] [--half tuning|test] [--corpus NAME] [--blind SET] [--embedding MODEL] [--rank MODEL] [--generate URL#MODEL] [--contexts FILE] [--vary NAME=VALUE,VALUE…] [--show] [--train]\n"
  )
  process.exitCode = 4
} else {
  const extractive = await extractives(values.embedding)
  const answerers = values.vary !== undefined
    ? variedBy(values.vary, extractive)
    : [extractive("extractive"), ...(values.generate === undefined ? [] : [servedBy(values.generate)])]
  const workspace = values.work ?? mkdtempSync(join(tmpdir(), "sluice-answers-"))
  try {
    if (values.train) train(await collect(data, workspace))
    else {
      const measured = await measure(data, workspace, answerers)
      if (values.vary !== undefined) reportVaried(measured)
      else for (const [answerer, outcomes] of measured) report(answerer, outcomes)
    }
  } finally {
    for (const { close } of answerers) await close()
    if (values.work === undefined) rmSync(workspace, { recursive: true, force: true })
  }
}
