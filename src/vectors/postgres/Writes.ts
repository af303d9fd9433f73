import { Effect } from "effect"
import type { VectorStore } from "../../ports/VectorStore.ts"
import { chunkBatches, parts } from "../Chunks.ts"
import { type Connection, exists, ofFiles } from "./Connection.ts"
import { withoutNul } from "./Lexemes.ts"
import { casts, columns, rowOf, types } from "./Rows.ts"
import type { VectorIndex } from "./VectorIndex.ts"

/** Chunks of one statement. */
const chunksAtOnce = 100
/** Files of one deletion. */
const filesAtOnce = 1_000

/** Writes and deletes the corpus's rows and its record. */
export const writesOf = (
  { corpus, records, table, transaction }: Connection,
  index: VectorIndex
): Pick<VectorStore, "put" | "delete" | "drop" | "sign"> => {
  const put: VectorStore["put"] = (files) =>
    Effect.forEach(chunkBatches(files, chunksAtOnce), (batch) =>
      transaction("writing chunks", (run) =>
        run(
          `INSERT INTO ${table} (${columns.join(", ")})
            SELECT ${columns.map((column) => casts[column] ?? column).join(", ")}
            FROM jsonb_to_recordset($1::text::jsonb) AS r(${columns.map((column) => `${column} ${types[column] ?? "text"}`).join(", ")})
            ON CONFLICT (id) DO UPDATE SET ${columns.map((column) => `${column} = excluded.${column}`).join(", ")}`,
          [withoutNul(JSON.stringify(batch.map(([file, chunk]) => rowOf(corpus, file, chunk))))]
        )), { discard: true }).pipe(Effect.andThen(index.written(files.reduce((sum, { chunks }) => sum + chunks.length, 0))))

  const remove: VectorStore["delete"] = (files) =>
    Effect.forEach(parts(files, filesAtOnce), (some) =>
      transaction(
        "deleting chunks",
        async (run) => await exists(run, table) ? run(`DELETE FROM ${table} WHERE ${ofFiles("$1")}`, [JSON.stringify(some)]) : []
      ), { discard: true })

  const drop: VectorStore["drop"] = Effect.gen(function*() {
    yield* index.stop
    yield* transaction("deleting the table of the corpus", async (run) => {
      await run(`DROP TABLE IF EXISTS ${table}`)
      return await exists(run, records) ? run(`DELETE FROM ${records} WHERE corpus = $1`, [corpus]) : []
    })
    yield* index.reset
  })

  const sign: VectorStore["sign"] = (record) =>
    Effect.asVoid(transaction("signing the corpus", (run) =>
      run(
        `INSERT INTO ${records} (corpus, record) VALUES ($1, $2) ON CONFLICT (corpus) DO UPDATE SET record = excluded.record`,
        [corpus, withoutNul(JSON.stringify(record))]
      )))

  return { put, delete: remove, drop, sign }
}
