import { createHash } from "node:crypto"
import { Effect, Option, Schema, Semaphore } from "effect"
import { ServiceError } from "../domain/Errors.ts"
import type { CorpusRecord as CorpusRecordType, StoredVersion, VectorChunk, VectorFile, VectorQuery } from "../ports/VectorStore.ts"

/**
 * The id of a chunk, a hash of its corpus, version and ordinal: writing a version again writes the same ids, and another
 * version has other ids. A UUID of version 8, which every database accepts.
 */
export const chunkId = (corpus: string, file: string, ordinal: number): string => {
  const hex = createHash("sha256").update(JSON.stringify([corpus, file, ordinal])).digest("hex")
  const variant = ((Number.parseInt(hex.slice(16, 18), 16) & 0x3f) | 0x80).toString(16)
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-8${hex.slice(13, 16)}-${variant}${hex.slice(18, 20)}-${hex.slice(20, 32)}`
}

/** The chunks of files in order, in batches of at most `size`, each with its file. */
export const chunkBatches = (
  files: ReadonlyArray<VectorFile>,
  size: number
): ReadonlyArray<ReadonlyArray<readonly [VectorFile, VectorChunk]>> => {
  return parts(files.flatMap((file) => file.chunks.map((chunk) => [file, chunk] as const)), size)
}

/** Splits a list into parts of at most `size` items. */
export const parts = <A>(items: ReadonlyArray<A>, size: number): ReadonlyArray<ReadonlyArray<A>> =>
  Array.from({ length: Math.ceil(items.length / size) }, (_, i) => items.slice(i * size, (i + 1) * size))

/** Columns of a table of chunks. */
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

/** A chunk's values by {@link chunkColumns}, without its terms and its vector, which each database holds in its own form. */
export const columnsOf = (corpus: string, file: VectorFile, chunk: VectorChunk) => ({
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
  record: chunk.record ?? null
})

/** The value if it is a string. */
export const textOf = (value: unknown): string | undefined => typeof value === "string" ? value : undefined

/** The chunk of a row that {@link columnsOf} wrote; `metadata` and `permissions` are read from JSON. */
export const chunkOfColumns = (
  row: Readonly<Record<string, unknown>>,
  { headings, vector }: Pick<VectorChunk, "headings" | "vector">
): ReadChunk => {
  const json = <A>(column: string) => jsonIn<A>(row[column])?.value
  const number = (column: string) => row[column] === null || row[column] === undefined ? undefined : Number(row[column])
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
      vector,
      terms: [],
      headings,
      byteStart: Number(row["byte_start"]),
      byteEnd: Number(row["byte_end"]),
      firstPage: number("first_page"),
      lastPage: number("last_page"),
      record: textOf(row["record"])
    }
  }
}

/**
 * Properties of a chunk without its vector, by the names that the service documents for Weaviate and further ones. Absent
 * values are undefined.
 */
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

/** The properties of {@link propertiesOf} as a database returns them: absent values may be null. */
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

/** A chunk read from a database, and the file that it names. */
export interface ReadChunk {
  readonly file: Omit<VectorFile, "chunks">
  readonly chunk: VectorChunk
}

/** The chunk of properties that {@link propertiesOf} wrote; undefined where they are from another writer, or were changed. */
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

/** Groups chunks by file, each file's in order. */
export const filesOf = (chunks: Iterable<ReadChunk>): ReadonlyArray<VectorFile> =>
  [...Map.groupBy(chunks, ({ file: { file } }) => file).values()].flatMap((of) => {
    const [first, ...others] = of.toSorted((a, b) => a.chunk.ordinal - b.chunk.ordinal)
    return first === undefined ? [] : [{ ...first.file, chunks: [first, ...others].map(({ chunk }) => chunk) }]
  })

/** The versions of chunks, with their number of chunks and the record of the first one. */
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
 * A query's terms for a server that weighs words by rarity alone: terms with a lower weight, as function words have, are left
 * out unless there are no others.
 */
export const heavyTerms = (terms: NonNullable<VectorQuery["terms"]>): ReadonlyArray<string> => {
  const heavy = terms.filter(({ weight }) => weight === 1)
  return (heavy.length > 0 ? heavy : terms).map(({ term }) => term)
}

/** Id of the pseudo-corpus that holds the records of corpora in a database that several corpora share. */
export const recordsCorpus = "corpora"

const CorpusRecord = Schema.fromJsonString(Schema.Struct({
  displayName: Schema.String,
  description: Schema.optionalKey(Schema.String),
  embeddingModel: Schema.optionalKey(Schema.String),
  embedder: Schema.String,
  owner: Schema.String
}))
const recordIn = Schema.decodeUnknownOption(CorpusRecord)

/** The record of a corpus, parsed from JSON; an empty list where the JSON is not a record. */
export const corpusRecordOf = (corpus: string, json: unknown): ReadonlyArray<CorpusRecordType> =>
  Option.match(recordIn(json), { onNone: () => [], onSome: (record) => [{ corpus, ...record }] })

/**
 * Parses JSON that Sluice wrote of a value of type `A`: the value, or `value: undefined` where the text is absent; undefined
 * where it does not parse.
 */
export const jsonIn = <A>(text: unknown): { readonly value: A | undefined } | undefined => {
  if (text === undefined || text === null) return { value: undefined }
  try {
    const value = JSON.parse(String(text)) as A | null
    return { value: value ?? undefined }
  } catch {
    return undefined
  }
}

/** A vector as JSON, rounded to six decimals: more than quantized vectors keep. */
export const vectorJson = (vector: Float32Array): string => {
  const values: Array<string> = []
  for (const value of vector) values.push(value === 0 ? "0" : String(Math.round(value * 1e6) / 1e6))
  return `[${values.join(",")}]`
}

/** Fields of the pipeline file, under `corpus.vectorDb`, that errors point to. */
export interface Fields {
  /** The field with the address of the database. */
  readonly address: string
  /** The field with the credential. */
  readonly key: string
  /** The field with the collection, index or schema that is used. */
  readonly part: string
}

const fieldOf = (field: string): string => `corpus.vectorDb.${field}`

/**
 * The error of a database that does not fit the corpus; nothing was written. `field` is a field of the pipeline file, under
 * `corpus.vectorDb`.
 */
export const unfit = (field: string, message: string, fix: string): ServiceError =>
  new ServiceError({ code: "FAILED_PRECONDITION", message: `${fieldOf(field)}: ${message}`, fix, field: fieldOf(field) })

/** Messages of servers that are out of space, whatever their status. */
const full = /no space left|disk (?:usage|space|is full)|storage (?:limit|quota)|max(?:imum)? storage|out of disk/i
const readOnly = /read-?only/i
/** Messages of servers without authentication that were sent a key. */
const keyless = /no authentication scheme is configured|remove the header for anonymous/i

/** Adds to an error of a database the field of the pipeline file that decides it, and a fix. */
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
      // Without a field for a key, the credentials come from the machine.
      return on(key, error.status === undefined || key === part ? error.fix : "put a key that is valid now into the secret version")
    case "PERMISSION_DENIED":
      return on(key, error.status === undefined ? error.fix : "use a key that may read, write and delete there")
    case "UNAVAILABLE":
    case "DEADLINE_EXCEEDED":
      return on(address, "check the address and the network, and that the database runs")
    case "NOT_FOUND":
      return on(address, "check the address")
    default:
      return on(part, error.fix ?? "see the database's message; use another database where this one cannot be changed")
  }
}

/** Whether a version such as `1.34.0-rc.1` is older than a major and minor version. */
export const isOlder = (version: string, [major, minor]: readonly [major: number, minor: number]): boolean => {
  const [ownMajor = 0, ownMinor = 0] = version.split(".").map((part) => Number.parseInt(part, 10))
  return ownMajor < major || (ownMajor === major && ownMinor < minor)
}

/** A setting of the corpus without which its database cannot be used; fails where it is not set. */
export const needed = (field: string, value: string | undefined): Effect.Effect<string, ServiceError> =>
  value !== undefined && value !== ""
    ? Effect.succeed(value)
    : Effect.fail(unfit(field, "is not set: the corpus has no database to keep its vectors in yet", "set it; it can be set once"))

/**
 * A resource made with a credential, and kept until the credential is refused: then it is made once more, with the current
 * credential, as after a rotation.
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
