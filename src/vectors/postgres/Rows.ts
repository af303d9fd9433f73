import type { VectorFile } from "../../ports/VectorStore.ts"
import { chunkColumns, chunkId, jsonIn, type ReadChunk, vectorJson } from "../Chunks.ts"
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
  id: chunkId(corpus, file.file, chunk.ordinal),
  file_id: file.file,
  ordinal: chunk.ordinal,
  text: chunk.text,
  headings: chunk.headings,
  byte_start: chunk.byteStart,
  byte_end: chunk.byteEnd,
  first_page: chunk.firstPage ?? null,
  last_page: chunk.lastPage ?? null,
  source_uri: file.sourceUri,
  display_name: file.displayName,
  metadata: file.metadata ?? null,
  permissions: file.permissions ?? null,
  record: chunk.record ?? null,
  terms: tsvector(chunk.terms),
  length: chunk.terms.length,
  embedding: vectorJson(chunk.vector)
})

/** The value if it is a string. */
export const textOf = (value: unknown): string | undefined => typeof value === "string" ? value : undefined

/** The chunk of a row that {@link rowOf} wrote. */
export const readOf = (row: Row): ReadChunk => {
  const json = <A>(column: string) => jsonIn<A>(row[column])?.value
  const number = (column: string) => row[column] === null ? undefined : Number(row[column])
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
      vector: Float32Array.from(JSON.parse(String(row["embedding"])) as ReadonlyArray<number>),
      terms: [],
      headings: json<ReadonlyArray<string>>("headings") ?? [],
      byteStart: Number(row["byte_start"]),
      byteEnd: Number(row["byte_end"]),
      firstPage: number("first_page"),
      lastPage: number("last_page"),
      record: textOf(row["record"])
    }
  }
}
