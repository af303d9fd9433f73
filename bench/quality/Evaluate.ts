export interface Figures {
  readonly ndcg10: number
  readonly recall100: number
  /** Of half of the questions, one after the other. */
  readonly milliseconds?: number
}

export interface Hit {
  readonly id: string
  readonly score: number
}

/**
 * Means over the queries with a relevant document, as trec_eval reckons them: gain = grade, discount log2(rank + 1),
 * ties by id, descending. A query without hits counts 0.
 */
export const evaluate = async (
  judgements: ReadonlyMap<string, ReadonlyMap<string, number>>,
  hitsOf: (query: string) => Promise<ReadonlyArray<Hit>>
): Promise<Figures> => {
  let queries = 0
  let ndcg = 0
  let recall = 0
  const times: Array<number> = []
  for (const [query, graded] of judgements) {
    const grades = [...graded.values()].filter((grade) => grade > 0).sort((a, b) => b - a)
    if (grades.length === 0) continue
    queries++
    const asked = performance.now()
    const found = await hitsOf(query)
    times.push(performance.now() - asked)
    const hits = [...found].sort((a, b) => b.score - a.score || (a.id < b.id ? 1 : -1))
    const gains = hits.map((hit) => Math.max(0, graded.get(hit.id) ?? 0))
    ndcg += gain(gains) / gain(grades)
    recall += gains.slice(0, 100).filter((grade) => grade > 0).length / grades.length
  }
  return {
    ndcg10: ndcg / queries,
    recall100: recall / queries,
    milliseconds: times.toSorted((a, b) => a - b)[Math.floor(times.length / 2)] ?? 0
  }
}

const gain = (grades: ReadonlyArray<number>): number =>
  grades.slice(0, 10).reduce((sum, grade, index) => sum + grade / Math.log2(index + 2), 0)
