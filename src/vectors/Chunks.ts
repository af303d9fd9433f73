import { createHash } from "node:crypto"
import { Effect, Option, Schema, Semaphore } from "effect"
import { ServiceError } from "../domain/Errors.ts"
import type { CorpusRecord as CorpusRecordType, StoredVersion, VectorChunk, VectorFile, VectorQuery } from "../ports/VectorStore.ts"

/**
 * The id of a chunk, made of what it is: the same version of a file has the same ids however often it is written, and
 * another one has others. A UUID of version 8, which every database takes.
 */
export const chunkId = (corpus: string, file: string, ordinal: number): string => {
  const hex = createHash("sha256").update(JSON.stringify([corpus, file, ordinal])).digest("hex")
  const variant = ((Number.parseInt(hex.slice(16, 18), 16) & 0x3f) | 0x80).toString(16)
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-8${hex.slice(13, 16)}-${variant}${hex.slice(18, 20)}-${hex.slice(20, 32)}`
}

/** The chunks of files in bounded batches, in order. */
export const chunkBatches = (
  files: ReadonlyArray<VectorFile>,
  size: number
): ReadonlyArray<ReadonlyArray<readonly [VectorFile, VectorChunk]>> => {
  return parts(files.flatMap((file) => file.chunks.map((chunk) => [file, chunk] as const)), size)
}

/** Parts of a list, each of `size` at most. */
export const parts = <A>(items: ReadonlyArray<A>, size: number): ReadonlyArray<ReadonlyArray<A>> =>
  Array.from({ length: Math.ceil(items.length / size) }, (_, i) => items.slice(i * size, (i + 1) * size))

/** What a table says of a chunk, a column each. */
export const chunkColumns = [
  "id",
  "file_id",
  "ordinal",
  "text",
  "headings",
  "byte_start",
  "byte_end",
  "first_page",
  "last_page",
  "source_uri",
  "display_name",
  "metadata",
  "permissions",
  "record",
  "terms",
  "embedding"
] as const

/** What is said of a chunk beside its vector, by the names that the service documents for Weaviate and ours. Absent is absent. */
export const propertiesOf = (corpus: string, file: VectorFile, chunk: VectorChunk) => ({
  fileId: file.file,
  corpusId: corpus,
  chunkId: chunkId(corpus, file.file, chunk.ordinal),
  chunkDataType: "TEXT",
  chunkData: chunk.text,
  fileOriginalUri: file.sourceUri,
  chunkOrdinal: chunk.ordinal,
  chunkHeadings: chunk.headings,
  chunkByteStart: chunk.byteStart,
  chunkByteEnd: chunk.byteEnd,
  chunkFirstPage: chunk.firstPage,
  chunkLastPage: chunk.lastPage,
  chunkRecord: chunk.record,
  fileDisplayName: file.displayName
})

/** What {@link propertiesOf} says of a chunk, as a database gives it back: absent may be null. */
const Properties = Schema.Struct({
  fileId: Schema.String,
  chunkData: Schema.String,
  fileOriginalUri: Schema.String,
  chunkOrdinal: Schema.Int,
  chunkHeadings: Schema.optionalKey(Schema.NullOr(Schema.Array(Schema.String))),
  chunkByteStart: Schema.Int,
  chunkByteEnd: Schema.Int,
  chunkFirstPage: Schema.optionalKey(Schema.NullOr(Schema.Int)),
  chunkLastPage: Schema.optionalKey(Schema.NullOr(Schema.Int)),
  chunkRecord: Schema.optionalKey(Schema.NullOr(Schema.String)),
  fileDisplayName: Schema.String
})
const propertiesIn = Schema.decodeUnknownOption(Properties)

/** A chunk that was read, and what it says of its file. */
export interface ReadChunk {
  readonly file: Omit<VectorFile, "chunks">
  readonly chunk: VectorChunk
}

/** The chunk of such properties; undefined where they are not ours, or not as they were put. */
export const chunkOf = (
  properties: unknown,
  vector: ReadonlyArray<number>,
  facts: Pick<VectorFile, "metadata" | "permissions">
): ReadChunk | undefined =>
  Option.match(propertiesIn(properties), {
    onNone: () => undefined,
    onSome: (found) => ({
      file: { file: found.fileId, sourceUri: found.fileOriginalUri, displayName: found.fileDisplayName, ...facts },
      chunk: {
        ordinal: found.chunkOrdinal,
        text: found.chunkData,
        vector: Float32Array.from(vector),
        terms: [],
        headings: found.chunkHeadings ?? [],
        byteStart: found.chunkByteStart,
        byteEnd: found.chunkByteEnd,
        firstPage: found.chunkFirstPage ?? undefined,
        lastPage: found.chunkLastPage ?? undefined,
        record: found.chunkRecord ?? undefined
      }
    })
  })

/** Chunks by the files that they are of, in order. */
export const filesOf = (chunks: Iterable<ReadChunk>): ReadonlyArray<VectorFile> =>
  [...Map.groupBy(chunks, ({ file: { file } }) => file).values()].flatMap((of) => {
    const [first, ...others] = of.toSorted((a, b) => a.chunk.ordinal - b.chunk.ordinal)
    return first === undefined ? [] : [{ ...first.file, chunks: [first, ...others].map(({ chunk }) => chunk) }]
  })

/** Chunks counted by version, with what the first one of each records. */
export const versionsOf = (
  chunks: Iterable<{ readonly file: string; readonly ordinal: number; readonly record?: string | undefined }>
): ReadonlyArray<StoredVersion> => {
  const found = new Map<string, { chunks: number; record?: string | undefined }>()
  for (const { file, ordinal, record } of chunks) {
    const version = found.get(file) ?? { chunks: 0 }
    version.chunks += 1
    if (ordinal === 0) version.record = record
    found.set(file, version)
  }
  return [...found].map(([file, version]) => ({ file, ...version }))
}

/**
 * A question's terms for a server that weighs words by their rarity alone: those of grammar, which are to count less, are
 * left out beside others.
 */
export const heavyTerms = (terms: NonNullable<VectorQuery["terms"]>): ReadonlyArray<string> => {
  const heavy = terms.filter(({ weight }) => weight === 1)
  return (heavy.length > 0 ? heavy : terms).map(({ term }) => term)
}

/** Where databases of many corpora keep the records of them, as if it were a corpus of its own. */
export const recordsCorpus = "corpora"

const CorpusRecord = Schema.fromJsonString(Schema.Struct({
  displayName: Schema.String,
  description: Schema.optionalKey(Schema.String),
  embeddingModel: Schema.optionalKey(Schema.String),
  embedder: Schema.String,
  owner: Schema.String
}))
const recordIn = Schema.decodeUnknownOption(CorpusRecord)

/** The record of a corpus in its JSON; nothing where that is not ours. */
export const corpusRecordOf = (corpus: string, json: unknown): ReadonlyArray<CorpusRecordType> =>
  Option.match(recordIn(json), { onNone: () => [], onSome: (record) => [{ corpus, ...record }] })

/** JSON that we wrote of a value of this type, or that is gone; undefined where it is neither. */
export const jsonIn = <A>(text: unknown): { readonly value: A | undefined } | undefined => {
  if (text === undefined || text === null) return { value: undefined }
  try {
    const value = JSON.parse(String(text)) as A | null
    return { value: value ?? undefined }
  } catch {
    return undefined
  }
}

/** A vector as JSON: six digits are more than the quantised vectors have. */
export const vectorJson = (vector: Float32Array): string => {
  const values: Array<string> = []
  for (const value of vector) values.push(value === 0 ? "0" : String(Math.round(value * 1e6) / 1e6))
  return `[${values.join(",")}]`
}

/** Which fields of the pipeline file, under `corpus.vectorDb`, say where a database is, who may use it, and what of it is used. */
export interface Fields {
  readonly address: string
  readonly key: string
  readonly part: string
}

const fieldOf = (field: string): string => `corpus.vectorDb.${field}`

/** A database that is not as the corpus needs it; nothing was written. `field` is that of the pipeline file, under `corpus.vectorDb`. */
export const unfit = (field: string, message: string, fix: string): ServiceError =>
  new ServiceError({ code: "FAILED_PRECONDITION", message: `${fieldOf(field)}: ${message}`, fix, field: fieldOf(field) })

/** What servers say where nothing more can be written, whatever status they say it with. */
const full = /no space left|disk (?:usage|space|is full)|storage (?:limit|quota)|max(?:imum)? storage|out of disk/i
const readOnly = /read-?only/i
/** What servers say that take no keys, where one is brought. */
const keyless = /no authentication scheme is configured|remove the header for anonymous/i

/** An error of a database with the field of the pipeline file that decides it, and what can be done. */
export const blamed = ({ address, key, part }: Fields) => (error: ServiceError): ServiceError => {
  if (error.field !== undefined) return error
  const on = (field: string, fix: string | undefined, code = error.code): ServiceError =>
    error.with({ code, message: `${fieldOf(field)}: ${error.message}`, field: fieldOf(field), fix })
  if (full.test(error.message)) return on(part, "the database is full: make room in it, or use another one", "FAILED_PRECONDITION")
  if (readOnly.test(error.message)) {
    return on(part, "the database is read-only: let it take writes, or use one that does", "FAILED_PRECONDITION")
  }
  switch (error.code) {
    case "UNAUTHENTICATED":
      if (keyless.test(error.message)) return on(key, "leave the key out: the server takes none")
      // Where no field names a key, the credentials are the machine's.
      return on(key, error.status === undefined || key === part ? error.fix : "put a key that is valid now into the secret version")
    case "PERMISSION_DENIED":
      return on(key, error.status === undefined ? error.fix : "use a key that may read, write and delete there")
    case "UNAVAILABLE":
    case "DEADLINE_EXCEEDED":
      return on(address, "check the address and the network, and that the database runs")
    case "NOT_FOUND":
      return on(address, "check the address")
    default:
      return on(part, error.fix ?? "see what the database says, and use another one where it cannot be changed")
  }
}

/** Whether a version such as `1.34.0-rc.1` comes before another. */
export const isOlder = (version: string, [major, minor]: readonly [major: number, minor: number]): boolean => {
  const [ownMajor = 0, ownMinor = 0] = version.split(".").map((part) => Number.parseInt(part, 10))
  return ownMajor < major || (ownMajor === major && ownMinor < minor)
}

/** What a corpus says of its database that has to be there before the database can be used. */
export const needed = (field: string, value: string | undefined): Effect.Effect<string, ServiceError> =>
  value !== undefined && value !== ""
    ? Effect.succeed(value)
    : Effect.fail(unfit(field, "is not set: the corpus has no database to keep its vectors in yet", "set it; it can be set once"))

/**
 * Something made with a credential, kept until the credential is refused: then it is made anew once, with the credential
 * as it is by now, as after a rotation.
 */
export const renewing = <A>(make: Effect.Effect<A, ServiceError>, close: (made: A) => Effect.Effect<void> = () => Effect.void) => {
  const lock = Semaphore.makeUnsafe(1)
  let current: A | undefined
  const get = (refused?: A): Effect.Effect<A, ServiceError> =>
    lock.withPermit(Effect.gen(function*() {
      if (current !== undefined && current !== refused) return current
      if (current !== undefined) yield* close(current)
      current = undefined
      current = yield* make
      return current
    }))
  return {
    use: <B>(body: (made: A) => Effect.Effect<B, ServiceError>): Effect.Effect<B, ServiceError> =>
      Effect.flatMap(
        get(),
        (made) => Effect.catchIf(body(made), ({ code }) => code === "UNAUTHENTICATED", () => Effect.flatMap(get(made), body))
      ),
    close: Effect.suspend(() => current === undefined ? Effect.void : close(current))
  }
}
