import type { Asked, Refusal, Result } from "./Messages.ts"

/** What became of a file. An Error is a fault of the pool, not of the file. */
export type Outcome = Result | Refusal | Error

/** A file on its way through the pool. */
export interface Job extends Pick<Asked, "id" | "raw"> {
  readonly done: (outcome: Outcome) => void
  /** Was being read when a worker ended. It runs once more, alone; if that worker ends too, the file is to blame. */
  suspect: boolean
  /** See {@link Asked}. */
  atOnce: boolean
  cancelled: boolean
  /** When it was submitted, by `performance.now()`. */
  readonly since: number
}
