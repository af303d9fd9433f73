import { Effect } from "effect"
import type { VectorStore } from "../../ports/VectorStore.ts"
import { corpusRecordOf, filesOf, textOf } from "../Chunks.ts"
import { type Connection, exists, ofFiles } from "./Connection.ts"
import { readOf } from "./Rows.ts"

/** Reads what the schema holds: records of corpora, versions of files, and whole files. */
export const readsOf = ({ records, table, transaction }: Connection): Pick<VectorStore, "corpora" | "versions" | "read"> => {
  const corpora: VectorStore["corpora"] = Effect.map(
    transaction("looking for corpora", async (run) => {
      return await exists(run, records) ? run(`SELECT corpus, record FROM ${records} ORDER BY corpus`) : []
    }),
    (rows) => rows.flatMap((row) => corpusRecordOf(String(row["corpus"]), row["record"]))
  )

  const versions: VectorStore["versions"] = Effect.map(
    transaction("looking for files", async (run) => {
      return !(await exists(run, table)) ? [] : run(
        `SELECT file_id, count(*)::integer AS chunks, max(record) FILTER (WHERE ordinal = 0) AS record FROM ${table} GROUP BY file_id`
      )
    }),
    (rows) => rows.map((row) => ({ file: String(row["file_id"]), chunks: Number(row["chunks"]), record: textOf(row["record"]) }))
  )

  const read: VectorStore["read"] = (files) =>
    Effect.map(
      transaction("reading files", (run) =>
        run(
          `SELECT file_id, ordinal, text, headings::text, byte_start, byte_end, first_page, last_page, source_uri, display_name,
            metadata::text, permissions::text, record, embedding::text FROM ${table} WHERE ${ofFiles("$1")}`,
          [JSON.stringify(files)]
        )),
      (rows) => filesOf(rows.map(readOf))
    )

  return { corpora, versions, read }
}
