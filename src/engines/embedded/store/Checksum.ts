import type { DatabaseSync } from "node:sqlite"
import { crc32 } from "node:zlib"

/** A row as `node:sqlite` gives it. */
export type Row = Record<string, unknown>

/** A blob column's bytes; nothing where the row is not there, which no checksum accepts. */
export const asBlob = (value: unknown): Uint8Array => value instanceof Uint8Array ? value : new Uint8Array(0)

/** Tables whose rows carry a checksum. */
type Checked = "corpora" | "files" | "chunk_pages" | "embeddings" | "segments" | "posting_pages" | "tombstones"

/** The columns a sum is made of, blobs last. What changes with every use of a row (`embeddings.uses`) is not among them. */
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

/** What a SELECT must name for {@link isIntact}; with `of`, each after that table's alias. */
export const checkedColumns = (table: Checked, of?: string): string =>
  [...columns[table].values, ...columns[table].blobs, "sum"].map((column) => of === undefined ? column : `${of}.${column}`).join(", ")

const scalar = (value: unknown): string | number | null => typeof value === "string" || typeof value === "number" ? value : null

/**
 * A CRC-32 of a row's columns, its id among them, kept in its `sum` column: it finds every flipped bit, and a row that
 * is found where another one was. Rows written before there were checksums have none.
 */
export const sumOf = (table: Checked, row: Row): number => {
  const { blobs, values } = columns[table]
  let sum = crc32(JSON.stringify(values.map((column) => scalar(row[column]))))
  for (const column of blobs) {
    const blob = row[column]
    // Anything else than bytes is damage, and gives another sum than the bytes did.
    sum = blob instanceof Uint8Array ? crc32(blob, sum) : ~sum >>> 0
  }
  return sum
}

/** {@link sumOf} a row of `embeddings`, of which there are many: in one call, of bytes put together. */
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

/** A row of {@link checkedColumns}, in their order, as a statement gives it that returns arrays: objects take longer to make than rows to read. */
export type RowValues = ReadonlyArray<unknown>

/** A statement that returns {@link RowValues}. */
export interface PreparedValues {
  readonly get: (...parameters: ReadonlyArray<number>) => RowValues | undefined
  readonly iterate: (...parameters: ReadonlyArray<number>) => Iterable<RowValues>
}

export const preparedValues = (db: DatabaseSync, sql: string): PreparedValues => {
  const statement = db.prepare(sql)
  statement.setReturnArrays(true)
  // The types say objects, whatever was set.
  return {
    get: (...parameters) => statement.get(...parameters) as unknown as RowValues | undefined,
    iterate: (...parameters) => statement.iterate(...parameters) as unknown as Iterable<RowValues>
  }
}

/** Where a column is in {@link RowValues}. */
export const columnAt = (table: Checked, column: string): number => {
  const { blobs, values } = columns[table]
  return [...values, ...blobs, "sum"].indexOf(column)
}

/** {@link isIntact} of {@link RowValues}. */
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

/** A vector's row as it was read, and whether it is as it was written. */
export interface ReadVector {
  readonly id: number
  readonly packed: Uint8Array
  readonly intact: boolean
}

/**
 * Reads the vectors whose ids are `from` to `to`, ascending. They come as one value of each kind, with what each row's sum is
 * of: that SQLite puts them together takes less than to make values of every row.
 */
export const preparedVectors = (db: DatabaseSync): (from: number, to: number) => ReadonlyArray<ReadVector> => {
  // A sum that is damaged may be of any type, and JSON holds no blobs.
  const statement = preparedValues(
    db,
    `SELECT json_group_array(id), json_group_array(octet_length(vector)), json_group_array(CAST(sum AS INTEGER)),
       json_group_array(octet_length(json_array(id, embedder)) + octet_length(hash) + octet_length(vector)),
       CAST(group_concat(json_array(id, embedder) || hash || vector, '') AS BLOB)
     FROM embeddings WHERE id BETWEEN ? AND ?`
  )
  return (from, to) => {
    const [ids, lengths, sums, summedLengths, bytes] = statement.get(from, to) ?? []
    const all = asBlob(bytes)
    const lengthOf = numbersIn(lengths)
    const sumOf = numbersIn(sums)
    const summedLengthOf = numbersIn(summedLengths)
    let end = 0
    return numbersIn(ids).map((id, at): ReadVector => {
      const start = end
      // Of a row with a column that is none, there are no bytes.
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

/** Reads one vector by its id: undefined where there is none, or it is not as it was written. */
export const preparedVector = (db: DatabaseSync): (id: number) => Uint8Array | undefined => {
  // What the sum is of comes as one value, as in preparedVectors: each value of a row costs as much as to find the row.
  const statement = preparedValues(
    db,
    "SELECT CAST(json_array(id, embedder) || hash || vector AS BLOB), octet_length(vector), sum FROM embeddings WHERE id = ?"
  )
  return (id) => {
    const row = statement.get(id)
    if (row === undefined) return undefined
    const [summed, length, sum] = row
    const bytes = asBlob(summed)
    return sum === null || sum === crc32(bytes) ? bytes.subarray(bytes.length - Number(length)) : undefined
  }
}

/** What `json_group_array` made of numbers, or of nothing. */
const numbersIn = (json: unknown): ReadonlyArray<number | null> => JSON.parse(String(json)) as ReadonlyArray<number | null>

/** Whether a row is as it was written. One without a sum is taken for intact, unless it is not a row at all. */
export const isIntact = (table: Checked, row: Row | undefined): row is Row =>
  row !== undefined && (row["sum"] === null || row["sum"] === sumOf(table, row))

/**
 * Something the store keeps that nothing else in it can replace was changed by something else than Sluice: a text, a
 * vector, a fact about a file.
 */
export class StoreDamage extends Error {
  /** Row of the file it belongs to, where that is known. */
  readonly file: number | undefined

  constructor(message: string, file?: number) {
    super(message)
    this.file = file
  }
}
