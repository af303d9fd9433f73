import type { DatabaseSync } from "node:sqlite"
import { crc32 } from "node:zlib"

/** A row as `node:sqlite` returns it. */
export type Row = Record<string, unknown>

/** The bytes of a blob column; empty where the row is absent, which no checksum accepts. */
export const asBlob = (value: unknown): Uint8Array => value instanceof Uint8Array ? value : new Uint8Array(0)

/** Tables whose rows carry a checksum. */
type Checked = "corpora" | "files" | "chunk_pages" | "embeddings" | "segments" | "posting_pages" | "tombstones"

/** The columns that a checksum covers, blobs last. Columns that change with every use of a row (`embeddings.uses`) are not covered. */
const columns: Readonly<Record<Checked, { readonly values: ReadonlyArray<string>; readonly blobs: ReadonlyArray<string> }>> = {
  corpora: {
    values: [
      "id",
      "name",
      "display_name",
      "description",
      "vector_db",
      "embedding_model",
      "options",
      "embedder",
      "files",
      "chunks",
      "generation",
      "created",
      "updated"
    ],
    blobs: []
  },
  files: {
    values: [
      "id",
      "corpus",
      "name",
      "display_name",
      "description",
      "source_uri",
      "size_bytes",
      "marker",
      "metadata",
      "permissions",
      "first_chunk",
      "chunks",
      "tokens",
      "pages",
      "language",
      "title",
      "author",
      "created",
      "updated"
    ],
    blobs: []
  },
  chunk_pages: { values: ["first_chunk", "file", "chunks"], blobs: ["hashes", "body"] },
  embeddings: { values: ["id", "embedder"], blobs: ["hash", "vector"] },
  segments: {
    values: ["id", "corpus", "first_chunk", "last_chunk", "chunks", "first_page", "pages", "analysis", "analyzers", "first_terms"],
    blobs: ["body"]
  },
  posting_pages: { values: ["id"], blobs: ["first_term", "body"] },
  tombstones: { values: ["corpus", "first_chunk", "chunks"], blobs: [] }
}

/** The columns that a SELECT must name for {@link isIntact}, each prefixed with the table alias `of`, if given. */
export const checkedColumns = (table: Checked, of?: string): string =>
  [...columns[table].values, ...columns[table].blobs, "sum"].map((column) => of === undefined ? column : `${of}.${column}`).join(", ")

const scalar = (value: unknown): string | number | null => typeof value === "string" || typeof value === "number" ? value : null

/**
 * CRC-32 of a row's columns, including its id, which is stored in the `sum` column. It detects every flipped bit, and a row that is found
 * in the place of another. Rows written before checksums existed have none.
 */
export const sumOf = (table: Checked, row: Row): number => {
  const { blobs, values } = columns[table]
  let sum = crc32(JSON.stringify(values.map((column) => scalar(row[column]))))
  for (const column of blobs) {
    const blob = row[column]
    // Anything but bytes is damage, and must not have the checksum of the bytes.
    sum = blob instanceof Uint8Array ? crc32(blob, sum) : ~sum >>> 0
  }
  return sum
}

/** {@link sumOf} for a row of `embeddings`, of which there are many: a single CRC call over joined bytes. */
export const sumOfVector = (id: number, embedder: string, hash: Uint8Array, vector: Uint8Array): number => {
  if (embedder !== summedEmbedder) {
    summedEmbedder = embedder
    quotedEmbedder = JSON.stringify(embedder)
  }
  const values = `[${id},${quotedEmbedder}]`
  const room = values.length * 3 + hash.length + vector.length
  if (room > summed.length) summed = Buffer.allocUnsafe(room * 2)
  let length = summed.write(values)
  summed.set(hash, length)
  summed.set(vector, length += hash.length)
  return crc32(summed.subarray(0, length + vector.length))
}
let summed = Buffer.allocUnsafe(2_048)
let summedEmbedder: string | undefined
let quotedEmbedder = ""

/** A row of {@link checkedColumns} as an array, in their order: making objects would take longer than reading the rows. */
export type RowValues = ReadonlyArray<unknown>

/** A statement that returns {@link RowValues}. */
export interface PreparedValues {
  readonly get: (...parameters: ReadonlyArray<number>) => RowValues | undefined
  readonly iterate: (...parameters: ReadonlyArray<number>) => Iterable<RowValues>
}

export const preparedValues = (db: DatabaseSync, sql: string): PreparedValues => {
  const statement = db.prepare(sql)
  statement.setReturnArrays(true)
  // The types say that rows are objects, although the statement returns arrays.
  return {
    get: (...parameters) => statement.get(...parameters) as unknown as RowValues | undefined,
    iterate: (...parameters) => statement.iterate(...parameters) as unknown as Iterable<RowValues>
  }
}

/** Index of a column in {@link RowValues}. */
export const columnAt = (table: Checked, column: string): number => {
  const { blobs, values } = columns[table]
  return [...values, ...blobs, "sum"].indexOf(column)
}

/** {@link isIntact} for {@link RowValues}. */
export const areIntact = (table: Checked, row: RowValues | undefined): row is RowValues => {
  if (row === undefined) return false
  const { blobs, values } = columns[table]
  const at = values.length
  const sum = row[at + blobs.length]
  if (sum === null) return true
  let made = crc32(JSON.stringify(row.slice(0, at)))
  for (let i = 0; i < blobs.length; i++) {
    const blob = row[at + i]
    if (!(blob instanceof Uint8Array)) return false
    made = crc32(blob, made)
  }
  return made === sum
}

/** A row of a vector, and whether it is as it was written. */
export interface ReadVector {
  readonly id: number
  readonly packed: Uint8Array
  readonly intact: boolean
}

/**
 * Reads many vectors in one statement. SQLite joins each column of all rows into one value, along with what the checksums cover: that
 * takes less time than making JavaScript values for every row, and less again than a statement for each.
 */
const readingVectors = (db: DatabaseSync, where: string) => {
  // A damaged checksum may have any type, and JSON cannot hold blobs.
  const statement = db.prepare(
    `SELECT json_group_array(id), json_group_array(octet_length(vector)), json_group_array(CAST(sum AS INTEGER)),
       json_group_array(octet_length(json_array(id, embedder)) + octet_length(hash) + octet_length(vector)),
       CAST(group_concat(json_array(id, embedder) || hash || vector, '') AS BLOB)
     FROM embeddings WHERE ${where}`
  )
  statement.setReturnArrays(true)
  return (...parameters: ReadonlyArray<number | string>): ReadonlyArray<ReadVector> => {
    // The types say that rows are objects, although the statement returns arrays.
    const [ids, lengths, sums, summedLengths, bytes] = statement.get(...parameters) as unknown as RowValues
    const all = asBlob(bytes)
    const lengthOf = numbersIn(lengths)
    const sumOf = numbersIn(sums)
    const summedLengthOf = numbersIn(summedLengths)
    let end = 0
    return numbersIn(ids).map((id, at): ReadVector => {
      const start = end
      // A row with a NULL column has no bytes.
      const summedLength = summedLengthOf[at] ?? 0
      end += summedLength
      const sum = sumOf[at] ?? null
      return {
        id: id ?? 0,
        packed: summedLength === 0 ? all.subarray(0, 0) : all.subarray(end - (lengthOf[at] ?? 0), end),
        intact: sum === null || sum === crc32(all.subarray(start, end))
      }
    })
  }
}

/** Reads the vectors whose ids are `from` to `to`, ascending. */
export const preparedVectors = (db: DatabaseSync): (from: number, to: number) => ReadonlyArray<ReadVector> =>
  readingVectors(db, "id BETWEEN ? AND ?")

/** Reads the vectors of these ids, in any order; those that are absent are left out. */
export const preparedVectorsOf = (db: DatabaseSync): (ids: ReadonlyArray<number>) => ReadonlyArray<ReadVector> => {
  const read = readingVectors(db, "id IN (SELECT value FROM json_each(?))")
  return (ids) => read(JSON.stringify(ids))
}

/** Numbers, or nulls, that `json_group_array` returned. */
const numbersIn = (json: unknown): ReadonlyArray<number | null> => JSON.parse(String(json)) as ReadonlyArray<number | null>

/** Whether a row is as it was written. A row without a checksum counts as intact, an absent row does not. */
export const isIntact = (table: Checked, row: Row | undefined): row is Row =>
  row !== undefined && (row["sum"] === null || row["sum"] === sumOf(table, row))

/**
 * Something in the store that cannot be derived from the rest of it (a text, a vector, a fact about a file) was changed by something other
 * than Sluice.
 */
export class StoreDamage extends Error {
  /** Row id of the file that it belongs to, if known. */
  readonly file: number | undefined

  constructor(message: string, file?: number) {
    super(message)
    this.file = file
  }
}
