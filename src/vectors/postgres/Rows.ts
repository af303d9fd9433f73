import type { VectorFile } from "../../ports/VectorStore.ts"
import { chunkColumns, chunkOfColumns, columnsOf, jsonIn, type ReadChunk, vectorJson } from "../Chunks.ts"
import type { Row } from "./Connection.ts"
import { tsvector } from "./Lexemes.ts"

/** The columns of the corpus's table. */
export const columns = [...chunkColumns, "length"] as const
/** Types of columns in the JSON that rows are written by; `text` where absent. */
export const types: Readonly<Record<string, string>> = {
  id: "uuid",
  ordinal: "integer",
  headings: "jsonb",
  byte_start: "integer",
  byte_end: "integer",
  first_page: "integer",
  last_page: "integer",
  metadata: "jsonb",
  permissions: "jsonb",
  length: "integer"
}
/** Expressions for columns whose values are cast from text. */
export const casts: Readonly<Record<string, string>> = { terms: "terms::tsvector", embedding: "embedding::halfvec" }

/** The row of a chunk. */
export const rowOf = (corpus: string, file: VectorFile, chunk: VectorFile["chunks"][number]) => ({
  ...columnsOf(corpus, file, chunk),
  terms: tsvector(chunk.terms),
  length: chunk.terms.length,
  embedding: vectorJson(chunk.vector)
})

/** The chunk of a row that {@link rowOf} wrote. */
export const readOf = (row: Row): ReadChunk =>
  chunkOfColumns(row, {
    headings: jsonIn<ReadonlyArray<string>>(row["headings"])?.value ?? [],
    vector: Float32Array.from(JSON.parse(String(row["embedding"])) as ReadonlyArray<number>)
  })
