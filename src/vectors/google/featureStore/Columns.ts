import type { VectorChunk, VectorFile, VectorHit } from "../../../ports/VectorStore.ts"
import { chunkOf, jsonIn, propertiesOf, vectorJson } from "../../Chunks.ts"
import type { Column, Queried } from "../BigQuery.ts"
import { idOf, placeIn } from "../Service.ts"

/** The columns that the service documents and those that Sluice adds, without the column of vectors. */
const columns = {
  chunk_id: "STRING",
  corpus_id: "STRING",
  file_id: "STRING",
  chunk_data_type: "STRING",
  chunk_data: "STRING",
  file_original_uri: "STRING",
  chunk_ordinal: "INT64",
  chunk_headings: "STRINGS",
  chunk_byte_start: "INT64",
  chunk_byte_end: "INT64",
  chunk_first_page: "INT64",
  chunk_last_page: "INT64",
  chunk_record: "STRING",
  file_display_name: "STRING",
  file_metadata: "STRING",
  file_permissions: "STRING"
} as const
/** Names of the columns, in order. */
export const names = Object.keys(columns)
/** The column of entity ids. */
export const key = "chunk_id"
/** All columns of a table whose column of vectors has a given name. */
export const columnsWith = (vector: string): ReadonlyArray<Column> => [
  ...Object.entries(columns).map(([name, type]): Column => type === "STRINGS" ? { name, type: "STRING", repeated: true } : { name, type }),
  { name: vector, type: "FLOAT64", repeated: true }
]
const camelCase = (name: string): string => name.replace(/_(\w)/g, (_, letter: string) => letter.toUpperCase())
const snakeCase = (name: string): string => name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)

/** The hit of an entity; an empty list for ids of other writers. */
export const hitOf = (entityId: string, score: number): ReadonlyArray<VectorHit> => {
  const found = placeIn(entityId)
  return found === undefined ? [] : [{ ...found, score }]
}

/** A row as JSON, with its vector, which is JSON already. */
export const withVector = (row: object, column: string, vector: string): string =>
  JSON.stringify(row).replace(/^\{/, `{${JSON.stringify(column)}:${vector},`)

/** The row of a chunk, as JSON. */
export const rowOf = (corpus: string, file: VectorFile, chunk: VectorChunk, column: string): string => {
  const properties = Object.entries(propertiesOf(corpus, file, chunk)).map(([name, value]) => [snakeCase(name), value])
  const row = {
    ...Object.fromEntries(properties),
    chunk_id: idOf(corpus, file.file, chunk.ordinal),
    file_metadata: JSON.stringify(file.metadata ?? null),
    file_permissions: JSON.stringify(file.permissions ?? null)
  }
  return withVector(row, column, vectorJson(chunk.vector))
}

/** The chunk of a row: its cells in the order of the columns, the vector last. */
export const chunkIn = (row: Queried["rows"][number]) => {
  const properties = Object.fromEntries(names.map((name, at) => {
    const value = row[at] ?? null
    return [camelCase(name), columns[name as keyof typeof columns] === "INT64" && value !== null ? Number(value) : value]
  }))
  const vector = row[names.length]
  return chunkOf(properties, Array.isArray(vector) ? vector.map(Number) : [], {
    metadata: jsonIn<NonNullable<VectorFile["metadata"]>>(properties["fileMetadata"])?.value,
    permissions: jsonIn<NonNullable<VectorFile["permissions"]>>(properties["filePermissions"])?.value
  })
}
