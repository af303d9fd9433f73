import { Option, Schema } from "effect"
import { defined } from "../../../domain/Defined.ts"
import { Marker } from "../../../domain/RagFile.ts"
import type { VectorFile } from "../../../ports/VectorStore.ts"
import type { Row } from "../store/Checksum.ts"
import type { NewChunk } from "../store/ChunkPage.ts"
import type { NewFile } from "../store/Commands.ts"
import { textHash } from "../store/Hash.ts"
import { markerOfRow } from "../store/Rows.ts"

/**
 * What the engine stores about a file in a vector database, apart from what other readers of it need: from this it restores the file when
 * its own database is lost.
 */
const FileRecord = Schema.Struct({
  /** Number of the file's chunks; with fewer of them the file is incomplete. */
  chunks: Schema.Int,
  sizeBytes: Schema.Int,
  tokens: Schema.Int,
  /** Microseconds since the epoch; of two versions the newer one counts. */
  created: Schema.Int,
  description: Schema.optionalKey(Schema.String),
  marker: Schema.optionalKey(Marker),
  pages: Schema.optionalKey(Schema.Int),
  language: Schema.optionalKey(Schema.String),
  title: Schema.optionalKey(Schema.String),
  author: Schema.optionalKey(Schema.String)
})
export type FileRecord = typeof FileRecord.Type

const ChunkRecord = Schema.fromJsonString(Schema.Struct({
  tokens: Schema.Int,
  pageBreaks: Schema.optionalKey(Schema.Array(Schema.Int)),
  /** The file's record, stored with its first chunk only. */
  file: Schema.optionalKey(FileRecord)
}))
const recordIn = Schema.decodeUnknownOption(ChunkRecord)

const fieldsOf = ({ author, chunks, created, description, language, marker, pages, sizeBytes, title, tokens }: FileRecord): FileRecord =>
  defined({ chunks, sizeBytes, tokens, created, description, marker, pages, language, title, author })

/** The record of a chunk, as text. `file`: the record of its file, for the file's first chunk. */
const chunkRecord = ({ pageBreaks, tokens }: Pick<NewChunk, "tokens" | "pageBreaks">, file?: FileRecord): string =>
  JSON.stringify({ tokens, pageBreaks, file: file === undefined ? undefined : fieldsOf(file) })

/** The file's record in a chunk's record; undefined where it has none, or where Sluice did not write it. */
export const fileRecordIn = (record: string | undefined): FileRecord | undefined => Option.getOrUndefined(recordIn(record))?.file

export const fileRecordOfRow = (row: Row): FileRecord => {
  const text = (column: string) => typeof row[column] === "string" ? row[column] : undefined
  return defined({
    chunks: Number(row["chunks"]),
    sizeBytes: Number(row["size_bytes"]),
    tokens: Number(row["tokens"]),
    created: Number(row["created"]),
    description: text("description"),
    marker: markerOfRow(row),
    pages: typeof row["pages"] === "number" ? row["pages"] : undefined,
    language: text("language"),
    title: text("title"),
    author: text("author")
  })
}

/** What {@link vectorFileOf} takes for each of a file's chunks. */
export interface ChunkFacts {
  readonly vector: Float32Array
  readonly terms: ReadonlyArray<string>
}

/** A file as its database stores it; {@link newFileOf} is the way back. `facts`: one for each chunk. */
export const vectorFileOf = (
  { chunks, displayName, metadata, name, permissions, sourceUri }: Pick<
    NewFile,
    "chunks" | "displayName" | "metadata" | "name" | "permissions" | "sourceUri"
  >,
  record: FileRecord,
  facts: ReadonlyArray<ChunkFacts>
): VectorFile => ({
  file: name,
  sourceUri,
  displayName,
  metadata,
  permissions,
  chunks: chunks.map((chunk, ordinal) => ({
    ...chunk,
    ...facts[ordinal]!,
    ordinal,
    record: chunkRecord(chunk, ordinal === 0 ? record : undefined)
  }))
})

/** A file as it was stored before, from its chunks in a vector database; undefined where a part is missing. */
export const newFileOf = ({ chunks, displayName, file: name, metadata, permissions, sourceUri }: VectorFile): NewFile | undefined => {
  const records = chunks.map(({ record }) => Option.getOrUndefined(recordIn(record)))
  const file = records[0]?.file
  if (file === undefined || file.chunks !== chunks.length || chunks.some(({ ordinal }, at) => ordinal !== at)) return undefined
  const { chunks: _, created: __, ...facts } = file
  const all: Array<NewChunk> = []
  for (const [at, { byteEnd, byteStart, firstPage, headings, lastPage, text }] of chunks.entries()) {
    const record = records[at]
    if (record === undefined) return undefined
    const { pageBreaks, tokens } = record
    all.push({ text, headings, byteStart, byteEnd, firstPage, lastPage, pageBreaks, tokens, hash: textHash(text) })
  }
  return { ...facts, name, displayName, sourceUri, metadata, permissions, chunks: all }
}
