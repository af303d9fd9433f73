import { Clock, Effect } from "effect"
import { ServiceError } from "../../domain/Errors.ts"
import type { VectorHit, VectorQuery, VectorStore } from "../../ports/VectorStore.ts"
import { vectorJson } from "../Chunks.ts"
import { type Connection, ofFiles, type Row } from "./Connection.ts"
import { undefinedTable } from "./Failures.ts"
import { quoted } from "./Lexemes.ts"

/**
 * Candidates of a vector search for each requested hit. Recall of the nearest hundred is .89 with 200 candidates, .98 with
 * 1,000 (`npm run bench:vectors -- --recall`).
 */
const candidatesOfHit = 10
const leastCandidates = 200
/** Most candidates that pgvector allows. */
const mostCandidates = 1_000
/** Milliseconds for which statistics of the corpus are reused. */
const statisticsFor = 10_000
/** BM25's constants. */
const k1 = 1.2
const b = 0.75
/**
 * The frequency of a term in a chunk that has it, as an expression. `ts_rank` of one term is the sum of 1/i² for each i up to
 * the frequency, divided by π²/6, which that sum approaches; what is missing of it is nearly 1 / (frequency + 1/2).
 */
const frequency = "1 / (pi() ^ 2 / 6 * (1 - ts_rank('{1,1,1,1}', terms, lexeme))) - 0.5"

/** Statistics of the corpus, at most some seconds old. */
interface Statistics {
  readonly chunks: number
  /** Mean number of terms in a chunk. */
  readonly length: number
  /** Document frequency by term: the number of chunks that contain it. Only terms of past queries are counted. */
  readonly having: Map<string, number>
}

/** Searches the corpus by vector, and by BM25 over its terms. */
export const searchOf = ({ name, place, table, transaction }: Connection): VectorStore["search"] => {
  let statistics: Statistics | undefined
  let statisticsUntil = 0
  /** The statistics, with the document frequency of each of the terms. */
  const statisticsWith = Effect.fnUntraced(function*(terms: ReadonlyArray<string>) {
    const now = yield* Clock.currentTimeMillis
    const known = statistics === undefined || now >= statisticsUntil ? undefined : statistics
    const unknown = terms.filter((term) => known?.having.has(term) !== true)
    if (known !== undefined && unknown.length === 0) return known
    const [corpusNow = known, having] = yield* transaction("counting", async (run) => {
      const [row] = known !== undefined ? [] : await run(
        `SELECT count(*)::integer AS chunks, coalesce(avg(length), 1)::float8 AS length FROM ${table}`
      )
      const counted = await run(
        `SELECT term, (SELECT count(*)::integer FROM ${table} WHERE terms @@ term::tsquery) AS chunks
          FROM jsonb_array_elements_text($1::text::jsonb) AS term`,
        [JSON.stringify(unknown)]
      )
      return [
        row === undefined ? undefined : {
          chunks: Number(row["chunks"]),
          length: Number(row["length"]) || 1,
          having: new Map<string, number>()
        },
        counted.map((row) => [String(row["term"]), Number(row["chunks"])] as const)
      ] as const
    })
    if (corpusNow === undefined) return yield* ServiceError.notFound(`the table ${name} in ${place}`)
    if (corpusNow !== known) {
      statistics = corpusNow
      statisticsUntil = now + statisticsFor
    }
    for (const [term, chunks] of having) corpusNow.having.set(term, chunks)
    return corpusNow
  })

  const dense = (vector: Float32Array, { count, files }: VectorQuery) =>
    transaction("searching", (run) =>
      run(
        `SELECT file_id, ordinal, 1 - (embedding <=> $1::text::halfvec) AS score FROM ${table}
          ${files === undefined ? "" : `WHERE ${ofFiles("$2")}`}
          ORDER BY embedding <=> $1::text::halfvec LIMIT ${count}`,
        [vectorJson(vector), ...(files === undefined ? [] : [JSON.stringify(files)])]
      ), {
      settings: {
        "hnsw.ef_search": String(Math.min(mostCandidates, Math.max(leastCandidates, candidatesOfHit * count))),
        "hnsw.iterative_scan": "strict_order",
        // Vectors are stored out of line, so the planner underestimates the cost of reading them all.
        enable_seqscan: "off"
      }
    })

  const sparse = Effect.fnUntraced(function*(terms: NonNullable<VectorQuery["terms"]>, { count, files }: VectorQuery) {
    const weights = new Map<string, number>()
    for (const { term, weight } of terms) {
      const lexeme = quoted(term)
      if (lexeme !== undefined) weights.set(lexeme, (weights.get(lexeme) ?? 0) + weight)
    }
    const { chunks, having, length } = yield* statisticsWith([...weights.keys()])
    // Rare terms weigh more.
    const asked = [...weights].flatMap(([lexeme, weight]) => {
      const n = having.get(lexeme) ?? 0
      return n === 0 ? [] : [{ lexeme, n, weight: weight * Math.log(1 + (Math.max(chunks, n) - n + 0.5) / (n + 0.5)) }]
    }).toSorted((a, b) => b.weight - a.weight)
    /** Upper bound on the score of a chunk without any of the first terms: a term counts less than its weight. */
    const without = (first: number): number => asked.slice(first).reduce((sum, { weight }) => sum + weight, 0)
    const all = JSON.stringify(asked.map(({ lexeme, weight }) => ({ lexeme, weight })))
    /** The best chunks among those with any of the first terms, scored by all terms. */
    const best = (first: number) =>
      transaction("searching", (run) =>
        run(
          `WITH asked AS MATERIALIZED (SELECT * FROM jsonb_to_recordset($1::text::jsonb) AS r(lexeme tsquery, weight float8))
          SELECT file_id, ordinal, (
              SELECT sum(weight * frequency / (frequency + ${k1} * (${1 - b} + ${b} * length / ${length}::float8)))
              FROM (SELECT weight, ${frequency} AS frequency FROM asked WHERE terms @@ lexeme) AS found
            ) AS score
          FROM ${table} WHERE terms @@ $2::text::tsquery AND ($3::text IS NULL OR ${ofFiles("$3")})
          ORDER BY score DESC, file_id, ordinal LIMIT ${count}`,
          [
            all,
            asked.slice(0, first).map(({ lexeme }) => lexeme).join(" | "),
            files === undefined ? null : JSON.stringify(files)
          ]
        ))
    if (asked.length === 0) return []
    // Most chunks match common terms alone. A search by the rarest terms finds the score that a hit needs; further terms are
    // added only while chunks without the first ones could reach it.
    let few = 0
    for (let found = 0; few < asked.length && found < 2 * count; few++) found += asked[few]?.n ?? 0
    const rows = yield* best(few)
    const least = rows.length < count ? 0 : Number(rows.at(-1)?.["score"])
    let enough = few
    while (enough < asked.length && without(enough) >= least * (1 - 1e-6)) enough++
    return enough === few ? rows : yield* best(enough)
  })

  return Effect.fnUntraced(
    function*(query) {
      const { terms, vector } = query
      const isZero = vector === undefined || vector.every((value) => value === 0)
      const [near, worded] = yield* Effect.all([
        isZero ? Effect.succeed([]) : dense(vector, query),
        terms === undefined || terms.length === 0 ? Effect.succeed([]) : sparse(terms, query)
      ], { concurrency: 2 })
      return { dense: near.map(hitOf), sparse: worded.map(hitOf) }
    },
    Effect.catchIf(
      // The table does not exist before the first file is put.
      ({ reason }) => reason === undefinedTable,
      () => Effect.succeed({ dense: [], sparse: [] })
    )
  )
}

const hitOf = (row: Row): VectorHit => ({ file: String(row["file_id"]), ordinal: Number(row["ordinal"]), score: Number(row["score"]) })
