import type { Report, SyncEvent } from "../../domain/Report.ts"

/** Events of a watch; besides {@link SyncEvent}s, the lines of `--json`. */
export type WatchEvent =
  /** A sync of some sources has ended. `batch` counts from 1, the initial sync. */
  | { readonly type: "batch"; readonly batch: number; readonly sources: ReadonlyArray<string>; readonly report: Report }
  /** Nothing is left to do: no hint, no second look, no retry. The target has what the sources have, except for held deletes. */
  | { readonly type: "quiet"; readonly batch: number }
  /** A source, or the whole run where `source` is absent, is in trouble; reported once, until it changes or ends. */
  | { readonly type: "trouble"; readonly source?: string; readonly message: string; readonly retrySeconds?: number }
  | { readonly type: "recovered"; readonly source?: string }
  /** A stop was requested: the current batch is finished first. */
  | { readonly type: "stopping" }
  | SyncEvent
