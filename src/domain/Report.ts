import { Schema } from "effect"

/**
 * What happened to one listed item. Every listed item has exactly one, so
 * listed = added + changed + moved + unchanged + skipped + failed + quarantined + pending.
 */
export const Outcome = Schema.Literals([
  "added",
  "changed",
  /** Same content under a new path: facts were updated, nothing was embedded. */
  "moved",
  "unchanged",
  /** Not taken, with a reason; nothing is wrong. */
  "skipped",
  "failed",
  /** Failed before in a way that trying again cannot mend, and neither bytes nor parser have changed. */
  "quarantined",
  /** Not reached: budget, interrupt, or an earlier error that stopped the run. */
  "pending"
])
export type Outcome = typeof Outcome.Type

export const outcomes: ReadonlyArray<Outcome> = Outcome.literals

/** What became of one item, and why. */
export const FileOutcome = Schema.Struct({
  source: Schema.String,
  path: Schema.String,
  outcome: Outcome,
  /** A code: `unsupported`, `limit`, `ignored`, `corrupt`, `NOT_FOUND`, … */
  reason: Schema.optionalKey(Schema.String),
  message: Schema.optionalKey(Schema.String),
  /** What of a file that was taken could not be read: `parsed 198 of 200 pages: 3 cannot be read`. */
  remark: Schema.optionalKey(Schema.String),
  /** Rules for metadata that a file breaks which was taken, each with its key: `year: "soon" is not an integer`. */
  unfit: Schema.optionalKey(Schema.String),
  /** Failures only: whether another run can help. */
  retryable: Schema.optionalKey(Schema.Boolean),
  /** Moves only. */
  from: Schema.optionalKey(Schema.String),
  bytes: Schema.optionalKey(Schema.Int),
  chunks: Schema.optionalKey(Schema.Int),
  tokens: Schema.optionalKey(Schema.Int),
  /** Texts that were sent to the embedder. */
  embedded: Schema.optionalKey(Schema.Int)
})
export type FileOutcome = typeof FileOutcome.Type

/** Files by what became of them. All but `deleted` and `held` add up to `listed`: {@link addsUp}. */
export const Counts = Schema.Struct({
  listed: Schema.Int,
  added: Schema.Int,
  changed: Schema.Int,
  moved: Schema.Int,
  unchanged: Schema.Int,
  skipped: Schema.Int,
  failed: Schema.Int,
  quarantined: Schema.Int,
  pending: Schema.Int,
  /** Gone at the source and removed from the target. Not part of `listed`. */
  deleted: Schema.Int,
  /** Gone at the source, kept in the target: the delete guard, or a listing that was not complete. */
  held: Schema.Int
})
export type Counts = typeof Counts.Type

export const noCounts: Counts = {
  listed: 0,
  added: 0,
  changed: 0,
  moved: 0,
  unchanged: 0,
  skipped: 0,
  failed: 0,
  quarantined: 0,
  pending: 0,
  deleted: 0,
  held: 0
}

/** Whether every listed item has its outcome. */
export const addsUp = (c: Counts): boolean =>
  c.listed === c.added + c.changed + c.moved + c.unchanged + c.skipped + c.failed + c.quarantined + c.pending

/**
 * How many files of a type had an outcome for a reason; `partial` files were taken, but not all of them was read, and
 * `unfit` ones were taken, but break a rule for their metadata.
 */
export const ReasonCount = Schema.Struct({
  outcome: Schema.Literals(["skipped", "failed", "quarantined", "partial", "unfit"]),
  /** As in {@link FileOutcome}. */
  reason: Schema.String,
  /** The extension in lower case, with its dot; "" where the name has none. */
  type: Schema.String,
  count: Schema.Int,
  /** One of the files, and what was said of it. */
  path: Schema.String,
  message: Schema.optionalKey(Schema.String)
})
export type ReasonCount = typeof ReasonCount.Type

/** What a run did with one source. */
export const SourceReport = Schema.Struct({
  source: Schema.String,
  kind: Schema.String,
  counts: Counts,
  /** Whether the listing saw everything; without it nothing is deleted. */
  complete: Schema.Boolean,
  /** Why the listing broke off. */
  error: Schema.optionalKey(Schema.String),
  /** Why deletes were held. */
  heldBecause: Schema.optionalKey(Schema.String),
  /** The first of the held files. */
  heldPaths: Schema.optionalKey(Schema.Array(Schema.String)),
  /** What looks like a mistake and stops nothing: a source with nothing in it. */
  warning: Schema.optionalKey(Schema.String),
  /** What a reader of the counts should know: who listed and fetched the source, and what was counted there. */
  note: Schema.optionalKey(Schema.String)
})
export type SourceReport = typeof SourceReport.Type

/** The account of one run. Versioned: fields are only ever added. */
export const Report = Schema.Struct({
  version: Schema.Literal(1),
  pipeline: Schema.String,
  engine: Schema.String,
  corpus: Schema.String,
  /** RFC 3339. */
  started: Schema.String,
  seconds: Schema.Finite,
  sources: Schema.Array(SourceReport),
  totals: Counts,
  /** Chunks written by this run. These three are absent where it wrote files and the engine does not tell. */
  chunks: Schema.optionalKey(Schema.Int),
  /** Texts sent to the embedder, and their tokens. */
  embedded: Schema.optionalKey(Schema.Int),
  embeddedTokens: Schema.optionalKey(Schema.Int),
  /** How the run ended. `incomplete`: a source could not be listed to its end, as its `error` says; the others were synced. */
  ended: Schema.Literals(["done", "incomplete", "budget", "interrupted", "stopped"]),
  /** Why it ended before its work was done, where something failed. */
  why: Schema.optionalKey(Schema.String),
  /** Failed, quarantined and skipped items, and those read in part, the first 1,000 of each kind; all of them are in the event stream. */
  notable: Schema.Array(FileOutcome),
  omitted: Schema.Int,
  /** All files that were skipped, failed or read in part, by reason and type, most first. Absent in older reports. */
  reasons: Schema.optionalKey(Schema.Array(ReasonCount))
})
export type Report = typeof Report.Type

/** Files of a corpus that a pipeline did not put there. */
export interface Others {
  readonly files: number
  /** How many carry the mark of which pipeline. */
  readonly pipelines: Readonly<Record<string, number>>
  /** Put there by something else than a pipeline, or fetched by the service itself. */
  readonly unmarked: number
}

/** What a run tells while it goes on; the lines of `--json`. */
export type SyncEvent =
  | { readonly type: "corpus"; readonly corpus: string; readonly action: "created" | "found" | "building" | "replaced" }
  /** The corpus, found by its name, holds nothing of this pipeline's, and these. */
  /** The pipeline has another name than before, and these files of the old one are its own now. */
  | { readonly type: "takesOver"; readonly pipeline: string; readonly files: number }
  | { readonly type: "joins"; readonly corpus: string; readonly others: Others }
  /** The corpus was unknown here, and its database had these files of it: they were taken in as they are. */
  | { readonly type: "foundInDatabase"; readonly corpus: string; readonly place: string; readonly files: number }
  | { readonly type: "listing"; readonly source: string; readonly listed: number }
  | { readonly type: "listed"; readonly source: string; readonly listed: number; readonly complete: boolean; readonly work: number }
  | ({ readonly type: "file" } & FileOutcome)
  /** An import by the engine itself. `progress` in percent; `files` where we listed them. */
  | { readonly type: "importing"; readonly source: string; readonly operation: string; readonly progress: number; readonly files?: number }
  | { readonly type: "deleted"; readonly source: string; readonly path: string }
  | { readonly type: "held"; readonly source: string; readonly count: number; readonly why: string; readonly paths: ReadonlyArray<string> }
  /** No more work is begun, and why: what is in hand is finished. */
  | { readonly type: "stopped"; readonly why: string }
  /** Somebody of the pipeline's `notify` was told of the run, or, with `error`, could not be. `to`: a host or a program. */
  | { readonly type: "notified"; readonly to: string; readonly error?: string }
  | { readonly type: "report"; readonly report: Report }
