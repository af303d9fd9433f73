import { Context, type Effect, type Scope, type Stream } from "effect"
import type { CorpusName } from "../domain/Corpus.ts"
import type { StateError } from "../domain/Errors.ts"
import type { RagFileName } from "../domain/RagFile.ts"
import type { Report } from "../domain/Report.ts"

/**
 * - `intent`: a write to the target was begun and not confirmed; the markers in the target show how it ended.
 * - `done`: the target has the file with this `fingerprint`.
 * - `failed`: another run may succeed. `quarantined`: it will not, until bytes or settings change.
 * - `skipped`: the item was read, and is not stored.
 */
export type LedgerState = "intent" | "done" | "failed" | "quarantined" | "skipped"

export interface LedgerEntry {
  readonly source: string
  readonly path: string
  readonly state: LedgerState
  readonly revision: string
  /** Fingerprint at the last attempt: `{content}.{facts}.{settings}`, each a hash. */
  readonly fingerprint: string
  /** Size of the item at the last attempt, in bytes. */
  readonly size?: number
  /** The stored version that queries see, which may be older than the last attempt. */
  readonly file?: RagFileName
  /** Why the item failed or was skipped: `reason` is a code, `message` is for people. */
  readonly reason?: string
  readonly message?: string
}

/**
 * The role of a generation of a pipeline's corpus: it answers questions (`live`), is prepared to take over (`candidate`),
 * is kept to roll back to (`kept`), or is to be deleted (`retired`). `gone`: it has been deleted, and is remembered for
 * readers that still refer to it.
 */
export type Role = "live" | "candidate" | "kept" | "retired" | "gone"

/** One generation of a pipeline's corpus on one target. A pipeline has at most one live generation and one candidate. */
export interface Generation {
  /** Key of the ledger's entries for this generation, for as long as it exists. */
  readonly scope: string
  /** Counts from 1 within each pipeline, and is never reused. */
  readonly number: number
  readonly role: Role
  readonly corpus: CorpusName
  /** When the generation was started, in milliseconds since the epoch. Absent where an older Sluice started it. */
  readonly made?: number
  /** When a run first completed storing everything that the sources had; before that the generation is incomplete. */
  readonly whole?: number
  /** JSON of the settings it is built with (`src/pipeline/sync/Built.ts`). Absent where an older Sluice built it. */
  readonly built?: string
  /** Display name of its corpus in the target, if Sluice set it. */
  readonly name?: string
}

/** How far a source's changes have been taken in: from this cursor its connector lists what has changed since. */
export interface ListingRecord {
  readonly cursor: string
  /** Hash of the source's settings and of what determines how it is stored: when it differs, everything has to be listed. */
  readonly signature: string
  /** When the last full listing started, in milliseconds since the epoch. */
  readonly whole: number
  /** JSON of listed items that could not be taken in: no listing from the cursor names them again. */
  readonly again: ReadonlyArray<string>
}

/** The documents that a file contains, as of one revision. */
export interface ContentsRecord {
  readonly revision: string
  /** Hash of the settings that determine what is opened: when it differs, the file has to be opened again. */
  readonly signature: string
  /** JSON of the contents found. */
  readonly contents: string
}

/** Work queued for one item, as JSON. */
export interface QueuedWork {
  readonly source: string
  readonly path: string
  readonly work: string
}

/** One pass over a pipeline's sources. Its bookkeeping is temporary: a scan writes nothing durable. */
export interface Scan {
  /**
   * Records that the source listed these paths, and returns the ledger's entry for each (same order). `pathHash` finds
   * entries rebuilt from markers.
   */
  readonly see: (
    source: string,
    paths: ReadonlyArray<string>,
    pathHash: (path: string) => string
  ) => Effect.Effect<ReadonlyArray<LedgerEntry | undefined>, StateError>
  /** Marks every ledger entry of a source as seen: its listing cannot say what is gone. */
  readonly seeAll: (source: string) => Effect.Effect<void, StateError>
  /**
   * Marks every ledger entry under a folder (`a/b/`) as seen, and entries whose paths are not known yet; with `before` only those whose
   * paths come before it.
   */
  readonly seeUnder: (source: string, folder: string, before?: string) => Effect.Effect<void, StateError>
  /**
   * Records that the source said this item is gone; if it lists the path again later, the item is back. Returns whether
   * work was queued for it, which is dropped.
   */
  readonly forget: (source: string, path: string) => Effect.Effect<boolean, StateError>
  /** Marks the entries of a source that were neither listed nor forgotten as seen, and counts them by state. */
  readonly seeRest: (source: string) => Effect.Effect<Partial<Record<LedgerState, number>>, StateError>
  /**
   * Records that the source listed these addresses, and returns the source that listed each first: this one or an earlier
   * one (same order).
   */
  readonly listedBy: (source: string, addresses: ReadonlyArray<string>) => Effect.Effect<ReadonlyArray<string>, StateError>
  /** Undoes everything recorded of a source in this scan. */
  readonly restart: (source: string) => Effect.Effect<void, StateError>
  /** Ledger entries that no source listed and no move claimed, ordered by source and path. */
  readonly missing: Stream.Stream<LedgerEntry, StateError>
  /** Counts the missing entries of a source that have a file in the target; `known` is how many there were when the scan started. */
  readonly countMissing: (source: string) => Effect.Effect<{ readonly missing: number; readonly known: number }, StateError>
  /** Finds and claims a missing `done` entry with this content hash (in any source) that was not claimed before. */
  readonly claim: (contentHash: string) => Effect.Effect<LedgerEntry | undefined, StateError>
  /** Whether an unclaimed missing `done` entry has this size, so that hashing an added item may reveal a move. */
  readonly mayMove: (size: number | undefined) => Effect.Effect<boolean, StateError>
  /**
   * Keeps work to do after the listing, on disk rather than in memory. An item listed twice is processed once, as listed
   * last. Returns how many items are new to the queue.
   */
  readonly queue: (work: ReadonlyArray<QueuedWork>) => Effect.Effect<number, StateError>
  readonly queued: Stream.Stream<string, StateError>
}

/** Entries to remove and entries to set, in that order, in one transaction. */
export interface LedgerChange {
  readonly remove?: ReadonlyArray<{ readonly source: string; readonly path: string }>
  readonly put?: ReadonlyArray<LedgerEntry>
}

export interface RunRecord {
  readonly started: number
  readonly ended?: number
  readonly report?: Report
}

/** Restricts entries, in addition to their states. */
export interface EntriesAmong {
  /** Entries after this one. */
  readonly after?: Pick<LedgerEntry, "source" | "path">
  /** This entry alone. */
  readonly at?: Pick<LedgerEntry, "source" | "path">
  /** Entries whose paths contain this text; ASCII letters match in either case. */
  readonly containing?: string
}

/**
 * What sync remembers between runs: a pipeline's generations on a target, and what is in each of them. Writes are durable
 * when they return.
 */
export class Ledger extends Context.Service<Ledger, {
  /** Generations of a pipeline, newest first. */
  readonly generations: (pipeline: string) => Effect.Effect<ReadonlyArray<Generation>, StateError>
  /** Key of the pipeline that a corpus belongs to; see `generations`. */
  readonly pipelineOf: (corpus: CorpusName) => Effect.Effect<string | undefined, StateError>
  /** Updates facts of a generation; its role is changed by `assign` alone. */
  readonly noteGeneration: (
    scope: string,
    news: Partial<Pick<Generation, "whole" | "built" | "name">>
  ) => Effect.Effect<void, StateError>
  /** Starts an empty generation: every entry of its scope is removed, in one transaction. */
  readonly beginGeneration: (pipeline: string, generation: Generation) => Effect.Effect<void, StateError>
  /** Sets the roles of generations, by their scopes, in one transaction: readers see either all the old roles or all the new ones. */
  readonly assign: (pipeline: string, roles: Readonly<Record<string, Role>>) => Effect.Effect<void, StateError>
  /** Removes the entries of a generation, which is `gone` afterwards. */
  readonly retire: (pipeline: string, scope: string) => Effect.Effect<void, StateError>
  /** Moves everything recorded under one pipeline's name to another, replacing what is there, in one transaction. */
  readonly rename: (from: string, to: string) => Effect.Effect<void, StateError>
  /** Removes a pipeline: its generations and every entry. Its runs stay. */
  readonly forget: (pipeline: string) => Effect.Effect<void, StateError>
  readonly scan: (scope: string) => Effect.Effect<Scan, StateError, Scope.Scope>
  readonly listing: (scope: string, source: string) => Effect.Effect<ListingRecord | undefined, StateError>
  readonly setListing: (scope: string, source: string, record: ListingRecord) => Effect.Effect<void, StateError>
  /** Recorded contents of files that contain files, by their paths (same order), so that unchanged ones need not be opened again. */
  readonly contents: (
    scope: string,
    source: string,
    paths: ReadonlyArray<string>
  ) => Effect.Effect<ReadonlyArray<ContentsRecord | undefined>, StateError>
  /** Sets or removes the recorded contents of one file. */
  readonly setContents: (scope: string, source: string, path: string, record: ContentsRecord | undefined) => Effect.Effect<void, StateError>
  /** Removes the recorded contents of all files of a source but these. */
  readonly keepContents: (scope: string, source: string, paths: ReadonlySet<string>) => Effect.Effect<void, StateError>
  /** Every source that has entries, including sources no longer in the pipeline. */
  readonly sources: (scope: string) => Effect.Effect<ReadonlyArray<string>, StateError>
  readonly write: (scope: string, change: LedgerChange) => Effect.Effect<void, StateError>
  /** Every entry, or those in these states, ordered by source and path. */
  readonly entries: (scope: string, states?: ReadonlyArray<LedgerState>, among?: EntriesAmong) => Stream.Stream<LedgerEntry, StateError>
  readonly count: (scope: string) => Effect.Effect<Partial<Record<LedgerState, number>>, StateError>
  readonly startRun: (scope: string, started: number) => Effect.Effect<number, StateError>
  readonly endRun: (run: number, ended: number, report: Report) => Effect.Effect<void, StateError>
  /** Lists runs, newest first, at most `limit`. */
  readonly runs: (scope: string, limit: number) => Effect.Effect<ReadonlyArray<RunRecord>, StateError>
}>()("sluice/ports/Ledger") {}

/** The path of an entry rebuilt from a target's marker, until a listing names the real one. */
export const recoveredPath = (pathHash: string): string => `#${pathHash}`
