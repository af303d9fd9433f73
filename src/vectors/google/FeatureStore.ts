import { Effect } from "effect"
import { ServiceError } from "../../domain/Errors.ts"
import type { VectorQuery, VectorStore } from "../../ports/VectorStore.ts"
import { chunkBatches, corpusRecordOf, filesOf, parts, recordsCorpus, vectorJson, versionsOf } from "../Chunks.ts"
import { quoted } from "./BigQuery.ts"
import { chunkIn, hitOf, names, rowOf, withVector } from "./featureStore/Columns.ts"
import { rowsOf } from "./featureStore/Rows.ts"
import { searchOf } from "./featureStore/Search.ts"
import { connect, type FeatureStoreOptions } from "./featureStore/View.ts"
import { idOf } from "./Service.ts"

export type { FeatureStoreOptions } from "./featureStore/View.ts"

/** Rows of one statement: its parameters stay below the 10 MB limit of a request. */
const writtenAtOnce = 100
/** Most values of one filter. */
const mostFiles = 500
/** Concurrent looks at whether written files are found. */
const lookedForAtOnce = 8

/**
 * A corpus in a feature view of Vertex AI Feature Store, which other corpora may share. Corpora are distinguished by
 * `corpus_id`. The rows of the view's BigQuery table are the source of truth, with the columns that the service documents and
 * further ones; a sync copies them into the view, which is searched by vectors alone. Entity ids are
 * `{corpus}/{version}/{ordinal}`.
 */
export const make = Effect.fnUntraced(function*(options: FeatureStoreOptions): Effect.fn.Return<VectorStore, ServiceError> {
  const view = yield* connect(options)
  const { bigQuery, corpus, dimensions, fitted, keep, place, set, tablePath } = view
  const { deleteRows, select, writeRows } = rowsOf(view)
  const { anywhere, neighbors, settled, synced } = searchOf(view)

  /** Deletes a file that does not exist, to test whether rows may be written. */
  const probe = deleteRows(corpus, ["nobody"])

  return {
    place,
    abilities: Effect.succeed({ words: false, mixes: false, rarity: false }),
    mostFiles,
    prepare: Effect.gen(function*() {
      const found = yield* fitted
      yield* probe
      if (found.wanted !== undefined) {
        yield* bigQuery("writing the columns", tablePath(found.table), { method: "PATCH", body: { schema: { fields: found.wanted } } })
      }
      keep({ ...found, wanted: undefined })
    }),
    check: Effect.gen(function*() {
      const found = yield* fitted
      yield* probe
      if (found.wanted !== undefined) {
        return yield* new ServiceError({ code: "NOT_FOUND", message: `the table of ${place} lacks columns of chunks` })
      }
      keep(found)
      const { rows: [[chunks] = []] } = yield* select("counting", ["COUNT(*)"], corpus)
      return { chunks: Number(chunks ?? 0), dimensions, version: "API v1" }
    }),
    put: Effect.fnUntraced(function*(files) {
      const { vector } = yield* set
      // A vector of zeros has no direction, and no search would find it.
      const some = files.map((file) => ({ ...file, chunks: file.chunks.filter(({ vector }) => vector.some((value) => value !== 0)) }))
      for (const batch of chunkBatches(some, writtenAtOnce)) {
        yield* writeRows(batch.map(([file, chunk]) => rowOf(corpus, file, chunk, vector)))
      }
      yield* synced
      yield* Effect.forEach(some, ({ chunks, file }) => {
        const last = chunks.at(-1)
        if (last === undefined) return Effect.void
        const id = idOf(corpus, file, last.ordinal)
        return settled(vectorJson(last.vector), [file], (found) => found.some(({ entityId }) => entityId === id))
      }, { concurrency: lookedForAtOnce, discard: true })
    }),
    delete: Effect.fnUntraced(function*(files) {
      let gone = 0
      for (const some of parts(files, mostFiles)) gone += yield* deleteRows(corpus, some)
      if (gone === 0) return
      yield* synced
      for (const some of parts(files, mostFiles)) yield* settled(anywhere, some, (found) => found.length === 0)
    }),
    drop: Effect.gen(function*() {
      if ((yield* set).wanted !== undefined) return
      const gone = yield* deleteRows(corpus)
      yield* deleteRows(recordsCorpus, [corpus])
      if (gone === 0) return
      yield* synced
      yield* settled(anywhere, undefined, (found) => found.length === 0)
    }),
    search: Effect.fnUntraced(function*({ count, files, vector }: VectorQuery) {
      if (vector === undefined || vector.every((value) => value === 0)) return { dense: [], sparse: [] }
      const { cosine } = yield* set
      const found = yield* neighbors("searching", vectorJson(vector), count, files)
      // A distance is either 1 minus the cosine, or the negative dot product.
      return { dense: found.flatMap(({ distance = 0, entityId }) => hitOf(entityId, cosine ? 1 - distance : -distance)), sparse: [] }
    }),
    corpora: Effect.map(
      select("looking for corpora", ["file_id", "chunk_data"], recordsCorpus),
      ({ rows }) => rows.flatMap(([file, record]) => corpusRecordOf(String(file), record))
    ),
    sign: Effect.fnUntraced(function*(record) {
      const { vector } = yield* set
      const row = {
        chunk_id: `${recordsCorpus}/${corpus}`,
        corpus_id: recordsCorpus,
        file_id: corpus,
        chunk_data_type: "CORPUS",
        chunk_data: JSON.stringify(record)
      }
      yield* writeRows([withVector(row, vector, anywhere)])
    }),
    versions: Effect.map(
      select("looking for files", ["file_id", "chunk_ordinal", "chunk_record"], corpus),
      ({ rows }) =>
        versionsOf(rows.map(([file, ordinal, record]) => ({
          file: String(file),
          ordinal: Number(ordinal),
          record: typeof record === "string" ? record : undefined
        })))
    ),
    read: Effect.fnUntraced(function*(files) {
      const { vector } = yield* set
      const found: Array<ReturnType<typeof chunkIn>> = []
      for (const some of parts(files, mostFiles)) {
        const { rows } = yield* select("reading chunks", [...names, quoted(vector)], corpus, some)
        found.push(...rows.map(chunkIn))
      }
      return filesOf(found.flatMap((chunk) => chunk ?? []))
    })
  }
})
