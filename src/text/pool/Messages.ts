import type { DocumentProblem } from "../../domain/Errors.ts"
import type { Limits, Located, Locating, Opened, Opening, Pictured, Picturing, Prepared, Raw } from "../Prepared.ts"

/** What is asked about a file: to parse and cut it, to open it, to find quotes in it, or for pictures of its pages. */
export type Task = Raw | Opening | Locating | Picturing

export type Result = Prepared | Opened | Located | Pictured

/** What the pool asks of a worker process: files to deal with in this order. Sent by structured clone. */
export interface Request {
  readonly limits: Limits
  readonly files: ReadonlyArray<Asked>
}

export interface Asked {
  readonly id: number
  readonly raw: Task
  /** No other answer is kept back while this file is worked on, nor its own: if the process ends, it is known to be the one. */
  readonly atOnce: boolean
}

/** So many answers go in one message at most: a message can take longer than a small file, on either side. */
export const mostKept = 8

/** A file that could not be taken, in words for a person: never a stack or a piece of the document. */
export interface Refusal {
  readonly problem: DocumentProblem
  readonly message: string
}

/** A file that nobody could try to read, since a package is missing. Says which. */
export interface Broken {
  readonly broken: string
}

export interface Answer {
  readonly id: number
  readonly result: Result | Refusal | Broken
}

/** Outcomes of files in the order in which they were asked for; a worker keeps back fewer than {@link mostKept}. */
export interface Reply {
  readonly answers: ReadonlyArray<Answer>
  /** Milliseconds that the worker has computed since it began, where it has just looked. */
  readonly processor?: number
  /** The worker has done its share: it finishes what it was sent and should be given no more. */
  readonly spent: boolean
}

export const isRefusal = (result: Result | Refusal): result is Refusal => "problem" in result

/** The worker has loaded what it needs. */
export interface Ready {
  readonly ready: true
}
