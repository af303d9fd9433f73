/** What the weights of `src/models/extractive/Coefficients.ts` are learnt from, and how well. */
import type { Context } from "../../src/domain/Retrieval.ts"
import { examine } from "../../src/models/extractive/Examine.ts"
import { inOrder } from "../../src/models/extractive/Order.ts"
import { confidenceWeights, unitWeights } from "../../src/models/extractive/Coefficients.ts"
import { groundsOf } from "../../src/models/extractive/Grounds.ts"
import { passageOf } from "../../src/models/extractive/Passage.ts"
import { select } from "../../src/models/extractive/Select.ts"
import { openCorpus } from "./Corpora.ts"
import { type Asked, isOf, moreQuestions, questions, strangers, trainingQuestions } from "./Questions.ts"
import {
  type Choice,
  crossValidate,
  firstRight,
  fitChoices,
  fitJudgements,
  judgedBy,
  type Judgement,
  qualityOf,
  type Weights
} from "./Train.ts"

/** Questions of other corpora that each corpus is asked, as what it does not answer. */
const mostOthers = 40
/** Corpora of one subject. Those of an encyclopaedia may hold what anybody asks. */
const subjects = new Set(["peps", "claude", "handbook", "texts", "packages", "libraries"])

export interface Example {
  readonly asked: Asked
  readonly contexts: ReadonlyArray<Context>
  readonly weight: number
}

/** Passages of an answer, any of which may be right. */
const shown = 3
/** Units of a question that are learnt from, besides the right ones. */
const mostUnits = 60

/** What is learnt from: the tuning half, questions of further files, more that came with their answers, and what cannot be answered. */
export const collect = async (data: string, workspace: string): Promise<ReadonlyArray<Example>> => {
  const tuning = [...questions.filter(({ half }) => half === "tuning"), ...trainingQuestions]
  const more = moreQuestions(data)
  const examples: Array<Example> = []
  for (const name of new Set(tuning.map(({ corpus }) => corpus))) {
    const corpus = await openCorpus(name, data, workspace)
    try {
      for (const asked of tuning.filter((asked) => asked.corpus === name)) {
        const contexts = await corpus.search(asked.question)
        examples.push({ asked, contexts, weight: 1 })
        // Without its file, what is left is near the subject and most often no answer.
        const rest = contexts.filter(({ sourceDisplayName }) => sourceDisplayName !== asked.file)
        const { gold: _, ...without } = asked
        if (asked.gold !== undefined && rest.length > 0 && name !== "texts") examples.push({ asked: without, contexts: rest, weight: 0.3 })
      }
      for (const asked of more.filter((asked) => asked.corpus === name)) {
        examples.push({ asked, contexts: await corpus.search(asked.question), weight: 0.12 })
      }
      const others = tuning.filter(({ corpus, gold }) => corpus !== name && gold !== undefined)
      const every = Math.max(1, Math.floor(others.length / mostOthers))
      for (const { gold: _, ...asked } of others.filter((_, at) => at % every === 0)) {
        examples.push({ asked: { ...asked, corpus: name }, contexts: await corpus.search(asked.question), weight: 0.15 })
      }
      for (const question of subjects.has(name) ? strangers : []) {
        examples.push({
          asked: { corpus: name, kind: "off-subject", question, half: "tuning" },
          contexts: await corpus.search(question),
          weight: 0.1
        })
      }
    } finally {
      await corpus.close()
    }
  }
  return examples
}

/** Fits the weights, cross-validates them, and prints both. */
export const train = (examples: ReadonlyArray<Example>): void => {
  const examined = examples.map((example) => ({
    ...example,
    examined: examine({ question: example.asked.question, contexts: example.contexts })
  }))
  const choices = examined.flatMap(({ asked, contexts, examined, weight }): ReadonlyArray<Choice> => {
    if (asked.gold === undefined) return []
    const units = examined.evidence.map(({ signs, unit }) => {
      const context = contexts[unit.context]!
      const { end, start } = passageOf(unit, context.text, examined.question.kind)
      return {
        signs: { ...signs },
        right: isOf(asked, { quote: context.text.slice(start, end), sourceDisplayName: context.sourceDisplayName })
      }
    })
    // What is far down is not chosen, whatever the weights.
    const kept = units.filter(({ right }, place) => right || place < mostUnits)
    return kept.some(({ right }) => right) ? [{ group: { file: asked.file ?? "", corpus: asked.corpus }, units: kept, weight }] : []
  })
  const weights = fitChoices(choices, unitWeights)
  const print = (name: string, of: Weights): void =>
    void process.stdout.write(`${name}\n${Object.entries(of).map(([sign, weight]) => `  ${sign}: ${weight.toFixed(2)}`).join(",\n")}\n`)
  print("unitWeights", weights)
  const report = (name: string, figure: number): void => void process.stdout.write(`${name.padEnd(56)}${(100 * figure).toFixed(1)}%\n`)
  const score = (signs: Readonly<Record<string, number>>): number =>
    Object.keys(weights).reduce((sum, name) => sum + weights[name]! * signs[name]!, 0)
  const judgements = examined.flatMap(({ asked, contexts, examined, weight }): ReadonlyArray<Judgement> => {
    const ranked = inOrder(examined.question, examined.evidence.map((evidence) => ({ ...evidence, score: score({ ...evidence.signs }) })))
    const grounds = groundsOf(examined.question, ranked, examined.weights, contexts)
    const first = ranked[0]
    if (grounds === undefined || first === undefined) return []
    const right = select({ ...examined, evidence: ranked, contexts }, shown).some(({ passage, stretch: { chunks, text } }) =>
      isOf(asked, { quote: text.slice(passage.start, passage.end), sourceDisplayName: chunks[0]!.context.sourceDisplayName })
    )
    return [{
      group: { file: asked.file ?? asked.question, corpus: asked.corpus },
      signs: { ...grounds },
      right,
      weight: asked.gold !== undefined && !right ? 0.3 * weight : weight
    }]
  })
  const fitted = fitJudgements(judgements, confidenceWeights)
  print("confidenceWeights", fitted)
  report(`first unit right of ${choices.length} questions that have one`, firstRight(choices, weights))
  for (const by of ["file", "corpus"] as const) {
    const rights = crossValidate(
      choices,
      by,
      (part) => fitChoices(part, unitWeights),
      (part, fitted) => part.map((choice) => firstRight([choice], fitted))
    )
    report(`  by weights that have not seen its ${by}`, rights.reduce((sum, right) => sum + right, 0) / rights.length)
  }
  const tell = (name: string, judged: ReturnType<typeof judgedBy>): void => {
    const { area, brier } = qualityOf(judged)
    process.stdout.write(`${name.padEnd(56)}area ${area.toFixed(3)}, Brier ${brier.toFixed(3)}\n`)
  }
  tell(`right or not, of ${judgements.length}`, judgedBy(judgements, fitted))
  for (const by of ["file", "corpus"] as const) {
    tell(
      `  by weights that have not seen its ${by}`,
      crossValidate(judgements, by, (part) => fitJudgements(part, confidenceWeights), judgedBy)
    )
  }
}
