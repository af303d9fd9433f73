import { Context, type Effect, type Scope, type Stream } from "effect"
import type { CorpusName } from "../domain/Corpus.ts"
import type { StateError } from "../domain/Errors.ts"
import type { RagFileName } from "../domain/RagFile.ts"
import type { Report } from "../domain/Report.ts"

/**
 * - `intent`: a write to the target was begun and not confirmed; the target's markers say how it ended.
 * - `done`: the target holds `fingerprint`.
 * - `failed`: another run may help. `quarantined`: it will not, until bytes or settings change.
 * - `skipped`: read, and not taken.
 */
export type LedgerState = "intent" | "done" | "failed" | "quarantined" | "skipped"

export interface LedgerEntry {
  readonly source: string
  readonly path: string
  readonly state: LedgerState
  readonly revision: string
  /** `{content}.{facts}.{settings}`, each a hash; of the last attempt. */
  readonly fingerprint: string
  /** Bytes of the item at the last attempt. */
  readonly size?: number
  /** The version that readers of the target see, which may be older than the last attempt. */
  readonly file?: RagFileName
  /** Why it failed or was skipped: a code, and words for a person. */
  readonly reason?: string
  readonly message?: string
}

/**
 * What a generation of a pipeline's corpus is for: questions (`live`), to be looked at before it takes over
 * (`candidate`), to go back to (`kept`), nothing, so that it is to be deleted (`retired`). `gone`: deleted; remembered
 * for those who still name it.
 */
export type Role = "live" | "candidate" | "kept" | "retired" | "gone"

/** A corpus of a pipeline on one target. Of each pipeline at most one is live and one a candidate. */
export interface Generation {
  /** The key under which the ledger accounts for what is in it, for as long as it is there. */
  readonly scope: string
  /** Counts from 1 for each pipeline, and is never used twice. */
  readonly number: number
  readonly role: Role
  readonly corpus: CorpusName
  /** When it was begun, in milliseconds since the epoch. Absent where an older Sluice began it. */
  readonly made?: number
  /** When a run first stored in it all that the sources had; before that it is not whole. */
  readonly whole?: number
  /** JSON of the settings that it is built by (`src/pipeline/sync/Built.ts`). Absent where an older Sluice built it. */
  readonly built?: string
  /** The display name that its corpus has in the target, as far as we gave it one. */
  readonly name?: string
}

/** How far a source's changes were taken in: from here, its connector tells what changed since. */
export interface ListingRecord {
  readonly cursor: string
  /** Of the source's settings and of what decides how it is stored: under others, everything has to be listed. */
  readonly signature: string
  /** When the last listing of everything began, in milliseconds since the epoch. */
  readonly whole: number
  /** JSON of items that were told of and could not be taken: no listing from the cursor names them again. */
  readonly again: ReadonlyArray<string>
}

/** What a file holds that is a document of its own, as it was at a revision. */
export interface ContentsRecord {
  readonly revision: string
  /** Of the settings that decide what is opened: under others, it has to be opened again. */
  readonly signature: string
  /** JSON of what was found. */
  readonly contents: string
}

/** Work of one item, as JSON. */
export interface QueuedWork {
  readonly source: string
  readonly path: string
  readonly work: string
}

/** One pass over a pipeline's sources. Its bookkeeping is temporary: a scan writes nothing durable. */
export interface Scan {
  /**
   * Notes that the source listed these paths, and answers what the ledger has for each (same order). `pathHash` finds
   * entries rebuilt from markers.
   */
  readonly see: (
    source: string,
    paths: ReadonlyArray<string>,
    pathHash: (path: string) => string
  ) => Effect.Effect<ReadonlyArray<LedgerEntry | undefined>, StateError>
  /** Notes everything the ledger has of a source as seen: its listing cannot say what is gone. */
  readonly seeAll: (source: string) => Effect.Effect<void, StateError>
  /** The same for what is under a folder (`a/b/`), and for entries whose paths are not known yet. */
  readonly seeUnder: (source: string, folder: string) => Effect.Effect<void, StateError>
  /**
   * Notes that the source said this is gone; what it lists afterwards under that path is there again. Answers whether
   * work was queued for it, which is dropped.
   */
  readonly forget: (source: string, path: string) => Effect.Effect<boolean, StateError>
  /** Notes as seen what the ledger has of a source that was neither listed nor forgotten, and counts it by state. */
  readonly seeRest: (source: string) => Effect.Effect<Partial<Record<LedgerState, number>>, StateError>
  /**
   * Notes that the source listed what is at these addresses, and answers who listed each first: this source or an
   * earlier one (same order).
   */
  readonly listedBy: (source: string, addresses: ReadonlyArray<string>) => Effect.Effect<ReadonlyArray<string>, StateError>
  /** Takes back everything noted of a source. */
  readonly restart: (source: string) => Effect.Effect<void, StateError>
  /** Ledger entries that no source listed and no move claimed, by source and path. */
  readonly missing: Stream.Stream<LedgerEntry, StateError>
  /** Of those, the ones the target has a file of; `known` is how many there were when the scan began. */
  readonly countMissing: (source: string) => Effect.Effect<{ readonly missing: number; readonly known: number }, StateError>
  /** A missing `done` entry of that content hash (any source), not claimed before; claims it. */
  readonly claim: (contentHash: string) => Effect.Effect<LedgerEntry | undefined, StateError>
  /** Whether some unclaimed missing `done` entry has this size, so that hashing an added item may reveal a move. */
  readonly mayMove: (size: number | undefined) => Effect.Effect<boolean, StateError>
  /**
   * Keeps work to be done after the listing, on disk rather than in memory. An item listed twice is worked on once, as
   * it came last. Answers how many came for the first time.
   */
  readonly queue: (work: ReadonlyArray<QueuedWork>) => Effect.Effect<number, StateError>
  readonly queued: Stream.Stream<string, StateError>
}

/** Entries to forget and entries to set, in that order and all at once. */
export interface LedgerChange {
  readonly remove?: ReadonlyArray<{ readonly source: string; readonly path: string }>
  readonly put?: ReadonlyArray<LedgerEntry>
}

export interface RunRecord {
  readonly started: number
  readonly ended?: number
  readonly report?: Report
}

/** Which entries, besides by their states. */
export interface EntriesAmong {
  /** Those that come after this one. */
  readonly after?: Pick<LedgerEntry, "source" | "path">
  /** This one alone. */
  readonly at?: Pick<LedgerEntry, "source" | "path">
  /** Those with this in their paths; case does not matter of ASCII letters. */
  readonly containing?: string
}

/** What sync remembers between runs: of a pipeline on a target its generations, and of each of these what is in it. Writes are durable when they return. */
export class Ledger extends Context.Service<Ledger, {
  /** The generations of a pipeline, newest first. */
  readonly generations: (pipeline: string) => Effect.Effect<ReadonlyArray<Generation>, StateError>
  /** The pipeline that a corpus serves, by the key under which its generations are known. */
  readonly pipelineOf: (corpus: CorpusName) => Effect.Effect<string | undefined, StateError>
  /** Notes what is new of a generation; its role is changed by `assign` alone. */
  readonly noteGeneration: (
    scope: string,
    news: Partial<Pick<Generation, "whole" | "built" | "name">>
  ) => Effect.Effect<void, StateError>
  /** Notes a generation with nothing of ours in it: every entry of its scope is forgotten, in one transaction. */
  readonly beginGeneration: (pipeline: string, generation: Generation) => Effect.Effect<void, StateError>
  /** Gives generations, by their scopes, other roles, all in one transaction: whoever reads sees those before or those after. */
  readonly assign: (pipeline: string, roles: Readonly<Record<string, Role>>) => Effect.Effect<void, StateError>
  /** Forgets what is in a generation; it is `gone` then. */
  readonly retire: (pipeline: string, scope: string) => Effect.Effect<void, StateError>
  /** Everything accounted for under a pipeline's name takes the place of all under another, in one transaction. */
  readonly rename: (from: string, to: string) => Effect.Effect<void, StateError>
  /** Forgets a pipeline: its generations and every entry. Its runs stay. */
  readonly forget: (pipeline: string) => Effect.Effect<void, StateError>
  readonly scan: (scope: string) => Effect.Effect<Scan, StateError, Scope.Scope>
  readonly listing: (scope: string, source: string) => Effect.Effect<ListingRecord | undefined, StateError>
  readonly setListing: (scope: string, source: string, record: ListingRecord) => Effect.Effect<void, StateError>
  /** What was found in files that hold files, by their paths (same order): unchanged ones need not be opened again. */
  readonly contents: (
    scope: string,
    source: string,
    paths: ReadonlyArray<string>
  ) => Effect.Effect<ReadonlyArray<ContentsRecord | undefined>, StateError>
  /** Sets or forgets what is known of one. */
  readonly setContents: (scope: string, source: string, path: string, record: ContentsRecord | undefined) => Effect.Effect<void, StateError>
  /** Forgets what is known of all others of a source. */
  readonly keepContents: (scope: string, source: string, paths: ReadonlySet<string>) => Effect.Effect<void, StateError>
  /** Every source with entries, those no longer in the pipeline too. */
  readonly sources: (scope: string) => Effect.Effect<ReadonlyArray<string>, StateError>
  readonly write: (scope: string, change: LedgerChange) => Effect.Effect<void, StateError>
  /** Every entry, or those in these states, by source and path. */
  readonly entries: (scope: string, states?: ReadonlyArray<LedgerState>, among?: EntriesAmong) => Stream.Stream<LedgerEntry, StateError>
  readonly count: (scope: string) => Effect.Effect<Partial<Record<LedgerState, number>>, StateError>
  readonly startRun: (scope: string, started: number) => Effect.Effect<number, StateError>
  readonly endRun: (run: number, ended: number, report: Report) => Effect.Effect<void, StateError>
  /** Newest first, at most `limit`. */
  readonly runs: (scope: string, limit: number) => Effect.Effect<ReadonlyArray<RunRecord>, StateError>
}>()("sluice/ports/Ledger") {}

/** The path under which an entry rebuilt from a target's marker waits for the listing that names it. */
export const recoveredPath = (pathHash: string): string => `#${pathHash}`
