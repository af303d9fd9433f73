import { leaveOneOut } from "../lib/LeaveOneOut.ts"
import type { TermWeight } from "../../src/domain/Retrieval.ts"

export interface Figures {
  readonly ndcg10: number
  readonly recall100: number
  /** Of half of the questions, one after the other, by the clock. */
  readonly milliseconds?: number
  /** Milliseconds of this process's processor time, mean over the questions. */
  readonly processor?: number
}

export interface Hit {
  readonly id: string
  readonly score: number
  /** What was looked for, where that was asked. */
  readonly terms?: ReadonlyArray<TermWeight>
}

/**
 * Means over the queries with a relevant document, as trec_eval reckons them: gain = grade, discount log2(rank + 1),
 * ties by id, descending. A query without hits counts 0.
 */
export const evaluate = async (
  judgements: ReadonlyMap<string, ReadonlyMap<string, number>>,
  hitsOf: (query: string) => Promise<ReadonlyArray<Hit>>
): Promise<Figures> => (await evaluateEach(judgements, [hitsOf]))[0]!

/** The same of several ways to search, each query by all of them, one after the other and another one first each time. */
export const evaluateEach = async (
  judgements: ReadonlyMap<string, ReadonlyMap<string, number>>,
  ways: ReadonlyArray<(query: string) => Promise<ReadonlyArray<Hit>>>
): Promise<ReadonlyArray<Figures>> => {
  let queries = 0
  const sums = ways.map(() => ({ ndcg: 0, recall: 0, processor: 0, times: new Array<number>() }))
  for (const [query, graded] of judgements) {
    const grades = [...graded.values()].filter((grade) => grade > 0).sort((a, b) => b - a)
    if (grades.length === 0) continue
    for (let turn = 0; turn < ways.length; turn++) {
      const way = (turn + queries) % ways.length
      const sum = sums[way]!
      const used = process.cpuUsage()
      const asked = performance.now()
      const found = await ways[way]!(query)
      sum.times.push(performance.now() - asked)
      const { system, user } = process.cpuUsage(used)
      sum.processor += (user + system) / 1000
      const hits = [...found].sort((a, b) => b.score - a.score || (a.id < b.id ? 1 : -1))
      const gains = hits.map((hit) => Math.max(0, graded.get(hit.id) ?? 0))
      sum.ndcg += gain(gains) / gain(grades)
      sum.recall += gains.slice(0, 100).filter((grade) => grade > 0).length / grades.length
    }
    queries++
  }
  return sums.map(({ ndcg, processor, recall, times }) => ({
    ndcg10: ndcg / queries,
    recall100: recall / queries,
    milliseconds: times.toSorted((a, b) => a - b)[Math.floor(times.length / 2)] ?? 0,
    processor: processor / queries
  }))
}

/**
 * Cross-validation over collections: each counts with the way that has the best mean nDCG@10 over the others, the first of
 * equals. `rows` are collections, each with a figure by way.
 */
export const leftOut = (rows: ReadonlyArray<ReadonlyArray<Figures>>): Figures => {
  const chosen = leaveOneOut(rows, ({ ndcg10 }) => ndcg10)
  const mean = (of: (figures: Figures) => number) => chosen.reduce((sum, one) => sum + of(one), 0) / chosen.length
  return { ndcg10: mean(({ ndcg10 }) => ndcg10), recall100: mean(({ recall100 }) => recall100) }
}

const gain = (grades: ReadonlyArray<number>): number =>
  grades.slice(0, 10).reduce((sum, grade, index) => sum + grade / Math.log2(index + 2), 0)
