import { leaveOneOut } from "../lib/LeaveOneOut.ts"
import type { TermWeight } from "../../src/domain/Retrieval.ts"

export interface Figures {
  readonly ndcg10: number
  readonly recall100: number
  /** Milliseconds of wall clock time for half of the questions, one after the other. */
  readonly milliseconds?: number
  /** Milliseconds of this process's processor time per question, the mean. */
  readonly processor?: number
}

export interface Hit {
  readonly id: string
  readonly score: number
  /** The terms that were searched for, where they were requested. */
  readonly terms?: ReadonlyArray<TermWeight>
}

/**
 * Evaluates a search: means over the queries with a relevant document, as trec_eval computes them, with gain = grade, discount
 * log2(rank + 1), and ties ordered by id, descending. A query without hits counts 0.
 */
export const evaluate = async (
  judgements: ReadonlyMap<string, ReadonlyMap<string, number>>,
  hitsOf: (query: string) => Promise<ReadonlyArray<Hit>>
): Promise<Figures> => (await evaluateEach(judgements, [hitsOf]))[0]!

/** Evaluates several ways to search. Each query is searched in all ways before the next, starting with another way each time. */
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
 * Leave-one-out cross-validation: each collection counts with the way that has the best mean nDCG@10 over the others, the first
 * of equals. `rows` are collections, each with figures by way.
 */
export const leftOut = (rows: ReadonlyArray<ReadonlyArray<Figures>>): Figures => {
  const chosen = leaveOneOut(rows, ({ ndcg10 }) => ndcg10)
  const mean = (of: (figures: Figures) => number) => chosen.reduce((sum, one) => sum + of(one), 0) / chosen.length
  return { ndcg10: mean(({ ndcg10 }) => ndcg10), recall100: mean(({ recall100 }) => recall100) }
}

const gain = (grades: ReadonlyArray<number>): number =>
  grades.slice(0, 10).reduce((sum, grade, index) => sum + grade / Math.log2(index + 2), 0)
