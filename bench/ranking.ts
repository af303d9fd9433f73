/**
 * Measures the lexical ranker: `node bench/ranking.ts FOLDER…` prints nDCG@10 of BM25's first 20 documents, unchanged and
 * reranked, for each retrieval collection (see `collection.ts`).
 */
import { rankLexically } from "../src/models/LexicalRanker.ts"
import { loadCollection } from "./collection.ts"

const folders = process.argv.slice(2)
if (folders.length === 0) {
  process.stderr.write("usage: node bench/ranking.ts FOLDER…\n")
  process.exit(4)
}
const discounted = (gains: ReadonlyArray<number>): number => gains.slice(0, 10).reduce((sum, gain, at) => sum + gain / Math.log2(at + 2), 0)

for (const folder of folders) {
  const { queries, search } = loadCollection(folder, 1000)
  let [plain, ranked] = [0, 0]
  for (const { text, gains } of queries) {
    const ideal = discounted([...gains.values()].sort((a, b) => b - a))
    const ndcg = (contexts: ReadonlyArray<{ readonly chunkId: string }>): number =>
      discounted(contexts.map(({ chunkId }) => gains.get(chunkId) ?? 0)) / ideal
    const contexts = search(text, 20)
    plain += ndcg(contexts)
    ranked += ndcg(rankLexically(text, contexts))
  }
  const n = queries.length
  process.stdout.write(`${folder}  ${n} queries  as retrieved ${(plain / n).toFixed(4)}  ranked ${(ranked / n).toFixed(4)}\n`)
}
