import { Effect } from "effect"
import type { VectorHit, VectorQuery, VectorStore } from "../../ports/VectorStore.ts"
import type { Connection } from "./Connection.ts"
import type { Row } from "./Library.ts"
import { longestTerm, ofFiles } from "./Rows.ts"

/** Candidates for each requested hit that are compared by their whole vectors. */
const refine = 4
/** Cells of the index of vectors that are searched. */
const probes = 64

/** Searches the corpus by vector, and by full text over its terms. */
export const searchOf = ({ attempt, connection, forget, table }: Connection): VectorStore["search"] =>
  Effect.fnUntraced(
    function*({ count, files, terms = [], vector }: VectorQuery) {
      const found = yield* table
      if (found === undefined) return { dense: [], sparse: [] }
      const { lance } = yield* connection
      const where = files === undefined ? undefined : ofFiles(files)
      const asked = terms.filter(({ term }) => term !== "" && Buffer.byteLength(term) <= longestTerm)
      const [near, worded] = yield* Effect.all([
        vector === undefined || vector.every((value) => value === 0)
          ? Effect.succeed([])
          : attempt("searching", () => {
            const query = found.vectorSearch(vector).distanceType("cosine").nprobes(probes).refineFactor(refine)
            return (where === undefined ? query : query.where(where)).select(["file_id", "ordinal", "_distance"]).limit(count).toArray()
          }),
        asked.length === 0
          ? Effect.succeed([])
          : attempt("searching", () => {
            const words = asked.map(({ term, weight }) => new lance.MatchQuery(term, "terms", { boost: weight }))
            const [only] = words
            const query = found.query().fullTextSearch(
              words.length === 1 ? only! : new lance.BooleanQuery(words.map((word) => [lance.Occur.Should, word]))
            )
            return (where === undefined ? query : query.where(where)).select(["file_id", "ordinal", "_score"]).limit(count).toArray()
          })
      ], { concurrency: 2 })
      return {
        dense: near.map((row) => hitOf(row, 1 - Number(row["_distance"]))),
        sparse: worded.map((row) => hitOf(row, Number(row["_score"])))
      }
    },
    // Another process dropped the table.
    Effect.catchIf(({ code }) => code === "NOT_FOUND", () => Effect.as(forget, { dense: [], sparse: [] }))
  )

const hitOf = (row: Row, score: number): VectorHit => ({ file: String(row["file_id"]), ordinal: Number(row["ordinal"]), score })
