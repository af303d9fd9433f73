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
  /** By words. Absent where the subject has no such search. */
  readonly sparse?: Latency
  /** By vectors. */
  readonly dense?: Latency
  readonly hybrid?: Latency
}

/** Something that can do the bench's work: Sluice, or a peer. */
export interface Subject {
  readonly name: string
  /** A sync into a store that is there already looks for what changed; where it would begin again, none is made. */
  readonly looksForChanges: boolean
  readonly sync: (docs: string, store: string) => Promise<Synced>
  readonly query: (store: string, queries: ReadonlyArray<string>) => Promise<Answered>
}
