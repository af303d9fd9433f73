import { Effect } from "effect"
import type { VectorStore } from "../../ports/VectorStore.ts"
import { chunkColumns, corpusRecordOf, filesOf, textOf, versionsOf } from "../Chunks.ts"
import { type Connection, longLimit } from "./Connection.ts"
import { ofFiles, readOf } from "./Rows.ts"

/** Reads what the database holds: records of corpora, versions of files, and whole files. */
export const readsOf = ({ attempt, needTable, records, table }: Connection): Pick<VectorStore, "corpora" | "versions" | "read"> => {
  const corpora: VectorStore["corpora"] = Effect.gen(function*() {
    const signed = yield* records
    if (signed === undefined) return []
    const rows = yield* attempt("looking for corpora", () => signed.query().select(["corpus", "record"]).toArray())
    // Writers that sign a corpus at the same time may each insert its record.
    const found = rows.flatMap((row) => corpusRecordOf(String(row["corpus"]), row["record"]))
    return [...new Map(found.map((record) => [record.corpus, record])).values()]
  })

  const versions: VectorStore["versions"] = Effect.gen(function*() {
    const found = yield* table
    if (found === undefined) return []
    const rows = yield* attempt("looking for files", () => found.query().select(["file_id", "ordinal", "record"]).toArray(), longLimit)
    return versionsOf(rows.map((row) => ({
      file: String(row["file_id"]),
      ordinal: Number(row["ordinal"]),
      record: textOf(row["record"])
    })))
  })

  const read: VectorStore["read"] = Effect.fnUntraced(function*(files) {
    const found = yield* needTable
    const wanted = chunkColumns.filter((column) => column !== "id" && column !== "terms")
    return filesOf((yield* attempt("reading files", () => found.query().where(ofFiles(files)).select(wanted).toArray())).map(readOf))
  })

  return { corpora, versions, read }
}
