import { Effect, type Scope, Semaphore } from "effect"
import type { VectorStore } from "../../ports/VectorStore.ts"
import { chunkBatches, parts } from "../Chunks.ts"
import { type Connection, longLimit, recordsName } from "./Connection.ts"
import type { Table } from "./Library.ts"
import { denseIndex, ofFiles, schemaOf, tableOf, wordIndex } from "./Rows.ts"

/** Chunks of one commit. */
const chunksAtOnce = 1_000
/** Files of one deletion. */
const filesAtOnce = 1_000
/** Commits between two checks whether the table needs compaction. */
const commitsBetween = 32
/** Small fragments of the table from which it is compacted. */
const mostPieces = 32
/** Rows outside the index of terms from which the table is compacted. */
const mostUnindexed = 5_000
/** Milliseconds for which old versions of the table are kept, longer than any search takes. */
const keptMs = 60 * 60 * 1_000
/** Bits per component in the index of vectors. With 1, a tenth of the nearest would be missing; with 4, hardly any. */
const bits = 4

/**
 * Writes and deletes the corpus's rows and its record, and keeps the table compact and indexed. `indexFrom` is the number of
 * chunks from which vectors are indexed. A table that needs compaction when the scope closes is compacted then.
 */
export const writesOf = Effect.fnUntraced(function*(
  { again, attempt, connection, corpus, dimensions, forget, name, needTable, place, records, table }: Connection,
  indexFrom: number
): Effect.fn.Return<Pick<VectorStore, "put" | "delete" | "drop" | "sign">, never, Scope.Scope> {
  /** Commits of this process run one at a time. Conflicts with those of other processes are retried. */
  const writing = yield* Semaphore.make(1)
  let commits = 0
  const commit = <A>(what: string, body: (table: Table) => Promise<A>, found: Table) =>
    Effect.tap(attempt(what, () => body(found)), () => Effect.sync(() => void commits++))

  /** Compacts the fragments that commits leave, adds new rows to the indexes, and deletes old versions. */
  const order = Effect.gen(function*() {
    commits = 0
    const found = yield* table
    if (found === undefined) return
    const { lance } = yield* connection
    const { fragmentStats, numRows } = yield* attempt("looking", () => found.stats())
    const words = yield* attempt("looking", () => found.indexStats(wordIndex))
    const pieces = fragmentStats.numSmallFragments
    if (pieces >= mostPieces || (words?.numUnindexedRows ?? 0) >= mostUnindexed) {
      yield* attempt("optimizing", () => found.optimize({ cleanupOlderThan: new Date(Date.now() - keptMs) }), longLimit)
    }
    if (numRows < indexFrom) return
    const dense = yield* attempt("looking", () => found.indexStats(denseIndex))
    // New rows are assigned to the existing cells of the index. Where most rows are new, the index is built again.
    if (dense === undefined || dense.numUnindexedRows > dense.numIndexedRows) {
      const config = lance.Index.ivfRq({ distanceType: "cosine", numBits: bits })
      yield* attempt("indexing vectors", () => found.createIndex("embedding", { config, replace: true }), longLimit)
    }
  })
  // Without compaction the table is only slower, and another process may be compacting it.
  const ordered = Effect.catch(
    order,
    ({ code, message }) => code === "NOT_FOUND" ? Effect.void : Effect.logWarning(`${place} was not optimized: ${message}`)
  )
  yield* Effect.addFinalizer(() => commits === 0 ? Effect.void : writing.withPermit(ordered))

  const put: VectorStore["put"] = Effect.fnUntraced(function*(files) {
    const { arrow } = yield* connection
    const schema = schemaOf(arrow, dimensions)
    yield* Effect.forEach(chunkBatches(files, chunksAtOnce), (batch) => {
      const ids = [...new Set(batch.map(([{ file }]) => file))]
      return writing.withPermit(Effect.gen(function*() {
        const found = yield* needTable
        const rows = tableOf(arrow, schema, corpus, batch)
        const before = yield* attempt("looking", () => found.countRows(ofFiles(ids)))
        yield* commit("writing chunks", async (at) => {
          // Only a version that is written again has rows to be merged with.
          if (before === 0) await at.add(rows)
          else await at.mergeInsert("id").whenMatchedUpdateAll().whenNotMatchedInsertAll().execute(rows)
        }, found)
        if (commits >= commitsBetween) yield* ordered
      })).pipe(again)
    }, { discard: true })
  })

  const remove: VectorStore["delete"] = (files) =>
    Effect.forEach(parts(files, filesAtOnce), (some) =>
      writing.withPermit(Effect.gen(function*() {
        const found = yield* table
        if (found === undefined) return
        const where = ofFiles(some)
        if ((yield* attempt("looking", () => found.countRows(where))) === 0) return
        yield* commit("deleting chunks", (at) => at.delete(where), found)
      })).pipe(again), { discard: true })

  const drop: VectorStore["drop"] = writing.withPermit(Effect.gen(function*() {
    const found = yield* table
    if (found === undefined) return
    yield* forget
    commits = 0
    const { db } = yield* connection
    yield* attempt("deleting the table of the corpus", () => db.dropTable(name)).pipe(
      Effect.catchIf(({ code }) => code === "NOT_FOUND", () => Effect.void)
    )
    const signed = yield* records
    if (signed !== undefined) yield* attempt("deleting the record of the corpus", () => signed.delete(`corpus = '${corpus}'`))
  })).pipe(again)

  const sign: VectorStore["sign"] = Effect.fnUntraced(function*(record) {
    const { arrow, db } = yield* connection
    const text = new arrow.Utf8()
    const schema = new arrow.Schema(["corpus", "record"].map((column) => new arrow.Field(column, text, false)))
    yield* attempt("signing the corpus", async () => {
      const signed = await db.createEmptyTable(recordsName, schema, { mode: "create", existOk: true })
      const row = new arrow.Table(schema, {
        corpus: arrow.vectorFromArray([corpus], text),
        record: arrow.vectorFromArray([JSON.stringify(record)], text)
      })
      await signed.mergeInsert("corpus").whenMatchedUpdateAll().whenNotMatchedInsertAll().execute(row)
      signed.close()
    })
  }, again)

  return { put, delete: remove, drop, sign }
})
