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

/** A packed vector with the hash of its text. */
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
  /** Language that the document declares, a hint for the analysis. */
  readonly language?: string
  readonly title?: string
  readonly author?: string
  readonly chunks: ReadonlyArray<NewChunk>
}

/** The fields of an operation that change while it runs. */
export interface OperationProgress {
  readonly done: boolean
  readonly progress?: number
  readonly error?: { readonly code: Code; readonly message: string }
  readonly failures: ReadonlyArray<PartialFailure>
  readonly counts?: ImportCounts
}

/**
 * All commands that write. Corpora, files and operations are given by the last segments of their names; `at` is in microseconds since
 * the epoch.
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
  /** Stores vectors before the file that needs them is committed, so that no text is embedded twice after a crash. */
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
      /** Vectors of the file's texts that are not stored yet; `"hashed"` where the writer makes them, as the offline embedder does. */
      readonly vectors?: ReadonlyArray<NewVector> | "hashed"
      /** Set where the chunks were written to the corpus's own database, analyzed by these analyzers. */
      readonly elsewhere?: {
        readonly analyzers: ReadonlyArray<AnalyzerId>
        /** Whether the chunks were found in the database, so that they were never noted as half written. */
        readonly found?: boolean
      }
      /** The analysis of the chunks, if it was made before: they are not read again. */
      readonly analysis?: Analysis
      /** Metadata that rules derive from the file. */
      readonly described?: Described
      /** The change of the ledger that is committed with the file. */
      readonly ledger?: { readonly scope: string; readonly change: LedgerChange }
      readonly at: number
    }
    /** Places of the chunks that the writer made vectors for; or hashes whose vectors are missing, and then nothing was written. */
    readonly out: { readonly made: ReadonlyArray<number> } | { readonly missing: ReadonlyArray<string> }
  }
  /** Notes that a version is about to be written to the corpus's own database or, with `failed`, that it must be deleted there. */
  readonly beginVersion: { readonly in: { readonly corpus: string; readonly file: string; readonly failed?: boolean }; readonly out: void }
  /** The number that identifies this data directory in databases; where it has none yet, it becomes `make`. */
  readonly owner: { readonly in: { readonly make: number }; readonly out: number }
  /** Deletes notes of work that is done, by their ids. */
  readonly settleVectors: { readonly in: { readonly ids: ReadonlyArray<number> }; readonly out: void }
  readonly updateFile: {
    readonly in: { readonly corpus: string; readonly name: string; readonly patch: FilePatch; readonly at: number }
    readonly out: void
  }
  readonly deleteFile: { readonly in: { readonly corpus: string; readonly name: string; readonly at: number }; readonly out: void }
  /** Marks files as damaged, by row id: listings say so, and the next run reads them again. */
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
   * Rebuilds a corpus's sparse index from its chunks. With `outdated`, only where another version of the analysis made it. With
   * `dispensable`, the rebuild is given up when the writer closes, and the old index stays.
   */
  readonly rebuildIndex: {
    readonly in: { readonly corpus: string; readonly outdated?: true; readonly dispensable?: true }
    readonly out: void
  }
  readonly writeLedger: { readonly in: { readonly scope: string; readonly change: LedgerChange }; readonly out: void }
  /** Runs statements on the state database; returns the ids of inserted rows. */
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
 * A command as it is sent, with its {@link weightOf} at that time. `alone`: no other command was waiting, so that committing it alone
 * delays nobody.
 */
export type SentCommand = CommandMessage & { readonly weight: number; readonly alone?: boolean }

/** A file to be put, as it is sent to a thread. */
export type PutFileMessage = Extract<SentCommand, { readonly kind: "putFile" }>

/** A file from the thread that reads files: analyzed, or with its chunks where it was not analyzed. */
export interface AnalyzedCommand {
  readonly command: PutFileMessage
  readonly analyzed: AnalyzedFile | undefined
}

/** A message from the thread that reads files to the writer's thread. */
export interface AnalyzedMessage {
  /** Number of words that were sent before; 0 where the numbering starts again. */
  readonly told: number
  /** Words met since then, in the order of their numbers. */
  readonly surfaces: ReadonlyArray<string>
  readonly commands: ReadonlyArray<AnalyzedCommand>
}

/** What the writer's thread is started with. */
export interface WriterData {
  readonly dataDir: string
  /** Milliseconds for which vectors that no file uses are kept; undefined means 24 hours. */
  readonly keepVectors: number | undefined
}

export type CommandKind = keyof Commands

/** A command as it is sent to the writer's thread. */
export type CommandMessage = {
  [K in CommandKind]: { readonly id: number; readonly kind: K; readonly payload: Commands[K]["in"] }
}[CommandKind]

/** Memory of a command besides its texts and vectors, in the unit of {@link weightOf}. */
const perCommand = 1_024
/** Memory of a file's chunk besides its text, in the unit of {@link weightOf}. */
const perChunk = 512

/** Approximate memory of a waiting command: UTF-16 units of text, bytes of vectors, and an allowance for the rest. */
export const weightOf = (payload: Commands[CommandKind]["in"]): number => {
  const chunks = "file" in payload && typeof payload.file !== "string" ? payload.file.chunks : []
  const vectors = "vectors" in payload && Array.isArray(payload.vectors) ? payload.vectors as ReadonlyArray<NewVector> : []
  return perCommand +
    chunks.reduce((sum, { text }) => sum + text.length + perChunk, 0) +
    vectors.reduce((sum, { vector }) => sum + vector.length, 0)
}

/** A message to the writer's thread: commands, a port from which analyzed files come, or that no more commands come. */
export type WriterMessage = ReadonlyArray<SentCommand> | { readonly reader: MessagePort } | "close"

/** An error as it is sent between threads, where classes get lost. */
export type ErrorMessage =
  | { readonly _tag: "ServiceError"; readonly code: Code; readonly message: string; readonly fix?: string }
  | { readonly _tag: "StateError"; readonly problem: StateError["problem"]; readonly message: string; readonly fix: string }

/** The error that a thread sent, for the caller. */
export const asError = (error: ErrorMessage): ServiceError => {
  if (error._tag === "StateError") return stateFailure(new StateError(error))
  const { code, fix, message } = error
  return new ServiceError({ code, message, fix })
}

export type ReplyMessage =
  | { readonly id: number; readonly ok: true; readonly value: unknown }
  | { readonly id: number; readonly ok: false; readonly error: ErrorMessage }

/** The refusal of a single command, which does not affect the others of its group. */
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

/** What a user can do about damaged rows in a database whose structure is whole. */
export const damageFix = "run the pipeline again: what is damaged is read again from its source; `sluice doctor` says what is"

export const refuseMissing = (what: string, name: string): Refusal => new Refusal("NOT_FOUND", `${what} ${name} was not found`)
