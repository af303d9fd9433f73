import { bm25Defaults, type Corpus, type CorpusOptions, standsInFor, type VectorDb } from "../../../domain/Corpus.ts"
import type { Deployment, ImportCounts, Operation, OperationKind, PartialFailure } from "../../../domain/Operation.ts"
import { type DataSchema, type FileMetadata, FileMetadataName, plain } from "../../../domain/FileMetadata.ts"
import type { DataSchemaSpec, MetadataValue } from "../../../domain/MetadataValue.ts"
import type { Marker, Metadata, Permissions, RagFile, RagFileName } from "../../../domain/RagFile.ts"
import type { HeldFile } from "../../../ports/Files.ts"
import type { Names } from "../Names.ts"
import { timestamp } from "../../../domain/Stamps.ts"
import { areIntact, columnAt, isIntact, type Row, type RowValues } from "./Checksum.ts"
import type { NewFile } from "./Commands.ts"

/** A corpus's row, as far as the engine itself needs it. */
export interface CorpusRow {
  readonly id: number
  readonly name: string
  readonly vectorDb: VectorDb
  /** `Embedder.id` of the corpus's vectors. */
  readonly embedder: string
  /** BM25 parameters of the corpus. */
  readonly bm25: { readonly k1: number; readonly b: number }
  /** Counts the commits that changed the corpus's files or chunks; the column is called `generation`. */
  readonly revision: number
  readonly files: number
  readonly chunks: number
}

/** A value as the text of a JSON column. */
export const asJson = (value: unknown): string | null => value === undefined ? null : JSON.stringify(value)

const hexPart = /^[0-9a-f]{32}$/

const base64 = (hex: string): string => Buffer.from(hex, "hex").toString("base64url")
const hex = (base64: string): string => Buffer.from(base64, "base64url").toString("hex")

/**
 * A marker as it is stored. A usual marker is mostly hashes and is packed: as JSON it would be a quarter of a small file's size. Any
 * other marker is stored as JSON.
 */
export const packMarker = (marker: Marker | undefined): string | null => {
  if (marker === undefined) return null
  const { fingerprint, pathHash, source } = marker
  const parts = [pathHash, ...fingerprint.split(".")]
  return parts.length === 4 && parts.every((part) => hexPart.test(part)) && Object.keys(marker).length === 3
    ? `${parts.map(base64).join(".")} ${source}`
    : JSON.stringify(marker)
}

export const markerOfRow = (row: Row): Marker | undefined => unpackMarker(text(row, "marker"))

const unpackMarker = (packed: string | undefined): Marker | undefined => {
  if (packed === undefined || packed.startsWith("{")) return fromJson<Marker>(packed)
  const end = packed.indexOf(" ")
  const [pathHash = "", ...fingerprint] = packed.slice(0, end).split(".").map(hex)
  return { source: packed.slice(end + 1), pathHash, fingerprint: fingerprint.join(".") }
}

const asText = (value: unknown): string | undefined => typeof value === "string" ? value : undefined

const text = (row: Row, column: string): string | undefined => asText(row[column])

/** Reads JSON that Committer wrote from a value of this very type, in a database that only Sluice writes. */
const fromJson = <A>(value: string | undefined): A | undefined => value === undefined ? undefined : JSON.parse(value) as A

const json = <A>(row: Row, column: string): A | undefined => fromJson<A>(text(row, column))

/** `{ [key]: value }`, or `{}` where the value is undefined. */
const field = <K extends string, V>(key: K, value: V | undefined): { readonly [P in K]?: V } =>
  // A computed key widens to string; the value is what K stands for.
  value === undefined ? {} : { [key]: value } as { readonly [P in K]?: V }

export const corpusRow = (row: Row): CorpusRow => ({
  id: Number(row["id"]),
  name: String(row["name"]),
  vectorDb: json<VectorDb>(row, "vector_db") ?? { _tag: "managed" },
  embedder: String(row["embedder"]),
  bm25: { ...bm25Defaults, ...json<CorpusOptions>(row, "options")?.hybrid?.bm25 },
  revision: Number(row["generation"]),
  files: Number(row["files"]),
  chunks: Number(row["chunks"])
})

const standInNotice = (db: VectorDb, options: CorpusOptions | undefined): string | undefined => {
  const what = standsInFor(db, options)
  return what === undefined ? undefined : `${what} exists at Google only: this engine's own store stands in for it, and it is not called`
}

export const corpusOfRow = (row: Row, names: Names): Corpus => {
  const { vectorDb } = corpusRow(row)
  const options = json<CorpusOptions>(row, "options")
  return {
    name: names.corpus(String(row["name"])),
    displayName: String(row["display_name"]),
    ...field("description", text(row, "description")),
    vectorDb,
    ...field("embeddingModel", text(row, "embedding_model")),
    ...field("embedder", text(row, "embedder")),
    ...field("options", options),
    state: "ACTIVE",
    ...field("errorStatus", standInNotice(vectorDb, options)),
    filesCount: Number(row["files"]),
    createTime: timestamp(Number(row["created"])),
    updateTime: timestamp(Number(row["updated"]))
  }
}

/** A file's metadata. Title and author are the document's own where the caller gave none. */
const metadataWith = (title: string | undefined, author: string | undefined, given: Metadata | undefined): Metadata | undefined => {
  const own = { ...field("title", title), ...field("author", author) }
  return given === undefined && Object.keys(own).length === 0 ? undefined : { ...own, ...given }
}

export const metadataOfRow = (row: Row): Metadata | undefined =>
  metadataWith(text(row, "title"), text(row, "author"), json<Metadata>(row, "metadata"))

const [titleAt, authorAt, metadataAt] = [columnAt("files", "title"), columnAt("files", "author"), columnAt("files", "metadata")]

/** {@link metadataOfRow} for a row as an array. */
export const metadataOfValues = (row: RowValues): Metadata | undefined =>
  metadataWith(asText(row[titleAt]), asText(row[authorAt]), fromJson<Metadata>(asText(row[metadataAt])))

/** The column that {@link writtenOfRow} reads, for a file with the alias `f`; `which` restricts the keys. */
export const writtenColumn = (which = ""): string =>
  `(SELECT json_group_object(key, json(value)) FROM file_metadata WHERE file = f.id${which}) AS written`

/** Metadata that people wrote for a file, by key. */
export const writtenOfRow = (row: Row): RagFile["userMetadata"] => {
  const written = Object.entries(json<Record<string, MetadataValue>>(row, "written") ?? {})
  return written.length === 0 ? undefined : Object.fromEntries(written.map(([key, value]) => [key, plain(value)]))
}

export const dataSchemaOfRow = (row: Row, corpus: string, names: Names): DataSchema => ({
  name: names.schema(corpus, String(row["name"])),
  ...dataSchemaSpec(row)
})

/** The schema in a row of `data_schemas`; every row has one. */
export const dataSchemaSpec = (row: Row): DataSchemaSpec => JSON.parse(String(row["schema"])) as DataSchemaSpec

export const metadataOfFileRow = (row: Row, file: RagFileName): FileMetadata => ({
  name: FileMetadataName.make(`${file}/ragMetadata/${String(row["name"])}`),
  key: String(row["key"]),
  value: metadataValue(row)
})

/** The value in a row of `file_metadata`; every row has one. */
export const metadataValue = (row: Row): MetadataValue => JSON.parse(String(row["value"])) as MetadataValue

export const permissionsOfRow = (row: Row): Permissions | undefined => json<Permissions>(row, "permissions")

/** State of a file: a damaged file is listed, but in an error state. */
const stateOf = (noted: string | undefined, intact: () => boolean): Pick<RagFile, "state" | "errorStatus"> => {
  const damage = noted ?? (intact() ? undefined : "its record is damaged in the database")
  return damage === undefined ? { state: "ACTIVE" } : { state: "ERROR", errorStatus: damage }
}

export const fileOfRow = (row: Row, corpus: string, names: Names): RagFile => ({
  name: names.file(corpus, String(row["name"])),
  displayName: String(row["display_name"]),
  ...field("description", text(row, "description")),
  sourceUri: String(row["source_uri"]),
  sizeBytes: Number(row["size_bytes"]),
  ...stateOf(text(row, "damage"), () => isIntact("files", row)),
  ...field("marker", markerOfRow(row)),
  ...field("metadata", metadataOfRow(row)),
  ...field("userMetadata", writtenOfRow(row)),
  ...field("permissions", permissionsOfRow(row)),
  chunks: Number(row["chunks"]),
  tokens: Number(row["tokens"]),
  ...field("pages", typeof row["pages"] === "number" ? row["pages"] : undefined),
  createTime: timestamp(Number(row["created"])),
  updateTime: timestamp(Number(row["updated"]))
})

const heldAt = {
  name: columnAt("files", "name"),
  displayName: columnAt("files", "display_name"),
  sourceUri: columnAt("files", "source_uri"),
  sizeBytes: columnAt("files", "size_bytes"),
  marker: columnAt("files", "marker"),
  damage: columnAt("files", "sum") + 1
}

/** A held file, from a row of its checked columns followed by its noted damage. */
export const heldFileOf = (row: RowValues, corpus: string, names: Names): HeldFile => ({
  name: names.file(corpus, String(row[heldAt.name])),
  displayName: String(row[heldAt.displayName]),
  sourceUri: String(row[heldAt.sourceUri]),
  sizeBytes: Number(row[heldAt.sizeBytes]),
  marker: unpackMarker(asText(row[heldAt.marker])),
  ...stateOf(asText(row[heldAt.damage]), () => areIntact("files", row))
})

/** Like {@link fileOfRow}, for a file that was just written, without reading its row. */
export const newFileOf = (file: NewFile, at: number, corpus: string, names: Names): RagFile => {
  const time = timestamp(at)
  return {
    name: names.file(corpus, file.name),
    displayName: file.displayName,
    ...field("description", file.description),
    sourceUri: file.sourceUri,
    sizeBytes: file.sizeBytes,
    state: "ACTIVE",
    ...field("marker", file.marker),
    ...field("metadata", metadataWith(file.title, file.author, file.metadata)),
    ...field("permissions", file.permissions),
    chunks: file.chunks.length,
    tokens: file.tokens,
    ...field("pages", file.pages),
    createTime: time,
    updateTime: time
  }
}

export const operationOfRow = (row: Row, names: Names): Operation => ({
  name: names.operation(String(row["name"])),
  // The column is written from an OperationKind.
  kind: String(row["kind"]) as OperationKind,
  target: String(row["target"]),
  done: row["done"] === 1,
  ...field("progress", typeof row["progress"] === "number" ? row["progress"] : undefined),
  ...field("error", json<NonNullable<Operation["error"]>>(row, "error")),
  partialFailures: json<ReadonlyArray<PartialFailure>>(row, "failures") ?? [],
  ...field("counts", json<ImportCounts>(row, "counts")),
  ...field("deployment", json<Deployment>(row, "deployment")),
  createTime: timestamp(Number(row["created"])),
  updateTime: timestamp(Number(row["updated"]))
})
