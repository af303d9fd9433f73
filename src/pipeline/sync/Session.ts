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
import type { RecentSizes } from "./RecentSizes.ts"
import { Tally } from "./Tally.ts"

/** Input of sync: a pipeline with its sources made into connectors. */
export interface SyncSpec {
  /** Name of the pipeline: part of its key in the ledger and of the markers in the target. */
  readonly pipeline: string
  /** Former name: files stored under it are this pipeline's. */
  readonly renamedFrom?: string
  readonly corpus: CorpusSpec
  /**
   * Settings that the corpus is built with, as `builtBy` makes them. Absent: they are not recorded, and generations
   * cannot be distinguished by them.
   */
  readonly built?: string
  /** How many generations a promotion keeps to roll back to. Default 1. */
  readonly keep?: number
  readonly chunking: Chunking
  /** Custom chunker, used instead of `chunking.strategy`. Default: none. */
  readonly cutting?: Cutting | undefined
  readonly parsing: Parsing
  /** Custom parsers; the first that names a file reads it. Default: none. */
  readonly parsers?: ReadonlyArray<FileParser>
  /** Rules for metadata of files. Absent: files only have metadata that people write. */
  readonly metadata?: MetadataRules
  readonly sources: ReadonlyArray<SyncSource>
  /** Most deletes in one source (and at least 20) that are not held until `yes` is given. */
  readonly maxDelete: { readonly percent: number } | { readonly count: number }
  /** Limits on what a run sends to the embedder; files not reached are `pending`. Default: none. */
  readonly budget?: EmbeddingLimits
  readonly onFileError: "continue" | "stop"
  /** Files processed concurrently. Default: the engine's own number. */
  readonly concurrency?: number
  /** Embedding requests per minute of one import by the engine. Default: the engine's own number. */
  readonly maxEmbeddingRequestsPerMinute?: number
  /** Where an import by the engine writes the outcome of each file. Each import writes a separate object beside this address. */
  readonly resultSink?: string
}

export interface SyncSource {
  readonly id: string
  readonly connector: Connector
  /**
   * Identifies everything its listing depends on, and changes when any of it does: runs then continue from each other's
   * cursors. Absent: everything is listed each time.
   */
  readonly settings?: string
  /** The source in the form that an engine imports itself, instead of being read and uploaded from here. */
  readonly imports?: ImportSource
  /** Which side lists a source that the engine can fetch itself. Absent: our connector where it can, otherwise the engine. */
  readonly listing?: "sluice" | "service"
  /** `gs://…`: where new and changed files are staged for an engine that imports. */
  readonly staging?: string
  /** Not listed this time: what is known of it stays unchanged. */
  readonly rests?: boolean
}

/** Options of a run. All are off by default, unless stated otherwise. */
export interface SyncOptions {
  /** Makes deletes that the guard would hold. */
  readonly yes?: boolean
  /** Allows a rebuild where the corpus cannot be changed in place: a candidate is built, and becomes live once it is complete. */
  readonly replace?: boolean
  /** Builds or continues a candidate beside the live corpus, whatever the settings. The live corpus is not changed. */
  readonly candidate?: boolean
  /** Retries quarantined items too. */
  readonly retryFailed?: boolean
  /** Fails, before anything is written, where a source is empty. Default: a warning. */
  readonly strict?: boolean
  /**
   * How long, in milliseconds, a source may be listed only by its changes although its connector then misses deletions or
   * permissions. Default 0: everything is listed.
   */
  readonly missesFor?: number
  /**
   * Lists the target's files too, and stores again what somebody else deleted or changed there. Takes a request per 100
   * files. Default true.
   */
  readonly checkTarget?: boolean
  /** Sizes of the sources, where this run is one of a watch's batches: their deletes are counted together. */
  readonly recentSizes?: RecentSizes
  readonly observe?: (event: SyncEvent) => Effect.Effect<void>
}

/** Context shared by the functions of one plan or run. */
export class Session extends Context.Service<Session, {
  readonly spec: SyncSpec
  /** The ledger's key of the corpus. */
  readonly scope: string
  /** Identifies everything that determines how the same bytes are stored, over all files of a source. */
  readonly settings: string
  /** Hash of the settings that determine how one file is stored: the third part of its fingerprint. */
  readonly settingsOf: (item: SourceItem) => string
  /** Custom parser that reads a file; undefined: the engine's parsers do. */
  readonly parserOf: (item: SourceItem) => FileParser | undefined
  /** Hash of the rules for metadata, which is in the second part of a fingerprint. */
  readonly rules: string | undefined
  readonly tally: Tally
  /** Whether deletes are made that the guard would hold. */
  readonly yes: boolean
  /** Sizes that a watch's sources had lately; absent in other runs. */
  readonly recentSizes: RecentSizes | undefined
  readonly retryFailed: boolean
  readonly strict: boolean
  readonly missesFor: number
  /** Whether the ledger is not written to, as in a plan. */
  readonly readOnly: boolean
  /** Whether unchanged items are events too, which may be a great many. */
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
      recentSizes: options.recentSizes,
      retryFailed: options.retryFailed ?? false,
      strict: options.strict ?? false,
      missesFor: options.missesFor ?? 0,
      readOnly: options.readOnly ?? false,
      showUnchanged: options.showUnchanged ?? false,
      emit: observe === undefined ? () => Effect.void : (event) => observe(event.type === "file" ? defined(event) : event)
    })
  })

/** An item that the listing alone could not settle, and its ledger entry. */
export interface Work {
  readonly source: string
  readonly item: SourceItem
  readonly known?: LedgerEntry
}

/** Work waits on disk between listing and applying, as JSON that only this code writes: it needs no schema. */
export const encodeWork = (work: Work): string => JSON.stringify(work)
export const decodeWork = (text: string): Work => JSON.parse(text) as Work

/** Reason of a file that is skipped because another source of the pipeline lists it too. */
export const overlap = "overlap"
/** Reason of a file that is not stored because it breaks a strict metadata rule. */
export const badMetadata = "metadata"
/** Reason of a file that is stored again although the source did not change it. */
export const drifted = "drift"

export type Named = Pick<SyncSpec, "pipeline" | "renamedFrom">

/** Names in the markers of the pipeline's files. */
export const namesOf = ({ pipeline, renamedFrom }: Named): ReadonlyArray<string> =>
  renamedFrom === undefined ? [pipeline] : [pipeline, renamedFrom]

/** Source in a marker: identifies the pipeline and source that stored a file. */
export const markerSource = (pipeline: string, source: string): string => `${pipeline}/${source}`

/** Sources of the pipeline, by the markers of their files. */
export const sourcesByMark = (spec: Named & Pick<SyncSpec, "sources">): ReadonlyMap<string, string> =>
  new Map(namesOf(spec).flatMap((name) => spec.sources.map(({ id }) => [markerSource(name, id), id] as const)))
