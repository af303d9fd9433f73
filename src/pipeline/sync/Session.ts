import { Context, Effect } from "effect"
import { defined } from "../../domain/Defined.ts"
import type { Chunking, Cutting } from "../../domain/Chunking.ts"
import type { CorpusSpec } from "../../domain/Corpus.ts"
import type { ImportSource } from "../../domain/Import.ts"
import type { MetadataRules } from "../../domain/MetadataRules.ts"
import type { Parsing } from "../../domain/Parsing.ts"
import type { SyncEvent } from "../../domain/Report.ts"
import type { Connector, SourceItem } from "../../ports/Connector.ts"
import type { EmbeddingLimits } from "../../ports/EmbeddingBudget.ts"
import { Engine } from "../../ports/Engine.ts"
import type { LedgerEntry } from "../../ports/Ledger.ts"
import * as Fingerprint from "./Fingerprint.ts"
import type { FileParser } from "./Parsers.ts"
import { Tally } from "./Tally.ts"

/** Everything sync works from: a pipeline with its sources made into connectors. */
export interface SyncSpec {
  /** Names the ledger's scope and the target's markers, together with the engine. */
  readonly pipeline: string
  /** The name it had: what was put there under it is this pipeline's. */
  readonly renamedFrom?: string
  readonly corpus: CorpusSpec
  /** The settings that it is built by, as `builtBy` has them. Absent: they are not kept, and no generation is told from another by them. */
  readonly built?: string
  /** Generations that a promotion keeps to go back to. Default 1. */
  readonly keep?: number
  readonly chunking: Chunking
  /** A chunker of its own, in the place of `chunking.strategy`. Default: none. */
  readonly cutting?: Cutting | undefined
  readonly parsing: Parsing
  /** Parsers of its own; the first that names a file reads it. Default: none. */
  readonly parsers?: ReadonlyArray<FileParser>
  /** How files come by metadata. Absent: they have what people write of them. */
  readonly metadata?: MetadataRules
  readonly sources: ReadonlyArray<SyncSource>
  /** More deletes in one source than this, and than 20, are held until `yes`. */
  readonly maxDelete: { readonly percent: number } | { readonly count: number }
  /** What a run may send to the embedder; what is not reached is `pending`. Default: no limit. */
  readonly budget?: EmbeddingLimits
  readonly onFileError: "continue" | "stop"
  /** Files in progress at once; the engine's own number when absent. */
  readonly concurrency?: number
  /** Embedding requests a minute of one import by the engine; its own number when absent. */
  readonly maxEmbeddingRequestsPerMinute?: number
  /** Where an import by the engine writes what became of each file. Each import writes an object of its own beside it. */
  readonly resultSink?: string
}

export interface SyncSource {
  readonly id: string
  readonly connector: Connector
  /**
   * All that its listing depends on, in words that change when it does: runs then continue from each other's cursors.
   * Absent: everything is listed each time.
   */
  readonly settings?: string
  /** The source as an engine that fetches by itself is told of it, in the place of our reading and uploading. */
  readonly imports?: ImportSource
  /** Who lists one that the engine can fetch by itself. Absent: our connector where it can, otherwise the engine. */
  readonly listing?: "sluice" | "service"
  /** `gs://…`: an engine that fetches by itself fetches the files from here, where we put what is new or has changed. */
  readonly staging?: string
  /** Not listed this time: what is known of it stays as it is. */
  readonly rests?: boolean
}

/** What a run may do beyond its defaults. All of it is off by default. */
export interface SyncOptions {
  /** Releases deletes that the guard would hold. */
  readonly yes?: boolean
  /** Allows what cannot be changed in place to be rebuilt: a candidate is built, and takes the old corpus's place once it is whole. */
  readonly replace?: boolean
  /** Builds a candidate beside the corpus that serves, or goes on with it, whatever the settings. That one is not touched. */
  readonly candidate?: boolean
  /** Tries quarantined items too. */
  readonly retryFailed?: boolean
  /** Fails, before anything is written, where a source has nothing in it. Default: a warning. */
  readonly strict?: boolean
  /**
   * Milliseconds for which a source may be listed by its changes alone although its connector then misses deletions or
   * permissions. Default 0: everything is listed.
   */
  readonly missesFor?: number
  /**
   * Lists the target's files too, and puts back what somebody else deleted or changed there. A request for every 100
   * files. Default true.
   */
  readonly checkTarget?: boolean
  readonly observe?: (event: SyncEvent) => Effect.Effect<void>
}

/** What the functions of one plan or run share. */
export class Session extends Context.Service<Session, {
  readonly spec: SyncSpec
  /** The key under which the ledger accounts for the corpus. */
  readonly scope: string
  /** What decides how the same bytes are stored, of all that a source lists. */
  readonly settings: string
  /** The third part of a file's fingerprint: the same of that file alone. */
  readonly settingsOf: (item: SourceItem) => string
  /** The parser of the pipeline's own that reads a file; undefined: the engine's do. */
  readonly parserOf: (item: SourceItem) => FileParser | undefined
  /** The hash of the rules for metadata, which is in the second part. */
  readonly rules: string | undefined
  readonly tally: Tally
  /** Deletes that the guard would hold are made. */
  readonly yes: boolean
  readonly retryFailed: boolean
  readonly strict: boolean
  readonly missesFor: number
  /** A plan: the ledger is not written to. */
  readonly readOnly: boolean
  /** Unchanged items are events too, of which there may be very many. */
  readonly showUnchanged: boolean
  readonly emit: (event: SyncEvent) => Effect.Effect<void>
}>()("sluice/pipeline/sync/Session") {}

interface SessionOptions extends Omit<SyncOptions, "replace" | "candidate" | "checkTarget"> {
  readonly readOnly?: boolean
  readonly showUnchanged?: boolean
}

export const makeSession = (spec: SyncSpec, scope: string, options: SessionOptions) =>
  Effect.map(Engine, ({ signature }) => {
    const { parsers = [] } = spec
    const { observe } = options
    const settings = Fingerprint.settingsHash(signature, { ...spec, embeddingModel: spec.corpus.embeddingModel })
    const parserOf = (item: SourceItem) => parsers.find(({ reads }) => reads(item))
    const ofParser = new Map(parsers.map((parser) => [parser, Fingerprint.parsedSettings(settings, parser.signature)]))
    return Session.of({
      spec,
      scope,
      settings: parsers.reduce((all, { scans }) => all + scans, settings),
      settingsOf: parsers.length === 0 ? () => settings : (item) => ofParser.get(parserOf(item)!) ?? settings,
      parserOf: parsers.length === 0 ? () => undefined : parserOf,
      rules: spec.metadata === undefined ? undefined : Fingerprint.rulesHash(spec.metadata),
      tally: new Tally(),
      yes: options.yes ?? false,
      retryFailed: options.retryFailed ?? false,
      strict: options.strict ?? false,
      missesFor: options.missesFor ?? 0,
      readOnly: options.readOnly ?? false,
      showUnchanged: options.showUnchanged ?? false,
      emit: observe === undefined ? () => Effect.void : (event) => observe(event.type === "file" ? defined(event) : event)
    })
  })

/** An item that the listing alone could not settle, and what the ledger had for it. */
export interface Work {
  readonly source: string
  readonly item: SourceItem
  readonly known?: LedgerEntry
}

/** Work waits on disk between listing and applying, as JSON. It is our own and needs no schema. */
export const encodeWork = (work: Work): string => JSON.stringify(work)
export const decodeWork = (text: string): Work => JSON.parse(text) as Work

/** Why a file is skipped that another source of the pipeline lists too. */
export const overlap = "overlap"
/** Why a file is not taken that breaks a strict rule for metadata. */
export const badMetadata = "metadata"
/** Why a file is stored again that the source did not change. */
export const drifted = "drift"

export type Named = Pick<SyncSpec, "pipeline" | "renamedFrom">

/** The names that the pipeline's files are marked with. */
export const namesOf = ({ pipeline, renamedFrom }: Named): ReadonlyArray<string> =>
  renamedFrom === undefined ? [pipeline] : [pipeline, renamedFrom]

/** The marker's source: who put a file there. */
export const markerSource = (pipeline: string, source: string): string => `${pipeline}/${source}`

/** The sources by the markers of their files. */
export const sourcesByMark = (spec: Named & Pick<SyncSpec, "sources">): ReadonlyMap<string, string> =>
  new Map(namesOf(spec).flatMap((name) => spec.sources.map(({ id }) => [markerSource(name, id), id] as const)))

export const filesText = (count: number): string => count === 1 ? "1 file" : `${count} files`
