import type { Cpu } from "./Process.ts"
import type { Latency } from "./Statistics.ts"

/** Result of one sync of a folder into a store, in a separate process. */
export interface Synced {
  readonly seconds: number
  readonly peakRss?: number
  readonly cpu?: Cpu
  /** Number of chunks that the sync wrote or examined, as the subject counts them. */
  readonly chunks: number
  /** Number of texts embedded. */
  readonly embedded: number
}

/** Results of queries on a store, in one process that opened it before. */
export interface Answered {
  /** Seconds from opening the store, with all code loaded, to the first answer. */
  readonly reopenSeconds: number
  /** Latencies of searches by words. Absent where the subject has no such search. */
  readonly sparse?: Latency
  /** Latencies of searches by vectors. Absent where the subject has no such search. */
  readonly dense?: Latency
  readonly hybrid?: Latency
  /**
   * Shares, 0 to 1, of the first ten of a search that compares every chunk, which the search does not find: hybrid, and by vectors alone.
   * Absent where the subject always compares every chunk.
   */
  readonly missed?: { readonly hybrid: number; readonly dense: number }
}

/** A program that is measured: Sluice, or a peer. */
export interface Subject {
  readonly name: string
  /** Whether a sync into an existing store looks for changes. Without that, only cold syncs are measured. */
  readonly looksForChanges: boolean
  readonly sync: (docs: string, store: string) => Promise<Synced>
  readonly query: (store: string, queries: ReadonlyArray<string>) => Promise<Answered>
}
