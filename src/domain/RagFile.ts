import { Schema } from "effect"
import type { Chunking, Cutting } from "./Chunking.ts"
import { CorpusName } from "./Corpus.ts"
import type { Described, Describing } from "./MetadataRules.ts"
import type { Parsing } from "./Parsing.ts"

/** Name of a file: `{corpus}/ragFiles/{file}`. Assigned by the engine; opaque to callers. */
export const RagFileName = Schema.NonEmptyString.pipe(Schema.brand("RagFileName"))
export type RagFileName = typeof RagFileName.Type

/** The corpus part of a file's name. */
export const corpusOf = (name: RagFileName): CorpusName =>
  CorpusName.make(name.slice(0, Math.max(0, name.lastIndexOf("/ragFiles/"))) || name)

/**
 * Who may read a file: everyone (`public`), or any of `principals` (`user:a@b.c`, `group:x`, `domain:b.c`, or the source's
 * own names; stored in lower case, and a question's `principal` is compared in lower case too). Absent on a file: everyone
 * who may read the corpus.
 */
export const Permissions = Schema.Struct({
  public: Schema.Boolean,
  principals: Schema.Array(Schema.String)
})
export type Permissions = typeof Permissions.Type

/** Links a file in the target to its source item, without the ledger. */
export const Marker = Schema.Struct({
  /** Pipeline name and source id, joined by `/`. */
  source: Schema.String,
  /** Hash of the item's path within the source (hex, 32 characters). */
  pathHash: Schema.String,
  /** The item's fingerprint: `{content}.{facts}.{settings}`, each a hash in hex. */
  fingerprint: Schema.String
})
export type Marker = typeof Marker.Type

export const FileState = Schema.Literals(["STATE_UNSPECIFIED", "ACTIVE", "ERROR"])
export type FileState = typeof FileState.Type

/** Flat string facts about a file: `title`, `author`, `modifiedTime` (RFC 3339), and what the source adds. */
export const Metadata = Schema.Record(Schema.String, Schema.String)
export type Metadata = typeof Metadata.Type

const PlainScalar = Schema.Union([Schema.String, Schema.Finite, Schema.Boolean])
/** A metadata value in plain JSON. */
export const PlainValue = Schema.Union([PlainScalar, Schema.Array(PlainScalar)])
export type PlainValue = typeof PlainValue.Type

/** A file of a corpus as the engine returns it. Times are as in RFC 3339. */
export const RagFile = Schema.Struct({
  name: RagFileName,
  displayName: Schema.String,
  description: Schema.optionalKey(Schema.String),
  /** Address of the original: `file:///…`, `gs://…`, `https://…`; the display name for plain uploads. */
  sourceUri: Schema.String,
  sizeBytes: Schema.optionalKey(Schema.Int),
  state: FileState,
  errorStatus: Schema.optionalKey(Schema.String),
  marker: Schema.optionalKey(Marker),
  metadata: Schema.optionalKey(Metadata),
  /** Metadata that people and rules wrote, by the keys of the corpus's data schemas (`FileMetadata.ts`). */
  userMetadata: Schema.optionalKey(Schema.Record(Schema.String, PlainValue)),
  permissions: Schema.optionalKey(Permissions),
  /** Number of chunks; the hosted service does not report it. */
  chunks: Schema.optionalKey(Schema.Int),
  tokens: Schema.optionalKey(Schema.Int),
  pages: Schema.optionalKey(Schema.Int),
  createTime: Schema.String,
  updateTime: Schema.String
})
export type RagFile = typeof RagFile.Type

/** A file to store in a corpus. */
export interface UploadRequest {
  readonly corpus: CorpusName
  readonly displayName: string
  readonly description?: string
  readonly content: Uint8Array
  /** A name whose extension tells the format; the bytes decide. Default: the display name, or else `sourceUri`. */
  readonly name?: string
  /** MIME type; only a hint, as the bytes decide. */
  readonly mimeType?: string
  /** Whether the content is Markdown that was made of the file, whatever its name. Default false. */
  readonly madeMarkdown?: boolean
  readonly sourceUri?: string
  readonly chunking: Chunking
  /** Custom chunker to use instead of `chunking.strategy`, where the engine cuts here. Default: none. */
  readonly cutting?: Cutting | undefined
  readonly parsing?: Parsing
  readonly marker?: Marker
  readonly metadata?: Metadata
  readonly permissions?: Permissions
  /** Whether its attachments are stored as separate files: its own text then only names them. Default false. */
  readonly opened?: boolean
  /** Rules for metadata made of the document's own properties. A file that breaks a strict rule is not stored. */
  readonly describing?: Describing
  /** File that this one replaces: readers see either the old one or the new one, and afterwards only the new one. */
  readonly replaces?: RagFileName
}

/** Result of an upload: the file, and what it cost. */
export interface UploadResult {
  readonly file: RagFile
  /** Number of texts sent to the embedder; vectors of the others were known. Absent where the engine does not report it. */
  readonly embedded?: number
  readonly embeddedTokens?: number
  /** What could not be read of the file, in a sentence for people; absent where all of it was read, or the engine does not report it. */
  readonly remark?: string
  /** Metadata made of it by `describing`. */
  readonly described?: Described
}

/** Facts of a stored file that can change without its content. Absent fields stay; `null` removes a fact. */
export interface FilePatch {
  readonly displayName?: string
  readonly description?: string
  readonly sourceUri?: string
  readonly marker?: Marker
  readonly metadata?: Metadata | null
  readonly permissions?: Permissions | null
  readonly described?: Described
}
