import type { MessagePort } from "node:worker_threads"
import type { CorpusOptions, VectorDb } from "../../../domain/Corpus.ts"
import { type Code, ServiceError, StateError } from "../../../domain/Errors.ts"
import type { DataSchemaSpec, FileMetadataSpec } from "../../../domain/MetadataValue.ts"
import type { ImportCounts, OperationKind, PartialFailure } from "../../../domain/Operation.ts"
import type { Described } from "../../../domain/MetadataRules.ts"
import type { FilePatch, Marker, Metadata, Permissions } from "../../../domain/RagFile.ts"
import type { LedgerChange } from "../../../ports/Ledger.ts"
import type { AnalyzerId } from "../../../search/analysis/Analyzer.ts"
import type { Statement } from "../../../state/LedgerWrites.ts"
import { stateFailure } from "../StateFailure.ts"
import type { Analysis, AnalyzedFile } from "./AnalyzedFile.ts"
import type { NewChunk } from "./ChunkPage.ts"

/** A vector as it is stored, and the hash of its text. */
export interface NewVector {
  readonly hash: string
  readonly vector: Uint8Array
}

export interface NewFile {
  readonly name: string
  readonly displayName: string
  readonly description?: string
  readonly sourceUri: string
  readonly sizeBytes: number
  readonly marker?: Marker
  readonly metadata?: Metadata
  readonly permissions?: Permissions
  readonly tokens: number
  readonly pages?: number
  /** As the document declares it: a hint for the analysis. */
  readonly language?: string
  readonly title?: string
  readonly author?: string
  readonly chunks: ReadonlyArray<NewChunk>
}

/** The parts of an operation that change while it runs. */
export interface OperationProgress {
  readonly done: boolean
  readonly progress?: number
  readonly error?: { readonly code: Code; readonly message: string }
  readonly failures: ReadonlyArray<PartialFailure>
  readonly counts?: ImportCounts
}

/**
 * Every write there is. Corpora, files and operations go by the last segment of their names; `at` is microseconds
 * since the epoch.
 */
export interface Commands {
  readonly createCorpus: {
    readonly in: {
      readonly name: string
      readonly displayName: string
      readonly description?: string
      readonly vectorDb: VectorDb
      readonly embeddingModel?: string
      readonly options?: CorpusOptions
      readonly embedder: string
      readonly at: number
    }
    readonly out: void
  }
  readonly updateCorpus: {
    readonly in: {
      readonly name: string
      readonly displayName?: string
      readonly description?: string
      readonly vectorDb?: VectorDb
      readonly at: number
    }
    readonly out: void
  }
  readonly deleteCorpus: { readonly in: { readonly name: string; readonly force: boolean; readonly at: number }; readonly out: void }
  /** Keeps vectors before the file that needs them is committed, so that a crash costs no embedding twice. */
  readonly putVectors: {
    readonly in: {
      readonly embedder: string
      readonly vectors: ReadonlyArray<NewVector>
      readonly at: number
    }
    readonly out: void
  }
  readonly putFile: {
    readonly in: {
      readonly corpus: string
      readonly file: NewFile
      readonly replaces?: string
      /** Vectors of its texts that are not stored yet; or the corpus's are those of `src/text/hashed`, and the writer makes them. */
      readonly vectors?: ReadonlyArray<NewVector> | "hashed"
      /** Its chunks were written to the corpus's own database, analyzed by these. */
      readonly elsewhere?: {
        readonly analyzers: ReadonlyArray<AnalyzerId>
        /** They were there before: nobody noted them as half written. */
        readonly found?: boolean
      }
      /** What was made of its chunks before: they are not looked at any more. */
      readonly analysis?: Analysis
      /** What rules make of it. */
      readonly described?: Described
      /** What the ledger is to say of it. */
      readonly ledger?: { readonly scope: string; readonly change: LedgerChange }
      readonly at: number
    }
    /** The places of the chunks that the writer made vectors for; or hashes whose vectors are not there, and nothing was written. */
    readonly out: { readonly made: ReadonlyArray<number> } | { readonly missing: ReadonlyArray<string> }
  }
  /** Notes a version that is about to be written to the corpus's own database; or, with `failed`, that it is to be deleted there. */
  readonly beginVersion: { readonly in: { readonly corpus: string; readonly file: string; readonly failed?: boolean }; readonly out: void }
  /** The number by which databases tell this data directory from others; `make` becomes it where it has none. */
  readonly owner: { readonly in: { readonly make: number }; readonly out: number }
  /** Says that what was noted under these ids is done. */
  readonly settleVectors: { readonly in: { readonly ids: ReadonlyArray<number> }; readonly out: void }
  readonly updateFile: {
    readonly in: { readonly corpus: string; readonly name: string; readonly patch: FilePatch; readonly at: number }
    readonly out: void
  }
  readonly deleteFile: { readonly in: { readonly corpus: string; readonly name: string; readonly at: number }; readonly out: void }
  /** Remembers files as damaged, by row: listings say so, and the next run reads them again. */
  readonly noteDamage: { readonly in: { readonly files: ReadonlyArray<number>; readonly what: string }; readonly out: void }
  readonly createSchemas: {
    readonly in: { readonly corpus: string; readonly schemas: ReadonlyArray<DataSchemaSpec & { readonly name: string }> }
    readonly out: void
  }
  readonly deleteSchemas: { readonly in: { readonly corpus: string; readonly schemas: ReadonlyArray<string> }; readonly out: void }
  readonly createMetadata: {
    readonly in: {
      readonly corpus: string
      readonly file: string
      readonly metadata: ReadonlyArray<FileMetadataSpec & { readonly name: string }>
    }
    readonly out: void
  }
  readonly updateMetadata: {
    readonly in: { readonly corpus: string; readonly file: string; readonly name: string; readonly spec: FileMetadataSpec }
    readonly out: void
  }
  readonly deleteMetadata: {
    readonly in: { readonly corpus: string; readonly file: string; readonly metadata: ReadonlyArray<string> }
    readonly out: void
  }
  /**
   * Builds the whole sparse index of a corpus again from its chunks, unless it is only to be of today's analysis and is.
   * What nobody waits for is given up when the writer is closed: the old index is there as before.
   */
  readonly rebuildIndex: {
    readonly in: { readonly corpus: string; readonly outdated?: true; readonly dispensable?: true }
    readonly out: void
  }
  readonly writeLedger: { readonly in: { readonly scope: string; readonly change: LedgerChange }; readonly out: void }
  /** What the state database keeps besides the ledger's entries; answers the rows that were inserted. */
  readonly writeState: { readonly in: { readonly statements: ReadonlyArray<Statement> }; readonly out: ReadonlyArray<number> }
  readonly createOperation: {
    readonly in: {
      readonly name: string
      readonly kind: OperationKind
      readonly target: string
      readonly owner: number
      readonly at: number
    }
    readonly out: void
  }
  readonly updateOperation: {
    readonly in: { readonly name: string; readonly progress: OperationProgress; readonly at: number }
    readonly out: void
  }
  readonly cancelOperation: { readonly in: { readonly name: string; readonly at: number }; readonly out: void }
  readonly deleteOperation: { readonly in: { readonly name: string }; readonly out: void }
}

/**
 * A command on its way, and its {@link weightOf}, whatever becomes of its texts on the way. `alone`: no other waited to be
 * written when it was sent, so that a commit of its own costs nobody anything.
 */
export type SentCommand = CommandMessage & { readonly weight: number; readonly alone?: boolean }

/** A file to be put, as it crosses to a thread. */
export type PutFileMessage = Extract<SentCommand, { readonly kind: "putFile" }>

/** A file that was read on its way to the writer's thread; where that was not done, with its chunks. */
export interface AnalyzedCommand {
  readonly command: PutFileMessage
  readonly analyzed: AnalyzedFile | undefined
}

/** What the thread that reads files tells the writer's thread. */
export interface AnalyzedMessage {
  /** How many words it had told before; 0: the numbers are given anew. */
  readonly told: number
  /** Those that it has met since, in the order of their numbers. */
  readonly surfaces: ReadonlyArray<string>
  readonly commands: ReadonlyArray<AnalyzedCommand>
}

/** What the writer's thread is started with. */
export interface WriterData {
  readonly dataDir: string
  /** Milliseconds for which vectors that no file uses are kept; absent: 24 hours. */
  readonly keepVectors: number | undefined
}

export type CommandKind = keyof Commands

/** A command as it crosses to the writer's thread. */
export type CommandMessage = {
  [K in CommandKind]: { readonly id: number; readonly kind: K; readonly payload: Commands[K]["in"] }
}[CommandKind]

/** What a command has in memory besides texts and vectors, and each chunk of a file, in the unit of {@link weightOf}. */
const perCommand = 1_024
const perChunk = 512

/** About what a command takes of memory while it waits: UTF-16 units of text, bytes of vectors, and something for all else. */
export const weightOf = (payload: Commands[CommandKind]["in"]): number => {
  const chunks = "file" in payload && typeof payload.file !== "string" ? payload.file.chunks : []
  const vectors = "vectors" in payload && Array.isArray(payload.vectors) ? payload.vectors as ReadonlyArray<NewVector> : []
  return perCommand +
    chunks.reduce((sum, { text }) => sum + text.length + perChunk, 0) +
    vectors.reduce((sum, { vector }) => sum + vector.length, 0)
}

/** What the writer's thread is told: commands, from where files come that were read before, or that no more commands come. */
export type WriterMessage = ReadonlyArray<SentCommand> | { readonly reader: MessagePort } | "close"

/** An error as it crosses back: classes do not survive the way. */
export type ErrorMessage =
  | { readonly _tag: "ServiceError"; readonly code: Code; readonly message: string; readonly fix?: string }
  | { readonly _tag: "StateError"; readonly problem: StateError["problem"]; readonly message: string; readonly fix: string }

/** What a thread's error is to whoever asked it. */
export const asError = (error: ErrorMessage): ServiceError => {
  if (error._tag === "StateError") return stateFailure(new StateError(error))
  const { code, fix, message } = error
  return new ServiceError({ code, message, fix })
}

export type ReplyMessage =
  | { readonly id: number; readonly ok: true; readonly value: unknown }
  | { readonly id: number; readonly ok: false; readonly error: ErrorMessage }

/** A refusal that costs one command and leaves the others of its group alone. */
export class Refusal extends Error {
  readonly code: Code
  readonly fix: string | undefined

  constructor(code: Code, message: string, fix?: string) {
    super(message)
    this.code = code
    this.fix = fix
  }
}

export const refuseDamaged = (what: string): Refusal =>
  new Refusal("DATA_LOSS", `${what} is damaged in the database; nothing was written`, damageFix)

/** The error of a read that met damage. */
export const damageError = (message: string): ServiceError => new ServiceError({ code: "DATA_LOSS", message, fix: damageFix })

/** What a person can do about damage that the structure of the database does not show. */
export const damageFix = "run the pipeline again: what is damaged is read again from its source; `sluice doctor` says what is"

export const refuseMissing = (what: string, name: string): Refusal => new Refusal("NOT_FOUND", `${what} ${name} was not found`)
