import type { Asked, Refusal, Result } from "./Messages.ts"

/** What becomes of a file; an Error is ours, not the file's. */
export type Outcome = Result | Refusal | Error

/** A file on its way through the pool. */
export interface Job extends Pick<Asked, "id" | "raw"> {
  readonly done: (outcome: Outcome) => void
  /** It was being worked on when a worker ended: it runs again alone, and if that worker ends too, it is to blame. */
  suspect: boolean
  /** As in {@link Asked}. */
  atOnce: boolean
  cancelled: boolean
  /** When it came, by `performance.now()`. */
  readonly since: number
}
