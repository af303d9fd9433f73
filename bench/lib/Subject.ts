import type { Cpu } from "./Process.ts"
import type { Latency } from "./Statistics.ts"

/** One sync of a folder into a store, by a process of its own. */
export interface Synced {
  readonly seconds: number
  readonly peakRss?: number
  readonly cpu?: Cpu
  /** Chunks this sync wrote or looked at, as the subject counts them. */
  readonly chunks: number
  /** Texts given to the embedder. */
  readonly embedded: number
}

/** Queries against a store, in one process that opened it afresh. */
export interface Answered {
  /** From nothing but loaded code to the first answer. */
  readonly reopenSeconds: number
  readonly sparse: Latency
  readonly hybrid: Latency
}

/** Something that can do the bench's work: Sluice, or a peer. */
export interface Subject {
  readonly name: string
  readonly sync: (docs: string, store: string) => Promise<Synced>
  readonly query: (store: string, queries: ReadonlyArray<string>) => Promise<Answered>
}
