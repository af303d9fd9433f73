import { ByteReader, ByteWriter } from "./Bytes.ts"

/** Facts about a segment's chunks, by ordinal: their place in the segment, ascending by chunk number. */
export interface SegmentBody {
  /** Chunk numbers. */
  readonly chunks: Float64Array
  /** Number of terms in each chunk, without stop words. */
  readonly lengths: Uint32Array
  /** Row ids in `embeddings` of the chunks' vectors. */
  readonly embeddings: Float64Array
  /** First term of each posting page, as UTF-8, by which a term's page is found. Segments of earlier versions lack them. */
  readonly firstTerms?: ReadonlyArray<Uint8Array>
}

export const packSegmentBody = (body: SegmentBody): Uint8Array => {
  const writer = new ByteWriter()
  let chunk = 0
  let embedding = 0
  writer.varint(body.chunks.length)
  for (let i = 0; i < body.chunks.length; i++) {
    writer.varint((body.chunks[i] ?? 0) - chunk)
    writer.varint(body.lengths[i] ?? 0)
    writer.signed((body.embeddings[i] ?? 0) - embedding)
    chunk = body.chunks[i] ?? 0
    embedding = body.embeddings[i] ?? 0
  }
  if (body.firstTerms !== undefined) {
    writer.varint(body.firstTerms.length)
    for (const term of body.firstTerms) {
      writer.varint(term.length)
      writer.bytes(term)
    }
  }
  return writer.sealed()
}

/** Unpacks the body of a segment; undefined where the bytes are damaged. */
export const unpackSegmentBody = (sealed: Uint8Array): SegmentBody | undefined => {
  const reader = ByteReader.unseal(sealed)
  if (reader === undefined) return undefined
  const count = reader.varint()
  const body: SegmentBody = {
    chunks: new Float64Array(count),
    lengths: new Uint32Array(count),
    embeddings: new Float64Array(count)
  }
  let chunk = 0
  let embedding = 0
  for (let i = 0; i < count; i++) {
    chunk += reader.varint()
    body.chunks[i] = chunk
    body.lengths[i] = reader.varint()
    embedding += reader.signed()
    body.embeddings[i] = embedding
  }
  return reader.done ? body : { ...body, firstTerms: readTerms(reader) }
}

const readTerms = (reader: ByteReader): ReadonlyArray<Uint8Array> => {
  const terms: Array<Uint8Array> = []
  for (let left = reader.varint(); left > 0; left--) {
    const length = reader.varint()
    const start = reader.position
    terms.push(reader.source.subarray(start, reader.position = start + length))
  }
  return terms
}

/** Ordinal of the first chunk whose number is `chunk` or more. */
export const ordinalFrom = (chunks: Float64Array, chunk: number): number => {
  let low = 0
  let high = chunks.length
  while (low < high) {
    const middle = (low + high) >>> 1
    if ((chunks[middle] ?? 0) < chunk) low = middle + 1
    else high = middle
  }
  return low
}
