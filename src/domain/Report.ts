import { Schema } from "effect"

/**
 * Outcome of a listed item. Every listed item has exactly one, so listed = added + changed + moved + unchanged + skipped
 * + failed + quarantined + pending.
 */
export const Outcome = Schema.Literals([
  "added",
  "changed",
  /** Same content under a new path: only facts were updated, nothing was embedded. */
  "moved",
  "unchanged",
  /** Not stored, for a reason that is not an error. */
  "skipped",
  "failed",
  /** Failed before in a way that a retry cannot solve, and neither bytes nor parser have changed. */
  "quarantined",
  /** Not reached: budget, interrupt, or an earlier error that stopped the run. */
  "pending"
])
export type Outcome = typeof Outcome.Type

export const outcomes: ReadonlyArray<Outcome> = Outcome.literals

/** Outcome of one item, and the reason. */
export const FileOutcome = Schema.Struct({
  source: Schema.String,
  path: Schema.String,
  outcome: Outcome,
  /** Code of the reason: `unsupported`, `limit`, `ignored`, `corrupt`, `NOT_FOUND`, … */
  reason: Schema.optionalKey(Schema.String),
  message: Schema.optionalKey(Schema.String),
  /** What could not be read of a stored file: `parsed 198 of 200 pages: 3 cannot be read`. */
  remark: Schema.optionalKey(Schema.String),
  /** Metadata rules that a stored file breaks, each with its key: `year: "soon" is not an integer`. */
  unfit: Schema.optionalKey(Schema.String),
  /** Whether another run may succeed. Failures only. */
  retryable: Schema.optionalKey(Schema.Boolean),
  /** Previous path. Moves only. */
  from: Schema.optionalKey(Schema.String),
  bytes: Schema.optionalKey(Schema.Int),
  chunks: Schema.optionalKey(Schema.Int),
  tokens: Schema.optionalKey(Schema.Int),
  /** Number of texts sent to the embedder. */
  embedded: Schema.optionalKey(Schema.Int)
})
export type FileOutcome = typeof FileOutcome.Type

/** Number of files by outcome. All but `deleted` and `held` add up to `listed`: {@link addsUp}. */
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
  /** Gone at the source but kept in the target, because of the delete guard or an incomplete listing. */
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
 * Number of files of a type with an outcome for a reason; `partial` files were stored but not read completely, and
 * `unfit` ones were stored but break a metadata rule.
 */
export const ReasonCount = Schema.Struct({
  outcome: Schema.Literals(["skipped", "failed", "quarantined", "partial", "unfit"]),
  /** Reason; see {@link FileOutcome}. */
  reason: Schema.String,
  /** File extension in lower case, with its dot; "" where the name has none. */
  type: Schema.String,
  count: Schema.Int,
  /** Path of one of the files; `message` is its message. */
  path: Schema.String,
  message: Schema.optionalKey(Schema.String)
})
export type ReasonCount = typeof ReasonCount.Type

/** Result of a run for one source. */
export const SourceReport = Schema.Struct({
  source: Schema.String,
  kind: Schema.String,
  counts: Counts,
  /** Whether the listing was complete; otherwise nothing is deleted. */
  complete: Schema.Boolean,
  /** Why the listing broke off. */
  error: Schema.optionalKey(Schema.String),
  /** Why deletes were held. */
  heldBecause: Schema.optionalKey(Schema.String),
  /** Paths of the first held files. */
  heldPaths: Schema.optionalKey(Schema.Array(Schema.String)),
  /** Warning about a likely mistake that stops nothing, such as an empty source. */
  warning: Schema.optionalKey(Schema.String),
  /** Note on the counts: which side listed and fetched the source, and what it counted. */
  note: Schema.optionalKey(Schema.String)
})
export type SourceReport = typeof SourceReport.Type

/** Report of one run. Versioned: fields are only ever added. */
export const Report = Schema.Struct({
  version: Schema.Literal(1),
  pipeline: Schema.String,
  engine: Schema.String,
  corpus: Schema.String,
  /** Start of the run, as in RFC 3339. */
  started: Schema.String,
  seconds: Schema.Finite,
  sources: Schema.Array(SourceReport),
  totals: Counts,
  /**
   * Chunks written by this run. Absent, like `embedded` and `embeddedTokens`, where it wrote files and the engine does
   * not report them.
   */
  chunks: Schema.optionalKey(Schema.Int),
  /** Number of texts sent to the embedder; `embeddedTokens` are their tokens. */
  embedded: Schema.optionalKey(Schema.Int),
  embeddedTokens: Schema.optionalKey(Schema.Int),
  /** How the run ended. `incomplete`: a source could not be listed completely, as its `error` says; the others were synced. */
  ended: Schema.Literals(["done", "incomplete", "budget", "interrupted", "stopped"]),
  /** Why it ended early, where something failed. */
  why: Schema.optionalKey(Schema.String),
  /**
   * Failed, quarantined and skipped items, and those read in part, at most the first 1,000 of each kind; the event stream
   * has all of them.
   */
  notable: Schema.Array(FileOutcome),
  omitted: Schema.Int,
  /** All files that were skipped, failed or read in part, by reason and type, most frequent first. Absent in older reports. */
  reasons: Schema.optionalKey(Schema.Array(ReasonCount))
})
export type Report = typeof Report.Type

/** Files of a corpus that a pipeline did not store. */
export interface Others {
  readonly files: number
  /** Number of files by the pipeline in their marker. */
  readonly pipelines: Readonly<Record<string, number>>
  /** Number of files without a marker: stored by something other than a pipeline, or fetched by the service itself. */
  readonly unmarked: number
}

/** Events of a run; the lines of `--json`. */
export type SyncEvent =
  | { readonly type: "corpus"; readonly corpus: string; readonly action: "created" | "found" | "building" | "replaced" }
  /** The pipeline was renamed, and files of its former name are its own now. */
  | { readonly type: "takesOver"; readonly pipeline: string; readonly files: number }
  /** The corpus was found by its name, and has only files of others. */
  | { readonly type: "joins"; readonly corpus: string; readonly others: Others }
  /** The corpus was unknown here, and these files were found in its database and taken in as they are. */
  | { readonly type: "foundInDatabase"; readonly corpus: string; readonly place: string; readonly files: number }
  | { readonly type: "listing"; readonly source: string; readonly listed: number }
  | { readonly type: "listed"; readonly source: string; readonly listed: number; readonly complete: boolean; readonly work: number }
  | ({ readonly type: "file" } & FileOutcome)
  /** An import by the engine itself. `progress` in percent; `files` where they were listed from here. */
  | { readonly type: "importing"; readonly source: string; readonly operation: string; readonly progress: number; readonly files?: number }
  | { readonly type: "deleted"; readonly source: string; readonly path: string }
  | { readonly type: "held"; readonly source: string; readonly count: number; readonly why: string; readonly paths: ReadonlyArray<string> }
  /** No more work is started, and why; work in progress is finished. */
  | { readonly type: "stopped"; readonly why: string }
  /** A recipient of the pipeline's `notify` was notified of the run or, with `error`, could not be. `to` is a host or a program. */
  | { readonly type: "notified"; readonly to: string; readonly error?: string }
  | { readonly type: "report"; readonly report: Report }
