import { Schema } from "effect"
import type { Chunking, Cutting } from "./Chunking.ts"
import { CorpusName } from "./Corpus.ts"
import type { Described, Describing } from "./MetadataRules.ts"
import type { Parsing } from "./Parsing.ts"

/** `{corpus}/ragFiles/{file}`. The engine makes it; opaque to callers. */
export const RagFileName = Schema.NonEmptyString.pipe(Schema.brand("RagFileName"))
export type RagFileName = typeof RagFileName.Type

/** The corpus part of a file's name. */
export const corpusOf = (name: RagFileName): CorpusName =>
  CorpusName.make(name.slice(0, Math.max(0, name.lastIndexOf("/ragFiles/"))) || name)

/**
 * Who may read a file. `public` true, or any of `principals` (exact, lower-cased: `user:a@b.c`, `group:x`,
 * `domain:b.c`, or what the source calls them). Absent on a file means: everyone who may read the corpus.
 */
export const Permissions = Schema.Struct({
  public: Schema.Boolean,
  principals: Schema.Array(Schema.String)
})
export type Permissions = typeof Permissions.Type

/** Whether a principal may read what has these permissions. */
export const mayRead = (permissions: Permissions | undefined, principal: string): boolean =>
  permissions === undefined || permissions.public || permissions.principals.includes(principal.toLowerCase())

/** What ties a target file to the source item it came from, without our ledger. */
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
/** A value as JSON has it. */
export const PlainValue = Schema.Union([PlainScalar, Schema.Array(PlainScalar)])
export type PlainValue = typeof PlainValue.Type

/** A file of a corpus as the engine tells of it. Times are RFC 3339. */
export const RagFile = Schema.Struct({
  name: RagFileName,
  displayName: Schema.String,
  description: Schema.optionalKey(Schema.String),
  /** The original's address: `file:///…`, `gs://…`, `https://…`; the display name for plain uploads. */
  sourceUri: Schema.String,
  sizeBytes: Schema.optionalKey(Schema.Int),
  state: FileState,
  errorStatus: Schema.optionalKey(Schema.String),
  marker: Schema.optionalKey(Marker),
  metadata: Schema.optionalKey(Metadata),
  /** What people wrote of it, by the keys of the corpus's data schemas (`FileMetadata.ts`). */
  userMetadata: Schema.optionalKey(Schema.Record(Schema.String, PlainValue)),
  permissions: Schema.optionalKey(Permissions),
  /** Counts the engine knows; the hosted service does not tell. */
  chunks: Schema.optionalKey(Schema.Int),
  tokens: Schema.optionalKey(Schema.Int),
  pages: Schema.optionalKey(Schema.Int),
  createTime: Schema.String,
  updateTime: Schema.String
})
export type RagFile = typeof RagFile.Type

/** One file to put into a corpus. */
export interface UploadRequest {
  readonly corpus: CorpusName
  readonly displayName: string
  readonly description?: string
  readonly content: Uint8Array
  /** A name whose extension tells the format; the bytes decide. Default: the display name, or else `sourceUri`. */
  readonly name?: string
  /** A hint only; the bytes decide. */
  readonly mimeType?: string
  /** The content is Markdown that was made of the file, whatever its name says. Default false. */
  readonly madeMarkdown?: boolean
  readonly sourceUri?: string
  readonly chunking: Chunking
  /** Cuts it in the place of `chunking.strategy`, where the engine cuts here. Default: nothing does. */
  readonly cutting?: Cutting | undefined
  readonly parsing?: Parsing
  readonly marker?: Marker
  readonly metadata?: Metadata
  readonly permissions?: Permissions
  /** What is attached to it is put as files of their own: its own text only names it. Default false. */
  readonly opened?: boolean
  /** Metadata that is made of what the document says of itself. What breaks a strict rule is not stored. */
  readonly describing?: Describing
  /** The file this one takes the place of: readers see the old one or the new one, and then only the new. */
  readonly replaces?: RagFileName
}

/** The file that an upload made, and what it cost. */
export interface UploadResult {
  readonly file: RagFile
  /** Texts sent to the embedder; the rest were known already. Absent where the engine does not tell. */
  readonly embedded?: number
  readonly embeddedTokens?: number
  /** What of the file could not be read, in a sentence for a person; absent where all of it was, or the engine does not tell. */
  readonly remark?: string
  /** What was made of it by `describing`. */
  readonly described?: Described
}

/** What can change about a stored file without touching its content. Absent fields stay; `null` takes a fact away. */
export interface FilePatch {
  readonly displayName?: string
  readonly description?: string
  readonly sourceUri?: string
  readonly marker?: Marker
  readonly metadata?: Metadata | null
  readonly permissions?: Permissions | null
  readonly described?: Described
}
