import type { VectorFile } from "../../ports/VectorStore.ts"
import { chunkColumns, chunkOfColumns, columnsOf, type ReadChunk } from "../Chunks.ts"
import type { Arrow, ArrowSchema, ArrowTable, Row } from "./Library.ts"

/** Most bytes of a term: the tokenizer leaves out longer ones. */
export const longestTerm = 2_000

/** Name of the index of vectors. */
export const denseIndex = "embedding_idx"
/** Name of the full-text index of terms. */
export const wordIndex = "terms_idx"
/** Name of the index of files. */
export const fileIndex = "file_id_idx"

/** Arrow schema of the corpus's table. */
export const schemaOf = ({ Field, FixedSizeList, Float32, Int32, List, Schema, Utf8 }: Arrow, dimensions: number): ArrowSchema => {
  const whole = new Int32()
  const text = new Utf8()
  const types: { readonly [C in (typeof chunkColumns)[number]]?: unknown } = {
    ordinal: whole,
    headings: new List(new Field("item", text, true)),
    byte_start: whole,
    byte_end: whole,
    first_page: whole,
    last_page: whole,
    embedding: new FixedSizeList(dimensions, new Field("item", new Float32(), true))
  }
  const absent = new Set<string>(["first_page", "last_page", "metadata", "permissions", "record"])
  return new Schema(chunkColumns.map((column) => new Field(column, types[column] ?? text, absent.has(column))))
}

/** The rows of some chunks by column. Vectors are one typed array, which the library takes without visiting each number. */
export const tableOf = (
  arrow: Arrow,
  schema: ArrowSchema,
  corpus: string,
  batch: ReadonlyArray<readonly [VectorFile, VectorFile["chunks"][number]]>
): ArrowTable => {
  const length = batch.length
  const dimensions = batch[0]?.[1].vector.length ?? 0
  const values = new Float32Array(length * dimensions)
  batch.forEach(([, { vector }], at) => values.set(vector, at * dimensions))
  const typeOf = (column: (typeof chunkColumns)[number]) => schema.fields.find(({ name }) => name === column)?.type
  const vectors = arrow.makeData({
    type: typeOf("embedding"),
    length,
    nullCount: 0,
    child: arrow.makeData({ type: new arrow.Float32(), length: values.length, nullCount: 0, data: values })
  })
  const rows = batch.map(([file, chunk]) => ({
    ...columnsOf(corpus, file, chunk),
    metadata: json(file.metadata),
    permissions: json(file.permissions),
    terms: chunk.terms.join(" ")
  }))
  const texts = chunkColumns.filter((column) => column !== "embedding")
  return new arrow.Table(
    schema,
    Object.fromEntries([
      ...texts.map((column) => [column, arrow.vectorFromArray(rows.map((row) => row[column]), typeOf(column))] as const),
      ["embedding", new arrow.Vector([vectors])] as const
    ])
  )
}

const json = (value: unknown) => value === undefined ? null : JSON.stringify(value)

/** The chunk of a row that {@link tableOf} made. Lists come as Arrow vectors. */
export const readOf = (row: Row): ReadChunk => {
  const list = (column: string) => [...row[column] as Iterable<unknown>]
  return chunkOfColumns(row, { headings: list("headings").map(String), vector: Float32Array.from(list("embedding"), Number) })
}

/** An SQL condition for the rows of some files. */
export const ofFiles = (files: ReadonlyArray<string>): string =>
  `file_id IN (${files.length === 0 ? "''" : files.map((file) => `'${file.replaceAll("'", "''")}'`).join(", ")})`
