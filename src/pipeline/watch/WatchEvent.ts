import type { Report, SyncEvent } from "../../domain/Report.ts"

/** What a watch tells while it goes on; besides {@link SyncEvent}s, the lines of `--json`. */
export type WatchEvent =
  /** A sync of some sources is over. `batch` counts from 1, which is the initial sync. */
  | { readonly type: "batch"; readonly batch: number; readonly sources: ReadonlyArray<string>; readonly report: Report }
  /** Nothing waits: no hint, no second look, no retry. The target has what the sources have, but for what is held. */
  | { readonly type: "quiet"; readonly batch: number }
  /** A source, or where it has none the whole run, is in trouble; told once, until it changes or ends. */
  | { readonly type: "trouble"; readonly source?: string; readonly message: string; readonly retrySeconds?: number }
  | { readonly type: "recovered"; readonly source?: string }
  /** Asked to stop: the batch in hand is finished first. */
  | { readonly type: "stopping" }
  | SyncEvent
