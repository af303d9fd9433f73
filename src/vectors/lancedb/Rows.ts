import type { VectorFile } from "../../ports/VectorStore.ts"
import { chunkColumns, chunkId, jsonIn, type ReadChunk } from "../Chunks.ts"
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
  const column = (name: (typeof chunkColumns)[number], of: (file: VectorFile, chunk: VectorFile["chunks"][number]) => unknown) =>
    [name, arrow.vectorFromArray(batch.map(([file, chunk]) => of(file, chunk) ?? null), typeOf(name))] as const
  const json = (value: unknown) => value === undefined ? null : JSON.stringify(value)
  return new arrow.Table(
    schema,
    Object.fromEntries([
      column("id", ({ file }, { ordinal }) => chunkId(corpus, file, ordinal)),
      column("file_id", ({ file }) => file),
      column("ordinal", (_, { ordinal }) => ordinal),
      column("text", (_, { text }) => text),
      column("headings", (_, { headings }) => headings),
      column("byte_start", (_, { byteStart }) => byteStart),
      column("byte_end", (_, { byteEnd }) => byteEnd),
      column("first_page", (_, { firstPage }) => firstPage),
      column("last_page", (_, { lastPage }) => lastPage),
      column("source_uri", ({ sourceUri }) => sourceUri),
      column("display_name", ({ displayName }) => displayName),
      column("metadata", ({ metadata }) => json(metadata)),
      column("permissions", ({ permissions }) => json(permissions)),
      column("record", (_, { record }) => record),
      column("terms", (_, { terms }) => terms.join(" ")),
      ["embedding", new arrow.Vector([vectors])] as const
    ])
  )
}

/** The value if it is a string. */
export const textOf = (value: unknown): string | undefined => typeof value === "string" ? value : undefined

/** The chunk of a row that {@link tableOf} made. */
export const readOf = (row: Row): ReadChunk => {
  const json = <A>(column: string) => jsonIn<A>(row[column])?.value
  const number = (column: string) => row[column] === null || row[column] === undefined ? undefined : Number(row[column])
  // Lists come as Arrow vectors.
  const list = (column: string) => [...row[column] as Iterable<unknown>]
  return {
    file: {
      file: String(row["file_id"]),
      sourceUri: String(row["source_uri"]),
      displayName: String(row["display_name"]),
      metadata: json("metadata"),
      permissions: json("permissions")
    },
    chunk: {
      ordinal: Number(row["ordinal"]),
      text: String(row["text"]),
      vector: Float32Array.from(list("embedding"), Number),
      terms: [],
      headings: list("headings").map(String),
      byteStart: Number(row["byte_start"]),
      byteEnd: Number(row["byte_end"]),
      firstPage: number("first_page"),
      lastPage: number("last_page"),
      record: textOf(row["record"])
    }
  }
}

/** An SQL condition for the rows of some files. */
export const ofFiles = (files: ReadonlyArray<string>): string =>
  `file_id IN (${files.length === 0 ? "''" : files.map((file) => `'${file.replaceAll("'", "''")}'`).join(", ")})`
