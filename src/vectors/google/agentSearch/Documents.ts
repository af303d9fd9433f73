import { Schema } from "effect"
import type { VectorChunk, VectorFile } from "../../../ports/VectorStore.ts"
import { propertiesOf, vectorJson } from "../../Chunks.ts"

export const StructData = Schema.Record(Schema.String, Schema.Unknown)
export const Document = Schema.Struct({ structData: Schema.optionalKey(StructData) })
/** Place and vector of a chunk's document. `chunkCount` is the number of chunks in its file. */
export const Placed = Schema.Struct({
  fileId: Schema.String,
  chunkOrdinal: Schema.Int,
  chunkCount: Schema.Int,
  chunkRecord: Schema.optionalKey(Schema.String),
  chunkVector: Schema.optionalKey(Schema.Array(Schema.Finite))
})
const placedIn = Schema.decodeUnknownOption(Placed)
/** The place of a document that {@link documentOf} made; undefined for other documents. */
export const placeOf = (structData: unknown): typeof Placed.Type | undefined => {
  const found = placedIn(structData)
  return found._tag === "None" ? undefined : found.value
}

/** The document of a chunk, as JSON. A vector of zeros is left out: it has no direction, and every search would find it. */
export const documentOf = (corpus: string, file: VectorFile, chunk: VectorChunk): string => {
  const vector = chunk.vector.every((value) => value === 0) ? "" : `"chunkVector":${vectorJson(chunk.vector)},`
  const properties = {
    ...propertiesOf(corpus, file, chunk),
    chunkTerms: chunk.terms.join(" "),
    chunkCount: (file.chunks.at(-1)?.ordinal ?? 0) + 1,
    fileMetadata: JSON.stringify(file.metadata ?? null),
    filePermissions: JSON.stringify(file.permissions ?? null)
  }
  return `{"id":${JSON.stringify(properties.chunkId)},"structData":{${vector}${JSON.stringify(properties).slice(1)}}`
}
